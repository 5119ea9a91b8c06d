#include "log.h"

#include <errno.h>
#include <lifeline/detail/emit.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static ll_log_function log_function;
static void *log_ctx;

void ll_log_to(ll_log_function function, void *ctx) {
  log_function = function;
  log_ctx = ctx;
}

/* stderr may be a pipe without a reader: SIGPIPE must not terminate the program. */
static void write_quietly(const char *line, size_t length) {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  ll_tls_inside++;
  bool broken = write(STDERR_FILENO, line, length) < 0 && errno == EPIPE;
  ll_tls_inside--;
  if (broken && !sigismember(&pending, SIGPIPE)) sigtimedwait(&pipe, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ll_log(ll_log_level level, const char *format, ...) {
  static const char *const names[] = {"error", "warning"};
  if (log_function == NULL && level == LL_LOG_INFO) return; /* stderr gets warnings and errors only */
  char line[1024];
  int prefix = log_function == NULL ? snprintf(line, sizeof line, "lifeline: %s: ", names[level]) : 0;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + prefix, sizeof line - 1 - (size_t)prefix, format, arguments);
  va_end(arguments);
  /* Text from a server must not control the terminal: replace control characters, including C1 in UTF-8. */
  for (unsigned char *c = (unsigned char *)line; *c != '\0'; c++) {
    if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) *c = c[1] = ' ';
    if (*c < 0x20 || *c == 0x7f) *c = ' ';
  }
  if (log_function != NULL) {
    log_function(log_ctx, level, line);
    return;
  }
  size_t length = strlen(line);
  line[length++] = '\n';
  int error = errno;
  write_quietly(line, length);
  errno = error;
}
