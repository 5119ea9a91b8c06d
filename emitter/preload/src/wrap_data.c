/* Calls that move data, synchronise or connect: one line each in a table.
 *
 * A wrapper adds no cancellation point and takes none away: the real call is one, and what stands around it is not.
 * This file is compiled with -fexceptions, so that a thread that is cancelled there leaves no operation open. */
#include "declarations.h"
#include "descriptors.h"
#include "given.h"
#include "measure.h"
#include "real.h"
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static uint64_t bytes_of(const struct iovec *parts, size_t count) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; i++)
    bytes += parts[i].iov_len;
  return bytes;
}

#define TRANSFER(name, fd, way, parameters, arguments) MOVE(name, fd, way, 0, parameters, arguments)
#define MOVE(name, fd, direction, bytes_asked, parameters, arguments)                                                  \
  WRAPPED(ssize_t, name, parameters) {                                                                                 \
    if (!io_is_on()) return CALL(name) arguments;                                                                      \
    IO_OPERATION;                                                                                                      \
    io_begin(&operation, fd, direction);                                                                               \
    ssize_t result = CALL(name) arguments;                                                                             \
    operation.asked = operation.way != IO_WRITE ? 0 : result < 0 ? 1 : (bytes_asked); /* what the kernel could read */ \
    io_end_bytes(&operation, result);                                                                                  \
    return result;                                                                                                     \
  }

/* A peek moves nothing: its wait is part of the next read. The error queue holds no data of the peer. */
#define PEEKS(type, name, arguments)                                                                                   \
  if ((flags & (MSG_PEEK | MSG_ERRQUEUE)) != 0) {                                                                      \
    uint64_t began = io_begin_later();                                                                                 \
    type peeked = CALL(name) arguments;                                                                                \
    io_waits_since(fd, began);                                                                                         \
    return peeked;                                                                                                     \
  }

static int64_t least(int64_t result, uint64_t room) {
  return (uint64_t)result > room ? (int64_t)room : result;
}

/* With MSG_TRUNC the result is the length of the message, of which no more than there was room for has moved. How much
 * that is, the program's memory says, which the kernel may not have read if the call failed. */
#define MOVED(result, room) ((result) > 0 && (flags & MSG_TRUNC) != 0 ? least(result, room) : (result))

#define RECEIVE(name, room, parameters, arguments)                                                                     \
  WRAPPED(ssize_t, name, parameters) {                                                                                 \
    if (!io_is_on()) return CALL(name) arguments;                                                                      \
    PEEKS(ssize_t, name, arguments)                                                                                    \
    IO_OPERATION;                                                                                                      \
    io_begin(&operation, fd, IO_READ);                                                                                 \
    ssize_t result = CALL(name) arguments;                                                                             \
    io_end_bytes(&operation, MOVED(result, room));                                                                     \
    return result;                                                                                                     \
  }

/* clang-format off */
TRANSFER(read, fd, IO_READ, (int fd, void *to, size_t bytes), (fd, to, bytes))
TRANSFER(__read, fd, IO_READ, (int fd, void *to, size_t bytes), (fd, to, bytes))
TRANSFER(__pread64, fd, IO_READ, (int fd, void *to, size_t bytes, off64_t at), (fd, to, bytes, at))
TRANSFER(__read_chk, fd, IO_READ, (int fd, void *to, size_t bytes, size_t room), (fd, to, bytes, room))
TRANSFER(pread, fd, IO_READ, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at))
TRANSFER(pread64, fd, IO_READ, (int fd, void *to, size_t bytes, off64_t at), (fd, to, bytes, at))
TRANSFER(__pread_chk, fd, IO_READ, (int fd, void *to, size_t bytes, off_t at, size_t room), (fd, to, bytes, at, room))
TRANSFER(__pread64_chk, fd, IO_READ, (int fd, void *to, size_t bytes, off64_t at, size_t room), (fd, to, bytes, at, room))
TRANSFER(readv, fd, IO_READ, (int fd, const struct iovec *to, int count), (fd, to, count))
TRANSFER(preadv, fd, IO_READ, (int fd, const struct iovec *to, int count, off_t at), (fd, to, count, at))
TRANSFER(preadv64, fd, IO_READ, (int fd, const struct iovec *to, int count, off64_t at), (fd, to, count, at))
TRANSFER(preadv2, fd, IO_READ, (int fd, const struct iovec *to, int count, off_t at, int flags), (fd, to, count, at, flags))
TRANSFER(preadv64v2, fd, IO_READ, (int fd, const struct iovec *to, int count, off64_t at, int flags), (fd, to, count, at, flags))
RECEIVE(recv, bytes, (int fd, void *to, size_t bytes, int flags), (fd, to, bytes, flags))
RECEIVE(__recv_chk, bytes, (int fd, void *to, size_t bytes, size_t room, int flags), (fd, to, bytes, room, flags))
RECEIVE(recvfrom, bytes, (int fd, void *to, size_t bytes, int flags, struct sockaddr *from, socklen_t *from_bytes),
         (fd, to, bytes, flags, from, from_bytes))
RECEIVE(__recvfrom_chk, bytes,
         (int fd, void *to, size_t bytes, size_t room, int flags, struct sockaddr *from, socklen_t *from_bytes),
         (fd, to, bytes, room, flags, from, from_bytes))
RECEIVE(recvmsg, bytes_of(message->msg_iov, message->msg_iovlen), (int fd, struct msghdr *message, int flags), (fd, message, flags))

MOVE(__write, fd, IO_WRITE, bytes, (int fd, const void *from, size_t bytes), (fd, from, bytes))
MOVE(__pwrite64, fd, IO_WRITE, bytes, (int fd, const void *from, size_t bytes, off64_t at), (fd, from, bytes, at))
MOVE(__send, fd, IO_WRITE, bytes, (int fd, const void *from, size_t bytes, int flags), (fd, from, bytes, flags))
MOVE(pwrite, fd, IO_WRITE, bytes, (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at))
MOVE(pwrite64, fd, IO_WRITE, bytes, (int fd, const void *from, size_t bytes, off64_t at), (fd, from, bytes, at))
MOVE(writev, fd, IO_WRITE, bytes_of(from, (size_t)count), (int fd, const struct iovec *from, int count), (fd, from, count))
MOVE(pwritev, fd, IO_WRITE, bytes_of(from, (size_t)count), (int fd, const struct iovec *from, int count, off_t at), (fd, from, count, at))
MOVE(pwritev64, fd, IO_WRITE, bytes_of(from, (size_t)count), (int fd, const struct iovec *from, int count, off64_t at), (fd, from, count, at))
MOVE(pwritev2, fd, IO_WRITE, bytes_of(from, (size_t)count), (int fd, const struct iovec *from, int count, off_t at, int flags), (fd, from, count, at, flags))
MOVE(pwritev64v2, fd, IO_WRITE, bytes_of(from, (size_t)count), (int fd, const struct iovec *from, int count, off64_t at, int flags), (fd, from, count, at, flags))
MOVE(send, fd, IO_WRITE, bytes, (int fd, const void *from, size_t bytes, int flags), (fd, from, bytes, flags))
MOVE(sendto, fd, IO_WRITE, bytes, (int fd, const void *from, size_t bytes, int flags, const struct sockaddr *to, socklen_t to_bytes),
         (fd, from, bytes, flags, to, to_bytes))
MOVE(sendmsg, fd, IO_WRITE, bytes_of(message->msg_iov, message->msg_iovlen), (int fd, const struct msghdr *message, int flags), (fd, message, flags))
/* clang-format on */

/* On the end of a pipe that is read it reads. */
static io_way vmsplice_way(int fd) {
  IO_KEEPS_ERRNO;
  int flags = (int)syscall(SYS_fcntl, fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) == O_RDONLY ? IO_READ : IO_WRITE;
}

MOVE(vmsplice, fd, vmsplice_way(fd), bytes_of(from, (size_t)count),
     (int fd, const struct iovec *from, size_t count, unsigned flags), (fd, from, count, flags))

/* The library logs with it: see say.h. */
WRAPPED(ssize_t, write, (int fd, const void *from, size_t bytes)) {
  if (!io_is_on()) {
    bool of_library = fd == STDERR_FILENO && ll_tls_inside != 0;
    return of_library && !io_may_say() ? (ssize_t)bytes : CALL(write)(fd, from, bytes);
  }
  IO_OPERATION;
  io_begin(&operation, fd, IO_WRITE);
  ssize_t result = CALL(write)(fd, from, bytes);
  operation.asked = result < 0 ? 1 : bytes;
  io_end_bytes(&operation, result);
  return result;
}

/* --- several messages in one call --- */

static int64_t bytes_in(const struct mmsghdr *messages, int count, int flags) {
  int64_t bytes = 0;
  for (int i = 0; i < count; i++)
    bytes += MOVED((int64_t)messages[i].msg_len, bytes_of(messages[i].msg_hdr.msg_iov, messages[i].msg_hdr.msg_iovlen));
  return count < 0 ? count : bytes;
}

#define MESSAGES(name, way, parameters, arguments)                                                                     \
  WRAPPED(int, name, parameters) {                                                                                     \
    if (!io_is_on()) return CALL(name) arguments;                                                                      \
    PEEKS(int, name, arguments)                                                                                        \
    IO_OPERATION;                                                                                                      \
    io_begin(&operation, fd, way);                                                                                     \
    int result = CALL(name) arguments;                                                                                 \
    operation.asked = way == IO_WRITE && result < (int)count ? UINT64_MAX : 0;                                         \
    io_end_bytes(&operation, bytes_in(messages, result, flags));                                                       \
    return result;                                                                                                     \
  }

MESSAGES(recvmmsg, IO_READ, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
         (fd, messages, count, flags, timeout))
MESSAGES(sendmmsg, IO_WRITE, (int fd, struct mmsghdr *messages, unsigned count, int flags),
         (fd, messages, count, flags))

/* --- from one descriptor to another: one operation, of the network if a socket takes part, else of the destination ---
 */

static bool is_of_source(int from, int to) {
  return io_descriptor_of(from).kind == IO_NET && io_descriptor_of(to).kind != IO_NET;
}

/* Whether the destination would take more: then the source had none. */
static bool takes_more(int fd) {
  struct pollfd polled = {.fd = fd, .events = POLLOUT};
  struct timespec none = {0, 0};
  int error = errno;
  bool room = syscall(SYS_ppoll, &polled, 1, &none, NULL, 0) > 0 && (polled.revents & POLLOUT) != 0;
  errno = error;
  return room;
}

#define BETWEEN(name, bytes_asked, parameters, arguments)                                                              \
  WRAPPED(ssize_t, name, parameters) {                                                                                 \
    if (!io_is_on()) return CALL(name) arguments;                                                                      \
    bool source = is_of_source(from, to);                                                                              \
    IO_OPERATION;                                                                                                      \
    io_begin(&operation, source ? from : to, source ? IO_READ : IO_WRITE);                                             \
    ssize_t result = CALL(name) arguments;                                                                             \
    operation.asked = source ? 0 : result < 0 ? 1 : (bytes_asked);                                                     \
    bool part = !source && operation.may_wait && (result < 0 || (uint64_t)result < operation.asked);                   \
    operation.has_room = part && (result == 0 || takes_more(to));                                                      \
    io_end_bytes(&operation, result);                                                                                  \
    io_add_target(source ? to : from, source ? IO_WRITE : IO_READ, &operation, result);                                \
    return result;                                                                                                     \
  }

/* A file has fewer at its end, and a pipe often has: that says nothing of the destination. */
BETWEEN(sendfile, bytes, (int to, int from, off_t *at, size_t bytes), (to, from, at, bytes))
BETWEEN(sendfile64, bytes, (int to, int from, off64_t *at, size_t bytes), (to, from, at, bytes))
BETWEEN(splice, 0, (int from, off64_t *from_at, int to, off64_t *to_at, size_t bytes, unsigned flags),
        (from, from_at, to, to_at, bytes, flags))
BETWEEN(copy_file_range, 0, (int from, off64_t *from_at, int to, off64_t *to_at, size_t bytes, unsigned flags),
        (from, from_at, to, to_at, bytes, flags))

/* --- calls that succeed or fail: their value is 1 --- */

#define DONE(name, way, parameters, arguments)                                                                         \
  WRAPPED(int, name, parameters) {                                                                                     \
    if (!io_is_on()) return CALL(name) arguments;                                                                      \
    IO_OPERATION;                                                                                                      \
    io_begin(&operation, fd, way);                                                                                     \
    int result = CALL(name) arguments;                                                                                 \
    io_end(&operation, result, 1);                                                                                     \
    return result;                                                                                                     \
  }

DONE(fsync, IO_SYNC, (int fd), (fd))
DONE(fdatasync, IO_SYNC, (int fd), (fd))
DONE(syncfs, IO_SYNC, (int fd), (fd))
DONE(sync_file_range, IO_SYNC, (int fd, off64_t at, off64_t bytes, unsigned flags), (fd, at, bytes, flags))

/* A connection that is made in the background (EINPROGRESS) counts as `again`; its time is in the wait that follows. */
WRAPPED(int, connect, (int fd, const struct sockaddr *to, socklen_t bytes)) {
  if (!io_is_on()) return CALL(connect)(fd, to, bytes);
  struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
  socklen_t known = bytes <= sizeof address && io_is_readable(to, bytes) ? bytes : 0;
  memcpy(&address, to, known);
  io_descriptor_connects(fd, (struct sockaddr *)&address, known);
  IO_OPERATION;
  io_begin(&operation, fd, IO_CONNECT);
  int result = CALL(connect)(fd, to, bytes);
  io_end(&operation, result, 1);
  if (address.ss_family == AF_UNIX) io_descriptor_closed(fd); /* now it has a name */
  return result;
}

#define ACCEPT(name, parameters, arguments)                                                                            \
  WRAPPED(int, name, parameters) {                                                                                     \
    if (!io_is_on()) return CALL(name) arguments;                                                                      \
    IO_OPERATION;                                                                                                      \
    io_begin(&operation, fd, IO_ACCEPT);                                                                               \
    int made = CALL(name) arguments;                                                                                   \
    if (made >= 0) io_descriptor_accepted(made);                                                                       \
    io_end(&operation, made < 0 ? -1 : 0, 1);                                                                          \
    return made;                                                                                                       \
  }

ACCEPT(accept, (int fd, struct sockaddr *from, socklen_t *bytes), (fd, from, bytes))
ACCEPT(accept4, (int fd, struct sockaddr *from, socklen_t *bytes, int flags), (fd, from, bytes, flags))
