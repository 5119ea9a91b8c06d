/* Identifies a process. A pid may be reused; a pid with its start time and boot ID is unique. All three survive an
 * exec; `image` distinguishes the programs before and after it.
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

/* LL_DEAD is returned only when certain, since the files of a live process must not be touched. */
typedef enum ll_liveness {
  LL_DEAD,
  LL_ALIVE,
  LL_REPLACED,   /* its pid has another start time: dead, unless it runs in another time namespace */
  LL_OTHER_BOOT, /* dead if this machine was booted since; a container may have a boot ID of its own, as other machines
                    do */
  LL_UNKNOWN,    /* it is in another pid namespace of this boot, or /proc cannot be read */
} ll_liveness;

ll_process ll_process_self(void);
ll_liveness ll_process_liveness(const ll_process *process);

/* What /proc/PID/stat says. A main thread that ended before other threads is shown as a zombie, too, but has not ended
 * the process. */
typedef struct ll_process_stat {
  bool ended;
  uint32_t parent;
  uint64_t start_time; /* in clock ticks since boot */
} ll_process_stat;

/* False when it cannot be read. */
bool ll_process_stat_read(uint32_t pid, ll_process_stat *stat);

/* Called while the main thread runs, at load and in a child of fork(3). Async-signal-safe. */
void ll_process_begin(void);

/* Whether this process' main thread has ended before other threads; `status` is the one it ended with, 0 if /proc
 * cannot be read. False when that cannot be determined: without /proc in a process in which ll_process_begin was not
 * called
 * (`begun`), a child of clone(2). */
bool ll_process_main_has_ended(bool begun, int *status);

/* Fills `bytes` with random data. */
void ll_random(void *bytes, unsigned count);

#endif
