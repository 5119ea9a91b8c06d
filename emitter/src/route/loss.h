/* Says in the log when events begin to be dropped for want of room, why and what helps, and when that is over how many
 * were; and that events were too large. At most once a minute, but for a graver cause and for the last word at the end.
 */
#ifndef LIFELINE_LOSS_H
#define LIFELINE_LOSS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ll_loss {
  bool spooled;     /* there is a spool */
  uint64_t look_ns; /* when the counters are looked at next */
  int cause;        /* of a loss that goes on: the gravest that was reported */
  uint64_t ring_full, no_ring;
  uint64_t reported;
  uint64_t quiet_until_ns;
  uint64_t oversize_reported;
  uint64_t oversize_quiet_until_ns;
} ll_loss;

/* The harvester's, at any time. `end`: for the last time. */
void ll_loss_look(ll_loss *loss, bool end);

#endif
