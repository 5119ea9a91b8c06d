/* The part of the batches' context that changes while the program runs: the session (FORMAT.md, section 3.6).
 *
 * A change applies to the events that are emitted after it. It is published with the position that each ring's head has
 * at that moment, its boundary: a route's batches keep the earlier context and end at the boundaries until its rings
 * are drained up to them; then the route advances to the change. So nobody waits for the harvester, an emit takes no
 * part, and a recovery that finds changes in a file does the same as the harvester would have done.
 *
 *   changes published:  header.context_changes     one release store, after the context and the boundaries are written
 *   changes applied:    routes[].context           by the harvester or a recovery, per route
 *
 * Change n is in place n % LL_CONTEXTS of contexts and boundaries, which no route uses any more when it is written. A
 * ring that is made after a change has the boundary 0: all of its events are later ones.
 *
 * A route whose sink takes nothing falls behind. When only one place is left, the change to it is one to no session;
 * later changes wait, so that no event gets the session of another time. If other routes go on, the harvester moves the
 * route that is stuck to a later change: what it still holds of the time before has lost its context (context_lost),
 * and gets none.
 *
 * Summaries are reported after the time that they are about. So no route advances before the harvester has reported
 * those of the time before the change, and set the boundary of its own ring behind them: `summarised` in ll_store.
 */
#ifndef LIFELINE_CONTEXT_H
#define LIFELINE_CONTEXT_H

#include "ringfile.h"

#define LL_BOUNDARY_NONE UINT64_MAX /* the boundary is not known yet: everything precedes it */

/* Publishes a change. With the lock. False: too many changes are not applied yet; until a later call succeeds, events
 * have no session. */
bool ll_context_change(ll_store *store, const ll_context *context);

/* Makes room for changes that this route has not applied, at the cost of its earlier contexts. With the lock, by the
 * harvester. False: it does not hold changes up, or its summaries are not reported yet. */
bool ll_context_skip(ll_store *store, uint32_t route);

/* Sets the context with which a new file starts. Before any ring is taken. */
void ll_context_start(ll_store *store, const ll_context *context);

/* True while the route has changes that are not applied. */
bool ll_context_is_behind(const ll_store *store, uint32_t route);

/* Applies the changes up to which the route's rings are drained. */
void ll_context_advance(ll_store *store, uint32_t route);

/* The context of the route's next batch; the fixed part precedes it. */
const ll_context *ll_context_of(const ll_store *store, uint32_t route);

/* The position in one of the route's rings at which its next batch must end. */
uint64_t ll_context_end(const ll_store *store, const ll_ring *ring);

/* Around the harvester's report of summaries, with its ring: begin returns true if a change waits for it. */
bool ll_context_summary_begin(ll_store *store, ll_ring *own, uint64_t *changes);
void ll_context_summary_end(ll_store *store, ll_ring *own, uint64_t changes);

/* When the harvester's ring grows during that report, before it is bound to the larger one. */
void ll_context_hand_over(ll_ring *from, ll_ring *to);

#endif
