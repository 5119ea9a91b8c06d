#include "streams.h"

#include "base/atomics.h"
#include "base/log.h"
#include "finish.h"
#include "ring/emitter.h"
#include "ring/pool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { BETWEEN_SMALL_BATCHES_NS = 2000000 };

static ll_stream streams[LL_ROUTES_MAX]; /* by route; 0 is the default */
static uint32_t touched;                 /* those not all zero: clearing a megabyte costs a short process much */
static const ll_stream_settings *settings;

static void progress(void *ctx) {
  (void)ctx;
  ll_wake_harvester();
}

static const char *url_of(uint32_t route) {
  return route == 0 ? settings->url : settings->routes.urls[route - 1];
}

static bool is_open(uint32_t route) {
  return load_acquire(&streams[route].state) == LL_STREAM_OPEN;
}

static uint32_t route_count(void) {
  return ll_the_emitter.store.header->route_count;
}

void ll_streams_start(const ll_stream_settings *handed_down) {
  for (uint32_t route = 0; touched >> route != 0; route++)
    if ((touched >> route & 1) != 0) memset(&streams[route], 0, sizeof streams[route]);
  touched = 0;
  settings = handed_down;
}

/* The null sink needs no compression. */
static const char *compression_for(const char *url) {
  const char *wish = settings->compression;
  bool any = strcmp(wish, "auto") == 0 || strcmp(wish, LL_COMPRESSION_COMPATIBLE) == 0;
  return any && strcmp(url, "null:") == 0 ? "none" : wish;
}

static int open_stream(uint32_t route, char *why, size_t why_bytes) {
  ll_stream *stream = &streams[route];
  const char *url = url_of(route);
  touched |= 1u << route;
  ll_compressor *compressor = ll_compressor_create(compression_for(url), why, why_bytes);
  if (why[0] != '\0' && route == 0) ll_log(LL_LOG_WARN, "%s", why);
  if (compressor == NULL || ll_harvest_start(&stream->harvest, &ll_the_emitter.store, route, &ll_the_emitter.types,
                                             compressor, settings->batch_bytes, true) != 0) {
    snprintf(why, why_bytes, "no memory to start");
    return ENOMEM;
  }
  ll_route_setup setup = {
      .url = url, .host = settings->host, .program = settings->program, .progress = progress, .first_hand = true};
  if (ll_route_open(&stream->route, &ll_the_emitter.store, route, &setup, why, why_bytes)) {
    ll_route_spool(&stream->route, &settings->spool);
    store_release(&stream->state, LL_STREAM_OPEN);
    return 0;
  }
  return stream->route.plugin == NULL ? ENOENT : EINVAL;
}

int ll_streams_open(void) {
  char why[512] = "", name[LL_ROUTE_NAME_BYTES + 16] = "";
  int error = open_stream(0, why, sizeof why);
  for (uint32_t route = 1; route <= settings->routes.count && error == 0; route++)
    if (ll_sink_plugin_for(url_of(route), why, sizeof why) == NULL) {
      snprintf(name, sizeof name, "route \"%s\": ", settings->routes.names[route - 1]);
      error = ENOENT;
    }
  if (error != 0) ll_log(LL_LOG_ERROR, "%s%s; the program continues, and its events are counted as dropped", name, why);
  return error;
}

static void open_unused(uint32_t routes) {
  for (uint32_t route = 1; routes >> route != 0; route++) {
    ll_stream *stream = &streams[route];
    char why[512] = "";
    if ((routes >> route & 1) == 0 || stream->state != LL_STREAM_UNUSED) continue;
    if (open_stream(route, why, sizeof why) == 0) continue;
    ll_log(LL_LOG_ERROR, "route \"%s\": %s; its events are counted as dropped", settings->routes.names[route - 1], why);
    store_release(&stream->state, LL_STREAM_FAILED);
  }
}

/* The resulting counts appear only in ll_stats: no batch reports them. */
static void discard(uint32_t routes) {
  for (uint32_t route = 0; routes >> route != 0; route++) {
    ll_harvest *harvest = &streams[route].harvest;
    char why[512];
    if ((routes >> route & 1) == 0) continue;
    touched |= 1u << route;
    if (harvest->batch == NULL && ll_harvest_start(harvest, &ll_the_emitter.store, route, &ll_the_emitter.types,
                                                   ll_compressor_create("none", why, sizeof why), 0, false) != 0)
      continue;
    add_relaxed(&ll_the_emitter.store.header->routes[route].dropped_shutdown, ll_harvest_discard(harvest));
  }
}

/* The bytes of records that make a batch. While earlier batches wait for acknowledgement, or the latest was sealed just
 * now, the next one may grow: one large batch costs the sink, the network and the broker less than many small ones.
 * (Half a ring of records is enough at any time, so that the other half has room.) */
static uint64_t enough(uint32_t route, uint64_t *look_ns) {
  const ll_stream *stream = &streams[route];
  if (!is_open(route)) return settings->batch_bytes;
  if (ll_route_settled(&stream->route, UINT64_MAX)) { /* nothing else would wake the harvester */
    uint64_t grown_ns = stream->sealed_ns + BETWEEN_SMALL_BATCHES_NS;
    if (ll_monotonic_ns() >= grown_ns) return settings->batch_bytes;
    if (grown_ns < *look_ns) *look_ns = grown_ns;
  }
  size_t most = ll_harvest_growth(settings->batch_bytes), limit = stream->harvest.total_limit;
  return most < limit ? most : limit;
}

ll_work ll_streams_work(void) {
  const ll_store *store = &ll_the_emitter.store;
  uint64_t pending[LL_ROUTES_MAX] = {0};
  ll_work work = {0, 0, UINT64_MAX};
  uint32_t count = load_acquire(&store->header->ring_count);
  for (uint32_t i = 0; i < count; i++) {
    const ll_ring *ring = &store->rings[i];
    uint64_t used = load_acquire(&ring->head) - load_relaxed(&ring->tail);
    if (used == 0) continue;
    uint32_t bit = 1u << ring->route; /* valid for everything up to its head */
    pending[ring->route] += used;
    work.some |= bit;
    if (used >= ring->bytes / 2) work.much |= bit;
  }
  for (uint32_t route = 0; work.some >> route != 0; route++)
    if (pending[route] >= settings->batch_bytes && pending[route] >= enough(route, &work.look_ns))
      work.much |= 1u << route;
  return work;
}

uint32_t ll_streams_with_news(void) {
  uint32_t routes = 0;
  for (uint32_t route = 0; route < route_count(); route++) {
    ll_harvest view = {.store = &ll_the_emitter.store, .route = route};
    uint64_t counters[LL_COUNTERS], sum = 0;
    ll_harvest_counters(&view, counters);
    for (int i = 1; i < LL_COUNTERS; i++)
      sum += counters[i];
    if (sum > 0 || is_open(route)) routes |= 1u << route;
  }
  return routes;
}

uint32_t ll_streams_held_up(void) {
  uint32_t routes = 0;
  for (uint32_t route = 0; route < route_count(); route++)
    if (is_open(route) && ll_route_is_held_up(&streams[route].route)) routes |= 1u << route;
  return routes;
}

bool ll_streams_starved(void) {
  bool starved = false;
  for (uint32_t route = 0; route < route_count(); route++)
    starved |= is_open(route) && streams[route].route.starved;
  return starved;
}

uint32_t ll_streams_stuck(void) {
  uint32_t stuck = 0, open = 0;
  for (uint32_t route = 0; route < route_count(); route++) {
    open |= (uint32_t)is_open(route) << route;
    stuck |= (uint32_t)(is_open(route) && streams[route].route.starved) << route;
  }
  return stuck != open ? stuck : 0;
}

static ll_sealed seal(ll_stream *stream) {
  stream->harvest.total_limit = ll_route_limit(&stream->route);
  ll_sealed sealed = ll_harvest_seal(&stream->harvest, 0);
  stream->route.starved = sealed == LL_NO_SLOT;
  if (sealed != LL_SEALED) return sealed;
  add_owned(&stream->batches_sealed, 1);
  stream->sealed_ns = ll_monotonic_ns();
  ll_pool_reclaim(&ll_the_emitter.store);
  ll_announce_room();
  return sealed;
}

ll_sealed ll_streams_advance(ll_work work, uint32_t wanted) {
  bool any_sealed = false, any_stuck = false;
  open_unused(work.some | wanted);
  for (uint32_t route = 0; route < route_count(); route++) {
    ll_stream *stream = &streams[route];
    uint32_t bit = 1u << route;
    if (stream->state == LL_STREAM_FAILED) discard(work.some & bit);
    if (stream->state != LL_STREAM_OPEN) continue;
    ll_sealed sealed = (wanted & bit) != 0 ? seal(stream) : LL_NOTHING_TO_SEAL;
    any_sealed |= sealed == LL_SEALED;
    any_stuck |= sealed == LL_NO_SLOT;
    ll_route_pump(&stream->route);
    ll_route_poll(&stream->route);
  }
  return any_sealed ? LL_SEALED : any_stuck ? LL_NO_SLOT : LL_NOTHING_TO_SEAL;
}

void ll_streams_counters(uint64_t counters[LL_COUNTERS]) {
  memset(counters, 0, LL_COUNTERS * sizeof counters[0]);
  for (uint32_t route = 0; route < route_count(); route++) {
    const ll_harvest *harvest = &streams[route].harvest;
    bool open = is_open(route);
    ll_harvest view = {.store = &ll_the_emitter.store,
                       .route = route,
                       .events = open ? load_relaxed(&harvest->events) : 0,
                       .dropped_sink = open ? load_relaxed(&harvest->dropped_sink) : 0};
    uint64_t of_route[LL_COUNTERS];
    ll_harvest_counters(&view, of_route);
    for (int i = 0; i < LL_COUNTERS; i++)
      counters[i] += of_route[i];
  }
}

uint64_t ll_streams_sealed(void) {
  uint64_t batches = 0;
  for (uint32_t route = 0; route < LL_ROUTES_MAX; route++)
    if (is_open(route)) batches += load_relaxed(&streams[route].batches_sealed);
  return batches;
}

uint64_t ll_streams_acknowledged(void) {
  uint64_t batches = 0;
  for (uint32_t route = 0; route < LL_ROUTES_MAX; route++)
    if (is_open(route)) batches += load_relaxed(&streams[route].route.acknowledged);
  return batches;
}

uint32_t ll_streams_in_flight(void) {
  uint32_t batches = 0;
  for (uint32_t route = 0; route < route_count(); route++)
    if (is_open(route))
      batches +=
          ll_slots_in(&ll_the_emitter.store, route, LL_SLOT_SEALED) + ll_spool_batches(&streams[route].route.spool);
  return batches;
}

void ll_streams_sequences(uint64_t sequences[LL_ROUTES_MAX]) {
  for (uint32_t route = 0; route < LL_ROUTES_MAX; route++)
    sequences[route] = is_open(route) ? streams[route].harvest.sequence : 0;
}

bool ll_streams_settled(const uint64_t sequences[LL_ROUTES_MAX]) {
  for (uint32_t route = 0; route < LL_ROUTES_MAX; route++)
    if (is_open(route) && !ll_route_settled(&streams[route].route, sequences[route])) return false;
  return true;
}

/* Moves unacknowledged batches into the spool. True when nothing is left in the file. */
static bool leave_to_spool(ll_stream *stream) {
  return ll_route_leave_to_spool(&stream->route) && ll_harvest_is_done(&stream->harvest);
}

ll_streams_end ll_streams_finish(const uint64_t *deadline_ns, uint64_t unreached_ns) {
  ll_ending endings[LL_ROUTES_MAX];
  ll_streams_end end = {.left = LL_LEFT_IN_SPOOL};
  uint32_t count = 0;
  uint32_t used = ll_streams_work().some;
  open_unused(used | ll_streams_with_news());
  for (uint32_t route = 0; route < route_count(); route++) {
    ll_stream *stream = &streams[route];
    if (stream->state == LL_STREAM_OPEN)
      endings[count++] = (ll_ending){.harvest = &stream->harvest, .route = &stream->route};
    else
      discard(used & 1u << route);
  }
  bool delivered = ll_finish(endings, count, 0, deadline_ns, unreached_ns);
  if (!delivered) end.undelivered = ll_streams_in_flight();
  end.reached = ll_route_reached(&streams[0].route);
  for (uint32_t route = 0; route < route_count(); route++) {
    ll_stream *stream = &streams[route];
    if (stream->state != LL_STREAM_OPEN) continue;
    ll_route_close(&stream->route);
    if (!leave_to_spool(stream)) end.left = LL_LEFT_IN_FILE;
  }
  if (delivered) end.left = LL_LEFT_NOTHING;
  return end;
}

void ll_streams_discard(void) {
  discard(ll_streams_work().some);
}

ll_control *ll_streams_watch(void) {
  ll_control *control = ll_control_create(progress, NULL, settings->program, settings->host);
  if (control != NULL) ll_route_watch(&streams[0].route, control);
  return control;
}
