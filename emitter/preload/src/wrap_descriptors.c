/* Calls that make, replace or close descriptors. Only those are wrapped whose arguments say more than fstat (a path,
 * that a connection was accepted) or whose absence would leave an old entry; and in the library's threads those that
 * its sinks use. */
#include "declarations.h"
#include "descriptors.h"
#include "measure.h"
#include "own.h"
#include "real.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static bool is_of_library(void) {
  return __builtin_expect(ll_tls_inside != 0, 0);
}

/* --- open --- */

static int opened(int fd, const char *path) {
  if (fd < 0 || __atomic_load_n(&io_on, __ATOMIC_RELAXED) == 0) return fd;
  if (is_of_library()) return io_own_keep(fd);
  io_descriptor_opened(fd, path);
  return fd;
}

/* The mode is an argument only if a file may be made. */
#define MODE_AFTER(last, flags, mode)                                                                                  \
  mode_t mode = 0;                                                                                                     \
  if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) {                                                    \
    va_list more;                                                                                                      \
    va_start(more, last);                                                                                              \
    mode = va_arg(more, mode_t);                                                                                       \
    va_end(more);                                                                                                      \
  }

#define OPEN(name)                                                                                                     \
  WRAPPED(int, name, (const char *path, int flags, ...)) {                                                             \
    MODE_AFTER(flags, flags, mode)                                                                                     \
    return opened(CALL(name)(path, flags, mode), path);                                                                \
  }
OPEN(open)
OPEN(open64)
OPEN(__open)
OPEN(__open64)

#define OPENAT(name)                                                                                                   \
  WRAPPED(int, name, (int directory, const char *path, int flags, ...)) {                                              \
    MODE_AFTER(flags, flags, mode)                                                                                     \
    return opened(CALL(name)(directory, path, flags, mode), path);                                                     \
  }
OPENAT(openat)
OPENAT(openat64)

#define OPEN_PLAIN(name, parameters, arguments)                                                                        \
  WRAPPED(int, name, parameters) {                                                                                     \
    return opened(CALL(name) arguments, path);                                                                         \
  }
OPEN_PLAIN(creat, (const char *path, mode_t mode), (path, mode))
OPEN_PLAIN(creat64, (const char *path, mode_t mode), (path, mode))
OPEN_PLAIN(__open_2, (const char *path, int flags), (path, flags))
OPEN_PLAIN(__open64_2, (const char *path, int flags), (path, flags))
OPEN_PLAIN(__openat_2, (int directory, const char *path, int flags), (directory, path, flags))
OPEN_PLAIN(__openat64_2, (int directory, const char *path, int flags), (directory, path, flags))

/* --- other new descriptors --- */

#define MAKE(name, parameters, arguments)                                                                              \
  WRAPPED(int, name, parameters) {                                                                                     \
    return opened(CALL(name) arguments, NULL);                                                                         \
  }
MAKE(socket, (int domain, int type, int protocol), (domain, type, protocol))
MAKE(eventfd, (unsigned value, int flags), (value, flags))
MAKE(epoll_create, (int size), (size))
MAKE(epoll_create1, (int flags), (flags))
MAKE(dup, (int fd), (fd))

#define MAKE_TWO(name, parameters, arguments)                                                                          \
  WRAPPED(int, name, parameters) {                                                                                     \
    int result = CALL(name) arguments;                                                                                 \
    if (result == 0) fds[0] = opened(fds[0], NULL), fds[1] = opened(fds[1], NULL);                                     \
    return result;                                                                                                     \
  }
MAKE_TWO(pipe, (int fds[2]), (fds))
MAKE_TWO(pipe2, (int fds[2], int flags), (fds, flags))
MAKE_TWO(socketpair, (int domain, int type, int protocol, int fds[2]), (domain, type, protocol, fds))

/* --- closed and replaced --- */

/* Erased before the call, since another thread may get the number at once. True: the descriptor does not exist for the
 * program. */
static bool closing(int fd) {
  if (__atomic_load_n(&io_on, __ATOMIC_RELAXED) == 0 || io_own_is_apart()) return false;
  if (is_of_library())
    io_own_forget(fd);
  else if (io_own_is(fd))
    return true;
  io_descriptor_closed(fd);
  return false;
}

WRAPPED(int, close, (int fd)) {
  if (closing(fd)) {
    errno = EBADF;
    return -1;
  }
  return CALL(close)(fd);
}

WRAPPED(int, __close, (int fd)) {
  return close(fd);
}

/* The library's descriptors cannot be moved any more: EBUSY is what dup2 may say when it meets an open in progress. */
#define REPLACE(name, parameters, arguments)                                                                           \
  WRAPPED(int, name, parameters) {                                                                                     \
    if (fd != to && closing(to)) {                                                                                     \
      errno = EBUSY;                                                                                                   \
      return -1;                                                                                                       \
    }                                                                                                                  \
    return CALL(name) arguments;                                                                                       \
  }
REPLACE(dup2, (int fd, int to), (fd, to))
REPLACE(dup3, (int fd, int to, int flags), (fd, to, flags))

/* Closes the parts of the range between the library's descriptors. */
WRAPPED(int, close_range, (unsigned first, unsigned last, int flags)) {
  if (__atomic_load_n(&io_on, __ATOMIC_RELAXED) == 0 || is_of_library() || first > last)
    return CALL(close_range)(first, last, flags);
  if ((flags & (int)CLOSE_RANGE_UNSHARE) != 0 && io_has_table_alone()) flags &= ~(int)CLOSE_RANGE_UNSHARE;
  if ((flags & (int)CLOSE_RANGE_CLOEXEC) == 0) io_descriptors_closed(first, last);
  int result = 0;
  for (long own; result == 0 && first <= last && (own = io_own_next(first, last)) >= 0; first = (unsigned)own + 1)
    if ((unsigned)own > first) result = CALL(close_range)(first, (unsigned)own - 1, flags);
  return result == 0 && first <= last ? CALL(close_range)(first, last, flags) : result;
}

WRAPPED(void, closefrom, (int from)) {
  unsigned first = from > 0 ? (unsigned)from : 0;
  if (io_own_next(first, ~0u) < 0 || is_of_library() || close_range(first, ~0u, 0) != 0) CALL(closefrom)(from);
  io_descriptors_closed(first, ~0u);
}

/* libc declares its argument as never NULL, and answers with an error. */
static bool is_given(const void *stream) {
  return stream != NULL;
}

/* libc closes these itself. A descriptor of the library is none of the program's here. */
WRAPPED(int, closedir, (DIR * directory)) {
  if (is_given(directory)) closing(dirfd(directory));
  return CALL(closedir)(directory);
}

WRAPPED(int, pclose, (FILE * file)) {
  if (is_given(file)) closing(fileno(file));
  return CALL(pclose)(file);
}
