/* Moves batches to the spool when a route's slots run out. */
#ifndef LIFELINE_RELIEF_H
#define LIFELINE_RELIEF_H

#include "spool/spool.h"

/* Per slot: the sequence that the sink currently holds, and the last one that it was handed, or 0. */
typedef struct ll_relief_view {
  const uint64_t *in_flight;
  const uint64_t *offered;
} ll_relief_view;

/* When only a quarter of the slots is free, or there is no room for a batch, frees half of the slots. Moves batches
 * first that were never handed to the sink, oldest first: the others should be sent again soon, and must not be
 * discarded. */
void ll_relieve(ll_spool *spool, const ll_relief_view *view);

/* Moves all sealed batches, at the end. True when none is left in slots. */
bool ll_relieve_all(ll_spool *spool, const ll_relief_view *view);

#endif
