#include "wire.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

static const uint32_t WIRE_MAGIC = 0x4c524331; /* "LRC1" */

struct wire_header {
  uint32_t magic;
  uint32_t kind;
  uint64_t id;
  uint64_t offset;
  uint32_t nbytes;
  uint32_t value;
};
_Static_assert(sizeof(struct wire_header) == 32, "the header travels as it lies in memory");

static int send_timeout_ms(int fd) {
  struct timeval timeout = {0};
  socklen_t length = sizeof timeout;
  if (getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, &length) != 0 || (timeout.tv_sec == 0 && timeout.tv_usec == 0))
    return -1;
  return (int)(timeout.tv_sec * 1000 + timeout.tv_usec / 1000);
}

/* A peer that has had enough may stop to read for good without a reset ever coming: its word is what ends the wait. */
static bool wait_to_send(int fd, bool heed_peer) {
  struct pollfd state = {.fd = fd, .events = heed_peer ? POLLOUT | POLLIN : POLLOUT};
  int ready = poll(&state, 1, send_timeout_ms(fd));
  if (ready < 0) return errno == EINTR;
  if (ready == 0) errno = ETIMEDOUT;
  if (ready > 0 && heed_peer && (state.revents & POLLIN)) errno = EPIPE;
  return ready > 0 && !(heed_peer && (state.revents & POLLIN));
}

bool wire_send(int fd, const struct wire_frame *frame, const void *payload, bool heed_peer) {
  struct wire_header header = {
      .magic = htonl(WIRE_MAGIC),
      .kind = htonl(frame->kind),
      .id = htobe64(frame->id),
      .offset = htobe64(frame->offset),
      .nbytes = htonl(frame->nbytes),
      .value = htonl(frame->value),
  };
  struct iovec parts[2] = {{&header, sizeof header}, {(void *)payload, frame->nbytes}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = frame->nbytes > 0 ? 2 : 1};

  while (message.msg_iovlen > 0) {
    ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR || (errno == EAGAIN && wait_to_send(fd, heed_peer))) continue;
      return false;
    }
    while (message.msg_iovlen > 0 && (size_t)sent >= message.msg_iov->iov_len) {
      sent -= (ssize_t)message.msg_iov->iov_len;
      message.msg_iov++;
      message.msg_iovlen--;
    }
    if (message.msg_iovlen > 0) {
      message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + sent;
      message.msg_iov->iov_len -= (size_t)sent;
    }
  }
  return true;
}

bool wire_receive(int fd, void *payload, size_t nbytes) {
  size_t have = 0;
  while (have < nbytes) {
    ssize_t got = recv(fd, (char *)payload + have, nbytes - have, MSG_WAITALL);
    if (got > 0) {
      have += (size_t)got;
    } else if (got == 0) {
      errno = ECONNRESET;
      return false;
    } else if (errno != EINTR) {
      if (errno == EAGAIN) errno = ETIMEDOUT;
      return false;
    }
  }
  return true;
}

static bool frame_is_legal(const struct wire_frame *frame) {
  switch (frame->kind) {
  case WIRE_HELLO:
    return frame->nbytes == 0 && frame->value >= WIRE_ALIGNMENT && frame->value <= WIRE_MAX_BLOCK_BYTES &&
           frame->value % WIRE_ALIGNMENT == 0;
  case WIRE_FILE: return frame->nbytes > 0 && frame->nbytes <= WIRE_MAX_PATH_BYTES && frame->value <= 07777;
  case WIRE_BLOCK: return frame->nbytes > 0 && frame->nbytes <= WIRE_MAX_BLOCK_BYTES && frame->value <= 1;
  case WIRE_FILE_END:
  case WIRE_DONE: return frame->nbytes == 0;
  case WIRE_RESULT: return frame->nbytes <= WIRE_MAX_MESSAGE_BYTES && frame->value <= 1;
  default: return false;
  }
}

bool wire_receive_frame(int fd, struct wire_frame *frame) {
  struct wire_header header;
  if (!wire_receive(fd, &header, sizeof header)) return false;
  *frame = (struct wire_frame){
      .kind = ntohl(header.kind),
      .nbytes = ntohl(header.nbytes),
      .id = be64toh(header.id),
      .offset = be64toh(header.offset),
      .value = ntohl(header.value),
  };
  if (ntohl(header.magic) != WIRE_MAGIC || !frame_is_legal(frame)) {
    errno = EPROTO;
    return false;
  }
  return true;
}

bool wire_path_is_safe(const char *path, size_t length) {
  if (length == 0 || memchr(path, '\0', length) != NULL) return false;
  for (size_t start = 0; start <= length;) {
    const char *slash = start < length ? memchr(path + start, '/', length - start) : NULL;
    size_t end = slash ? (size_t)(slash - path) : length;
    size_t bytes = end - start;
    const char *name = path + start;
    if (bytes == 0 || bytes > 255) return false;
    if (bytes == 1 && name[0] == '.') return false;
    if (bytes == 2 && name[0] == '.' && name[1] == '.') return false;
    start = end + 1;
  }
  return true;
}
