/* Ticks, and their calibration against wall-clock time.
 *
 * Threads write raw ticks. The harvester periodically samples (tick, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME) as one
 * instant; the reader of a batch interpolates linearly between these samples. See FORMAT.md, sections 3.3 and 7.
 */
#ifndef LIFELINE_CLOCK_H
#define LIFELINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef enum ll_clock_kind { LL_CLOCK_CPU = 0, LL_CLOCK_MONOTONIC = 1 } ll_clock_kind;

#define LL_CALIBRATION_STEP 1u

/* Wire format. */
typedef struct ll_calibration {
  uint64_t tick;
  uint64_t monotonic_ns;
  int64_t realtime_offset_ns;
  uint32_t error_ns;
  uint32_t flags;
} ll_calibration;

#define LL_CALIBRATIONS_MAX 64

typedef struct ll_calibrations {
  uint32_t count;
  uint32_t uncertain; /* the tick jumped since the emitter started */
  ll_calibration at[LL_CALIBRATIONS_MAX];
} ll_calibrations;

/* Whether the CPU's counter runs at a constant rate in all sleep states, as ticks require, and the kernel has not found
 * otherwise. */
bool ll_cpu_clock_usable(void);

/* Whether the name is one of these, which are separated by blanks. */
bool ll_clock_is_listed(const char *names, const char *name);

uint64_t ll_clock_tick(ll_clock_kind kind);

static inline uint64_t ll_now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t ll_monotonic_ns(void);

/* Adds a calibration for the current instant. When the array is full, drops some from the middle, but keeps the first
 * and all steps. */
void ll_calibrate(ll_calibrations *calibrations, ll_clock_kind kind);

/* True when the latest calibration is too old for new events. */
bool ll_calibration_due(const ll_calibrations *calibrations);

/* The calibrations needed by a batch whose earliest event is at `tick` are a suffix of all. Returns its first index. */
uint32_t ll_calibrations_from(const ll_calibrations *calibrations, uint64_t tick);

uint64_t ll_tick_hz(const ll_calibrations *calibrations, ll_clock_kind kind);

#endif
