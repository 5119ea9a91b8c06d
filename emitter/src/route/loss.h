/* Logs when events begin to be dropped for lack of room, with the cause and the remedy, and the number of dropped
 * events when that ends; also logs events that were too large. At most once a minute, except for a more severe cause
 * and for the final report. */
#ifndef LIFELINE_LOSS_H
#define LIFELINE_LOSS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ll_loss {
  bool spooled;     /* a spool is configured */
  uint64_t look_ns; /* time of the next check */
  int cause;        /* of an ongoing loss: the most severe cause reported */
  uint64_t ring_full, no_ring;
  uint64_t reported;
  uint64_t quiet_until_ns;
  uint64_t oversize_reported;
  uint64_t oversize_quiet_until_ns;
} ll_loss;

/* Called by the harvester, at any time. `end`: final report. */
void ll_loss_look(ll_loss *loss, bool end);

#endif
