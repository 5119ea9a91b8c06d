/* When a route's slots run out, the spool takes some of their batches over. */
#ifndef LIFELINE_RELIEF_H
#define LIFELINE_RELIEF_H

#include "spool/spool.h"

/* What the route knows of each slot: the sequence that the sink has now, and the last one that it was handed, or 0. */
typedef struct ll_relief_view {
  const uint64_t *in_flight;
  const uint64_t *offered;
} ll_relief_view;

/* With a quarter of the slots left, or no room for a batch, makes half of them free. Batches that the sink was never
 * handed go first, oldest first: those that it was are best sent again soon, and must not be given up. */
void ll_relieve(ll_spool *spool, const ll_relief_view *view);

/* Moves everything that is sealed, at the end. True when nothing is left in slots. */
bool ll_relieve_all(ll_spool *spool, const ll_relief_view *view);

#endif
