#include "own.h"

#include "page.h"

#include <errno.h>
#include <fcntl.h>
#include <lifeline/lifeline.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BELOW = 1024, SPARE = 64 }; /* the kernel's table of descriptors grows with the highest one: not beyond BELOW */

bool io_own_is_apart(void) {
  return (ll_tls_inside & LL_INSIDE_APART) != 0;
}

static uint64_t *word_of(int fd) {
  return &io_page->own[fd / 64];
}

static uint64_t bit_of(int fd) {
  return UINT64_C(1) << fd % 64;
}

static bool has_room(int fd) {
  return fd >= 0 && fd < IO_OWN_MAX && io_page != NULL;
}

static int lowest(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
  int most = limit.rlim_cur < BELOW ? (int)limit.rlim_cur : BELOW;
  return most > 2 * SPARE ? most - SPARE : -1;
}

int io_own_keep(int fd) {
  int error = errno, from = lowest();
  if (!has_room(fd) || io_own_is_apart()) return fd;
  if (from > fd) {
    int flags = fcntl(fd, F_GETFD);
    int moved = fcntl(fd, flags & FD_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, from);
    if (moved >= 0) close(fd);
    if (moved >= 0) fd = moved;
  }
  if (has_room(fd)) __atomic_fetch_or(word_of(fd), bit_of(fd), __ATOMIC_RELAXED);
  errno = error;
  return fd;
}

void io_own_forget(int fd) {
  if (io_own_is(fd)) __atomic_fetch_and(word_of(fd), ~bit_of(fd), __ATOMIC_RELAXED);
}

bool io_own_is(int fd) {
  return has_room(fd) && (__atomic_load_n(word_of(fd), __ATOMIC_RELAXED) & bit_of(fd)) != 0;
}

long io_own_next(unsigned from, unsigned last) {
  for (; from <= last && from < IO_OWN_MAX; from++)
    if (io_own_is((int)from)) return from;
  return -1;
}
