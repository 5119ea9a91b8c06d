#include "say.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct stat at_start; /* all zero: it was closed */

void io_say_begin(void) {
  if (fstat(STDERR_FILENO, &at_start) != 0) at_start = (struct stat){0};
}

bool io_may_say(void) {
  struct stat now;
  int domain = 0, error = errno;
  socklen_t bytes = sizeof domain;
  bool may = fstat(STDERR_FILENO, &now) == 0 && now.st_ino == at_start.st_ino && now.st_dev == at_start.st_dev;
  if (may && S_ISSOCK(now.st_mode))
    may = getsockopt(STDERR_FILENO, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == AF_UNIX;
  errno = error;
  return may;
}

void io_say(const char *what, const char *more) {
  char line[512];
  int error = errno;
  int bytes = snprintf(line, sizeof line, "lifeline: warning: %s: %s; %s\n", program_invocation_short_name, what, more);
  size_t most = bytes < (int)sizeof line ? (size_t)bytes : sizeof line - 1;
  if (bytes > 0 && io_may_say()) syscall(SYS_write, STDERR_FILENO, line, most); /* write is a cancellation point */
  errno = error;
}
