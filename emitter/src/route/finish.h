/* Ends an emitter, live or in a recovery: seals and delivers everything, with FINAL as the last batch of each route. */
#ifndef LIFELINE_FINISH_H
#define LIFELINE_FINISH_H

#include "harvest.h"
#include "route.h"

/* The state of one route that is being finished. */
typedef struct ll_ending {
  ll_harvest *harvest;
  ll_route *route;
  bool refusal_told;
  bool done;
  bool late; /* the deadline has passed: what is not done is left */
} ll_ending;

/* Requires that no thread emits any more. `flags` are set on each new batch; FINAL is added to each route's last. The
 * routes are served concurrently: one with an unreachable sink does not delay the others. Returns true when everything
 * is delivered (or refused and counted) before the deadline, which another thread may change; for a sink that never had
 * a connection the deadline is unreached_ns, if that is earlier. */
bool ll_finish(ll_ending *endings, uint32_t count, uint32_t flags, const uint64_t *deadline_ns, uint64_t unreached_ns);

#endif
