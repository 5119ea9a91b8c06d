#include "ending.h"

#include "base/apart.h"
#include "base/process.h"
#include "life.h"
#include "sink/plugin.h"

#include <lifeline/detail/emit.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { LOOK_MS = 1000, LOOK_CLOSER_MS = 100 };

static pid_t begun; /* the process that libc has started or forked */
static uint64_t due_ns;
static int status; /* of the main thread */

void ll_ending_begin(void) {
  begun = getpid();
  due_ns = 0;
}

/* The kernel counts the main thread until the process ends. Without /proc this is unknown, and false. */
static bool only_ours_are_left(void) {
  struct stat tasks; /* a directory for each thread, beside . and .. */
  uint32_t ours = load_acquire(&ll_the_life.threads) + ll_apart_threads() + ll_sink_threads();
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 2 + 1 + ours;
}

bool ll_ending_has_begun(void) {
  return begun == getpid();
}

/* A child of clone(2), _Fork(3) or vfork-like calls ends without libc's exit handlers: it has its parent's, and its
 * parent's unwritten output. Otherwise libc's last thread calls exit(0). */
static void *end_process(void *unused) {
  (void)unused;
  ll_tls_inside = 0; /* exit handlers of the program emit, too */
  if (ll_ending_has_begun() && status == 0) exit(0);
  ll_shutdown(LL_AS_AT_EXIT);
  _exit(status);
}

/* The thread takes signals, like the thread that started the emitter. */
static bool start_to_end(void) {
  pthread_t thread;
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &ll_the_life.signals, &before);
  int error = pthread_create(&thread, NULL, end_process, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) pthread_detach(thread);
  return error == 0;
}

uint64_t ll_ending_look(void) {
  uint64_t now_ns = ll_monotonic_ns();
  if (now_ns < due_ns) return due_ns;
  if (!ll_process_main_has_ended(&status))
    due_ns = now_ns + LOOK_MS * MS;
  else if (!only_ours_are_left() || !start_to_end())
    due_ns = now_ns + LOOK_CLOSER_MS * MS;
  else
    due_ns = UINT64_MAX;
  return due_ns;
}
