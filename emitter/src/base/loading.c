#include "loading.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static __thread bool held __attribute__((tls_model("initial-exec"))); /* by this thread, which forks */

void ll_loading_begin(void) {
  pthread_mutex_lock(&loading);
}

void ll_loading_end(void) {
  pthread_mutex_unlock(&loading);
}

void ll_loading_renew(void) {
  static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  loading = fresh;
}

void ll_loading_before_fork(void) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec++;
  held = pthread_mutex_timedlock(&loading, &end) == 0;
}

void ll_loading_after_fork_in_parent(void) {
  if (held) pthread_mutex_unlock(&loading);
  held = false;
}

void ll_loading_after_fork_in_child(void) {
  if (!held) ll_loading_renew(); /* its owner is a thread of the parent */
  ll_loading_after_fork_in_parent();
}
