#include "low.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

enum { LOW = 3 };

static bool all_are_open(void) {
  for (int fd = 0; fd < LOW; fd++)
    if (fcntl(fd, F_GETFD) < 0) return false;
  return true;
}

ll_low ll_low_hold(void) {
  int error = errno, fd;
  ll_low held = 0;
  if (all_are_open()) {
    errno = error;
    return 0;
  }
  while ((fd = open("/", O_PATH | O_CLOEXEC)) >= 0 && fd < LOW)
    held |= 1u << fd;
  if (fd >= LOW) close(fd);
  errno = error;
  return held;
}

/* The program may have put another file there meanwhile. */
void ll_low_release(ll_low held) {
  int error = errno;
  for (int fd = 0; fd < LOW; fd++) {
    if ((held >> fd & 1) == 0) continue;
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_PATH) != 0) close(fd);
  }
  errno = error;
}

void ll_low_fill(void) {
  ll_low_hold();
}

int ll_low_above(int fd) {
  if (fd < 0 || fd >= LOW) return fd;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, LOW), error = errno;
  close(fd);
  errno = error;
  return moved;
}
