/* Threads: each has its own ring, so that threads share no lock and no cache line. They need no setup. At the end the
 * counters account for every event.
 *
 *   LIFELINE_URL=file:///tmp/threads.llb ./lifeline-threads && lifeline-cat --format bp /tmp/threads.llb
 */
#include <inttypes.h>
#include <lifeline/lifeline.h>
#include <pthread.h>
#include <stdio.h>

LL_EVENT(step_start, "example.step.start", LL_INFO, (u64, id, ""), (u32, worker, ""));
LL_EVENT(step_end, "example.step.end", LL_INFO, (u64, id, ""), (f64, result, ""));

enum { WORKERS = 4, STEPS = 1000 };

static void *work(void *number) {
  uint32_t worker = (uint32_t)(uintptr_t)number;
  for (uint64_t step = 0; step < STEPS; step++) {
    uint64_t id = worker * STEPS + step; /* the same id in both events makes them a lifeline */
    double sum = 0;
    ll_emit(step_start, id, worker);
    for (int i = 1; i <= 100; i++)
      sum += 1.0 / i;
    ll_emit(step_end, id, sum);
  }
  return NULL;
}

int main(void) {
  pthread_t workers[WORKERS];
  for (uintptr_t i = 0; i < WORKERS; i++)
    if (pthread_create(&workers[i], NULL, work, (void *)i) != 0) return 1;
  for (int i = 0; i < WORKERS; i++)
    pthread_join(workers[i], NULL);

  if (ll_shutdown(5000) != 0) fputs("not everything is acknowledged yet; the next run sends the rest\n", stderr);
  ll_statistics counted = {.size = sizeof counted};
  ll_stats(&counted);
  printf("emitted %" PRIu64 ", of which no room for %" PRIu64 ", in %" PRIu64 " batches\n", counted.emitted,
         counted.dropped_ring_full + counted.dropped_no_ring, counted.batches_acknowledged);
  return 0;
}
