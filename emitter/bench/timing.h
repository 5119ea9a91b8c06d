/* The clocks of a benchmark: those that measure, and the CPU's counter, which is measured. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t now_ns(void) {
  return clock_ns(CLOCK_MONOTONIC);
}

/* Processor time of this process. */
static inline uint64_t cpu_ns(void) {
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static inline uint64_t read_tick(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t tick;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(tick));
  return tick;
#else
  return now_ns();
#endif
}

#endif
