/* What an event costs the program that emits it, beside what nothing could undercut.
 *
 *   floor  rdtsc and a store of 16 bytes into a thread-local ring of 64 KiB
 *   emit   ll_emit of NetLogger's Table 1 event (a timestamp, an i32, an f32) into null:
 *
 * Floor and emit take turns within each repetition, so that both see the same noise. An ordinary program, linked to
 * liblifeline.so as any other.
 */
#include <lifeline/lifeline.h>

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

LL_EVENT(table1, "bench.table1", LL_INFO, (i32, count, ""), (f32, value, ""));

enum { FLOOR_RING_BYTES = 64 << 10, REPETITIONS_MAX = 1000, THREADS_MAX = 64 };

static const char usage[] =
    "Usage: lifeline-emit-bench [--events N] [--repetitions N] [--threads N] [--json]\n"
    "\n"
    "Nanoseconds per event and thread of ll_emit into null:, and of the floor in the same run. Runs with one thread,\n"
    "then with --threads (2). --events per repetition (2000000), --repetitions (101).\n";

static uint64_t events = 2000000;
static unsigned repetitions = 101; /* seconds of it, so that no short disturbance reaches the median */
static pthread_barrier_t barrier;

typedef struct record {
  uint64_t word;
  int32_t count;
  float value;
} record;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t read_tick(void) {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t tick;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(tick));
  return tick;
#else
  return now_ns();
#endif
}

static __thread record floor_ring[FLOOR_RING_BYTES / sizeof(record)];

__attribute__((noinline)) static void run_floor(void) {
  record *ring = floor_ring;
  for (uint64_t i = 0; i < events; i++) {
    record *at = &ring[i % (FLOOR_RING_BYTES / sizeof(record))];
    at->word = read_tick() << 16 | 1;
    at->count = (int32_t)i;
    at->value = (float)i;
    __asm__ volatile("" ::: "memory");
  }
}

__attribute__((noinline)) static void run_emit(void) {
  for (uint64_t i = 0; i < events; i++)
    ll_emit(table1, (int32_t)i, (float)i);
}

typedef struct measured {
  double floor_ns[REPETITIONS_MAX];
  double emit_ns[REPETITIONS_MAX];
} measured;

static double timed(void (*run)(void)) {
  pthread_barrier_wait(&barrier);
  uint64_t began = now_ns();
  run();
  double ns = (double)(now_ns() - began) / (double)events;
  pthread_barrier_wait(&barrier);
  return ns;
}

static void *measure(void *result) {
  measured *own = result;
  timed(run_floor);
  timed(run_emit); /* warm: the ring has its size */
  for (unsigned i = 0; i < repetitions; i++) {
    own->floor_ns[i] = timed(run_floor);
    own->emit_ns[i] = timed(run_emit);
  }
  return NULL;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, ascending);
  return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static uint64_t lost_so_far(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now.dropped_ring_full + now.dropped_no_ring;
}

static void print_row(bool json, const char *name, double ns, double least, double floor, uint64_t lost) {
  if (json)
    printf("{\"name\":\"%s\",\"ns_median\":%.2f,\"ns_min\":%.2f,\"floor_ns\":%.2f,\"ratio\":%.3f,\"lost\":%llu}\n",
           name, ns, least, floor, ns / floor, (unsigned long long)lost);
  else
    printf("%-18s %9.2f %9.2f %9.2f %7.2f %12llu\n", name, ns, least, floor, ns / floor, (unsigned long long)lost);
}

/* All threads' repetitions are one sample. */
static int bench(unsigned threads, bool json) {
  static measured results[THREADS_MAX];
  static double floors[THREADS_MAX * REPETITIONS_MAX], emits[THREADS_MAX * REPETITIONS_MAX];
  pthread_t started[THREADS_MAX];
  uint64_t lost = lost_so_far();
  pthread_barrier_init(&barrier, NULL, threads);
  for (unsigned i = 0; i < threads; i++)
    if (pthread_create(&started[i], NULL, measure, &results[i]) != 0) return 1;
  size_t count = 0;
  for (unsigned i = 0; i < threads; i++) {
    pthread_join(started[i], NULL);
    memcpy(floors + count, results[i].floor_ns, repetitions * sizeof *floors);
    memcpy(emits + count, results[i].emit_ns, repetitions * sizeof *emits);
    count += repetitions;
  }
  pthread_barrier_destroy(&barrier);
  lost = lost_so_far() - lost;
  double floor = median(floors, count), emit = median(emits, count);
  char name[32];
  snprintf(name, sizeof name, "floor/%u", threads);
  print_row(json, name, floor, floors[0], floor, 0);
  snprintf(name, sizeof name, "emit/%u", threads);
  print_row(json, name, emit, emits[0], floor, lost);
  return 0;
}

static bool parse(const char *text, uint64_t most, uint64_t *value) {
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return errno == 0 && *end == '\0' && *value >= 1 && *value <= most;
}

int main(int argc, char **argv) {
  static const struct option names[] = {
      {"events", required_argument, NULL, 'e'},  {"repetitions", required_argument, NULL, 'r'},
      {"threads", required_argument, NULL, 't'}, {"json", no_argument, NULL, 'j'},
      {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
  uint64_t value, threads = 2;
  bool json = false, legal = true;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'e': legal = legal && parse(optarg, 1u << 30, &events); break;
    case 'r':
      legal = legal && parse(optarg, REPETITIONS_MAX, &value);
      repetitions = (unsigned)value;
      break;
    case 't': legal = legal && parse(optarg, THREADS_MAX, &threads); break;
    case 'j': json = true; break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  if (!legal || optind != argc) {
    fputs("lifeline-emit-bench: wrong usage (try --help)\n", stderr);
    return 2;
  }
  ll_options options = LL_OPTIONS_INIT;
  options.url = "null:";
  if (ll_init(&options) != 0) return 1;
  if (!json) printf("%-18s %9s %9s %9s %7s %12s\n", "ns per event", "median", "min", "floor", "ratio", "lost");
  int failed = bench(1, json);
  if (failed == 0 && threads > 1) failed = bench((unsigned)threads, json);
  return failed != 0 || ll_shutdown(5000) != 0;
}
