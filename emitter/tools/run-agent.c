#include "run-agent.h"

#include "ring/producer.h"
#include "summary/moments.h"
#include "summary/summary.h"
#include "table.h"

#include <lifeline/caliper.h>
#include <lifeline/events.h>
#include <lifeline/lifeline.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FLUSH_MS = 250, FIRST_LOOK_MS = 10, LAST_LOOK_MS = 1000, LOOKS = 10 };

#define PREFIX "lifeline-run-"
#define FOLDER "/dev/shm" /* tmpfs, where a lease shows that nobody has a file mapped */

static char path[IO_PAGE_BYTES]; /* another name when the run is over: nobody attaches then */
static io_table *table;          /* NULL while it is looked whether others have it */
static int lock = -1;            /* open while the agent lives: who can lock the file knows that it does not */
static uint64_t first_tick, first_ns, delivered_ns;
static int first_process; /* pidfd */
static pthread_mutex_t watching = PTHREAD_MUTEX_INITIALIZER;
static bool finishing; /* the watcher must leave the table alone */

/* --- lines of the log, which nobody would see on the agent's standard error --- */

static char lines[IO_LINES_BYTES];
static size_t lines_used;
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;
static int terminal = -1; /* the run's standard error, if it is one: nobody waits for the end of a terminal */

static void keep_line(void *unused, ll_log_level level, const char *message) {
  (void)unused;
  if (level == LL_LOG_INFO) return;
  const char *kind = level == LL_LOG_ERROR ? "error" : "warning";
  pthread_mutex_lock(&keeping);
  size_t room = sizeof lines - lines_used;
  int bytes = snprintf(lines + lines_used, room, "lifeline: %s: %s\n", kind, message);
  if (bytes > 0 && (size_t)bytes < room) lines_used += (size_t)bytes; /* else the first lines say why */
  lines[lines_used] = '\0';
  pthread_mutex_unlock(&keeping);
}

static void write_lines(int fd) {
  pthread_mutex_lock(&keeping);
  if (lines_used > 0 && write(fd, lines, lines_used) > 0) lines_used = 0, lines[0] = '\0';
  pthread_mutex_unlock(&keeping);
}

/* When the first process ends, not when they come: a program may have a picture on the terminal. Elsewhere that process
 * writes them, which has the table's file open. */
static void hand_over_lines(int table_file) {
  struct pollfd room = {.fd = terminal, .events = POLLOUT};
  if (terminal < 0) {
    pthread_mutex_lock(&keeping);
    if (pwrite(table_file, lines, lines_used + 1, offsetof(io_table, lines)) < 0) unlink(path);
    pthread_mutex_unlock(&keeping);
  } else if (poll(&room, 1, 0) > 0) {
    write_lines(terminal);
  }
}

/* --- reports --- */

static bool names_targets;

static void tell(const io_report *now) {
  if (!names_targets) return;
  ll_emit(io_run, now->program, now->operation, now->name, now->interval_ns, now->sums.count, now->sums.nbytes,
          io_report_duration(now), io_report_longest(now), now->sums.again, now->sums.errors, (uint32_t)now->sums.open);
}

/* The calipers of an emitter: their names, units and rules. */
#define DECLARE(ident, name, unit) LL_CALIPER(io_##ident, name, LL_INFO, unit);
IO_FOR_EACH_CALIPER(DECLARE)

#define TYPE(ident, name, unit) [IO_CALIPER_##ident] = &ll_type_io_##ident,
static ll_event_type *const types[IO_CALIPERS] = {IO_FOR_EACH_CALIPER(TYPE)};

static io_values values[IO_CALIPERS]; /* what was taken, and not yet told */

static double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Squares of distances from the mean are what is left of two sums that are nearly equal: hence long double. */
static ll_moments moments_of(const io_powers *powers, uint64_t count, bool whole) {
  ll_moments made = {.count = count};
  if (count == 0) return made;
  long double sum = whole ? (long double)powers->sum : (long double)double_of(powers->sum);
  long double squares = (long double)double_of(powers->squares) - sum * sum / (long double)count;
  made.sum = (double)sum;
  made.sum_low = (double)(sum - (long double)made.sum);
  made.squares = squares > 0 ? (double)squares : 0;
  made.min = double_of(~powers->least);
  made.max = double_of(powers->greatest);
  return made;
}

static void deliver_caliper(unsigned caliper, uint64_t interval_ns) {
  io_values *taken = &values[caliper];
  io_values_take(table->values[caliper], taken);
  if (taken->count == 0) return;
  uint32_t state = ll_make_known(types[caliper]), threads = (uint32_t)taken->threads;
  const ll_moments moments[3] = {moments_of(&taken->value, taken->count, true),
                                 moments_of(&taken->ticks, taken->timed, true),
                                 moments_of(&taken->rate, taken->timed, false)};
  *taken = (io_values){0};
  if (state == LL_TYPE_OFF || state == LL_TYPE_NEW || state == LL_TYPE_REFUSED) return;
  ll_summary_add_moments(state & LL_TYPE_NUMBER_MAX, moments, threads, interval_ns);
}

static double cpu_tick_ns(void) {
  uint64_t ticks = LL_CPU_TICK() - first_tick, ns = io_table_now() - first_ns;
  return ticks > 0 ? (double)ns / (double)ticks : 0;
}

static void deliver(void) {
  uint64_t interval_ns = io_table_now() - table->reported_ns;
  io_table_report(table, cpu_tick_ns(), tell);
  for (unsigned caliper = 0; caliper < IO_CALIPERS; caliper++)
    deliver_caliper(caliper, interval_ns);
  delivered_ns = io_table_now();
}

/* --- the run --- */

static void *watch(void *unused) {
  struct pollfd polled = {.fd = first_process, .events = POLLIN};
  while (poll(&polled, 1, -1) < 0 && errno == EINTR) {
  }
  pthread_mutex_lock(&watching);
  if (!finishing) {
    __atomic_fetch_add(&table->asked, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &table->asked, FUTEX_WAKE, 1, NULL, NULL, 0);
  }
  pthread_mutex_unlock(&watching);
  return unused;
}

/* 0 for `asked`: the run is over, and the file is about to go. */
static void answer(uint32_t asked) {
  int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  hand_over_lines(fd);
  if (asked != 0 && pwrite(fd, &asked, sizeof asked, offsetof(io_table, answered)) < 0) unlink(path);
  close(fd);
}

/* True: no process of the run has the table. One that attaches afterwards finds no file, and is an emitter. */
static bool is_over(void) {
  if (io_table_is_used(path)) return false;
  char gone[sizeof path];
  if (snprintf(gone, sizeof gone, "%s.end", path) >= (int)sizeof gone || rename(path, gone) != 0) return true;
  if (io_table_is_used(gone)) {
    rename(gone, path);
    return false;
  }
  strcpy(path, gone);
  return true;
}

static void pause_ms(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* Without our own mapping, which would count. */
static bool look_whether_over(void) {
  bool over = false;
  munmap(table, sizeof *table);
  for (int tries = 0; tries < LOOKS && !(over = is_over()); tries++)
    pause_ms(1);
  table = io_table_open(path);
  return over;
}

/* The first process has ended, or is about to: it no longer has the table. Those that still have it are waited for. */
static void finish(uint32_t asked, unsigned interval_s) {
  bool answered = false, over = false;
  for (long ms = FIRST_LOOK_MS; !over; ms = ms < LAST_LOOK_MS / 2 ? 2 * ms : LAST_LOOK_MS) {
    if (answered) pause_ms(ms);
    over = look_whether_over();
    if (table == NULL) break;
    if (!answered || over || io_table_now() - delivered_ns >= interval_s * UINT64_C(1000000000)) deliver();
    if (over || answered) continue;
    ll_flush(FLUSH_MS); /* what it does not send is sent later */
    answer(asked);
    answered = true;
  }
  ll_shutdown(LL_AS_AT_EXIT); /* for which the first process waits if the run ends with it */
  answer(0);
  unlink(path);
}

/* False: the run has to do without an agent. */
static bool prepare(const char *program) {
  pthread_t watcher;
  ll_options options = LL_OPTIONS_INIT;
  options.log = keep_line;
  const char *slash = strrchr(program, '/'), *given = getenv("LIFELINE_PROGRAM");
  if (given == NULL || *given == '\0') options.program = slash != NULL ? slash + 1 : program;
  ll_init(&options);
  uint64_t before = LL_CPU_TICK(), tick = ll_caliper_tick(), after = LL_CPU_TICK();
  table->monotonic = tick < before || tick > after;
  return pthread_create(&watcher, NULL, watch, NULL) == 0;
}

static void serve(unsigned interval_s) {
  struct timespec interval = {interval_s, 0};
  while (__atomic_load_n(&table->asked, __ATOMIC_SEQ_CST) == 0) {
    syscall(SYS_futex, &table->asked, FUTEX_WAIT, 0, &interval, NULL, 0);
    if (__atomic_load_n(&table->asked, __ATOMIC_SEQ_CST) == 0) deliver();
  }
  pthread_mutex_lock(&watching);
  finishing = true;
  pthread_mutex_unlock(&watching);
  finish(__atomic_load_n(&table->asked, __ATOMIC_SEQ_CST), interval_s);
}

/* Nothing of the program is kept: no descriptor but that of a terminal, no process group or folder. Signals that end a
 * service or a session are for the program: the agent ends after it. */
static void detach(int *ready) {
  static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE};
  enum { FIRST = 3, LOCK, READY, TERMINAL, KEPT };
  sigset_t none;
  setsid();
  sigemptyset(&none);
  for (int signal = 1; signal < NSIG; signal++)
    if (signal != SIGKILL && signal != SIGSTOP) sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
    signal(ignored[i], SIG_IGN);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int null = open("/dev/null", O_RDWR);
  if (isatty(STDERR_FILENO)) terminal = STDERR_FILENO;
  int *kept[] = {&first_process, &lock, ready, &terminal};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    *kept[i] = fcntl(*kept[i], F_DUPFD_CLOEXEC, KEPT); /* no terminal: -1 */
  for (int fd = 0; fd < FIRST; fd++)
    dup2(null, fd);
  for (int i = 0; i < KEPT - FIRST; i++)
    if (*kept[i] >= 0) *kept[i] = dup2(*kept[i], FIRST + i);
  syscall(SYS_close_range, (unsigned)(terminal >= 0 ? KEPT : TERMINAL), ~0u, 0);
  if (chdir("/") != 0) return;
}

/* --- files --- */

/* Of agents that were killed. */
static void remove_left(void) {
  DIR *folder = opendir(FOLDER);
  if (folder == NULL) return;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    struct stat status;
    if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0) continue;
    int fd = openat(dirfd(folder), entry->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) continue;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
      unlinkat(dirfd(folder), entry->d_name, 0);
    close(fd);
  }
  closedir(folder);
}

/* Who removes what was left may have the lock first. */
static bool lock_table(void) {
  struct stat status;
  lock = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  return lock >= 0 && flock(lock, LOCK_EX) == 0 && fstat(lock, &status) == 0 && status.st_nlink == 1;
}

static bool make_table(const io_settings *settings) {
  enum { TRIES = 3 };
  uint64_t word;
  for (int i = 0; i < TRIES; i++) {
    if (getrandom(&word, sizeof word, 0) != sizeof word) return false;
    snprintf(path, sizeof path, FOLDER "/" PREFIX "%016llx", (unsigned long long)word);
    if (!io_table_make(path)) return false;
    if (lock_table() && !io_table_is_used(path) && (table = io_table_open(path)) != NULL) {
      io_table_begin(table, settings);
      table->first = (uint32_t)getpid();
      return true;
    }
    unlink(path);
    if (lock >= 0) close(lock);
  }
  return false;
}

/* The agent, which is no child of this process. */
static bool start(unsigned interval_s, const char *program) {
  int ready[2];
  char word = 0;
  if (pipe2(ready, O_CLOEXEC) != 0) return false;
  pid_t child = fork();
  if (child == 0) {
    if (fork() != 0) _exit(0);
    detach(&ready[1]);
    if (!prepare(program) || write(ready[1], "r", 1) != 1) _exit(1);
    write_lines(ready[1]);
    close(ready[1]);
    serve(interval_s);
    _exit(0);
  }
  close(ready[1]);
  if (child > 0) waitpid(child, NULL, 0);
  bool started = child > 0 && read(ready[0], &word, 1) == 1;
  char said[IO_LINES_BYTES];
  for (ssize_t bytes; (bytes = read(ready[0], said, sizeof said)) > 0;)
    fwrite(said, 1, (size_t)bytes, stderr);
  close(ready[0]);
  return started;
}

bool run_agent_start(const io_settings *settings, unsigned interval_s, const char *program) {
  /* Process 1 and subreapers get orphans: they would wait for the agent, which waits for them. */
  int reaps = 0;
  if (getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &reaps) == 0 && reaps != 0)) return false;
  first_process = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (first_process < 0) return false;
  first_tick = LL_CPU_TICK(), first_ns = io_table_now();
  names_targets = settings->targets > 0;
  remove_left();
  bool made = make_table(settings), started = made && start(interval_s, program);
  close(first_process);
  if (made) munmap(table, sizeof *table);
  if (made) close(lock);
  if (started) return setenv("LIFELINE_RUN_PAGE", path, 1) == 0;
  if (made) unlink(path);
  return false;
}
