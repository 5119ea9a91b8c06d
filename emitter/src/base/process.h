/* Which process is meant: a pid alone comes back, a pid with its start time and the boot that it belongs to does not.
 * A process that has executed another program has kept all three; `image` tells it that it was another one before.
 */
#ifndef LIFELINE_PROCESS_H
#define LIFELINE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ll_process {
  uint8_t boot[16];
  uint64_t pid_namespace;
  uint64_t start_time;
  uint32_t pid;
  uint32_t image; /* random, from the kernel at each exec; a fork keeps it */
} ll_process;

/* Only what is known to be dead is LL_DEAD: what could not be found out is no reason to touch what a process owns. */
typedef enum ll_liveness {
  LL_DEAD,
  LL_ALIVE,
  LL_REPLACED, /* its pid has another start time: it is dead, unless it lives in another time namespace */
  LL_UNKNOWN,  /* of another pid namespace of this boot, or /proc cannot be read */
} ll_liveness;

ll_process ll_process_self(void);
ll_liveness ll_process_liveness(const ll_process *process);

/* Fills `bytes` with random ones. */
void ll_random(void *bytes, unsigned count);

#endif
