/* The pool of rings: created within the budget, assigned to threads, drained and reused.
 *
 *   unmade --(made: by a thread in need, or ahead of need by the harvester)--> free or owned
 *   free --(taken)--> owned --(its thread ends, or takes a larger one)--> retired --(drained)--> free
 *
 * Creating a ring populates its pages, which takes hundreds of microseconds on some machines. So the harvester keeps a
 * few rings of the smallest size populated, and a new thread takes one with a compare-and-swap.
 */
#ifndef LIFELINE_POOL_H
#define LIFELINE_POOL_H

#include "ringfile.h"

/* Returns an owned ring of this size for events of this route; NULL when the budget, the route's share of it, or the
 * filesystem has no room. Any thread. */
ll_ring *ll_pool_take(ll_store *store, uint32_t route, uint64_t bytes);

/* Refills the reserve: frees drained rings, then creates new ones. Called by the harvester. */
void ll_pool_replenish(ll_store *store);

/* Frees drained rings whose thread has ended or has a larger one. Called by the harvester. */
void ll_pool_reclaim(ll_store *store);

/* True when so many ended threads have left rings with events that sealing these is better than creating more. */
bool ll_pool_is_cluttered(const ll_store *store);

#endif
