#include "run-agent.h"

#include "table.h"

#include <lifeline/events.h>
#include <lifeline/lifeline.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FLUSH_MS = 5000, FIRST_LOOK_MS = 10, LAST_LOOK_MS = 1000 };

#define FOLDER "/dev/shm" /* tmpfs, where a lease shows that nobody has a file mapped */

static char path[IO_PAGE_BYTES]; /* another name when the run is over: nobody attaches then */
static io_table *table;          /* mapped while the run's first process lives */
static uint64_t first_tick, first_ns;
static int first_process; /* pidfd */
static uint32_t ended;    /* it has */

/* --- reports --- */

static void tell(const io_report *now) {
  if (now->sums.count == 0 && now->sums.again == 0 && now->sums.errors == 0) return;
  ll_emit(io_short, now->program, now->operation, now->name, now->interval_ns, now->sums.count, now->sums.nbytes,
          io_report_duration(now), io_report_longest(now), now->sums.again, now->sums.errors);
}

/* Of the CPU's clock, which processes use that are no emitters. */
static double cpu_tick_ns(void) {
  uint64_t ticks = LL_CPU_TICK() - first_tick, ns = io_table_now() - first_ns;
  return ticks > 0 ? (double)ns / (double)ticks : 0;
}

/* Tables of emitters that were killed: of no living process. One that ended has reported all of its own. */
static void report_killed(void) {
  DIR *folder = opendir(FOLDER);
  const char *name = strrchr(path, '/') + 1;
  size_t bytes = strcspn(name, ".");
  if (folder == NULL) return;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char file[sizeof FOLDER + 256];
    if (strncmp(entry->d_name, name, bytes) != 0 || entry->d_name[bytes] != '.') continue;
    snprintf(file, sizeof file, FOLDER "/%s", entry->d_name);
    if (strcmp(file, path) == 0 || io_table_is_used(file)) continue;
    io_table *left = io_table_open(file);
    unlink(file);
    if (left == NULL) continue;
    io_table_report(left, cpu_tick_ns(), tell);
    munmap(left, sizeof *left);
  }
  closedir(folder);
}

static void deliver(void) {
  if (table != NULL) io_table_report(table, cpu_tick_ns(), tell);
  report_killed();
  ll_flush(FLUSH_MS);
}

/* --- the run --- */

static void wake(uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *watch(void *unused) {
  struct pollfd polled = {.fd = first_process, .events = POLLIN};
  while (poll(&polled, 1, -1) < 0 && errno == EINTR)
    ;
  __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&table->asked, 1, __ATOMIC_SEQ_CST);
  wake(&table->asked);
  return unused;
}

static void answer(uint32_t asked) {
  int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  if (pwrite(fd, &asked, sizeof asked, offsetof(io_table, answered)) < 0) unlink(path);
  close(fd);
}

/* True: no process of the run has the table. One that attaches afterwards finds no file, and is an emitter. */
static bool is_over(void) {
  if (io_table_is_used(path)) return false;
  char gone[sizeof path + 8];
  snprintf(gone, sizeof gone, "%s.end", path);
  if (rename(path, gone) != 0) return true;
  if (io_table_is_used(gone)) {
    rename(gone, path);
    return false;
  }
  snprintf(path, sizeof path, "%.*s", (int)sizeof path - 1, gone);
  return true;
}

static void pause_ms(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* The first process has ended, or is about to: it no longer has the table. Whoever still has it is waited for. */
static void finish(uint32_t asked) {
  io_table *mapped = table;
  for (long ms = FIRST_LOOK_MS;; ms = ms < LAST_LOOK_MS / 2 ? 2 * ms : LAST_LOOK_MS) {
    bool over = false;
    table = NULL;
    munmap(mapped, sizeof *mapped);
    for (int tries = 0; tries < FIRST_LOOK_MS && !(over = is_over()); tries++)
      pause_ms(1);
    mapped = table = io_table_open(path);
    if (mapped == NULL) break;
    deliver();
    if (over) break;
    answer(asked);
    pause_ms(ms);
  }
  ll_shutdown(LL_AS_AT_EXIT);
  unlink(path); /* then the first process ends, if it waits */
}

static void serve(unsigned interval_s) {
  struct timespec interval = {interval_s, 0};
  pthread_t watcher;
  uint32_t seen = 0;
  ll_init(NULL);
  if (pthread_create(&watcher, NULL, watch, NULL) != 0) return;
  for (;;) {
    syscall(SYS_futex, &table->asked, FUTEX_WAIT, seen, &interval, NULL, 0);
    uint32_t now = __atomic_load_n(&table->asked, __ATOMIC_SEQ_CST);
    if (now != seen) break;
    deliver();
  }
  finish(__atomic_load_n(&table->asked, __ATOMIC_SEQ_CST));
}

/* Nothing of the program is kept: no descriptor, terminal, process group or folder. */
static void detach(void) {
  sigset_t none;
  setsid();
  sigemptyset(&none);
  for (int signal = 1; signal < NSIG; signal++)
    if (signal != SIGKILL && signal != SIGSTOP) sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; fd++)
    dup2(null, fd);
  int kept = fcntl(first_process, F_DUPFD_CLOEXEC, 3);
  first_process = dup2(kept, 3);
  syscall(SYS_close_range, 4u, ~0u, 0);
  if (chdir("/") != 0) return;
}

static bool make_table(const io_settings *settings) {
  uint64_t word;
  if (getrandom(&word, sizeof word, 0) != sizeof word) return false;
  snprintf(path, sizeof path, FOLDER "/lifeline-run-%016llx", (unsigned long long)word);
  table = io_table_make(path, settings);
  if (table == NULL) return false;
  table->first = (uint32_t)getpid();
  return true;
}

void run_agent_start(const io_settings *settings, unsigned interval_s) {
  if (getpid() == 1 || settings->targets == 0) return; /* who is 1 gets orphans, and ends the agent when it ends */
  first_process = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (first_process < 0) return;
  first_tick = LL_CPU_TICK(), first_ns = io_table_now();
  bool made = make_table(settings);
  pid_t child = made ? fork() : -1;
  if (child == 0) {
    if (fork() != 0) _exit(0);
    detach();
    serve(interval_s);
    _exit(0);
  }
  close(first_process);
  if (made) munmap(table, sizeof *table);
  if (child > 0) {
    waitpid(child, NULL, 0);
    setenv("LIFELINE_RUN_PAGE", path, 1);
  } else if (made) {
    unlink(path);
  }
}
