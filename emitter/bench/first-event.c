/* bench-first-event: the first event of a new thread, which has to get a ring.
 *
 * Generations of --threads threads start together, each emits one event and ends; then the harvester returns their
 * rings to the pool. The very first generation, for which the pool is empty, is reported separately.
 */
#include "options.h"
#include "row.h"
#include "timing.h"

#include <lifeline/lifeline.h>

#include <getopt.h>
#include <pthread.h>
#include <stdio.h>

LL_EVENT(table1, "bench.table1", LL_INFO, (i32, count, ""), (f32, value, ""));

static const char usage[] = "Usage: bench-first-event --name ROW [--threads N] [--repetitions N]\n"
                            "\n"
                            "Prints one row of the benchmark as JSON: nanoseconds of a thread's first emit.\n"
                            "--threads per repetition (8), --repetitions (200).\n";

enum { THREADS_MAX = 64 };

static uint64_t threads = 8;
static double first_generation_ns;
static pthread_barrier_t alive; /* no ring is freed before all threads have one */

static void *live(void *result) {
  uint64_t began = now_ns();
  ll_emit(table1, 1, 1.0f);
  *(uint64_t *)result = now_ns() - began;
  pthread_barrier_wait(&alive);
  return NULL;
}

/* Returns the mean time. */
static double generation(void) {
  static uint64_t took_ns[THREADS_MAX];
  pthread_t started[THREADS_MAX];
  double sum = 0;
  for (uint64_t i = 0; i < threads; i++)
    if (pthread_create(&started[i], NULL, live, &took_ns[i]) != 0) return -1;
  for (uint64_t i = 0; i < threads; i++) {
    pthread_join(started[i], NULL);
    sum += (double)took_ns[i];
  }
  ll_flush(1000); /* drains and frees their rings */
  return sum / (double)threads;
}

static void print_details(char *json, size_t bytes) {
  snprintf(json, bytes, "\"threads\":%u,\"first_generation_ns\":%.0f", (unsigned)threads, first_generation_ns);
}

static row_sample repeat(void *unused) {
  (void)unused;
  return (row_sample){.value = generation()};
}

static uint64_t lost(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now.dropped_ring_full + now.dropped_no_ring;
}

int main(int argc, char **argv) {
  static const struct option names[] = {{"name", required_argument, NULL, 'n'},
                                        {"threads", required_argument, NULL, 't'},
                                        {"repetitions", required_argument, NULL, 'r'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  const char *name = NULL;
  uint64_t repetitions = 200;
  bool legal = true;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'n': name = optarg; break;
    case 't': legal = legal && parse_number(optarg, 1, THREADS_MAX, &threads); break;
    case 'r': legal = legal && parse_number(optarg, 1, ROW_REPETITIONS_MAX, &repetitions); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  if (!legal || name == NULL || optind != argc) {
    fputs("bench-first-event: wrong usage (try --help)\n", stderr);
    return 2;
  }
  ll_options options = LL_OPTIONS_INIT;
  options.url = "null:";
  if (ll_init(&options) != 0) return 1;
  pthread_barrier_init(&alive, NULL, (unsigned)threads);
  first_generation_ns = generation();
  row_measure(&(bench_row){
      .name = name, .repetitions = (unsigned)repetitions, .repeat = repeat, .lost = lost, .details = print_details});
  return ll_shutdown(1000) != 0;
}
