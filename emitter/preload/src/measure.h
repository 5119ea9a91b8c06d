/* One operation of the program: what a wrapper does before and after the real call. */
#ifndef LIFELINE_PRELOAD_MEASURE_H
#define LIFELINE_PRELOAD_MEASURE_H

#include "descriptors.h"

#include <lifeline/caliper.h>

typedef struct io_caliper {
  ll_event_type *type;
  unsigned number; /* io_caliper_number */
  void (*start)(uint64_t id);
  void (*end)(uint64_t id, double value);
} io_caliper;

typedef struct io_operation {
  const io_caliper *caliper; /* NULL: not measured by this process */
  const io_caliper *of_run;  /* the one that counts in the run's table; NULL: none */
  ll_operation operation;
  io_sums *sums; /* NULL: no target */
  uint64_t ended;
  io_target target;
  int fd;
  io_way way;
  bool may_wait;   /* of a kind that is waited for */
  bool under_way;  /* the target counts it as open */
  bool has_room;   /* a write that moved less for want of data, set before io_end */
  bool unseen;     /* begun before the process was measured */
  uint64_t waited; /* ticks that the thread waited for this operation before it began: waits.h */
  uint64_t asked;  /* bytes that a write is to take, set before io_end; 0: a read, or not known */
} io_operation;

/* False: the wrappers only forward. */
extern uint32_t io_on;

/* Whether to measure this thread's calls: not those of the library and its sinks. */
static inline bool io_is_on(void) {
  return __builtin_expect(__atomic_load_n(&io_on, __ATOMIC_RELAXED) != 0, 0) && ll_tls_inside == 0;
}

/* The functions preserve errno. */
void io_begin(io_operation *now, int fd, io_way way);
void io_begin_wait(io_operation *now, bool masked);

/* When its scope is left: the thread may be cancelled inside the call. */
void io_abandon(io_operation *now) __attribute__((cold));

static inline void io_leave(io_operation *now) {
  if (__builtin_expect(now->under_way, 0)) io_abandon(now);
}

/* Only where io_begin follows. */
#define IO_OPERATION io_operation operation __attribute__((cleanup(io_leave)))

void io_end_wait(io_operation *now, int64_t result);

/* `result` is the call's, negative if it failed: then errno says whether it would have had to wait. A result of 0 bytes
 * is the end of the data, and not measured. `value` counts bytes, or operations. */
void io_end(io_operation *now, int64_t result, double value);

static inline void io_end_bytes(io_operation *now, int64_t result) {
  io_end(now, result, (double)result);
}

/* An operation that is found to have taken place only afterwards: when it began, and what it was. */
uint64_t io_begin_later(void);
void io_add(io_descriptor descriptor, io_way way, uint64_t began, int64_t bytes);

/* What began then was a wait for this descriptor, though no operation. Preserves errno. */
void io_waits_since(int fd, uint64_t began);

/* Another descriptor of one operation: its target counts the bytes, no caliper does. */
void io_add_target(int fd, io_way way, const io_operation *now, int64_t bytes);

/* Whether this is the process that measures: not the child of a vfork, in its parent's memory. */
bool io_is_here(void);

/* Of a handler: it may be small. */
bool io_is_on_signal_stack(void);

/* The number of reports: descriptors are looked at again in each interval. */
uint16_t io_interval(void);

/* Whether this process has an emitter, with a thread. */
bool io_is_emitting(void);

/* Whether the program has installed a seccomp filter: each system call of ours may be forbidden. */
bool io_is_filtered(void);

/* Whether neither a thread of the program but the caller nor another process shares the table of descriptors. False if
 * it cannot be determined, and after a clone by syscall(2) wrongly true. Keeps errno. */
bool io_has_table_alone(void);

/* Delivers what was measured until now, and goes on. Waits a quarter of a second at most. */
void io_flush(void);

/* Delivers what was measured: before an exec, or an exit without handlers. Waits a quarter of a second at most. */
void io_finish(void);

/* This process ends. If it is the run's first, waits until the agent has delivered what the run has summed up. */
void io_leave_run(void);

/* Stops measuring for good. Reports first; `why` is the end of a line that says so. */
void io_stop(const char *why);

#endif
