/* One row of the benchmark's table: its repetitions and their noise, printed as one line of JSON. */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include "noise.h"

#include <stddef.h>
#include <stdint.h>

enum { ROW_REPETITIONS_MAX = 1000 };

/* One repetition. The measured code and its floor alternate within it, so that both run under the same conditions. */
typedef struct row_sample {
  double value;
  double floor; /* 0: none */
} row_sample;

typedef row_sample (*row_repetition)(void *ctx);

typedef struct bench_row {
  const char *name;
  unsigned repetitions;
  row_repetition repeat;
  void *ctx;
  uint64_t (*lost)(void);                    /* number of events lost so far; NULL: none can be lost */
  void (*details)(char *json, size_t bytes); /* members of a JSON object, called at the end; NULL: none */
} bench_row;

/* Runs one warm-up, then `repetitions` repetitions, and one more for each disturbed one, at most twice as many in all.
 * Prints the undisturbed ones, or all if those are less than half. */
void row_measure(const bench_row *wanted);

/* Prints a row that was measured in another way. */
void row_print(const char *name, const row_sample *samples, unsigned count, const noise *around, unsigned disturbed,
               uint64_t lost, const char *details);

#endif
