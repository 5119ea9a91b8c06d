#include "finish.h"

#include "base/atomics.h"

enum { NAP_MS = 5 };

/* FINAL waits until all earlier batches are settled, so that its counters include every refusal. After the deadline it
 * is sealed anyway: then a recovery only has to send. Returns true if a batch was sealed. */
static bool advance(ll_ending *ending, uint32_t flags, bool late) {
  ll_harvest *harvest = ending->harvest;
  bool settled = ll_route_settled(ending->route, harvest->sequence);
  ll_sealed sealed = LL_NOTHING_TO_SEAL;
  harvest->total_limit = ll_route_limit(ending->route);
  /* A thread that was suspended in its last emit may publish after FINAL: then FINAL is sealed again. */
  if (ll_harvest_pending(harvest) > 0) harvest->finished = false;
  if (!harvest->finished) {
    if (ll_harvest_pending(harvest) > harvest->batch_bytes)
      sealed = ll_harvest_seal(harvest, flags);
    else if (settled || late)
      sealed = ll_harvest_seal(harvest, flags | LL_BATCH_FINAL);
  } else if (settled) {
    /* The last batch itself may have been refused: an empty one reports that, unless it is refused as well. */
    ending->done = ending->refusal_told || !ll_harvest_has_refusals(harvest);
    if (ending->done) return false;
    ending->refusal_told = true;
    sealed = ll_harvest_seal(harvest, flags | LL_BATCH_FINAL);
  }
  ending->route->spool.closing = harvest->finished;
  ending->route->starved = sealed == LL_NO_SLOT;
  ll_route_pump(ending->route);
  return sealed == LL_SEALED;
}

/* Processes acknowledgements, for NAP_MS in total. */
static void wait(ll_ending *endings, uint32_t waiting) {
  int share_ms = waiting < NAP_MS ? NAP_MS / (int)waiting : 1;
  for (ll_ending *ending = endings; waiting > 0; ending++) {
    if (ending->done || ending->late) continue;
    ll_route_wait(ending->route, share_ms);
    waiting--;
  }
}

bool ll_finish(ll_ending *endings, uint32_t count, uint32_t flags, const uint64_t *deadline_ns, uint64_t unreached_ns) {
  for (uint32_t i = 0; i < count; i++)
    endings[i].done = ll_harvest_is_done(endings[i].harvest);
  for (;;) {
    uint64_t now = ll_monotonic_ns();
    bool over = now >= load_acquire(deadline_ns), progress = false;
    uint32_t waiting = 0, late = 0;
    for (ll_ending *ending = endings; ending < endings + count; ending++) {
      if (ending->done) continue;
      ending->late = over || (now >= unreached_ns && !ll_route_reached(ending->route));
      if (advance(ending, flags, ending->late)) progress = true;
      late += !ending->done && ending->late;
      waiting += !ending->done && !ending->late;
    }
    if (progress) continue;
    if (waiting == 0) return late == 0;
    wait(endings, waiting);
  }
}
