/* The end of an emitter, by itself or by a recovery: everything sealed and delivered, FINAL last. */
#ifndef LIFELINE_FINISH_H
#define LIFELINE_FINISH_H

#include "harvest.h"
#include "route.h"

/* Nobody emits any more. `flags` go onto each new batch; FINAL is added to the last. Returns true when all is delivered
 * (or refused and counted) before the deadline, which another thread may move. */
bool ll_finish(ll_harvest *harvest, ll_route *route, uint32_t flags, const uint64_t *deadline_ns);

#endif
