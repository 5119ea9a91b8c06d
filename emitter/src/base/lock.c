#include "lock.h"

#include <errno.h>
#include <lifeline/detail/emit.h>
#include <pthread.h>

__thread uint32_t ll_tls_inside __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void ll_lock(ll_saved_state *before) {
  sigset_t all;
  before->error = errno;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before->signals);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->cancellation);
  pthread_mutex_lock(&lock);
  ll_tls_inside++;
}

void ll_unlock(const ll_saved_state *before) {
  ll_tls_inside--;
  pthread_mutex_unlock(&lock);
  pthread_setcancelstate(before->cancellation, NULL);
  pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
  errno = before->error;
}

void ll_lock_renew(void) {
  static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  lock = fresh;
}
