#include "route.h"

#include "atomics.h"
#include "crash_point.h"
#include "log.h"

#include <string.h>
#include <time.h>

enum { BACKOFF_MIN_MS = 50, BACKOFF_MAX_MS = 2000, INDEX_BITS = 8 };

_Static_assert(LL_SLOTS_MAX <= 1 << INDEX_BITS, "a token names the slot in its low bits");

static void log_for_sink(void *ctx, ll_sink_log_level level, const char *message) {
  (void)ctx;
  ll_log((ll_log_level)level, "%s", message);
}

static void control_begins(void *ctx) {
  ll_control_begin(((ll_route *)ctx)->control);
}

static void control_says(void *ctx, const ll_control_message *message) {
  ll_control_take(((ll_route *)ctx)->control, message);
}

static void control_is_complete(void *ctx) {
  ll_control_complete(((ll_route *)ctx)->control);
}

static void refuse(ll_route *route, uint32_t index, uint64_t sequence, const char *why) {
  if (!ll_slot_move(route->store, index, sequence, LL_SLOT_SEALED, LL_SLOT_REFUSED)) return;
  add_relaxed(&route->refused_batches, 1);
  if (!__atomic_exchange_n(&route->trouble_told, true, __ATOMIC_RELAXED))
    ll_log(LL_LOG_ERROR, "the sink refused a batch: %s; its events are counted as dropped_sink",
           why != NULL ? why : "no reason given");
}

static void done(void *ctx, uint64_t token, ll_sink_outcome outcome, const char *why) {
  ll_route *route = ctx;
  uint32_t index = token & ((1u << INDEX_BITS) - 1);
  uint64_t sequence = token >> INDEX_BITS;
  if (index >= LL_SLOTS_MAX || !compare_and_swap_u64(&route->in_flight[index], sequence, 0)) return;
  switch (outcome) {
  case LL_SINK_ACKED:
    ll_crash_point("acknowledged-unfreed");
    if (ll_slot_move(route->store, index, sequence, LL_SLOT_SEALED, LL_SLOT_FREE)) {
      add_relaxed(&route->acknowledged, 1);
      store_relaxed(&route->acknowledged_since, 1);
      store_relaxed(&route->trouble_told, false);
    }
    break;
  case LL_SINK_REFUSED: refuse(route, index, sequence, why); break;
  case LL_SINK_RETRY: store_release(&route->retry_wanted, 1); break;
  }
  if (route->progress != NULL) route->progress(route->progress_ctx);
}

bool ll_route_open(ll_route *route, ll_store *store, uint32_t number, const char *url, const char *host,
                   const char *program, void (*progress)(void *ctx), void *ctx, char *why, size_t why_bytes) {
  memset(route, 0, sizeof *route);
  route->store = store;
  route->number = number;
  route->progress = progress;
  route->progress_ctx = ctx;
  route->host = (ll_sink_host){.url = url,
                               .host_name = host,
                               .program = program,
                               .ctx = route,
                               .log = log_for_sink,
                               .done = done,
                               .control_begin = control_begins,
                               .control = control_says,
                               .control_complete = control_is_complete};
  memcpy(route->host.incarnation, store->header->incarnation, sizeof route->host.incarnation);
  route->plugin = ll_sink_plugin_for(url, why, why_bytes);
  if (route->plugin != NULL) route->sink = route->plugin->open(&route->host, why, why_bytes);
  return route->sink != NULL;
}

void ll_route_close(ll_route *route) {
  if (route->sink != NULL) route->plugin->close(route->sink);
  route->sink = NULL;
}

void ll_route_watch(ll_route *route, ll_control *control) {
  if (route->plugin->watch == NULL) return;
  route->control = control;
  route->plugin->watch(route->sink);
}

/* After a retry everything that is sealed and not in flight goes again, in order, when the pause is over. The pause
 * doubles as long as nothing gets through. */
static bool ready_to_send(ll_route *route) {
  uint64_t now = ll_monotonic_ns();
  if (load_acquire(&route->retry_wanted) != 0) {
    store_relaxed(&route->retry_wanted, 0);
    bool alive = __atomic_exchange_n(&route->acknowledged_since, 0, __ATOMIC_RELAXED) != 0;
    route->backoff_ms = alive || route->backoff_ms == 0          ? BACKOFF_MIN_MS
                        : route->backoff_ms < BACKOFF_MAX_MS / 2 ? route->backoff_ms * 2
                                                                 : BACKOFF_MAX_MS;
    route->retry_at_ns = now + route->backoff_ms * UINT64_C(1000000);
    route->sent = 0;
  }
  return now >= route->retry_at_ns;
}

void ll_route_pump(ll_route *route) {
  if (!ready_to_send(route)) return;
  uint64_t sequence = route->sent;
  ll_slot *slot;
  while ((slot = ll_slot_next_sealed(route->store, route->number, &sequence)) != NULL) {
    uint32_t index = ll_slot_index(route->store, slot);
    if (load_acquire(&route->in_flight[index]) != sequence) {
      store_release(&route->in_flight[index], sequence);
      ll_sink_status status = route->plugin->send(route->sink, sequence << INDEX_BITS | index, slot->batch, slot->bytes,
                                                  slot->route, sequence);
      if (status != LL_SINK_OK) store_release(&route->in_flight[index], 0);
      if (status == LL_SINK_BUSY) return;
      if (status == LL_SINK_OK) ll_crash_point("sent-unacknowledged");
      if (status == LL_SINK_FAILED) refuse(route, index, sequence, "it can never be sent");
    }
    route->sent = sequence;
  }
}

void ll_route_poll(ll_route *route) {
  route->plugin->poll(route->sink, 0);
}

void ll_route_wait(ll_route *route, int timeout_ms) {
  static const struct timespec moment = {0, 1000000};
  uint64_t began = ll_monotonic_ns();
  route->plugin->poll(route->sink, timeout_ms);
  if (ll_monotonic_ns() - began < 1000000) nanosleep(&moment, NULL);
}

bool ll_route_settled(const ll_route *route, uint64_t sequence) {
  uint64_t lowest = 0;
  return ll_slot_next_sealed(route->store, route->number, &lowest) == NULL || lowest > sequence;
}

size_t ll_route_limit(const ll_route *route) {
  size_t limit = route->plugin->max_batch_bytes(route->sink);
  return limit != 0 && limit < LL_BATCH_STORED_MAX ? limit : LL_BATCH_STORED_MAX;
}
