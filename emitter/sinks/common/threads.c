#include "threads.h"

#include <signal.h>
#include <unistd.h>

static uint32_t threads;
static int owner;

bool sink_thread_start(pthread_t *thread, const char *name, void *(*run)(void *ctx), void *ctx) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = pthread_create(thread, NULL, run, ctx) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (started) pthread_setname_np(*thread, name);
  return started;
}

void sink_thread_begins(void) {
  __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
}

void sink_thread_ends(void) {
  __atomic_sub_fetch(&threads, 1, __ATOMIC_RELAXED);
}

uint32_t sink_threads(void) {
  return __atomic_load_n(&threads, __ATOMIC_RELAXED);
}

int sink_threads_renew(void) {
  int self = getpid();
  if (__atomic_exchange_n(&owner, self, __ATOMIC_RELAXED) == self) return 0;
  __atomic_store_n(&threads, 0, __ATOMIC_RELAXED);
  return 1;
}
