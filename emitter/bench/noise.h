/* Disturbance of a measurement by the rest of the machine.
 *
 * `foreign` is the share of processor time used by processes that are not part of the measurement; `stolen` the share
 * that the hypervisor gave to others; `waited` the time that this process' threads were runnable but not running, as a
 * share of the elapsed time. Only the first two make a measurement *disturbed*: waiting for our own harvester, or for a
 * local broker, is part of an event's cost.
 */
#ifndef BENCH_NOISE_H
#define BENCH_NOISE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { NOISE_KIN_MAX = 8 };

typedef struct noise_reading {
  uint64_t at_ns;
  uint64_t total_ticks, idle_ticks, stolen_ticks; /* of all processors */
  uint64_t own_ns;
  uint64_t kin_ticks;
  uint64_t waited_ns;
} noise_reading;

typedef struct noise {
  double foreign, stolen, waited;
  bool disturbed;
} noise;

/* Declares a process, such as a broker, part of the measurement. */
void noise_add_kin(pid_t pid);

noise_reading noise_read(void);
noise noise_between(const noise_reading *before, const noise_reading *after);

/* Processor time of the kin, in nanoseconds. */
double noise_kin_cpu_ns(const noise_reading *before, const noise_reading *after);

/* Processor time, from schedstat, of this process' threads with that name; with `others`, of all others. */
uint64_t noise_thread_cpu_ns(const char *name, bool others);

#endif
