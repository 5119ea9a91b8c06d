#include "apart.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/low.h"

enum { CLOSE_RANGE_UNSHARE_FLAG = 1 << 1 };

/* Kernels before 5.9 have no close_range. */
static bool close_copies(void) {
  if (unshare(CLONE_FILES) != 0) return false;
  DIR *all = LL_HOLDING_LOW(opendir("/proc/thread-self/fd"));
  for (struct dirent *one; all && (one = readdir(all));)
    if (one->d_name[0] != '.' && atoi(one->d_name) != dirfd(all)) close(atoi(one->d_name));
  if (!all) return false;
  closedir(all);
  return true;
}

bool apart_begin(void) {
#ifdef SYS_close_range
  bool begun = syscall(SYS_close_range, 0U, ~0U, CLOSE_RANGE_UNSHARE_FLAG) == 0 || close_copies();
#else
  bool begun = close_copies();
#endif
  ll_low_fill();
  return begun;
}

void apart_calls_init(apart_calls *calls) {
  *calls = (apart_calls){.call = NULL};
  pthread_mutex_init(&calls->mutex, NULL);
  pthread_cond_init(&calls->changed, NULL);
}

void apart_call(apart_calls *calls, void (*call)(void *ctx), void *ctx) {
  pthread_mutex_lock(&calls->mutex);
  calls->call = call;
  calls->ctx = ctx;
  pthread_cond_broadcast(&calls->changed);
  while (calls->call)
    pthread_cond_wait(&calls->changed, &calls->mutex);
  pthread_mutex_unlock(&calls->mutex);
}

void apart_serve(apart_calls *calls) {
  pthread_mutex_lock(&calls->mutex);
  while (!calls->ended) {
    if (calls->call) {
      pthread_mutex_unlock(&calls->mutex);
      calls->call(calls->ctx);
      pthread_mutex_lock(&calls->mutex);
      calls->call = NULL;
      pthread_cond_broadcast(&calls->changed);
    } else {
      pthread_cond_wait(&calls->changed, &calls->mutex);
    }
  }
  pthread_mutex_unlock(&calls->mutex);
}

void apart_end(apart_calls *calls) {
  pthread_mutex_lock(&calls->mutex);
  calls->ended = true;
  pthread_cond_broadcast(&calls->changed);
  pthread_mutex_unlock(&calls->mutex);
}
