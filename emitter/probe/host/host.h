/* Samples of the whole machine: each reads one file of /proc and emits events host.*. */
#ifndef LIFELINE_PROBE_HOST_H
#define LIFELINE_PROBE_HOST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct host {
  int proc; /* directory, for --proc that of another mount */
  int sys;
  bool is_others; /* --proc is that of another mount, and no --netns was chosen: the network of its process 1 counts */
} host;

/* sample_function of schedule.h; ctx is a host. */
bool host_cpu_sample(void *ctx, uint64_t now_ns);
bool host_load_sample(void *ctx, uint64_t now_ns);
bool host_memory_sample(void *ctx, uint64_t now_ns);
bool host_pressure_sample(void *ctx, uint64_t now_ns);
bool host_disk_sample(void *ctx, uint64_t now_ns);
bool host_network_sample(void *ctx, uint64_t now_ns);
bool host_clock_sample(void *ctx, uint64_t now_ns);

#endif
