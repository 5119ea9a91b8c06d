#include "threads.h"

#include "atomics.h"
#include "clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 4, STARTING = -1 };

#define LIMIT_NS UINT64_C(1000000000)

/* `tid` stays when the thread returns, since the kernel has it for a moment longer. */
static struct thread {
  void *(*run)(void *unused);
  uint32_t runs;
  int32_t tid;
} threads[MOST];

static void *begin(void *place) {
  struct thread *own = place;
  store_release(&own->tid, gettid());
  own->run(NULL);
  store_release(&own->runs, 0);
  return NULL;
}

static bool is_gone(const struct thread *thread) {
  int32_t tid = load_acquire(&thread->tid);
  return tid == 0 || (tid != STARTING && syscall(SYS_tgkill, getpid(), tid, 0) != 0);
}

int ll_thread_start(void *(*run)(void *unused)) {
  for (int i = 0; i < MOST; i++) {
    pthread_t thread;
    uint32_t free = 0;
    if (!__atomic_compare_exchange_n(&threads[i].runs, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) continue;
    threads[i].run = run;
    store_release(&threads[i].tid, STARTING);
    int error = pthread_create(&thread, NULL, begin, &threads[i]);
    if (error == 0) return pthread_detach(thread);
    store_release(&threads[i].tid, 0);
    store_release(&threads[i].runs, 0);
    return error;
  }
  return EAGAIN;
}

uint32_t ll_threads(void) {
  uint32_t count = 0;
  for (int i = 0; i < MOST; i++)
    count += load_acquire(&threads[i].runs) && load_acquire(&threads[i].tid) > 0;
  return count;
}

void ll_threads_wait(void) {
  struct timespec pause = {0, 20000};
  int error = errno;
  uint64_t end_ns = ll_monotonic_ns() + LIMIT_NS;
  for (int i = 0; i < MOST; i++)
    while (load_acquire(&threads[i].tid) != gettid() && !is_gone(&threads[i]) && ll_monotonic_ns() < end_ns) {
      syscall(SYS_nanosleep, &pause, NULL); /* no cancellation point */
      if (pause.tv_nsec < 1000000) pause.tv_nsec *= 2;
    }
  errno = error;
}

void ll_threads_forget(void) {
  memset(threads, 0, sizeof threads);
}
