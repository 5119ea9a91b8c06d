/* Emitting from inside of the library. */
#ifndef LIFELINE_PRODUCER_H
#define LIFELINE_PRODUCER_H

#include <lifeline/detail/emit.h>

/* Takes room for one record of `bytes` (a multiple of 8) on this thread's ring for the route, and writes its first
 * word: the present tick and the type's number. Fill in the rest, then ll_publish. None: it was counted as dropped, in
 * the books of that route. The emitter runs (ll_enter said so), the route is declared, and the number was
 * registered. */
ll_reservation ll_reserve_on_route(uint32_t route, uint32_t number, size_t bytes);

/* For the harvester's own events, on the default route: it does not wait for itself, and comes in when all others are
 * shut out. None: there is no room now; nothing was counted. */
ll_reservation ll_reserve_for_harvester(ll_event_type *type, size_t bytes);

/* Starts the emitter, and makes the type known. False: it cannot be done now, or the emitter does not run. */
bool ll_make_known(ll_event_type *type);

/* The same, and when it has to be asked about each event, sees to it that this thread has a producer on the
 * default route. False: it cannot be done now, or the emitter does not run. */
bool ll_prepare(ll_event_type *type);

/* This thread's producer on another route than the default one; NULL before its first event there. */
ll_producer *ll_producer_on(uint32_t route);

/* This thread's producer on another route than the default one that is inside of an emit; NULL: none. */
ll_producer *ll_producer_interrupted(void);

#endif
