/* bench-caliper: ll_begin and ll_end around an empty operation, with the emitter running into null:.
 *
 * Its floor is the minimum work of any caliper: reading the CPU's counter twice, and updating three summaries (value,
 * duration, rate) with the simplest arithmetic. With --array the operation is a calculation over an array, as in
 * Kissel et al. 2012, section IV.A, and the floor is that alone.
 */
#include "options.h"
#include "row.h"
#include "timing.h"

#include <lifeline/caliper.h>
#include <lifeline/lifeline.h>

#include <getopt.h>
#include <stdio.h>

LL_CALIPER(work, "bench.work", LL_INFO, "B");

static const char usage[] = "Usage: bench-caliper --name ROW [--operations N] [--repetitions N] [--array N]\n"
                            "\n"
                            "Prints one row of the benchmark as JSON: nanoseconds per operation, and its own floor's.\n"
                            "--operations per repetition (5000000), --repetitions (25).\n"
                            "--array: calculate over an array of so many numbers, with calipers and without.\n";

enum { TURNS = 10 }; /* caliper and floor alternate this often in a repetition */

static uint64_t operations = 5000000;

typedef struct sums {
  uint64_t count;
  double least, most, sum, squares;
} sums;

static sums floor_sums[3] = {{.least = 1e300}, {.least = 1e300}, {.least = 1e300}};

static inline void add(sums *to, double value) {
  to->count++;
  to->least = value < to->least ? value : to->least;
  to->most = value > to->most ? value : to->most;
  to->sum += value;
  to->squares += value * value;
}

__attribute__((noinline)) static void run_floor(uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    uint64_t began = read_tick();
    __asm__ volatile("" ::: "memory");
    double duration = (double)(int64_t)(read_tick() - began), value = (double)(int64_t)i;
    add(&floor_sums[0], value);
    add(&floor_sums[1], duration);
    add(&floor_sums[2], value / duration);
    __asm__ volatile("" ::: "memory");
  }
}

__attribute__((noinline)) static void run_caliper(uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    ll_operation working = ll_begin(work);
    __asm__ volatile("" ::: "memory");
    ll_end(work, working, (double)i);
  }
}

static double numbers[4096];
static uint64_t array; /* how many of them */

static inline void calculate(void) {
  for (uint64_t i = 0; i < array; i++)
    numbers[i] = numbers[i] * 0.999 + 1;
  __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void run_array(uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    calculate();
}

__attribute__((noinline)) static void run_array_caliper(uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    ll_operation working = ll_begin(work);
    calculate();
    ll_end(work, working, (double)(array * sizeof *numbers));
  }
}

static double timed(void (*run)(uint64_t)) {
  uint64_t began = now_ns();
  run(operations / TURNS);
  return (double)(now_ns() - began) / (double)operations;
}

static row_sample repeat(void *unused) {
  (void)unused;
  row_sample sum = {0, 0};
  for (int i = 0; i < TURNS; i++) {
    sum.floor += timed(array > 0 ? run_array : run_floor);
    sum.value += timed(array > 0 ? run_array_caliper : run_caliper);
  }
  return sum;
}

int main(int argc, char **argv) {
  static const struct option names[] = {{"name", required_argument, NULL, 'n'},
                                        {"operations", required_argument, NULL, 'o'},
                                        {"repetitions", required_argument, NULL, 'r'},
                                        {"array", required_argument, NULL, 'a'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  const char *name = NULL;
  uint64_t repetitions = 25;
  bool legal = true;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'n': name = optarg; break;
    case 'o': legal = legal && parse_number(optarg, TURNS, 1u << 30, &operations); break;
    case 'r': legal = legal && parse_number(optarg, 1, ROW_REPETITIONS_MAX, &repetitions); break;
    case 'a': legal = legal && parse_number(optarg, 1, sizeof numbers / sizeof *numbers, &array); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  if (!legal || name == NULL || optind != argc) {
    fputs("bench-caliper: wrong usage (try --help)\n", stderr);
    return 2;
  }
  ll_options options = LL_OPTIONS_INIT;
  options.url = "null:";
  if (ll_init(&options) != 0) return 1;
  row_measure(&(bench_row){.name = name, .repetitions = (unsigned)repetitions, .repeat = repeat});
  return ll_shutdown(1000) != 0;
}
