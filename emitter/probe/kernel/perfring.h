/* The records of perf's tracepoint events on all CPUs, in the order of their times. */
#ifndef KERNEL_PERFRING_H
#define KERNEL_PERFRING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  PERF_TRACEPOINTS_MAX = 4,
  /* A CPU may have taken the time of a record that it has not yet written, if it is a virtual one that does not run. */
  PERF_SETTLE_NS = 20000000,
};

typedef struct perf_cpu {
  int events[PERF_TRACEPOINTS_MAX];
  struct perf_event_mmap_page *page;
  unsigned number;  /* of the CPU: not its index here, since others may be offline */
  uint64_t next_ns; /* time of the next record; UINT64_MAX: there is none */
} perf_cpu;

typedef struct perfring {
  perf_cpu *cpus;
  unsigned cpu_count, tracepoint_count;
  size_t data_bytes; /* of each ring */
  int poll;
} perfring;

/* Samples the tracepoints of these ids for the whole machine, and reports forks, exits and names. 0 or an errno value,
 * with a reason. */
int perfring_open(perfring *made, const uint64_t *ids, unsigned count, char *why, size_t why_bytes);
void perfring_close(perfring *opened);

typedef struct perf_record {
  uint32_t type; /* PERF_RECORD_... */
  unsigned cpu;
  uint64_t at_ns;   /* CLOCK_MONOTONIC */
  const void *data; /* of a sample: the tracepoint's record; of others: what follows the header */
  size_t bytes;
} perf_record;

/* Hands over all records that are older than PERF_SETTLE_NS, so that none comes too late for the order. */
void perfring_drain(perfring *from, void (*take)(void *ctx, const perf_record *record), void *ctx);

#endif
