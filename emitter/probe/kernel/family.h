/* Processes and their descendants, as /proc shows them. */
#ifndef KERNEL_FAMILY_H
#define KERNEL_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

/* A list of pids. */
typedef struct family {
  uint32_t *pids;
  uint32_t count, room;
} family;

bool family_add(family *to, uint32_t pid);
void family_free(family *made);

/* Calls `take` for each child of these processes, for theirs, and so on. One that is forked meanwhile may be missing.
 */
void family_each_descendant(const family *roots, void (*take)(void *ctx, uint32_t pid, uint32_t parent), void *ctx);

/* Fills in the pids of all processes, and their parents' at the same places. */
void family_read(family *pids, family *parents);

/* False: there is no such process, or all of its threads have ended. */
bool process_lives(uint32_t pid);

/* When it began, in ticks since the machine's start: another process with the same pid began at another time. 0: there
 * is no such process. */
uint64_t process_start(uint32_t pid);

/* Whether the probe's own PIDs are not those of the machine. */
bool process_is_in_namespace(void);

/* The program's name (comm) as the kernel has it; empty if the process has ended. */
void process_read_program(uint32_t pid, char program[16]);

#endif
