#include "receive.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "block_queue.h"
#include "crc32c.h"
#include "destination.h"
#include "emit.h"
#include "endpoint.h"
#include "failure.h"
#include "report.h"
#include "wire.h"

/* What the receive thread puts into the queue when nothing more will come. It is no frame of the wire. */
enum { BROKEN_OFF = 0 };

struct receiver {
  const struct options *options;
  const atomic_bool *stopping;
  int root;
  int socket;
  struct block_queue *queue;
  struct failure failure;
  uint64_t transfer;
  uint32_t block_bytes;

  /* the receive thread's */
  uint64_t next_block;
  struct failure broken_off; /* read by the write thread after BROKEN_OFF */

  /* the write thread's */
  struct destination destination;
  uint32_t crc;
  uint64_t offset;
  uint64_t files, bytes;
};

static bool protocol_error(struct failure *failure, const char *what) {
  failure_set(failure, "the sender broke the protocol: %s", what);
  return false;
}

/* ---- the write thread ---- */

static bool write_block(struct receiver *receiver, const struct block *block) {
  const struct wire_frame *frame = &block->frame;
  if (receiver->destination.file < 0) return protocol_error(&receiver->failure, "a block before any file");
  if (frame->offset != receiver->offset) return protocol_error(&receiver->failure, "a block at the wrong offset");
  receiver->crc = crc32c(receiver->crc, block->data, frame->nbytes);

  EMIT(disk_write_start, frame->id, frame->offset);
  bool ok = destination_write(&receiver->destination, block->data, frame->nbytes, frame->offset, &receiver->failure);
  /* the sync belongs to the file's last block: before it, the disk may not have done its work */
  if (ok && frame->value == 1) ok = destination_sync(&receiver->destination, &receiver->failure);
  EMIT(disk_write_end, frame->id, (uint64_t)(ok ? frame->nbytes : 0));

  receiver->offset += frame->nbytes;
  return ok;
}

static bool begin_file(struct receiver *receiver, struct block *block) {
  if (receiver->destination.file >= 0) return protocol_error(&receiver->failure, "a file inside another");
  char path[WIRE_MAX_PATH_BYTES + 1];
  memcpy(path, block->data, block->frame.nbytes);
  path[block->frame.nbytes] = '\0';
  if (strlen(path) != block->frame.nbytes) return protocol_error(&receiver->failure, "a path with a zero byte");
  receiver->crc = 0;
  receiver->offset = 0;
  return destination_open(&receiver->destination, receiver->root, path, block->frame.value,
                          receiver->options->direct_io, receiver->options->through, &receiver->failure);
}

static bool end_file(struct receiver *receiver, const struct wire_frame *frame) {
  struct destination *destination = &receiver->destination;
  if (destination->file < 0) return protocol_error(&receiver->failure, "the end of a file that never began");
  if (frame->offset != receiver->offset)
    return protocol_error(&receiver->failure, "a file of another size than announced");
  if (frame->value != receiver->crc) {
    failure_set(&receiver->failure, "the checksum of %s is wrong: what arrived is not what was read",
                destination->path);
    return false;
  }
  bool synced = frame->offset > 0 || destination_sync(destination, &receiver->failure); /* an empty file has no block */
  if (!synced || !destination_publish(destination, &receiver->failure)) return false;
  destination_close(destination);
  receiver->files++;
  receiver->bytes += frame->offset;
  return true;
}

static bool end_transfer(struct receiver *receiver, const struct wire_frame *frame) {
  if (receiver->destination.file >= 0) return protocol_error(&receiver->failure, "the end inside a file");
  if (frame->id != receiver->files || frame->offset != receiver->bytes)
    return protocol_error(&receiver->failure, "another number of files or bytes than announced");
  return true;
}

static bool handle(struct receiver *receiver, struct block *block) {
  if (atomic_load(receiver->stopping)) {
    failure_set(&receiver->failure, "the server was stopped");
    return false;
  }
  switch (block->frame.kind) {
  case WIRE_FILE: return begin_file(receiver, block);
  case WIRE_BLOCK: return write_block(receiver, block);
  case WIRE_FILE_END: return end_file(receiver, &block->frame);
  case WIRE_DONE: return end_transfer(receiver, &block->frame);
  case BROKEN_OFF: failure_set(&receiver->failure, "%s", receiver->broken_off.text); return false;
  default: return protocol_error(&receiver->failure, "a frame out of place");
  }
}

static void *write_disk(void *argument) {
  struct receiver *receiver = argument;
  struct block *block;
  bool ok = true, done = false;
  while (ok && !done && (block = block_queue_take(receiver->queue)) != NULL) {
    done = block->frame.kind == WIRE_DONE;
    ok = handle(receiver, block);
    block_queue_give_back(receiver->queue, block);
  }
  destination_close(&receiver->destination);
  if (!ok) block_queue_stop(receiver->queue); /* which the receive thread notices at the next frame */
  return NULL;
}

/* ---- the receive thread ---- */

static bool connection_error(struct receiver *receiver) {
  failure_set(&receiver->broken_off, "the connection broke: %s", strerror(errno));
  return false;
}

static bool receive_payload(struct receiver *receiver, struct block *block) {
  const struct wire_frame *frame = &block->frame;
  uint64_t limit = frame->kind == WIRE_BLOCK ? receiver->block_bytes : WIRE_MAX_PATH_BYTES;
  if (frame->nbytes > limit) return protocol_error(&receiver->broken_off, "more bytes than announced");
  if (frame->kind != WIRE_BLOCK)
    return wire_receive(receiver->socket, block->data, frame->nbytes) || connection_error(receiver);
  if (frame->id != (receiver->transfer << 32 | receiver->next_block))
    return protocol_error(&receiver->broken_off, "a block out of order");
  receiver->next_block++;

  EMIT(net_receive_start, frame->id);
  bool ok = wire_receive(receiver->socket, block->data, frame->nbytes) || connection_error(receiver);
  EMIT(net_receive_end, frame->id, (uint64_t)(ok ? frame->nbytes : 0));
  emit_socket_sample(receiver->socket, frame->id);
  return ok;
}

/* Until the sender is done or gone, which the write thread learns in its turn: whatever came before may hold the
 * reason. Between blocks this thread waits first for the sender, then for a free block; only then does the block's
 * net.receive begin. */
static void receive_all(struct receiver *receiver) {
  for (bool more = true; more;) {
    struct wire_frame frame;
    bool ok = wire_receive_frame(receiver->socket, &frame) || connection_error(receiver);
    struct block *block = block_queue_take_empty(receiver->queue);
    if (block == NULL) return; /* the write thread has given up */
    if (ok) {
      block->frame = frame;
      ok = receive_payload(receiver, block);
    }
    if (!ok) block->frame = (struct wire_frame){.kind = BROKEN_OFF};
    more = ok && frame.kind != WIRE_DONE;
    block_queue_put(receiver->queue, block);
  }
}

static void send_result(struct receiver *receiver) {
  bool failed = failure_is_set(&receiver->failure);
  struct wire_frame result = {.kind = WIRE_RESULT, .id = receiver->files, .offset = receiver->bytes, .value = failed};
  result.nbytes = failed ? (uint32_t)strnlen(receiver->failure.text, WIRE_MAX_MESSAGE_BYTES) : 0;
  wire_send(receiver->socket, &result, receiver->failure.text, false); /* a peer that is gone needs no answer */
}

/* Reads on for a while after a failure: closing with unread bytes would reset the connection, and the reset would
 * overtake the message that says why. */
static void linger(int socket) {
  char discarded[65536];
  shutdown(socket, SHUT_WR);
  endpoint_set_timeout(socket, 2);
  for (int i = 0; i < 1024 && recv(socket, discarded, sizeof discarded, 0) > 0; i++)
    continue;
}

static bool greet(struct receiver *receiver, uint64_t *bytes_expected) {
  struct wire_frame hello;
  if (!wire_receive_frame(receiver->socket, &hello) || hello.kind != WIRE_HELLO) {
    failure_set(&receiver->failure, "who connected does not speak this protocol or hung up");
    return false;
  }
  receiver->transfer = hello.id;
  receiver->block_bytes = hello.value;
  *bytes_expected = hello.offset;
  if (hello.id == 0 || hello.id > INT32_MAX)
    return protocol_error(&receiver->failure, "a transfer number out of range");
  receiver->queue = block_queue_new(receiver->options->queue_blocks, receiver->block_bytes);
  if (receiver->queue == NULL) failure_set(&receiver->failure, "no memory for the blocks");
  return receiver->queue != NULL;
}

static bool run(struct receiver *receiver) {
  pthread_t writer;
  if (pthread_create(&writer, NULL, write_disk, receiver) != 0) {
    failure_set(&receiver->failure, "cannot start a thread");
    return false;
  }
  receive_all(receiver);
  pthread_join(writer, NULL);
  return !failure_is_set(&receiver->failure);
}

bool receive_transfer(const struct options *options, const atomic_bool *stopping, int root, int socket) {
  struct receiver receiver = {.options = options,
                              .stopping = stopping,
                              .root = root,
                              .socket = socket,
                              .failure = FAILURE_INIT,
                              .broken_off = FAILURE_INIT,
                              .destination = DESTINATION_INIT};
  struct report report = {.role = "receive"};
  uint64_t bytes_expected = 0;

  endpoint_set_timeout(socket, options->timeout_seconds);
  endpoint_peer_name(socket, report.source, sizeof report.source);
  endpoint_local_name(socket, report.destination, sizeof report.destination);
  if (greet(&receiver, &bytes_expected)) {
    report_begin(&report, receiver.transfer);
    EMIT(transfer_start, receiver.transfer << 32, report.source, report.destination, bytes_expected);
    report.ok = run(&receiver);
    EMIT(transfer_end, receiver.transfer << 32, receiver.bytes, report.ok);
  }
  send_result(&receiver);
  if (!report.ok) linger(socket);

  report.files = receiver.files;
  report.bytes = receiver.bytes;
  report_end(&report);
  report_print(&report, options->json, report.ok ? NULL : receiver.failure.text);
  block_queue_free(receiver.queue);
  return report.ok;
}
