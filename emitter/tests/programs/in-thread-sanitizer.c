/* A program that its user builds with ThreadSanitizer, and the library without: it must see no races. Threads emit, end
 * and leave their rings to the next ones. */
#include <lifeline/caliper.h>
#include <lifeline/lifeline.h>

#include <pthread.h>
#include <stdint.h>

LL_EVENT(named, "test.named", LL_INFO, (u64, serial, ""), (string, name, ""));
LL_CALIPER(worked, "test.worked", LL_INFO, "B");

enum { THREADS = 3, ROUNDS = 8, EACH = 20000 };

static void *emit(void *unused) {
  for (uint64_t i = 0; i < EACH; i++) {
    ll_operation operation = ll_begin(worked);
    ll_emit(named, i, "a name");
    ll_end(worked, operation, 1);
  }
  return unused;
}

int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
      if (pthread_create(&threads[i], NULL, emit, NULL) != 0) return 1;
    ll_flush(60000);
    for (int i = 0; i < THREADS; i++)
      pthread_join(threads[i], NULL);
  }
  return ll_shutdown(60000);
}
