#include "harvest.h"

#include "base/atomics.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "ring/context.h"
#include "spool/spool_give_up.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { GROWTH = 14 }; /* the default size grows to LL_BATCH_RAW_MAX */

/* The clock belongs to the process, not to a route: calibrations are kept only in the file. */
static const ll_calibrations *calibrations(const ll_store *store) {
  return &store->header->calibrations[store->header->calibration_current];
}

static void calibrate(ll_store *store) {
  ll_file_header *header = store->header;
  if (!ll_calibration_due(calibrations(store))) return;
  uint32_t other = 1 - header->calibration_current;
  header->calibrations[other] = *calibrations(store);
  ll_calibrate(&header->calibrations[other], (ll_clock_kind)header->clock);
  store_release(&header->calibration_current, other);
}

int ll_harvest_start(ll_harvest *harvest, ll_store *store, uint32_t route, const ll_types *types,
                     ll_compressor *compressor, size_t batch_bytes, bool live) {
  memset(harvest, 0, sizeof *harvest);
  harvest->store = store;
  harvest->route = route;
  harvest->types = types;
  harvest->compressor = compressor;
  harvest->batch_bytes = batch_bytes;
  harvest->total_limit = LL_BATCH_MOST;
  harvest->live = live;
  harvest->batch = calloc(1, sizeof *harvest->batch);
  if (harvest->batch == NULL) {
    ll_compressor_free(compressor);
    return ENOMEM;
  }
  const ll_slot *latest = ll_slot_latest(store, route, &harvest->sequence);
  if (latest != NULL) {
    harvest->events = latest->events_total;
    harvest->dropped_sink = latest->dropped_sink_total;
    harvest->reported = latest->reported_total;
    harvest->finished = (latest->flags & LL_BATCH_FINAL) != 0;
  }
  if (live) calibrate(store); /* the second one: now the rate is known, even if the process dies soon */
  return 0;
}

void ll_harvest_free(ll_harvest *harvest) {
  ll_compressor_free(harvest->compressor);
  free(harvest->batch);
  memset(harvest, 0, sizeof *harvest);
}

uint64_t ll_harvest_pending(const ll_harvest *harvest) {
  uint64_t bytes = 0;
  uint32_t count = load_acquire(&harvest->store->header->ring_count);
  for (uint32_t i = 0; i < count; i++) {
    const ll_ring *ring = &harvest->store->rings[i];
    if (ll_ring_is_of(ring, harvest->route)) bytes += load_relaxed(&ring->head) - load_relaxed(&ring->tail);
  }
  return bytes;
}

void ll_harvest_counters(const ll_harvest *harvest, uint64_t counters[LL_COUNTERS]) {
  const ll_store *store = harvest->store;
  const ll_route_books *books = &store->header->routes[harvest->route];
  memset(counters, 0, LL_COUNTERS * sizeof counters[0]);
  uint32_t count = load_acquire(&store->header->ring_count);
  for (uint32_t i = 0; i < count; i++) {
    const ll_ring *ring = &store->rings[i];
    if (!ll_ring_is_of(ring, harvest->route)) continue;
    counters[LL_COUNT_RING_FULL] += load_relaxed(&ring->dropped_ring_full);
    counters[LL_COUNT_SAMPLED_OUT] += load_relaxed(&ring->sampled_out);
    counters[LL_COUNT_BELOW_THRESHOLD] += load_relaxed(&ring->below_threshold);
  }
  counters[LL_COUNT_NO_RING] = load_relaxed(&books->dropped_no_ring);
  counters[LL_COUNT_REENTRANT] = load_relaxed(&books->dropped_reentrant);
  counters[LL_COUNT_OVERSIZE] = load_relaxed(&books->dropped_oversize);
  counters[LL_COUNT_SHUTDOWN] = load_relaxed(&books->dropped_shutdown);
  counters[LL_COUNT_EMITTED] = load_relaxed(&harvest->events);
  for (int i = LL_COUNT_RING_FULL; i <= LL_COUNT_SHUTDOWN; i++)
    counters[LL_COUNT_EMITTED] += counters[i];
  counters[LL_COUNT_SPOOL_FULL] = load_relaxed(&books->spool.dropped_full);
  counters[LL_COUNT_SINK] = load_relaxed(&harvest->dropped_sink) + load_relaxed(&books->spool.dropped_sink);
  counters[LL_COUNT_SAMPLED_OUT] += load_relaxed(&books->sampled_out);
  counters[LL_COUNT_BELOW_THRESHOLD] += load_relaxed(&books->below_threshold);
  counters[LL_COUNT_FOLDED] = load_relaxed(&books->folded);
  counters[LL_COUNT_SPOOLED] = load_relaxed(&books->spool.spooled);
}

/* A route without batches and with all counters at 0 needs no FINAL. */
static bool nothing_ever(const ll_harvest *harvest) {
  uint64_t counters[LL_COUNTERS], sum = harvest->sequence;
  ll_harvest_counters(harvest, counters);
  for (int i = 0; i < LL_COUNTERS; i++)
    sum += counters[i];
  return sum == 0;
}

bool ll_harvest_is_done(const ll_harvest *harvest) {
  if (ll_harvest_pending(harvest) > 0) return false;
  if (!harvest->finished) return nothing_ever(harvest);
  return ll_slots_in(harvest->store, harvest->route, LL_SLOT_SEALED) == 0 && !ll_harvest_has_refusals(harvest);
}

size_t ll_harvest_growth(size_t batch_bytes) {
  return batch_bytes * GROWTH < LL_BATCH_RAW_MAX ? batch_bytes * GROWTH : LL_BATCH_RAW_MAX;
}

/* Notes until when each ring was seen to where, and returns the tick. */
static uint64_t look(ll_harvest *harvest) {
  ll_store *store = harvest->store;
  const ll_calibrations *known = calibrations(store);
  uint64_t now = harvest->live ? ll_clock_tick((ll_clock_kind)store->header->clock) : known->at[known->count - 1].tick;
  uint32_t count = harvest->live ? load_acquire(&store->header->ring_count) : 0;
  for (uint32_t i = 0; i < count; i++)
    if (ll_ring_is_of(&store->rings[i], harvest->route)) ll_batch_look(harvest->batch, &store->rings[i], i, now);
  bool missed = !harvest->live || (harvest->looked != 0 && (int64_t)(now - harvest->looked) > (int64_t)LL_LATE_TICKS);
  harvest->batch->stopped = missed || (harvest->batch->stopped && ll_harvest_pending(harvest) > 0);
  harvest->looked = now;
  return now;
}

/* Gathers one batch that fits into that many slots. True when nothing is left in the rings. */
static bool gather(ll_harvest *harvest, size_t raw_limit, uint32_t slots, uint64_t now) {
  ll_store *store = harvest->store;
  ll_context_advance(store, harvest->route);
  uint32_t count = load_acquire(&store->header->ring_count);
  size_t room = ll_slots_room(slots), total_limit = harvest->total_limit < room ? harvest->total_limit : room;
  ll_batch_begin(harvest->batch, harvest->types, store, harvest->route, raw_limit, total_limit, now);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t ring = (harvest->first_ring + i) % count;
    if (!ll_ring_is_of(&store->rings[ring], harvest->route)) continue;
    ll_gathered gathered = ll_batch_gather(harvest->batch, store, ring);
    if (gathered == LL_GATHERED_GARBAGE)
      ll_log(LL_LOG_ERROR, "the program has overwritten the ring of thread %llu; its events are lost",
             (unsigned long long)store->rings[ring].thread);
    if (gathered != LL_GATHERED_FULL) continue;
    /* A ring that filled the batch alone goes last next time; otherwise a busy thread would starve the others. */
    bool alone = harvest->batch->take_count == 1 && harvest->batch->takes[0].ring == ring;
    harvest->first_ring = alone ? ring + 1 : ring;
    return false;
  }
  return !ll_context_is_behind(store, harvest->route);
}

/* True when the batch is refused, and not counted by a sealed batch: see the last invariant in slots.h. */
static bool is_uncounted(const ll_harvest *harvest, uint32_t index) {
  const ll_store *store = harvest->store;
  if (ll_slot_state_of(load_acquire(&store->header->slot_words[index])) != LL_SLOT_REFUSED) return false;
  const ll_slot *slot = ll_slot_at(store, index);
  return slot->counted_by == 0 || slot->counted_by > harvest->sequence;
}

bool ll_harvest_has_refusals(const ll_harvest *harvest) {
  ll_slot_range range = ll_slots_of(harvest->store, harvest->route);
  for (uint32_t i = range.first; i < range.end; i++)
    if (is_uncounted(harvest, i)) return true;
  return false;
}

static uint64_t count_refusals(ll_harvest *harvest, uint64_t by) {
  ll_slot_range range = ll_slots_of(harvest->store, harvest->route);
  uint64_t events = 0;
  for (uint32_t i = range.first; i < range.end; i++) {
    if (!is_uncounted(harvest, i)) continue;
    ll_slot *slot = ll_slot_at(harvest->store, i);
    events += slot->event_count;
    slot->counted_by = by;
  }
  return events;
}

static void free_counted_refusals(ll_harvest *harvest) {
  ll_store *store = harvest->store;
  ll_slot_range range = ll_slots_of(store, harvest->route);
  for (uint32_t i = range.first; i < range.end; i++) {
    uint64_t word = load_acquire(&store->header->slot_words[i]);
    if (ll_slot_state_of(word) != LL_SLOT_REFUSED) continue;
    uint64_t counted_by = ll_slot_at(store, i)->counted_by;
    if (counted_by != 0 && counted_by <= harvest->sequence)
      ll_slot_move(store, i, ll_slot_sequence(word), LL_SLOT_REFUSED, LL_SLOT_FREE);
  }
}

/* Counts refused batches when no slot is left for a batch that would count them, for example when all are refused after
 * an outage. */
static void count_refusals_without_a_batch(const ll_harvest *harvest) {
  ll_slot_range range = ll_slots_of(harvest->store, harvest->route);
  for (uint32_t i = range.first; i < range.end; i++)
    if (is_uncounted(harvest, i)) ll_give_up_refused(harvest->store, harvest->route, i);
}

/* Releases the rings' room, only after the seal. */
static void advance_tails(ll_store *store, const ll_batch *batch) {
  for (uint32_t i = 0; i < batch->take_count; i++) {
    store_relaxed(&store->rings[batch->takes[i].ring].since, batch->since[i]);
    store_release(&store->rings[batch->takes[i].ring].tail, batch->takes[i].to);
  }
}

uint64_t ll_harvest_discard(ll_harvest *harvest) {
  uint64_t events = 0, summarised = harvest->store->summarised;
  harvest->store->summarised = UINT64_MAX; /* no context to keep apart */
  while (ll_harvest_pending(harvest) > 0) {
    gather(harvest, LL_BATCH_RAW_MAX, LL_SLOT_RUN_MOST, look(harvest));
    events += harvest->batch->event_count;
    advance_tails(harvest->store, harvest->batch);
  }
  harvest->store->summarised = summarised;
  return events;
}

/* The slot to fill, and how many there are: as many as these records need, or, without enough contiguous ones, those of
 * an ordinary batch. NULL when not even those are free. */
static ll_slot *find_slots(ll_harvest *harvest, uint64_t record_bytes, uint32_t *slots) {
  ll_store *store = harvest->store;
  *slots = ll_slots_for(store, harvest->route, record_bytes);
  ll_slot *slot = *slots > LL_SLOT_RUN ? ll_slot_to_fill(store, harvest->route, *slots) : NULL;
  if (slot != NULL) return slot;
  *slots = LL_SLOT_RUN;
  slot = ll_slot_to_fill(store, harvest->route, LL_SLOT_RUN);
  if (slot != NULL) return slot;
  count_refusals_without_a_batch(harvest);
  return ll_slot_to_fill(store, harvest->route, LL_SLOT_RUN);
}

ll_sealed ll_harvest_seal(ll_harvest *harvest, uint32_t flags) {
  ll_store *store = harvest->store;
  ll_batch *batch = harvest->batch;
  uint64_t now = look(harvest), pending = ll_harvest_pending(harvest);
  size_t usual = harvest->batch_bytes, limit = pending > usual ? ll_harvest_growth(usual) : usual;
  uint32_t slots;
  free_counted_refusals(harvest);
  ll_slot *slot = find_slots(harvest, pending < limit ? pending : limit, &slots);
  if (slot == NULL) return LL_NO_SLOT;
  if (!gather(harvest, limit, slots, now)) flags &= ~(uint32_t)LL_BATCH_FINAL;

  ll_batch_header header = {.sequence = harvest->sequence + 1,
                            .flags = flags,
                            .route = (uint16_t)harvest->route,
                            .route_name = store->header->routes[harvest->route].name};
  uint64_t refused = count_refusals(harvest, header.sequence);
  add_owned(&harvest->events, batch->event_count);
  add_owned(&harvest->dropped_sink, refused);
  ll_harvest_counters(harvest, header.counters);
  uint64_t told = 0;
  for (int i = 1; i < LL_COUNTERS - 1; i++) /* the last counter, spooled, is no reason for a batch */
    told += header.counters[i];
  bool final = (flags & LL_BATCH_FINAL) != 0;
  if (batch->take_count == 0 && !final && told == harvest->reported) return LL_NOTHING_TO_SEAL;

  if (harvest->live) calibrate(store);
  slot->bytes = (uint32_t)ll_batch_write(batch, store, calibrations(store), harvest->compressor, &header, slot->batch);
  if (batch->doubtful && !harvest->doubted) {
    ll_log(LL_LOG_WARN, "events waited for so many hours that the times of some are a guess; their batches are marked");
    harvest->doubted = true;
  }
  slot->flags = flags;
  slot->route = header.route;
  slot->event_count = batch->event_count;
  slot->events_total = harvest->events;
  slot->dropped_sink_total = harvest->dropped_sink;
  slot->reported_total = told;
  slot->take_count = batch->take_count;
  memcpy(ll_slot_takes(slot), batch->takes, batch->take_count * sizeof batch->takes[0]);

  ll_slot_seal(store, slot, header.sequence);
  ll_crash_point("sealed-unfreed");
  harvest->sequence = header.sequence;
  harvest->reported = told;
  harvest->finished = final;
  advance_tails(store, batch);
  ll_crash_point("sealed-unsent");
  return LL_SEALED;
}
