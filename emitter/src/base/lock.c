#include "lock.h"

#include "log.h"

#include <errno.h>
#include <lifeline/detail/emit.h>
#include <pthread.h>

__thread uint32_t ll_tls_inside __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool held __attribute__((tls_model("initial-exec")));

void ll_lock(ll_saved_state *before) {
  sigset_t all;
  before->error = errno;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before->signals);
  ll_cancellation_off(&before->cancellation);
  pthread_mutex_lock(&lock);
  ll_tls_inside++;
  held = true;
}

bool ll_lock_is_held(void) {
  return held;
}

static void release(const ll_saved_state *before) {
  held = false;
  ll_tls_inside--;
  pthread_mutex_unlock(&lock);
  pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
  errno = before->error;
  ll_cancellation_restore(&before->cancellation);
}

/* Another thread may find the lock free, and the lines gone, in between. */
__attribute__((noinline, cold)) static void write_lines(void) {
  ll_saved_state before;
  ll_log_line line;
  for (bool any = true; any;) {
    ll_lock(&before);
    any = ll_log_take(&line);
    release(&before);
    if (any) ll_log_write(&line);
  }
}

void ll_unlock(const ll_saved_state *before) {
  bool lines = ll_log_waits();
  release(before);
  if (lines) write_lines();
}

void ll_lock_renew(void) {
  ll_log_forget();
  held = false;
  static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  lock = fresh;
}
