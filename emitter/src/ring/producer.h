/* Emitting from inside the library. */
#ifndef LIFELINE_PRODUCER_H
#define LIFELINE_PRODUCER_H

#include <lifeline/detail/emit.h>

/* Reserves room for one record of `bytes` (a multiple of 8) on this thread's ring for the route, and writes its first
 * word: the current tick and the type's number. Fill in the rest, then call ll_publish. Returns no reservation when the
 * event was dropped; it is then counted for that route. Requires: ll_enter returned LL_EMITTER_ON, the route is
 * declared, and the number is registered. */
ll_reservation ll_reserve_on_route(uint32_t route, uint32_t number, size_t bytes);

/* For the harvester's own events, on the default route: it does not wait for itself, and works even when all other
 * producers are closed. No reservation: no room now; nothing was counted. */
ll_reservation ll_reserve_for_harvester(ll_event_type *type, size_t bytes);

/* The ring of the harvester's own events, on the default route. Called by the harvester's thread. NULL: none is
 * available now. */
struct ll_ring *ll_ring_of_harvester(void);

/* Calls ll_above.thread_ends at the end of the calling thread. Never allocates memory: if that is not possible, see
 * ll_producers_reap. */
void ll_watch_thread(void);
void ll_producers_make_key(void);

/* Called by the harvester now and then: returns the rings of threads that ended unwatched. */
void ll_producers_reap(void);

/* Whether this thread (its kernel ID; 0: none) has ended unwatched. */
bool ll_thread_has_ended(uint32_t thread);

/* Starts the emitter and registers the type. Returns its state, which the caller acts on without reading it again;
 * LL_TYPE_NEW: not possible now, or the emitter is not running. */
uint32_t ll_make_known(ll_event_type *type);

/* The same, for one event. If each event of the type needs a decision, also ensures that this thread has a producer on
 * the default route. LL_TYPE_OFF: the type is off, or there is no ring for that producer, and the event was counted as
 * dropped. */
uint32_t ll_prepare(ll_event_type *type);

/* This thread's producer on a route other than the default one; NULL before its first event there. */
ll_producer *ll_producer_on(uint32_t route);

/* This thread's producer, on a route other than the default one, that is inside an emit; NULL: none. */
ll_producer *ll_producer_interrupted(void);

#endif
