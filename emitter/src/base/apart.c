#include "apart.h"

#include "atomics.h"
#include "clock.h"
#include "low.h"
#include "threads.h"

#include <dirent.h>
#include <lifeline/detail/emit.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CLOSE_RANGE_UNSHARE_FLAG = 1 << 1, USUAL_DESCRIPTORS = 1 << 16, MOST_DESCRIPTORS = 1 << 20 };

/* Kernels before 5.9 have no close_range. A copy that stays open would keep a pipe of the program's from its end. Its
 * number may be above the limit, which was lowered then. */
static bool close_copies(void) {
  struct rlimit limit = {0, 0};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || unshare(CLONE_FILES) != 0) return false;
  DIR *all = LL_HOLDING_LOW(opendir("/proc/thread-self/fd"));
  for (struct dirent *one; all != NULL && (one = readdir(all)) != NULL;)
    if (one->d_name[0] != '.' && atoi(one->d_name) != dirfd(all)) close(atoi(one->d_name));
  rlim_t end = limit.rlim_max < USUAL_DESCRIPTORS ? USUAL_DESCRIPTORS : limit.rlim_max;
  for (rlim_t fd = 0; all == NULL && fd < end && fd < MOST_DESCRIPTORS; fd++)
    close((int)fd);
  if (all != NULL) closedir(all);
  return true;
}

static bool leave_table(void) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 0U, ~0U, CLOSE_RANGE_UNSHARE_FLAG) == 0) return true;
#endif
  return close_copies();
}

/* The calls under way. A forked child has its parent's, until it begins. */
static struct calls {
  pthread_mutex_t one; /* held by the thread whose call it is */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  void (*call)(void *ctx); /* NULL: none is under way */
  void *ctx;
  uint64_t (*look)(void);
  bool ended;
} calls;
static uint32_t serves, begun;

/* False when that time has come. With the mutex held. */
static bool wait_until(uint64_t due_ns) {
  if (ll_monotonic_ns() >= due_ns) return false;
  struct timespec due = {(time_t)(due_ns / 1000000000), (long)(due_ns % 1000000000)};
  pthread_cond_clockwait(&calls.changed, &calls.mutex, CLOCK_MONOTONIC, &due);
  return true;
}

static void *serve(void *unused) {
  (void)unused;
  ll_tls_inside = 1;
  pthread_setname_np(pthread_self(), "lifeline-log");
  pthread_mutex_lock(&calls.mutex);
  for (uint64_t due_ns = 0; !calls.ended || calls.call != NULL;) {
    void (*call)(void *) = calls.call;
    if (call == NULL && wait_until(due_ns)) continue;
    pthread_mutex_unlock(&calls.mutex);
    if (call != NULL)
      call(calls.ctx);
    else
      due_ns = calls.look();
    pthread_mutex_lock(&calls.mutex);
    if (call != NULL) calls.call = NULL;
    pthread_cond_broadcast(&calls.changed);
  }
  store_release(&serves, 0);
  pthread_mutex_unlock(&calls.mutex);
  return NULL;
}

bool ll_apart_begin(uint64_t (*look)(void)) {
  store_release(&begun, 0);
  if (ll_is_watched_by_tsan) return false; /* it takes equal numbers of two tables for one file, and reports races */
  calls = (struct calls){
      PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, NULL, look, false};
  store_release(&serves, 1);
  if (ll_thread_start(serve) != 0) {
    store_release(&serves, 0);
    return false;
  }
  if (!leave_table()) {
    ll_apart_end();
    return false;
  }
  ll_low_fill();
  store_release(&begun, 1);
  ll_apart_is_here();
  return true;
}

void ll_apart_end(void) {
  if (load_acquire(&serves) == 0) return;
  pthread_mutex_lock(&calls.mutex);
  calls.ended = true;
  pthread_cond_broadcast(&calls.changed);
  pthread_mutex_unlock(&calls.mutex);
}

void ll_apart_is_here(void) {
  if (load_acquire(&begun)) ll_tls_inside |= LL_INSIDE_APART;
}

/* False when the serving thread ends. */
static bool hand_over(void (*call)(void *ctx), void *ctx) {
  pthread_mutex_lock(&calls.one);
  pthread_mutex_lock(&calls.mutex);
  bool served = !calls.ended;
  if (served) {
    calls.ctx = ctx;
    calls.call = call;
    pthread_cond_broadcast(&calls.changed);
  }
  while (served && calls.call != NULL)
    pthread_cond_wait(&calls.changed, &calls.mutex);
  pthread_mutex_unlock(&calls.mutex);
  pthread_mutex_unlock(&calls.one);
  return served;
}

void ll_call_for_program(void (*call)(void *ctx), void *ctx) {
  bool is_apart = (ll_tls_inside & LL_INSIDE_APART) != 0;
  if (!is_apart || load_acquire(&serves) == 0 || !hand_over(call, ctx)) call(ctx);
}

void ll_apart_forget(void) {
  ll_tls_inside &= ~(uint32_t)LL_INSIDE_APART;
  serves = begun = 0;
}
