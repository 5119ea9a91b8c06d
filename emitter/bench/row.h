/* One row of the benchmark's table: its repetitions, and the noise around them, printed as one line of JSON. */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include "noise.h"

#include <stddef.h>
#include <stdint.h>

enum { ROW_REPETITIONS_MAX = 1000 };

/* One repetition: what is measured and its floor take turns within it, so that both see the same machine. */
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
  uint64_t (*lost)(void);                    /* events so far; NULL: none can be */
  void (*details)(char *json, size_t bytes); /* the inside of an object, asked for at the end; NULL: none */
} bench_row;

/* Runs once to warm up, then `repetitions` times and for each disturbed repetition once more, at most twice as often in
 * all. Prints what was not disturbed, or everything when that is less than half. */
void row_measure(const bench_row *wanted);

/* The same for a figure that came another way. */
void row_print(const char *name, const row_sample *samples, unsigned count, const noise *around, unsigned disturbed,
               uint64_t lost, const char *details);

#endif
