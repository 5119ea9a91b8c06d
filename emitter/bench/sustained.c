/* bench-sustained: many events without a pause and without loss, until the sink has acknowledged all.
 *
 * Each thread emits Table 1 events with the serials 0, 1, 2 ..., so that readers can verify their sum. The floor is
 * measured just before and just after. Besides the time it reports the processor time of the harvester's thread, of the
 * process, and of the processes named by --kin (a broker).
 */
#include "floor.h"
#include "options.h"
#include "row.h"

#include <lifeline/lifeline.h>

#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

LL_EVENT(table1, "bench.table1", LL_INFO, (i32, count, ""), (f32, value, ""));

static const char usage[] =
    "Usage: bench-sustained --name ROW --url URL [--events N] [--threads N] [--kin PID]...\n"
    "\n"
    "Prints one repetition as a row in JSON: nanoseconds per event and thread until the last acknowledgement.\n"
    "--events per thread (100000000). Settings come from the environment (LIFELINE_COMPRESSION, ...).\n";

enum { THREADS_MAX = 64, FLUSH_MS = 120000, FLOOR_EVENTS = 5000000, FLOORS = 4 };

static uint64_t events = 100000000;
static pthread_barrier_t together;

typedef struct worker {
  pthread_t thread;
  double floor_before, floor_after;
  uint64_t emitted_at_ns; /* time when its last emit returned */
} worker;

static double floor_now(void) {
  double sum = 0;
  for (int i = 0; i < FLOORS; i++)
    sum += floor_run(FLOOR_EVENTS);
  return sum / FLOORS;
}

static void *work(void *own) {
  worker *self = own;
  pthread_barrier_wait(&together);
  self->floor_before = floor_now();
  pthread_barrier_wait(&together); /* the main thread reads the gauges */
  pthread_barrier_wait(&together);
  for (uint64_t i = 0; i < events; i++)
    ll_emit(table1, (int32_t)i, (float)i);
  self->emitted_at_ns = now_ns();
  pthread_barrier_wait(&together); /* the main thread flushes, and reads the gauges again */
  pthread_barrier_wait(&together);
  self->floor_after = floor_now();
  return NULL;
}

static uint64_t dropped(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now.dropped_ring_full + now.dropped_no_ring + now.dropped_reentrant + now.dropped_oversize +
         now.dropped_shutdown + now.dropped_sink;
}

static int measure(const char *name, unsigned threads) {
  static worker workers[THREADS_MAX];
  pthread_barrier_init(&together, NULL, threads + 1);
  for (unsigned i = 0; i < threads; i++)
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) return 1;
  pthread_barrier_wait(&together);
  pthread_barrier_wait(&together);
  noise_reading before = noise_read();
  uint64_t harvester_before = noise_thread_cpu_ns("lifeline", false);
  uint64_t began = now_ns();
  pthread_barrier_wait(&together);
  pthread_barrier_wait(&together);
  int flushed = ll_flush(FLUSH_MS);
  uint64_t ended = now_ns();
  uint64_t harvester = noise_thread_cpu_ns("lifeline", false) - harvester_before;
  noise_reading after = noise_read();
  pthread_barrier_wait(&together);

  row_sample sample = {.value = (double)(ended - began) / (double)events};
  double emitting = 0, all = (double)events * threads;
  for (unsigned i = 0; i < threads; i++) {
    pthread_join(workers[i].thread, NULL);
    sample.floor += (workers[i].floor_before + workers[i].floor_after) / 2 / threads;
    emitting += (double)(workers[i].emitted_at_ns - began) / all;
  }
  noise around = noise_between(&before, &after);
  char details[400];
  snprintf(details, sizeof details,
           "\"events\":%.0f,\"threads\":%u,\"flushed\":%s,\"seconds\":%.3f,\"emit_ns\":%.2f,"
           "\"harvester_cpu_ns\":%.2f,\"process_cpu_ns\":%.2f,\"server_cpu_ns\":%.2f",
           all, threads, flushed == 0 ? "true" : "false", (double)(ended - began) / 1e9, emitting,
           (double)harvester / all, (double)(after.own_ns - before.own_ns) / all,
           noise_kin_cpu_ns(&before, &after) / all);
  row_print(name, &sample, 1, &around, around.disturbed, dropped(), details);
  return flushed != 0;
}

int main(int argc, char **argv) {
  static const struct option names[] = {{"name", required_argument, NULL, 'n'},
                                        {"url", required_argument, NULL, 'u'},
                                        {"events", required_argument, NULL, 'e'},
                                        {"threads", required_argument, NULL, 't'},
                                        {"kin", required_argument, NULL, 'k'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  const char *name = NULL;
  uint64_t threads = 1, pid;
  bool legal = true;
  ll_options options = LL_OPTIONS_INIT;
  options.policy = LL_BLOCK;
  options.block_timeout_ms = 60000;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'n': name = optarg; break;
    case 'u': options.url = optarg; break;
    case 'e': legal = legal && parse_number(optarg, 1, INT32_MAX, &events); break;
    case 't': legal = legal && parse_number(optarg, 1, THREADS_MAX, &threads); break;
    case 'k':
      legal = legal && parse_number(optarg, 1, INT32_MAX, &pid);
      if (legal) noise_add_kin((pid_t)pid);
      break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  if (!legal || name == NULL || options.url == NULL || optind != argc) {
    fputs("bench-sustained: wrong usage (try --help)\n", stderr);
    return 2;
  }
  if (ll_init(&options) != 0) return 1;
  if (measure(name, (unsigned)threads) != 0) {
    fputs("bench-sustained: not everything was acknowledged\n", stderr);
    return 1;
  }
  return ll_shutdown(FLUSH_MS) != 0;
}
