#include "say.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct stat at_start; /* all zero: it was closed */

void io_say_begin(void) {
  if (fstat(STDERR_FILENO, &at_start) != 0) at_start = (struct stat){0};
}

/* A pipe that nobody reads would block the program or raise SIGPIPE. A file has room where poll is not allowed, too. */
static bool has_room(const struct stat *status) {
  struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
  long found = syscall(SYS_ppoll, &room, 1, &(struct timespec){0}, NULL, 0);
  return found < 0 ? S_ISREG(status->st_mode) : found > 0 && (room.revents & (POLLOUT | POLLERR)) == POLLOUT;
}

bool io_may_say(void) {
  struct stat now;
  int domain = 0, error = errno;
  socklen_t bytes = sizeof domain;
  bool may = fstat(STDERR_FILENO, &now) == 0 && now.st_ino == at_start.st_ino && now.st_dev == at_start.st_dev;
  if (may && S_ISSOCK(now.st_mode))
    may = getsockopt(STDERR_FILENO, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == AF_UNIX;
  may = may && has_room(&now);
  errno = error;
  return may;
}

void io_say(const char *what, const char *more) {
  char line[512];
  int error = errno;
  int bytes = snprintf(line, sizeof line, "lifeline: warning: %s: %s; %s\n", program_invocation_short_name, what, more);
  size_t most = bytes < (int)sizeof line ? (size_t)bytes : sizeof line - 1;
  if (bytes > 0) io_say_lines(line, most);
  errno = error;
}

void io_say_lines(const char *lines, size_t bytes) {
  int error = errno;
  if (io_may_say()) syscall(SYS_write, STDERR_FILENO, lines, bytes); /* write is a cancellation point */
  errno = error;
}
