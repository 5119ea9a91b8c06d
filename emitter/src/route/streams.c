#include "streams.h"

#include "base/atomics.h"
#include "base/futex.h"
#include "base/log.h"
#include "finish.h"
#include "life/core.h"
#include "ring/pool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static void progress(void *ctx) {
  (void)ctx;
  ll_wake_harvester();
}

static const char *url_of(const ll_core *core, uint32_t route) {
  return route == 0 ? core->config.url : core->config.routes.urls[route - 1];
}

static bool is_open(const ll_core *core, uint32_t route) {
  return load_acquire(&core->streams[route].state) == LL_STREAM_OPEN;
}

/* Where nothing travels, there is nothing to save. */
static const char *compression_for(const ll_config *config, const char *url) {
  bool nowhere = strcmp(url, "null:") == 0 && strcmp(config->compression, "auto") == 0;
  return nowhere ? "none" : config->compression;
}

static int open_stream(ll_core *core, uint32_t route, char *why, size_t why_bytes) {
  ll_stream *stream = &core->streams[route];
  const char *url = url_of(core, route);
  ll_compressor *compressor = ll_compressor_create(compression_for(&core->config, url), why, why_bytes);
  if (why[0] != '\0' && route == 0) ll_log(LL_LOG_WARN, "%s", why);
  if (compressor == NULL || ll_harvest_start(&stream->harvest, &core->store, route, &core->types, compressor,
                                             core->config.batch_bytes, true) != 0) {
    snprintf(why, why_bytes, "no memory to start");
    return ENOMEM;
  }
  ll_route_setup setup = {
      .url = url, .host = core->config.host, .program = core->config.program, .progress = progress, .first_hand = true};
  if (ll_route_open(&stream->route, &core->store, route, &setup, why, why_bytes)) {
    ll_route_spool(&stream->route, &core->config.spool);
    store_release(&stream->state, LL_STREAM_OPEN);
    return 0;
  }
  return stream->route.plugin == NULL ? ENOENT : EINVAL;
}

int ll_streams_open(ll_core *core) {
  char why[512] = "", name[LL_ROUTE_NAME_BYTES + 16] = "";
  int error = open_stream(core, 0, why, sizeof why);
  for (uint32_t route = 1; route <= core->config.routes.count && error == 0; route++)
    if (ll_sink_plugin_for(url_of(core, route), why, sizeof why) == NULL) {
      snprintf(name, sizeof name, "route \"%s\": ", core->config.routes.names[route - 1]);
      error = ENOENT;
    }
  if (error != 0) ll_log(LL_LOG_ERROR, "%s%s; the program runs on, and its events are counted as dropped", name, why);
  return error;
}

static void open_unused(ll_core *core, uint32_t routes) {
  for (uint32_t route = 1; routes >> route != 0; route++) {
    ll_stream *stream = &core->streams[route];
    char why[512] = "";
    if ((routes >> route & 1) == 0 || stream->state != LL_STREAM_UNUSED) continue;
    if (open_stream(core, route, why, sizeof why) == 0) continue;
    ll_log(LL_LOG_ERROR, "route \"%s\": %s; its events are counted as dropped", core->config.routes.names[route - 1],
           why);
    store_release(&stream->state, LL_STREAM_FAILED);
  }
}

/* What is counted here goes no further than ll_stats: there is no batch that could tell of it. */
static void discard(ll_core *core, uint32_t routes) {
  for (uint32_t route = 0; routes >> route != 0; route++) {
    ll_harvest *harvest = &core->streams[route].harvest;
    char why[512];
    if ((routes >> route & 1) == 0) continue;
    if (harvest->batch == NULL && ll_harvest_start(harvest, &core->store, route, &core->types,
                                                   ll_compressor_create("none", why, sizeof why), 0, false) != 0)
      continue;
    add_relaxed(&core->store.header->routes[route].dropped_shutdown, ll_harvest_discard(harvest));
  }
}

ll_work ll_streams_work(const ll_core *core) {
  const ll_store *store = &core->store;
  uint64_t pending[LL_ROUTES_MAX] = {0};
  ll_work work = {0, 0};
  uint32_t count = load_acquire(&store->header->ring_count);
  for (uint32_t i = 0; i < count; i++) {
    const ll_ring *ring = &store->rings[i];
    uint64_t used = load_acquire(&ring->head) - load_relaxed(&ring->tail);
    if (used == 0) continue;
    uint32_t bit = 1u << ring->route; /* true of all that its head says */
    pending[ring->route] += used;
    work.some |= bit;
    if (used >= ring->bytes / 2 || pending[ring->route] >= core->config.batch_bytes) work.much |= bit;
  }
  return work;
}

uint32_t ll_streams_with_news(const ll_core *core) {
  uint32_t routes = 0;
  for (uint32_t route = 0; route < core->store.header->route_count; route++) {
    ll_harvest view = {.store = (ll_store *)&core->store, .route = route};
    uint64_t counters[LL_COUNTERS], sum = 0;
    ll_harvest_counters(&view, counters);
    for (int i = 1; i < LL_COUNTERS; i++)
      sum += counters[i];
    if (sum > 0 || is_open(core, route)) routes |= 1u << route;
  }
  return routes;
}

uint32_t ll_streams_held_up(const ll_core *core) {
  uint32_t routes = 0;
  for (uint32_t route = 0; route < core->store.header->route_count; route++)
    if (is_open(core, route) && ll_route_is_held_up(&core->streams[route].route)) routes |= 1u << route;
  return routes;
}

bool ll_streams_starved(const ll_core *core) {
  bool starved = false;
  for (uint32_t route = 0; route < core->store.header->route_count; route++)
    starved |= is_open(core, route) && core->streams[route].route.starved;
  return starved;
}

static void announce_room(ll_core *core) {
  if (load_ordered(&core->waiting_for_room) == 0) return;
  __atomic_fetch_add(&core->room, 1, __ATOMIC_SEQ_CST);
  futex_wake(&core->room, INT_MAX);
}

static ll_sealed seal(ll_core *core, ll_stream *stream) {
  stream->harvest.total_limit = ll_route_limit(&stream->route);
  ll_sealed sealed = ll_harvest_seal(&stream->harvest, 0);
  stream->route.starved = sealed == LL_NO_SLOT;
  if (sealed != LL_SEALED) return sealed;
  add_owned(&stream->batches_sealed, 1);
  ll_pool_reclaim(&core->store);
  announce_room(core);
  return sealed;
}

ll_sealed ll_streams_advance(ll_core *core, ll_work work, uint32_t wanted) {
  bool any_sealed = false, any_stuck = false;
  open_unused(core, work.some | wanted);
  for (uint32_t route = 0; route < core->store.header->route_count; route++) {
    ll_stream *stream = &core->streams[route];
    uint32_t bit = 1u << route;
    if (stream->state == LL_STREAM_FAILED) discard(core, work.some & bit);
    if (stream->state != LL_STREAM_OPEN) continue;
    ll_sealed sealed = (wanted & bit) != 0 ? seal(core, stream) : LL_NOTHING_TO_SEAL;
    any_sealed |= sealed == LL_SEALED;
    any_stuck |= sealed == LL_NO_SLOT;
    ll_route_pump(&stream->route);
    ll_route_poll(&stream->route);
  }
  return any_sealed ? LL_SEALED : any_stuck ? LL_NO_SLOT : LL_NOTHING_TO_SEAL;
}

void ll_streams_counters(const ll_core *core, uint64_t counters[LL_COUNTERS]) {
  memset(counters, 0, LL_COUNTERS * sizeof counters[0]);
  for (uint32_t route = 0; route < core->store.header->route_count; route++) {
    const ll_harvest *harvest = &core->streams[route].harvest;
    bool open = is_open(core, route);
    ll_harvest view = {.store = (ll_store *)&core->store,
                       .route = route,
                       .events = open ? load_relaxed(&harvest->events) : 0,
                       .dropped_sink = open ? load_relaxed(&harvest->dropped_sink) : 0};
    uint64_t of_route[LL_COUNTERS];
    ll_harvest_counters(&view, of_route);
    for (int i = 0; i < LL_COUNTERS; i++)
      counters[i] += of_route[i];
  }
}

uint64_t ll_streams_sealed(const ll_core *core) {
  uint64_t batches = 0;
  for (uint32_t route = 0; route < LL_ROUTES_MAX; route++)
    if (is_open(core, route)) batches += load_relaxed(&core->streams[route].batches_sealed);
  return batches;
}

uint64_t ll_streams_acknowledged(const ll_core *core) {
  uint64_t batches = 0;
  for (uint32_t route = 0; route < LL_ROUTES_MAX; route++)
    if (is_open(core, route)) batches += load_relaxed(&core->streams[route].route.acknowledged);
  return batches;
}

uint32_t ll_streams_in_flight(const ll_core *core) {
  uint32_t batches = 0;
  for (uint32_t route = 0; route < core->store.header->route_count; route++)
    if (is_open(core, route))
      batches += ll_slots_in(&core->store, route, LL_SLOT_SEALED) + ll_spool_batches(&core->streams[route].route.spool);
  return batches;
}

void ll_streams_sequences(const ll_core *core, uint64_t sequences[LL_ROUTES_MAX]) {
  for (uint32_t route = 0; route < LL_ROUTES_MAX; route++)
    sequences[route] = is_open(core, route) ? core->streams[route].harvest.sequence : 0;
}

bool ll_streams_settled(const ll_core *core, const uint64_t sequences[LL_ROUTES_MAX]) {
  for (uint32_t route = 0; route < LL_ROUTES_MAX; route++)
    if (is_open(core, route) && !ll_route_settled(&core->streams[route].route, sequences[route])) return false;
  return true;
}

/* What the sink has not acknowledged goes into the spool. True when nothing is left in the file. */
static bool leave_to_spool(ll_stream *stream) {
  return ll_route_leave_to_spool(&stream->route) && ll_harvest_is_done(&stream->harvest);
}

ll_left ll_streams_finish(ll_core *core) {
  ll_ending endings[LL_ROUTES_MAX];
  uint32_t count = 0;
  uint32_t used = ll_streams_work(core).some;
  open_unused(core, used | ll_streams_with_news(core));
  for (uint32_t route = 0; route < core->store.header->route_count; route++) {
    ll_stream *stream = &core->streams[route];
    if (stream->state == LL_STREAM_OPEN)
      endings[count++] = (ll_ending){.harvest = &stream->harvest, .route = &stream->route};
    else
      discard(core, used & 1u << route);
  }
  bool delivered = ll_finish(endings, count, 0, &core->stop_deadline_ns, core->unreached_deadline_ns);
  bool spooled = true;
  if (!delivered) core->undelivered = ll_streams_in_flight(core);
  core->reached = ll_route_reached(&core->streams[0].route);
  for (uint32_t route = 0; route < core->store.header->route_count; route++) {
    ll_stream *stream = &core->streams[route];
    if (stream->state != LL_STREAM_OPEN) continue;
    ll_route_close(&stream->route);
    if (!leave_to_spool(stream)) spooled = false;
  }
  return delivered ? LL_LEFT_NOTHING : spooled ? LL_LEFT_IN_SPOOL : LL_LEFT_IN_FILE;
}

void ll_streams_discard(ll_core *core) {
  discard(core, ll_streams_work(core).some);
}
