/* What is sampled when.
 *
 * A sampler has a period, and is due at multiples of it since its start: the schedule does not drift, however long a
 * sample takes. Samples that are missed, because an earlier one or the machine was busy, are not made up for: they are
 * counted as skipped. Periods may be changed at any time, also from within a sample.
 */
#ifndef LIFELINE_PROBE_SCHEDULE_H
#define LIFELINE_PROBE_SCHEDULE_H

#include <lifeline/detail/emit.h>

#include <stdbool.h>
#include <stdint.h>

#define SECOND_NS UINT64_C(1000000000)
#define SAMPLERS_MAX 24

/* Takes one sample; false if the values could not be read. `now_ns` is of CLOCK_MONOTONIC. */
typedef bool (*sample_function)(void *ctx, uint64_t now_ns);

typedef struct sampler {
  const char *name;
  sample_function sample;
  void *ctx;
  uint64_t period_ns; /* 0: not sampled */
  uint64_t due_ns;
  uint64_t samples, skipped, failures, busy_ns;
  const ll_event_type *type; /* whose activations may raise the rate; NULL: none */
  bool asked;                /* one does */
} sampler;

typedef struct schedule {
  sampler samplers[SAMPLERS_MAX];
  unsigned count;
} schedule;

/* The sampler lives as long as the schedule. */
sampler *schedule_add(schedule *all, const char *name, sample_function sample, void *ctx, uint64_t period_ns,
                      uint64_t first_ns);

/* A shorter period takes effect within itself, a longer one after the sample that is due next. */
void schedule_rate(sampler *one, uint64_t period_ns, uint64_t now_ns);

/* Takes the samples that are due, all with the same time. */
void schedule_run(schedule *all, uint64_t now_ns);

/* When the next sample is due; UINT64_MAX if none is. */
uint64_t schedule_next(const schedule *all);

/* Emits the counters of each sampler as probe.samples. */
void schedule_report(const schedule *all);

#endif
