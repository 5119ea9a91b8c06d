/* Summaries: of a type at resolution `summary`, no events travel but what a few numbers say of them per interval.
 *
 * A thread adds values (summary.c); the harvester turns all cells over at an interval's end and reports (report.c).
 * detail/cells.h tells how they meet. All memory is bounded: what finds no room is LL_FOLD_NO_ROOM, for the caller to
 * count. A forked child starts with nothing: all of it lies in memory that is wiped on fork.
 */
#ifndef LIFELINE_SUMMARY_H
#define LIFELINE_SUMMARY_H

#include <lifeline/detail/emit.h>

#define LL_SUMMARY_INTERVAL_NS UINT64_C(10000000000) /* where no rule says another */

typedef enum ll_fold {
  LL_FOLDED,
  LL_FOLD_NOTHING,   /* the type has no field that could be summarised */
  LL_FOLD_REENTRANT, /* from a signal handler that interrupted another fold */
  LL_FOLD_NO_ROOM,   /* too many threads, or too many types on them */
  LL_FOLD_CLOSED,    /* after the last summaries were made */
} ll_fold;

/* Folds one event. `numbers` has the values of its numeric fields, each at the field's index. The emitter must be on,
 * and the lock not held. No system call, but when a thread adds to a type for the first time since its plan. */
union ll_number;
ll_fold ll_summary_add(uint32_t number, const union ll_number *numbers);

/* Counts what came of it, in the default route's books. */
void ll_summary_count(ll_fold result);

/* The same for one operation of a caliper. */
ll_fold ll_summary_add_operation(uint32_t number, double value, uint64_t ticks);

/* The calling thread's folder, with a cell for this caliper; NULL when there is no room, or at the end. */
struct ll_folder *ll_summary_folder(uint32_t number);

/* The number is a caliper's: its events are operations. With the lock held. */
void ll_summary_is_caliper(uint32_t number);

/* What to make of a type's events. */
typedef struct ll_summary_plan {
  uint64_t interval_ns; /* 0: LL_SUMMARY_INTERVAL_NS */
  const char *field;    /* the only one to summarise; NULL: the numeric ones with a unit, or all where none has one */
  bool timed;           /* the time from value to value on a thread, too, and value / time */
} ll_summary_plan;

/* From now on. May be called again, also while threads add; values under the old plan are reported under it. Without a
 * plan a type has that of all zeros. With the lock held. False, with the plan of before: no such field. */
bool ll_summary_set_plan(uint32_t number, const ll_summary_plan *plan);

/* --- for the harvester --- */

typedef enum ll_report {
  LL_REPORT_DUE,   /* summaries whose interval is over */
  LL_REPORT_ALL,   /* all there are, and operations under way: for a flush */
  LL_REPORT_CLOSE, /* the same, and from now on adds are LL_FOLD_CLOSED */
} ll_report;

/* Emits lifeline.summary, which is when the events behind it are counted as folded, and lifeline.open. False: the ring
 * is full; call again when it was harvested. */
bool ll_summary_report(ll_report what);

/* What could not be told at the end is counted as dropped_no_ring. */
void ll_summary_give_up(void);

/* When the next interval is over; UINT64_MAX when there is nothing to report. */
uint64_t ll_summary_due_ns(void);

/* What no kernel wiped, in a forked child. Async-signal-safe. */
void ll_summary_after_fork(void);

#endif
