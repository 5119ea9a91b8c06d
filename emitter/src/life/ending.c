#include "ending.h"

#include "base/futex.h"
#include "base/log.h"
#include "base/process.h"
#include "base/threads.h"
#include "life.h"
#include "sink/plugin.h"

#include <lifeline/detail/emit.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { LOOK_MS = 1000, LOOK_CLOSER_MS = 100 };

static pid_t begun;    /* the process that libc has started or forked */
static uint32_t *mark; /* not 0 in it, and wiped in each child: in a new namespace one may have the same number */
static uint64_t due_ns;
static int status; /* of the main thread; -1: unknown */
static int held;
static uint32_t is_held; /* or could not be: futex word */

static uint32_t *wiped_in_children(void) {
  void *page = mmap(NULL, sizeof *mark, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return NULL;
  if (madvise(page, sizeof *mark, MADV_WIPEONFORK) == 0) return page;
  munmap(page, sizeof *mark);
  return NULL;
}

void ll_ending_begin(void) {
  begun = getpid();
  if (mark == NULL) mark = wiped_in_children();
  if (mark != NULL) *mark = 1;
  due_ns = 0;
  ll_process_begin();
}

bool ll_ending_has_begun(void) {
  return begun == getpid() && (mark == NULL || *mark != 0);
}

bool ll_ending_can_be_seen(void) {
  ll_process_begin();
  int fd = ll_process_open_main();
  is_held = 0;
  return fd >= 0 && close(fd) == 0;
}

void ll_ending_hold(bool is_apart) {
  held = is_apart && !ll_ending_has_begun() ? ll_process_open_main() : -1;
  store_release(&is_held, 1);
  futex_wake(&is_held, 1);
}

void ll_ending_wait_held(void) {
  uint64_t end_ns = ll_monotonic_ns() + LOOK_MS * MS;
  if (ll_ending_has_begun()) return;
  for (uint64_t now_ns; load_acquire(&is_held) == 0 && (now_ns = ll_monotonic_ns()) < end_ns;)
    futex_wait(&is_held, 0, end_ns - now_ns);
}

void ll_ending_release(void) {
  if (held < 0) return;
  int last = ll_process_status_of_main(held);
  if (last > 0) store_release(&status, last);
  close(held);
}

typedef enum others { NONE_LEFT, SOME_LEFT, UNKNOWN } others;

static uint32_t own_threads(void) {
  return ll_threads() + ll_sink_threads();
}

/* The kernel counts the main thread until the process ends. A thread of ours that ends meanwhile must not stand for one
 * of the program's. */
static others others_left(void) {
  struct stat tasks; /* a directory for each thread, beside . and .. */
  uint32_t before = own_threads();
  if (stat("/proc/self/task", &tasks) != 0) return UNKNOWN;
  uint32_t after = own_threads(), ours = before < after ? before : after;
  return tasks.st_nlink == 2 + 1 + ours ? NONE_LEFT : SOME_LEFT;
}

/* A child of clone(2), _Fork(3) or vfork-like calls ends without libc's exit handlers: it has its parent's, and its
 * parent's unwritten output. Otherwise libc's last thread calls exit(0). */
static void *end_process(void *unused) {
  (void)unused;
  ll_tls_inside = 0; /* exit handlers of the program emit, too */
  if (ll_ending_has_begun() && status <= 0) exit(0);
  ll_shutdown(LL_AS_AT_EXIT);
  _exit(status);
}

/* Then the process ends with the last thread of the program, and with the status of the main one. */
static void *end_library(void *why) {
  ll_log(LL_LOG_WARN, "%s: instrumentation ends", (const char *)why);
  ll_shutdown(LL_AS_AT_EXIT);
  int last = load_acquire(&status);
  if (last > 0) syscall(SYS_exit, last);
  return NULL;
}

/* The thread takes signals, like the thread that started the emitter. */
static bool start(void *(*end)(void *why), const char *why) {
  pthread_t thread;
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &ll_the_life.signals, &before);
  int error = pthread_create(&thread, NULL, end, (void *)(uintptr_t)why);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) pthread_detach(thread);
  return error == 0;
}

static bool ends(void) {
  others left = others_left();
  if (left == SOME_LEFT) return false;
  if (left == UNKNOWN) return start(end_library, "the main thread has ended, and /proc/self/task cannot be read");
  bool known = ll_ending_has_begun() || status >= 0;
  return start(known ? end_process : end_library, "the main thread has ended, and its status cannot be read");
}

/* The process would not end with its main thread. */
static bool is_blind(ll_main_thread main) {
  return main == LL_MAIN_UNKNOWN && !ll_ending_has_begun() &&
         start(end_library, "the end of the main thread could not be seen in this child of clone or _Fork");
}

uint64_t ll_ending_look(void) {
  uint64_t now_ns = ll_monotonic_ns();
  if (now_ns < due_ns) return due_ns;
  ll_main_thread main = ll_process_main(&status);
  if (main == LL_MAIN_ENDED)
    due_ns = ends() ? UINT64_MAX : now_ns + LOOK_CLOSER_MS * MS;
  else
    due_ns = is_blind(main) ? UINT64_MAX : now_ns + LOOK_MS * MS;
  return due_ns;
}
