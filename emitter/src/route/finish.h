/* The end of an emitter, by itself or by a recovery: everything sealed and delivered, FINAL last in each route. */
#ifndef LIFELINE_FINISH_H
#define LIFELINE_FINISH_H

#include "harvest.h"
#include "route.h"

/* One route on its way to the end. */
typedef struct ll_ending {
  ll_harvest *harvest;
  ll_route *route;
  bool refusal_told;
  bool done;
  bool late; /* what is not done by now is left */
} ll_ending;

/* Nobody emits any more. `flags` go onto each new batch; FINAL is added to each route's last. The routes go side by
 * side: one whose sink is dead takes no time from the others. Returns true when all is delivered (or refused and
 * counted) before the deadline, which another thread may move; for a sink that never had a connection it is
 * unreached_ns, if that is earlier. */
bool ll_finish(ll_ending *endings, uint32_t count, uint32_t flags, const uint64_t *deadline_ns, uint64_t unreached_ns);

#endif
