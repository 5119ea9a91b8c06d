/* Waits for descriptors, as parts of the operations that they were for.
 *
 * A program that never blocks in recv waits in poll, select or epoll_wait instead. Measured alone, its receives are
 * copies in memory, and the network seems to become faster when it breaks down: so papers/003 came to a wrong answer
 * (Figure 4b). Therefore a read takes as long as if its thread had blocked in it: the time that the thread has waited
 * since its last operation on that descriptor counts. A write counts it only after one that found no room for all.
 *
 * This needs neither what a wait was for nor what it found, which epoll_wait does not say. A thread that waits for
 * many descriptors waits for each of them, as a thread for each would.
 */
#ifndef LIFELINE_PRELOAD_WAITS_H
#define LIFELINE_PRELOAD_WAITS_H

#include "io.h"

/* The calling thread has waited so long. */
void io_waits_add(uint64_t ticks);

/* For this descriptor alone: part of its next operation. */
void io_waits_add_for(int fd, uint64_t ticks);

/* Before an operation: the ticks to count as part of it. */
uint64_t io_waits_before(int fd, io_way way);

typedef enum io_outcome {
  IO_MOVED,      /* all that there was, or was given */
  IO_MOVED_PART, /* a write that found no room for all */
  IO_REFUSED,    /* it would have had to wait: what the thread has waited until now counts in the next one */
} io_outcome;

/* After it. */
void io_waits_mark(int fd, io_way way, io_outcome outcome);

#endif
