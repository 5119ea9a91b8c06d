/* The pool of rings: made within the budget, handed to threads, drained and handed on.
 *
 *   unmade --(made: by a thread in need, or ahead of need by the harvester)--> free or owned
 *   free --(taken)--> owned --(its thread ends, or takes a larger one)--> retired --(drained)--> free
 *
 * Making a ring costs its pages: hundreds of microseconds on some machines. So the harvester keeps a few of the
 * smallest size ready and touched, and a new thread finds one for the price of a compare-and-swap.
 */
#ifndef LIFELINE_POOL_H
#define LIFELINE_POOL_H

#include "ringfile.h"

/* An owned ring of this size for events of this route; NULL when the budget, the route's share of it, or the filesystem
 * has no room. Any thread. */
ll_ring *ll_pool_take(ll_store *store, uint32_t route, uint64_t bytes);

/* Makes up what is missing of the reserve: frees what is drained, then makes rings. The harvester's. */
void ll_pool_replenish(ll_store *store);

/* Rings whose thread is gone, or has a larger one, become free when they are drained. The harvester's. */
void ll_pool_reclaim(ll_store *store);

/* So many threads have left rings with events in them that sealing these is better than making more. */
bool ll_pool_is_cluttered(const ll_store *store);

#endif
