/* bench-off: the cost of an event whose type is switched off at run time, beyond the loop around it.
 *
 * With --count it only runs the two loops, for callgrind to count their instructions: see scripts/benching.
 */
#include "options.h"
#include "row.h"
#include "timing.h"

#include <lifeline/lifeline.h>

#include <getopt.h>
#include <stdio.h>
#include <string.h>

LL_EVENT(table1, "bench.table1", LL_INFO, (i32, count, ""), (f32, value, ""));

static const char usage[] = "Usage: bench-off --name ROW [--events N] [--repetitions N] | --count N\n"
                            "\n"
                            "Prints one row of the benchmark as JSON: nanoseconds per event above an empty loop.\n"
                            "--events per repetition (50000000), --repetitions (11).\n";

static uint64_t events = 50000000;

__attribute__((noinline)) void bench_empty_loop(uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void bench_off_loop(uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    ll_emit(table1, (int32_t)i, (float)i);
    __asm__ volatile("" ::: "memory");
  }
}

static double timed(void (*loop)(uint64_t)) {
  uint64_t began = now_ns();
  loop(events);
  return (double)(now_ns() - began) / (double)events;
}

static row_sample repeat(void *unused) {
  (void)unused;
  double empty = timed(bench_empty_loop);
  return (row_sample){.value = timed(bench_off_loop) - empty};
}

int main(int argc, char **argv) {
  static const struct option names[] = {{"name", required_argument, NULL, 'n'},
                                        {"events", required_argument, NULL, 'e'},
                                        {"repetitions", required_argument, NULL, 'r'},
                                        {"count", required_argument, NULL, 'c'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  const char *name = NULL;
  uint64_t repetitions = 11, count = 0;
  bool legal = true;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'n': name = optarg; break;
    case 'e': legal = legal && parse_number(optarg, 1, 1u << 30, &events); break;
    case 'r': legal = legal && parse_number(optarg, 1, ROW_REPETITIONS_MAX, &repetitions); break;
    case 'c': legal = legal && parse_number(optarg, 1, 1u << 30, &count); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  if (!legal || (name == NULL) == (count == 0) || optind != argc) {
    fputs("bench-off: wrong usage (try --help)\n", stderr);
    return 2;
  }
  ll_options options = LL_OPTIONS_INIT;
  options.url = "null:";
  if (ll_init(&options) != 0) return 1;
  bench_off_loop(1); /* the first emit asks for the type's resolution */
  if (count > 0) {
    bench_empty_loop(count);
    bench_off_loop(count);
    return 0;
  }
  row_measure(&(bench_row){.name = name, .repetitions = (unsigned)repetitions, .repeat = repeat});
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  if (now.emitted > 0) {
    fputs("bench-off: the type was not off; set LIFELINE_RESOLUTION=\"bench.table1 off\"\n", stderr);
    return 1;
  }
  return ll_shutdown(1000) != 0;
}
