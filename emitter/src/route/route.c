#include "route.h"

#include "base/apart.h"
#include "base/atomics.h"
#include "base/crash_point.h"
#include "base/log.h"

#include <string.h>
#include <time.h>

enum {
  BACKOFF_MIN_MS = 50,
  BACKOFF_MAX_MS = 2000,
  INDEX_BITS = 16,
  LIVE_FOR_ONE_SPOOLED = 3, /* while live batches wait, the spool gets one turn in four */
};

_Static_assert(LL_SLOTS_MAX <= LL_REPLAY_TOKEN, "a token names the slot in its low bits, or says that there is none");

/* Of a call by a sink, on a thread of the sink or the harvester. */
static ll_route *called(void *ctx) {
  ll_apart_is_here();
  return ctx;
}

static void log_for_sink(void *ctx, ll_sink_log_level level, const char *message) {
  const ll_route *route = called(ctx);
  if (!route->setup.silent) ll_log((ll_log_level)level, "%s", message);
}

static void control_begins(void *ctx) {
  ll_control_begin(called(ctx)->control);
}

static void control_says(void *ctx, const ll_control_message *message) {
  ll_control_take(called(ctx)->control, message);
}

static void control_is_complete(void *ctx) {
  ll_control_complete(called(ctx)->control);
}

static void refuse(ll_route *route, uint32_t index, uint64_t sequence, const char *why) {
  if (!ll_slot_move(route->store, index, sequence, LL_SLOT_SEALED, LL_SLOT_REFUSED)) return;
  add_relaxed(&route->refused_batches, 1);
  if (!__atomic_exchange_n(&route->trouble_told, true, __ATOMIC_RELAXED))
    ll_log(LL_LOG_ERROR, "the sink refused a batch: %s; its events are counted as dropped_sink",
           why != NULL ? why : "no reason given");
}

static void note_acknowledged(ll_route *route) {
  add_relaxed(&route->acknowledged, 1);
  store_relaxed(&route->acknowledged_since, 1);
  store_relaxed(&route->trouble_told, false);
}

static void note_proven(ll_route *route, uint32_t bytes) {
  if (bytes > load_relaxed(&route->proven)) store_relaxed(&route->proven, bytes);
}

static void done_for_spool(ll_route *route, uint64_t token, ll_sink_outcome outcome) {
  if (!ll_spool_answer(&route->spool, token, outcome)) return;
  if (outcome == LL_SINK_ACKED) note_acknowledged(route);
  if (outcome == LL_SINK_RETRY) store_release(&route->retry_wanted, 1);
  if (route->setup.progress != NULL) route->setup.progress(route->setup.progress_ctx);
}

static void done(void *ctx, uint64_t token, ll_sink_outcome outcome, const char *why) {
  ll_route *route = called(ctx);
  uint32_t index = token & ((1u << INDEX_BITS) - 1);
  uint64_t sequence = token >> INDEX_BITS;
  if (index == LL_REPLAY_TOKEN) {
    done_for_spool(route, token, outcome);
    return;
  }
  if (index >= LL_SLOTS_MAX || load_acquire(&route->in_flight[index]) != sequence) return;
  /* A sealed batch that is not in flight may be moved into the spool, so the slot's state changes before in_flight is
   * cleared. A retry is requested only after that, so that the batch can be sent again. */
  switch (outcome) {
  case LL_SINK_ACKED:
    ll_crash_point("acknowledged-unfreed");
    note_proven(route, ll_slot_at(route->store, index)->bytes); /* while it holds the batch */
    if (ll_slot_move(route->store, index, sequence, LL_SLOT_SEALED, LL_SLOT_FREE)) note_acknowledged(route);
    break;
  case LL_SINK_REFUSED: refuse(route, index, sequence, why); break;
  case LL_SINK_RETRY: break;
  }
  compare_and_swap_u64(&route->in_flight[index], sequence, 0);
  if (outcome == LL_SINK_RETRY) store_release(&route->retry_wanted, 1);
  if (route->setup.progress != NULL) route->setup.progress(route->setup.progress_ctx);
}

bool ll_route_open(ll_route *route, ll_store *store, uint32_t number, const ll_route_setup *setup, char *why,
                   size_t why_bytes) {
  memset(route, 0, sizeof *route);
  route->store = store;
  route->number = number;
  route->setup = *setup;
  route->host = (ll_sink_host){.url = setup->url,
                               .host_name = setup->host,
                               .program = setup->program,
                               .first_hand = setup->first_hand,
                               .ctx = route,
                               .log = log_for_sink,
                               .done = done,
                               .control_begin = control_begins,
                               .control = control_says,
                               .control_complete = control_is_complete};
  memcpy(route->host.incarnation, store->header->incarnation, sizeof route->host.incarnation);
  route->plugin = ll_sink_plugin_for(setup->url, why, why_bytes);
  if (route->plugin != NULL) route->sink = ll_sink_open(route->plugin, &route->host, why, why_bytes);
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

/* After a retry, all batches that are sealed and not in flight are sent again, in order, after a pause. The pause
 * doubles until one is acknowledged. */
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

/* If the sink held every slot, the spool could free none. `more` is the extent of the next batch. */
static bool holds_enough(const ll_route *route, uint32_t more) {
  if (route->spool.settings == NULL) return false;
  ll_slot_range range = ll_slots_of(route->store, route->number);
  uint32_t held = 0;
  for (uint32_t i = range.first; i < range.end; i++)
    if (load_acquire(&route->in_flight[i]) != 0) held += ll_slot_extent(route->store, i, NULL);
  uint32_t slots = route->store->header->routes[route->number].slot_count;
  return held > 0 && held + (more > LL_SLOT_RUN ? more : LL_SLOT_RUN) > slots / 2;
}

/* False when the sink accepts nothing more now. */
static bool send_slot(ll_route *route, const ll_slot *slot, uint64_t sequence) {
  uint32_t index = ll_slot_index(route->store, slot);
  if (load_acquire(&route->in_flight[index]) == sequence) return true;
  if (holds_enough(route, ll_slot_extent(route->store, index, NULL))) return false;
  store_release(&route->in_flight[index], sequence);
  ll_sink_status status =
      route->plugin->send(route->sink, sequence << INDEX_BITS | index, slot->batch, slot->bytes, slot->route, sequence);
  if (status != LL_SINK_OK) store_release(&route->in_flight[index], 0);
  if (status == LL_SINK_BUSY) return false;
  if (status == LL_SINK_OK) ll_crash_point("sent-unacknowledged");
  if (status == LL_SINK_FAILED) refuse(route, index, sequence, "it can never be sent");
  route->offered[index] = sequence;
  route->live_sent++;
  return true;
}

static ll_replayed send_from_spool(ll_route *route) {
  route->live_sent = 0;
  return ll_spool_send(&route->spool, route->plugin, route->sink);
}

/* Live batches have priority, but do not starve the spool. */
static void send(ll_route *route) {
  uint64_t sequence = route->sent;
  for (const ll_slot *slot; (slot = ll_slot_next_sealed(route->store, route->number, &sequence)) != NULL;) {
    if (route->live_sent >= LIVE_FOR_ONE_SPOOLED && send_from_spool(route) == LL_REPLAY_BUSY) return;
    if (!send_slot(route, slot, sequence)) return;
    route->sent = sequence;
  }
  while (load_acquire(&route->retry_wanted) == 0 && send_from_spool(route) == LL_REPLAYED) {
  }
}

void ll_route_pump(ll_route *route) {
  if (ready_to_send(route)) send(route);
  ll_relief_view view = {route->in_flight, route->offered};
  ll_relieve(&route->spool, &view);
  ll_spool_tick(&route->spool);
}

void ll_route_spool(ll_route *route, const ll_spool_settings *settings) {
  ll_spool_start(&route->spool, settings, route->store, route->number, route->host.host_name, route->host.program);
}

bool ll_route_leave_to_spool(ll_route *route) {
  ll_relief_view view = {route->in_flight, route->offered};
  bool left = ll_relieve_all(&route->spool, &view);
  ll_spool_stop(&route->spool);
  return left;
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
  if (!ll_spool_settled(&route->spool, sequence)) return false;
  return ll_slot_next_sealed(route->store, route->number, &lowest) == NULL || lowest > sequence;
}

bool ll_route_is_held_up(const ll_route *route) {
  ll_slot_range range = ll_slots_of(route->store, route->number);
  for (uint32_t i = range.first; i < range.end; i++)
    if (load_acquire(&route->in_flight[i]) == 0 &&
        ll_slot_state_of(load_acquire(&route->store->header->slot_words[i])) == LL_SLOT_SEALED)
      return true;
  return false;
}

bool ll_route_reached(const ll_route *route) {
  return route->plugin->reached == NULL || route->plugin->reached(route->sink);
}

size_t ll_route_limit(ll_route *route) {
  size_t limit = route->plugin->max_batch_bytes(route->sink), spool = ll_spool_batch_most(&route->spool);
  size_t proven = load_relaxed(&route->proven);
  uint64_t sequence;
  const ll_slot *latest = ll_slot_latest(route->store, route->number, &sequence);
  if (proven < LL_SINK_CAUTIOUS_BYTES) proven = LL_SINK_CAUTIOUS_BYTES;
  if (latest != NULL && latest->bytes > proven) route->trial = sequence;
  if (limit == 0) limit = LL_SINK_CAUTIOUS_BYTES;
  if (limit > proven && !ll_route_settled(route, route->trial)) limit = proven;
  return limit < spool ? limit : spool;
}
