/* Samples of the targets: host.process and host.process.io. */
#ifndef LIFELINE_PROBE_PROCESS_H
#define LIFELINE_PROBE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* A sample_function; ctx is a targets. Samples those that are due. */
bool process_sample(void *ctx, uint64_t now_ns);

#endif
