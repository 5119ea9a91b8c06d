/* The command line of lifeline-probe. */
#ifndef LIFELINE_PROBE_OPTIONS_H
#define LIFELINE_PROBE_OPTIONS_H

#include "processes/targets.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct probe_options {
  const char *url;
  uint64_t every_ns, fast_ns, slow_ns;
  unsigned samples; /* bits, in the order of probe_sample_names */
  uint32_t pids[CHOICES_MAX];
  const char *programs[CHOICES_MAX], *cgroups[CHOICES_MAX], *sessions[CHOICES_MAX];
  unsigned pid_count, program_count, cgroup_count, session_count;
  unsigned kernel;            /* bits of kernel_views_of; 0: no kernel events */
  const char *kernel_sources; /* NULL: all */
  const char *netns, *proc, *sys;
  uint64_t count; /* ends after so many samples; 0: never */
  bool json;
} probe_options;

typedef enum probe_sample {
  SAMPLE_CPU,
  SAMPLE_LOAD,
  SAMPLE_MEMORY,
  SAMPLE_PRESSURE,
  SAMPLE_DISK,
  SAMPLE_NETWORK,
  SAMPLE_CLOCK,
  SAMPLE_CGROUP,
  SAMPLE_PROCESS,
  SAMPLE_TCP,
  SAMPLE_KINDS
} probe_sample;

extern const char *const probe_sample_names[SAMPLE_KINDS];

/* Returns -1 to go on, or an exit status: the help was printed, or the usage was wrong, which was said. */
int probe_options_parse(probe_options *options, int argc, char **argv);

#endif
