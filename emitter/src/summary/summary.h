/* Summaries: a type at resolution `summary` sends no events, but a few statistics per interval.
 *
 * Threads add values (summary.c); at the end of an interval the harvester swaps the halves of all cells and reports
 * (report.c). detail/cells.h describes the protocol. All memory is bounded: LL_FOLD_NO_ROOM is returned when it is
 * exhausted, for the caller to count. A forked child starts empty: the memory is wiped on fork.
 */
#ifndef LIFELINE_SUMMARY_H
#define LIFELINE_SUMMARY_H

#include "moments.h"

#include <lifeline/detail/emit.h>

#define LL_SUMMARY_INTERVAL_NS UINT64_C(10000000000) /* unless a rule sets another */

typedef enum ll_fold {
  LL_FOLDED,
  LL_FOLD_NOTHING,   /* the type has no field to summarise */
  LL_FOLD_REENTRANT, /* from a signal handler that interrupted another fold */
  LL_FOLD_NO_ROOM,   /* too many threads, or too many types on them */
  LL_FOLD_CLOSED,    /* after the last summaries were made */
} ll_fold;

/* Folds one event. `numbers` holds the values of its numeric fields, each at the field's index. The emitter must be on,
 * and the lock not held. Makes no system call, except when a thread adds to a type for the first time under its current
 * plan. */
union ll_number;
ll_fold ll_summary_add(uint32_t number, const union ll_number *numbers);

/* Counts the result in the default route's counters. */
void ll_summary_count(ll_fold result);

/* The same as ll_summary_add, for one operation of a caliper. */
ll_fold ll_summary_add_operation(uint32_t number, double value, uint64_t ticks);

/* Adds what other processes have measured with this caliper in an interval that ends now, in so many threads: values,
 * durations in ticks, rates per tick. It is reported at once. */
ll_fold ll_summary_add_moments(uint32_t number, const ll_moments moments[3], uint32_t threads, uint64_t interval_ns);

/* The calling thread's folder, with a cell for this caliper; NULL without room, or after the last summaries. */
struct ll_folder *ll_summary_folder(uint32_t number);

/* Marks the type as a caliper: its events are operations. With the lock held. */
void ll_summary_is_caliper(uint32_t number);

/* How to summarise a type's events. */
typedef struct ll_summary_plan {
  uint64_t interval_ns; /* 0: LL_SUMMARY_INTERVAL_NS */
  const char *field;    /* the only field to summarise; NULL: the numeric ones with a unit, or all if none has one */
  bool timed;           /* also summarise the time between values on a thread, and value / time */
} ll_summary_plan;

/* Sets the plan from now on. May be called again, also while threads add; values added under the old plan are reported
 * under it. The default plan is all zeros. With the lock held. False, keeping the previous plan: no such field. */
bool ll_summary_set_plan(uint32_t number, const ll_summary_plan *plan);

/* At the end of a thread: adds its values to the totals, and ends its operations under way. */
void ll_summary_thread_ends(void);

/* --- for the harvester --- */

/* The same for threads that ended unwatched: see ring/producer.h. */
void ll_summary_reap(void);

typedef enum ll_report {
  LL_REPORT_DUE,   /* summaries whose interval is over */
  LL_REPORT_ALL,   /* all summaries, and operations under way: for a flush */
  LL_REPORT_CLOSE, /* the same, and from now on adds return LL_FOLD_CLOSED */
} ll_report;

/* Emits lifeline.summary, at which point the summarised events are counted as folded, and lifeline.open. False: the
 * ring is full; call again after harvesting. */
bool ll_summary_report(ll_report what);

/* Calls the function of ll_on_report if its interval is over, or if `what` says so. */
void ll_summary_report_others(ll_report what);

/* Counts events whose summaries could not be emitted at the end as dropped_no_ring. */
void ll_summary_give_up(void);

/* End of the next interval; UINT64_MAX when there is nothing to report. */
uint64_t ll_summary_due_ns(void);

/* In a forked child: wipes what the kernel has not wiped. Async-signal-safe. */
void ll_summary_after_fork(void);

#endif
