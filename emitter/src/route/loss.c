#include "loss.h"

#include "base/log.h"
#include "ring/emitter.h"
#include "streams.h"

#include <string.h>

#define LOOK_NS UINT64_C(1000000000)
#define QUIET_NS (60 * LOOK_NS)

/* Causes of a lack of room, in ascending order of severity. */
enum { TOO_FAST = 1, NO_RINGS, SINK_AWAY, NO_SPACE, NO_MEMORY, DENIED };

static void report_beginning(bool spooled, int cause) {
  unsigned mib = (unsigned)(ll_the_emitter.store.header->slot_count * (uint64_t)LL_SLOT_BYTES >> 20);
  if (cause == DENIED)
    ll_log(LL_LOG_WARN,
           "events are dropped: the system refuses to allocate room in %s (%s); a seccomp filter must allow madvise or "
           "fallocate",
           ll_the_emitter.store.path, strerror(ll_the_emitter.store.denied));
  else if (cause == NO_MEMORY)
    ll_log(LL_LOG_WARN,
           "events are dropped: the memory limit of the control group leaves no room for batches; raise it, or set "
           "LIFELINE_SPOOL to a directory on disk");
  else if (cause == NO_SPACE)
    ll_log(LL_LOG_WARN,
           "events are dropped: the filesystem of %s has no space for batches; free some, or set LIFELINE_RING_DIR to "
           "another directory",
           ll_the_emitter.store.path);
  else if (cause == SINK_AWAY)
    ll_log(LL_LOG_WARN,
           "events are dropped: the sink%s is too slow, and the %u MiB for batches (half of LIFELINE_BUDGET_BYTES, "
           "at most %u) are full%s",
           spooled ? " or the spool" : "", mib, LL_SLOTS_MAX * LL_SLOT_BYTES >> 20,
           spooled ? "" : "; set LIFELINE_SPOOL to a directory on disk to store them there");
  else if (cause == NO_RINGS)
    ll_log(
        LL_LOG_WARN,
        "events are dropped: LIFELINE_BUDGET_BYTES leaves no ring for another thread, or the event type was refused");
  else
    ll_log(LL_LOG_WARN, "events are dropped: they are emitted faster than the rings are drained; with "
                        "LIFELINE_POLICY=block the program waits instead");
}

static void look_at_room(ll_loss *loss, const uint64_t counters[LL_COUNTERS], uint64_t now_ns, bool end) {
  bool more_no_ring = counters[LL_COUNT_NO_RING] > loss->no_ring,
       more = counters[LL_COUNT_RING_FULL] > loss->ring_full || more_no_ring;
  int cause = more_no_ring ? NO_RINGS : TOO_FAST;
  const ll_store *store = &ll_the_emitter.store;
  if (ll_streams_starved())
    cause = store->full == LL_LACKS_NOTHING ? SINK_AWAY : store->full == LL_LACKS_MEMORY ? NO_MEMORY : NO_SPACE;
  if (more && store->denied != 0) cause = DENIED;
  loss->ring_full = counters[LL_COUNT_RING_FULL];
  loss->no_ring = counters[LL_COUNT_NO_RING];
  uint64_t dropped = loss->ring_full + loss->no_ring;
  if (more && !end && cause > loss->cause && (loss->cause != 0 || now_ns >= loss->quiet_until_ns)) {
    report_beginning(loss->spooled, cause);
    loss->cause = cause;
    loss->quiet_until_ns = now_ns + QUIET_NS;
  }
  if (dropped == loss->reported) return;
  bool over = !more && ll_streams_held_up() == 0 && (loss->cause != 0 || now_ns >= loss->quiet_until_ns);
  if (!over && !end) return;
  bool again = !end && loss->cause == SINK_AWAY;
  ll_log(LL_LOG_WARN, "%llu events were dropped (ring_full or no_ring)%s",
         (unsigned long long)(dropped - loss->reported), again ? "; the sink accepts batches again" : "");
  loss->reported = dropped;
  loss->cause = 0;
}

void ll_loss_look(ll_loss *loss, bool end) {
  uint64_t now_ns = ll_monotonic_ns(), counters[LL_COUNTERS];
  if (now_ns < loss->look_ns && !end) return;
  loss->look_ns = now_ns + LOOK_NS;
  ll_streams_counters(counters);
  look_at_room(loss, counters, now_ns, end);
  if (counters[LL_COUNT_OVERSIZE] == loss->oversize_reported || (now_ns < loss->oversize_quiet_until_ns && !end))
    return;
  ll_log(LL_LOG_WARN, "%llu events were dropped: they are larger than %d bytes",
         (unsigned long long)(counters[LL_COUNT_OVERSIZE] - loss->oversize_reported), LL_RECORD_MAX);
  loss->oversize_reported = counters[LL_COUNT_OVERSIZE];
  loss->oversize_quiet_until_ns = now_ns + QUIET_NS;
}
