#include "finish.h"

#include "atomics.h"

enum { NAP_MS = 5 };

/* An incarnation of which nobody has heard, and which has nothing to say, need not say that it ends. */
static bool nothing_ever(const ll_harvest *harvest) {
  uint64_t counters[LL_COUNTERS];
  ll_harvest_counters(harvest, counters);
  return harvest->sequence == 0 && counters[0] == 0 && ll_harvest_pending(harvest) == 0;
}

/* FINAL waits until the batches before it are settled, so that its counters are the last word on refusals. When the
 * time is over it is sealed all the same: a recovery then has nothing to do but send. */
bool ll_finish(ll_harvest *harvest, ll_route *route, uint32_t flags, const uint64_t *deadline_ns) {
  bool refusal_told = false;
  if (nothing_ever(harvest)) return true;
  for (;;) {
    bool late = ll_monotonic_ns() >= load_acquire(deadline_ns);
    bool settled = ll_route_settled(route, harvest->sequence);
    ll_sealed sealed = LL_NOTHING_TO_SEAL;
    harvest->total_limit = ll_route_limit(route);
    /* A thread that was held up in the middle of its last emit for longer than anybody waits: FINAL comes once more. */
    if (ll_harvest_pending(harvest) > 0) harvest->finished = false;
    if (!harvest->finished) {
      if (ll_harvest_pending(harvest) > harvest->batch_bytes)
        sealed = ll_harvest_seal(harvest, flags);
      else if (settled || late)
        sealed = ll_harvest_seal(harvest, flags | LL_BATCH_FINAL);
    } else if (settled) {
      /* The last batch itself may have been refused: an empty one says so, unless it is refused as well. */
      if (refusal_told || !ll_harvest_has_refusals(harvest)) return true;
      refusal_told = true;
      sealed = ll_harvest_seal(harvest, flags | LL_BATCH_FINAL);
    }
    ll_route_pump(route);
    if (sealed == LL_SEALED) continue;
    if (late) return false;
    ll_route_wait(route, NAP_MS);
  }
}
