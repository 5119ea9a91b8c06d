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

/* Called once per process while the main thread runs. Async-signal-safe. */
void ll_process_begin(void);

typedef enum ll_main_thread { LL_MAIN_UNKNOWN, LL_MAIN_RUNS, LL_MAIN_ENDED } ll_main_thread;

/* Whether this process' main thread has ended before other threads; `status` is the one it ended with, -1 if that is
 * unknown. It needs /proc, or the kernel's list of robust futexes; and for the status a free descriptor. */
ll_main_thread ll_process_main(int *status);

/* A descriptor, in the caller's table, for ll_process_status_of_main; -1 when /proc cannot be read. */
int ll_process_open_main(void);

/* Status that the main thread has ended with; -1 while it runs, and when it is unknown. */
int ll_process_status_of_main(int fd);

/* Fills `bytes` with random data. */
void ll_random(void *bytes, unsigned count);

#endif
