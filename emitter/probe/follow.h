/* Kernel events of the targets: which processes the kernel room watches. */
#ifndef LIFELINE_PROBE_FOLLOW_H
#define LIFELINE_PROBE_FOLLOW_H

#include "kernel/kernel.h"
#include "processes/targets.h"

typedef struct follow {
  kernel *kernel; /* NULL: no kernel events were asked for */
  uint32_t *pids; /* watched, in the order of pids */
  unsigned count;
  uint64_t generation; /* of the targets when they were compared last */
} follow;

/* Watches the processes that have become targets, and forgets those that have ended. */
void follow_targets(follow *all, const targets *chosen);

void follow_close(follow *all);

#endif
