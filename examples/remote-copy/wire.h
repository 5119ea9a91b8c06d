/* What travels between sender and receiver: frames of a fixed header and, after some of them, a payload.
 *
 *   HELLO     id = transfer, offset = bytes to come, value = largest block
 *   FILE      value = permission bits, payload = relative path
 *   BLOCK     id = block, offset in the file, value = 1 on the last block of its file, payload = the bytes
 *   FILE_END  offset = size, value = CRC-32C of the whole file
 *   DONE      id = files, offset = bytes in all
 *   RESULT    receiver to sender, once: id = files, offset = bytes, value = 0 or 1, payload = what went wrong
 *
 * Numbers travel in network byte order.
 */
#ifndef REMOTE_COPY_WIRE_H
#define REMOTE_COPY_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_kind { WIRE_HELLO = 1, WIRE_FILE, WIRE_BLOCK, WIRE_FILE_END, WIRE_DONE, WIRE_RESULT };

enum {
  WIRE_ALIGNMENT = 4096, /* blocks are multiples of it, which is what O_DIRECT wants of every disk */
  WIRE_MAX_BLOCK_BYTES = 4 << 20,
  WIRE_MAX_PATH_BYTES = 1024,
  WIRE_MAX_MESSAGE_BYTES = 512,
};

struct wire_frame {
  uint32_t kind;
  uint32_t nbytes; /* of the payload */
  uint64_t id;
  uint64_t offset;
  uint32_t value;
};

/* All of these return false with errno set; a peer that hangs up in the middle is ECONNRESET, one that does not speak
 * this protocol EPROTO. */

/* With heed_peer, a wait for room ends with EPIPE when the peer says something: it only does so to end the transfer. */
bool wire_send(int fd, const struct wire_frame *frame, const void *payload, bool heed_peer);
bool wire_receive_frame(int fd, struct wire_frame *frame);
bool wire_receive(int fd, void *payload, size_t nbytes);

/* True for a relative path that stays below the directory it is resolved in: no empty, "." or ".." component. */
bool wire_path_is_safe(const char *path, size_t length);

#endif
