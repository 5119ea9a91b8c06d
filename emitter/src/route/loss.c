#include "loss.h"

#include "life/core.h"
#include "life/log.h"

#define LOOK_NS UINT64_C(1000000000)
#define QUIET_NS (60 * LOOK_NS)

enum { RING_FULL = 1, NO_RING = 2, OVERSIZE = 4 }; /* of the counters */

static void report_beginning(const ll_core *core, const uint64_t counters[LL_COUNTERS]) {
  unsigned mib = (unsigned)(core->config.budget_bytes >> 20);
  bool spooled = core->config.spool.directory[0] != '\0';
  if (ll_streams_starved(core))
    ll_log(LL_LOG_WARN, "events are dropped: the sink%s takes too little, and the budget of %u MiB is used up; %s",
           spooled ? " or the spool" : "", mib,
           spooled ? "raise LIFELINE_BUDGET_BYTES" : "set LIFELINE_SPOOL to a directory on disk to keep them there");
  else if (counters[NO_RING] > 0)
    ll_log(LL_LOG_WARN,
           "events are dropped: the budget of %u MiB (LIFELINE_BUDGET_BYTES) has no ring for another thread, "
           "or their type was refused",
           mib);
  else
    ll_log(LL_LOG_WARN,
           "events are dropped: they come faster than the rings are emptied; LIFELINE_POLICY=block has the "
           "program wait instead");
}

static void look_at_room(ll_loss *loss, const ll_core *core, const uint64_t counters[LL_COUNTERS], uint64_t now_ns,
                         bool end) {
  uint64_t dropped = counters[RING_FULL] + counters[NO_RING];
  bool more = dropped > loss->seen;
  loss->seen = dropped;
  if (more && !loss->going_on && !end && now_ns >= loss->quiet_until_ns) {
    report_beginning(core, counters);
    loss->going_on = true;
    loss->quiet_until_ns = now_ns + QUIET_NS;
  }
  if (dropped == loss->reported) return;
  bool over = !more && ll_streams_held_up(core) == 0 && (loss->going_on || now_ns >= loss->quiet_until_ns);
  if (!over && !end) return;
  ll_log(LL_LOG_WARN, "%llu events were dropped (ring_full or no_ring)%s",
         (unsigned long long)(dropped - loss->reported), end ? "" : "; the sink takes batches again");
  loss->reported = dropped;
  loss->going_on = false;
}

void ll_loss_look(ll_loss *loss, const ll_core *core, bool end) {
  uint64_t now_ns = ll_monotonic_ns(), counters[LL_COUNTERS];
  if (now_ns < loss->look_ns && !end) return;
  loss->look_ns = now_ns + LOOK_NS;
  ll_streams_counters(core, counters);
  look_at_room(loss, core, counters, now_ns, end);
  if (counters[OVERSIZE] == loss->oversize_reported || (now_ns < loss->oversize_quiet_until_ns && !end)) return;
  ll_log(LL_LOG_WARN, "%llu events were dropped: they are larger than %d bytes",
         (unsigned long long)(counters[OVERSIZE] - loss->oversize_reported), LL_RECORD_MAX);
  loss->oversize_reported = counters[OVERSIZE];
  loss->oversize_quiet_until_ns = now_ns + QUIET_NS;
}
