/* A server that forks before it works: the parent and its children, and their children, each emit numbered events, and
 * note outside of liblifeline how far they came, as serial-emitter does.
 *
 * Line R of the side file is of the process that emits test.serial {run: base + R, worker: 0, serial: 0, 1, ...}: how
 * many of its emits have returned, and its pid. Line 0 is the parent's. SIGTERM ends the emitting of all; then each
 * flushes and exits. Children that somebody kills are no reason to fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lifeline/lifeline.h>

LL_EVENT(test_serial, "test.serial", LL_INFO, (u32, run, ""), (u32, worker, ""), (u64, serial, ""));

static const char HELP[] =
    "Usage: forking-emitter --side FILE --when init|emit|thread [--base N] [--children N]\n"
    "       forking-emitter --side FILE --short N [--base N]\n"
    "\n"
    "  --side FILE   one cache line of 64 bytes per process: emits that returned, pid\n"
    "  --when WHEN   fork after ll_init, after the first event is sent, or from a thread while others emit\n"
    "  --children N  each of which has one of its own; default 3\n"
    "  --short N     children that emit three events and exit, eight at a time\n"
    "  --base N      the parent's run; default 0\n";

enum { TIMEOUT_MS = 300000, AT_ONCE = 8, EVENTS_OF_SHORT = 3, PAUSE_US = 5000, LINES_MOST = 20000 };

struct line {
  _Alignas(64) volatile uint64_t returned;
  volatile uint64_t pid;
};

static struct line *side;
static uint32_t base;
static volatile sig_atomic_t stopped;

static void stop(int number) {
  (void)number;
  stopped = 1;
}

static _Noreturn void die(const char *what) {
  fprintf(stderr, "forking-emitter: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void map_side(const char *path, size_t lines) {
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, (off_t)(lines * sizeof *side)) != 0) die(path);
  side = mmap(NULL, lines * sizeof *side, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (side == MAP_FAILED) die(path);
  close(fd);
}

static void emit(uint32_t number) {
  struct line *own = &side[number];
  ll_emit(test_serial, base + number, 0, own->returned);
  __atomic_store_n(&own->returned, own->returned + 1, __ATOMIC_RELEASE);
}

static void emit_until_stopped(uint32_t number) {
  side[number].pid = (uint64_t)getpid();
  while (!stopped) {
    emit(number);
    usleep(PAUSE_US);
  }
}

static pid_t fork_or_die(void) {
  pid_t child = fork();
  if (child < 0) die("fork");
  return child;
}

/* A child, and a child of it. Each exits as any program does. */
static _Noreturn void serve(uint32_t number, uint32_t grandchild) {
  emit(number);
  bool is_grandchild = fork_or_die() == 0;
  emit_until_stopped(is_grandchild ? grandchild : number);
  int status = 0;
  if (!is_grandchild) wait(&status);
  exit(ll_flush(TIMEOUT_MS) == 0 && (status == 0 || WIFSIGNALED(status)) ? 0 : 3);
}

/* Those whose parents were killed are ours to wait for by now. False if one failed by itself. */
static bool end_all(uint32_t lines) {
  bool good = true;
  int status;
  for (uint32_t i = 1; i < lines; i++)
    kill((pid_t)side[i].pid, SIGTERM);
  while (wait(&status) > 0 || errno == EINTR)
    good &= WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0;
  return good;
}

static void *fork_them(void *of) {
  uint32_t count = *(uint32_t *)of;
  for (uint32_t i = 0; i < count; i++)
    if (fork_or_die() == 0) serve(1 + i, 1 + count + i);
  return NULL;
}

static int prefork(const char *when, uint32_t count) {
  pthread_t thread;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (strcmp(when, "init") == 0) {
    if (ll_init(NULL) != 0) return 5;
    fork_them(&count);
  } else if (strcmp(when, "emit") == 0) {
    emit(0);
    if (ll_flush(TIMEOUT_MS) != 0) return 6;
    fork_them(&count);
  } else {
    emit(0);
    if ((errno = pthread_create(&thread, NULL, fork_them, &count)) != 0) die("pthread_create");
  }
  emit_until_stopped(0);
  if (strcmp(when, "thread") == 0) pthread_join(thread, NULL);
  bool good = end_all(1 + 2 * count);
  return ll_flush(TIMEOUT_MS) == 0 && good ? 0 : 7;
}

static int fork_short_ones(uint32_t count) {
  emit(0);
  for (uint32_t begun = 0, running = 0; begun < count || running > 0;) {
    if (begun < count && running < AT_ONCE) {
      begun++;
      running++;
      if (fork_or_die() > 0) continue;
      for (int i = 0; i < EVENTS_OF_SHORT; i++)
        emit(begun);
      exit(0);
    }
    int status;
    if (wait(&status) > 0) running--;
    if (status != 0) return 8;
  }
  return 0;
}

int main(int argc, char **argv) {
  static const struct option OPTIONS[] = {
      {"side", required_argument, NULL, 's'},
      {"when", required_argument, NULL, 'w'},
      {"children", required_argument, NULL, 'c'},
      {"short", required_argument, NULL, 'n'},
      {"base", required_argument, NULL, 'b'},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  const char *path = NULL, *when = NULL;
  uint32_t children = 3, short_ones = 0;
  int option;
  while ((option = getopt_long(argc, argv, "h", OPTIONS, NULL)) != -1) {
    switch (option) {
    case 's': path = optarg; break;
    case 'w': when = optarg; break;
    case 'c': children = (uint32_t)strtoul(optarg, NULL, 10); break;
    case 'n': short_ones = (uint32_t)strtoul(optarg, NULL, 10); break;
    case 'b': base = (uint32_t)strtoul(optarg, NULL, 10); break;
    case 'h': fputs(HELP, stdout); return 0;
    default: fputs(HELP, stderr); return 2;
    }
  }
  if (path == NULL || (when == NULL) == (short_ones == 0) || children > 64 || short_ones >= LINES_MOST) {
    fputs(HELP, stderr);
    return 2;
  }
  map_side(path, 1 + (short_ones > 0 ? short_ones : 2 * children));
  side[0].pid = (uint64_t)getpid();
  signal(SIGTERM, stop);
  return when != NULL ? prefork(when, children) : fork_short_ones(short_ones);
}
