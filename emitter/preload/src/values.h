/* Calipers of processes that are no emitters: the values of an interval in the run's table, as sums of their powers.
 *
 * They are added to by atomic instructions, so that a process may be killed at any moment. The count is added last:
 * what a report finds of an operation that is being added is part of that report, and the count part of the next one.
 */
#ifndef LIFELINE_PRELOAD_VALUES_H
#define LIFELINE_PRELOAD_VALUES_H

#include "io.h"

/* ident, name, unit of the value */
#define IO_FOR_EACH_CALIPER(each)                                                                                      \
  each(disk_read, "disk.read", "B") each(disk_write, "disk.write", "B") each(disk_sync, "disk.sync", "")               \
      each(net_receive, "net.receive", "B") each(net_send, "net.send", "B") each(net_connect, "net.connect", "")       \
          each(net_accept, "net.accept", "") each(pipe_read, "pipe.read", "B") each(pipe_write, "pipe.write", "B")     \
              each(other_read, "other.read", "B") each(other_write, "other.write", "B")                                \
                  each(wait_poll, IO_WAIT_NAME, "")

#define IO_NUMBER(ident, name, unit) IO_CALIPER_##ident,
typedef enum io_caliper_number { IO_FOR_EACH_CALIPER(IO_NUMBER) IO_CALIPERS } io_caliper_number;
#undef IO_NUMBER

enum { IO_SHARDS = 4 };

/* Of no negative values. */
typedef struct io_powers {
  uint64_t sum; /* a whole number; of rates a double, like the next ones */
  uint64_t squares;
  uint64_t greatest; /* bits of doubles are in their order */
  uint64_t least;    /* inverted: 0 is none */
} io_powers;

typedef struct __attribute__((aligned(64))) io_values {
  uint64_t count;
  uint64_t timed;   /* those that took any time: only they have a duration and a rate */
  uint64_t threads; /* that had operations */
  io_powers value, ticks, rate;
} io_values;

void io_values_add(io_values *values, double value, uint64_t ticks);

/* Moves what was added since the last time from all shards into `taken`. Called by one thread. */
void io_values_take(io_values shards[IO_SHARDS], io_values *taken);

#endif
