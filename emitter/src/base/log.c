#include "log.h"

#include "apart.h"
#include "lock.h"

#include <errno.h>
#include <lifeline/detail/emit.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static ll_log_function log_function;
static void *log_ctx;

void ll_log_to(ll_log_function function, void *ctx) {
  log_function = function;
  log_ctx = ctx;
}

/* Whether a line can be written without a wait. poll fails if it is refused, or if the limit of descriptors is 0. */
static bool has_room(void) {
  struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
  struct stat status;
  int found = poll(&room, 1, 0);
  return found > 0 || (found < 0 && fstat(STDERR_FILENO, &status) == 0 && S_ISREG(status.st_mode));
}

/* A write must not terminate or stop the program: stderr may be a pipe without a reader (SIGPIPE), a file that has
 * reached the process' limit (SIGXFSZ), or the terminal of another job (SIGTTOU). If it has no room, the line is lost:
 * an emit does not wait for a reader of stderr. */
static void write_quietly(const char *line, size_t length) {
  static const int numbers[] = {SIGPIPE, SIGXFSZ, SIGTTOU};
  sigset_t raised, before, pending;
  sigpending(&pending);
  sigemptyset(&raised);
  for (int i = 0; i < 3; i++)
    if (!sigismember(&pending, numbers[i])) sigaddset(&raised, numbers[i]);
  pthread_sigmask(SIG_BLOCK, &raised, &before);
  ll_tls_inside++;
  bool failed = has_room() && write(STDERR_FILENO, line, length) < 0 && (errno == EPIPE || errno == EFBIG);
  ll_tls_inside--;
  if (failed) sigtimedwait(&raised, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Lines of threads that held the lock, which guards them. */
enum { LINES_MAX = 8 };
static ll_log_line lines[LINES_MAX];
static unsigned first, count;

bool ll_log_waits(void) {
  return count > 0;
}

bool ll_log_take(ll_log_line *line) {
  if (count == 0) return false;
  *line = lines[first];
  first = (first + 1) % LINES_MAX;
  count--;
  return true;
}

void ll_log_forget(void) {
  count = 0;
}

/* Text from a server must not control the terminal: replaces control characters, including C1 in UTF-8. */
static void clean(char *text) {
  for (unsigned char *c = (unsigned char *)text; *c != '\0'; c++) {
    if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) *c = c[1] = ' ';
    if (*c < 0x20 || *c == 0x7f) *c = ' ';
  }
}

static void write_line(void *ctx) {
  static const char *const names[] = {"error", "warning"};
  const ll_log_line *line = ctx;
  char text[sizeof line->text + 32];
  if (log_function != NULL) {
    log_function(log_ctx, line->level, line->text);
    return;
  }
  int error = errno;
  int length = snprintf(text, sizeof text, "lifeline: %s: %s\n", names[line->level], line->text);
  write_quietly(text, (size_t)length);
  errno = error;
}

void ll_log_write(ll_log_line *line) {
  ll_call_for_program(write_line, line);
}

/* The latest line of a full queue is replaced. */
static ll_log_line *place(void) {
  if (count < LINES_MAX) count++;
  return &lines[(first + count - 1) % LINES_MAX];
}

static void fill(ll_log_line *line, ll_log_level level, const char *format, va_list arguments) {
  line->level = level;
  vsnprintf(line->text, sizeof line->text, format, arguments);
  clean(line->text);
}

/* Apart from ll_log, whose callers that hold the lock may be short of stack. */
__attribute__((noinline)) static void write_now(ll_log_level level, const char *format, va_list arguments) {
  ll_log_line line;
  fill(&line, level, format, arguments);
  ll_log_write(&line);
}

void ll_log(ll_log_level level, const char *format, ...) {
  if (log_function == NULL && level == LL_LOG_INFO) return; /* stderr gets warnings and errors only */
  va_list arguments;
  va_start(arguments, format);
  if (ll_lock_is_held())
    fill(place(), level, format, arguments);
  else
    write_now(level, format, arguments);
  va_end(arguments);
}
