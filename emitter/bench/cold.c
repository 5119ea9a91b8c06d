/* bench-cold: one event at a time, with cold caches.
 *
 * Between two events it walks a buffer of --evict bytes. Each event is measured alone, between two fences and two
 * readings of the CPU's counter, and the cost of the empty case is subtracted: no overlap with other work hides its
 * cost. The floor is measured in the same way, after the same walk.
 */
#include "floor.h"
#include "options.h"
#include "row.h"

#include <lifeline/lifeline.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

LL_EVENT(table1, "bench.table1", LL_INFO, (i32, count, ""), (f32, value, ""));

static const char usage[] = "Usage: bench-cold --name ROW [--evict BYTES] [--events N] [--repetitions N]\n"
                            "\n"
                            "Prints one row of the benchmark as JSON: nanoseconds per event, and the floor's.\n"
                            "--evict (65536), --events per repetition (20000), --repetitions (21).\n";

enum { LINE = 64, EVENTS_MAX = 1000000 };

static uint64_t evict_bytes = 65536, events = 20000;
static volatile uint8_t *buffer;
static uint64_t ticks[EVENTS_MAX];

static inline void fence(void) {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

static inline uint64_t fenced_tick(void) {
  fence();
  uint64_t tick = read_tick();
  fence();
  return tick;
}

static inline void evict(void) {
  for (uint64_t i = 0; i < evict_bytes; i += LINE)
    buffer[i]++;
}

__attribute__((noinline)) static void nothing(uint64_t i) {
  __asm__ volatile("" : : "r"(i) : "memory");
}
__attribute__((noinline)) static void store_floor(uint64_t i) {
  floor_store(i);
}
__attribute__((noinline)) static void emit(uint64_t i) {
  ll_emit(table1, (int32_t)i, (float)i);
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Ticks per step: the mean without the slowest twentieth, which was interrupted. Not the median, since the counters of
 * some processors advance many ticks at a time. */
static double loop(void (*step)(uint64_t)) {
  double sum = 0;
  uint64_t kept = events - events / 20;
  for (uint64_t i = 0; i < events; i++) {
    evict();
    uint64_t began = fenced_tick();
    step(i);
    ticks[i] = fenced_tick() - began;
  }
  qsort(ticks, events, sizeof ticks[0], ascending);
  for (uint64_t i = 0; i < kept; i++)
    sum += (double)ticks[i];
  return sum / (double)kept;
}

static double tick_ns(void) {
  struct timespec moment = {0, 20000000};
  uint64_t tick = read_tick(), began = now_ns();
  nanosleep(&moment, NULL);
  return (double)(now_ns() - began) / (double)(read_tick() - tick);
}

static row_sample repeat(void *unused) {
  (void)unused;
  double ns = tick_ns(), empty = loop(nothing);
  return (row_sample){.floor = (loop(store_floor) - empty) * ns, .value = (loop(emit) - empty) * ns};
}

static uint64_t lost(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now.dropped_ring_full + now.dropped_no_ring;
}

int main(int argc, char **argv) {
  static const struct option names[] = {
      {"name", required_argument, NULL, 'n'},   {"evict", required_argument, NULL, 'v'},
      {"events", required_argument, NULL, 'e'}, {"repetitions", required_argument, NULL, 'r'},
      {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
  const char *name = NULL;
  uint64_t repetitions = 21;
  bool legal = true;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'n': name = optarg; break;
    case 'v': legal = legal && parse_number(optarg, LINE, 1u << 30, &evict_bytes); break;
    case 'e': legal = legal && parse_number(optarg, 20, EVENTS_MAX, &events); break;
    case 'r': legal = legal && parse_number(optarg, 1, ROW_REPETITIONS_MAX, &repetitions); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  buffer = calloc(1, evict_bytes);
  if (!legal || name == NULL || buffer == NULL || optind != argc) {
    fputs("bench-cold: wrong usage (try --help)\n", stderr);
    return 2;
  }
  ll_options options = LL_OPTIONS_INIT;
  options.url = "null:";
  if (ll_init(&options) != 0) return 1;
  row_measure(&(bench_row){.name = name, .repetitions = (unsigned)repetitions, .repeat = repeat, .lost = lost});
  return ll_shutdown(1000) != 0;
}
