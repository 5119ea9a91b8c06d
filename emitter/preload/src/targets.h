/* Targets: the files and peers of the program, with sums per operation.
 *
 * A table of fixed size in memory of its own. Names are added without a lock: a slot is claimed by compare-and-swap,
 * and a thread that meets a slot under construction does not wait, since it may be a signal handler inside that
 * construction. Sums are added with atomic instructions, in a copy per few threads, and taken by the reporter with an
 * exchange, so that each operation is in exactly one report. A forked child keeps the names and starts with empty sums.
 *
 * A target without an operation for two reports is forgotten, unless one is under way. Its slot has a generation, so
 * that descriptors that still refer to it are noticed.
 *
 * The table is the run's, in a file (table.h), if there is one; else this process's own.
 */
#ifndef LIFELINE_PRELOAD_TARGETS_H
#define LIFELINE_PRELOAD_TARGETS_H

#include "table.h"

typedef struct io_target {
  uint16_t slot;
  uint16_t generation;
} io_target;

/* From now on targets are in the run's table. False: it cannot be had. The settings must stay. */
bool io_targets_attach(const io_settings *settings);

/* From now on targets are in a table of this process. False: no memory. The settings must stay. */
bool io_targets_create(const io_settings *settings);

/* The run's table if targets are in it, else NULL. */
io_table *io_targets_of_run(void);

/* In a forked child: the sums of its own table are wiped. */
void io_targets_after_fork(void);

/* The target of this name, which is added if there is room; else the one that stands for all others. */
io_target io_target_find(io_kind kind, const char *name, bool secret);

/* The same for a name that may never be used: such names leave half of the room to others. False: there is none. */
bool io_target_expect(io_target *target, io_kind kind, const char *name, bool secret);

/* Whether a pattern of --redact is for this path. */
bool io_target_is_secret(const char *path);

bool io_target_is_current(io_target target);

/* Where this thread adds up operations of the target; NULL without targets. */
io_sums *io_target_sums(io_target target, io_way way);

/* The same for an operation under way, which keeps the target from being forgotten. The target becomes the one for all
 * others if it was forgotten since it was found. */
io_sums *io_target_begin(io_target *target, io_kind kind, io_way way);

static inline void io_target_end(io_sums *sums) {
  __atomic_fetch_sub(&sums->open, 1, __ATOMIC_RELEASE);
}

/* A value of a caliper, in a process that is no emitter. Without a table of the run nothing happens. */
void io_run_value(unsigned caliper, double value, uint64_t ticks);

/* Between begin and end, the first time in each interval: true, with the name for io.name. */
bool io_target_introduce(io_target target, const char **kind, const char **name);

/* Emits io.target for each target and operation with anything to report. Called by one thread. */
void io_targets_report(double tick_ns);

#endif
