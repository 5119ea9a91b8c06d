#include "validate.h"

#include "base/utf8.h"
#include "context.h"
#include "layout.h"
#include "slots.h"

#include <string.h>

enum {
  SEQUENCE_BITS = 46, /* leaves room below the limit of a sink's token, see route.c */
  TEXT_MAX = 4096,    /* FORMAT.md, section 10 */
  NAME_MAX_BYTES = 255,
  TICK_NS_MOST = 1 << 30, /* what readers accept of the time between two calibrations, per tick */
};

/* Rings are made one after the other, so each begins where the one before it ends. */
static const char *fault_of_ring(const ll_file_header *header, const ll_ring *ring, uint64_t offset) {
  if (ring->state == LL_RING_UNMADE || ring->state > LL_RING_RETIRED) return "unknown ring state";
  if (ring->bytes < LL_RING_BYTES_MIN || ring->bytes > LL_RING_BYTES_MAX || (ring->bytes & (ring->bytes - 1)) != 0)
    return "impossible ring size";
  if (ring->offset != offset || ring->bytes > header->file_bytes - offset) return "ring outside of its place";
  if (ring->route >= header->route_count) return "ring of an unknown route";
  if (ring->head % 8 != 0 || ring->tail % 8 != 0 || ring->head < ring->tail || ring->head - ring->tail > ring->bytes)
    return "impossible ring positions";
  for (uint32_t place = 0; place < LL_CONTEXTS; place++)
    if (ring->boundaries[place] % 8 != 0 && ring->boundaries[place] != LL_BOUNDARY_NONE)
      return "impossible ring positions";
  return NULL;
}

static const char *fault_of_rings(const ll_store *store) {
  const ll_file_header *header = store->header;
  if (header->ring_count > LL_RINGS_MAX) return "impossible number of rings";
  uint64_t offset = header->data_offset;
  for (uint32_t i = 0; i < header->ring_count; i++) {
    const char *fault = fault_of_ring(header, &store->rings[i], offset);
    if (fault != NULL) return fault;
    offset += store->rings[i].bytes;
  }
  return NULL;
}

/* The shares must tile the slots, and the names must be valid text for the wire. */
static const char *fault_of_routes(const ll_file_header *header) {
  if (header->route_count < 1 || header->route_count > LL_ROUTES_MAX) return "impossible number of routes";
  uint32_t slots = 0;
  for (uint32_t i = 0; i < header->route_count; i++) {
    const ll_route_books *books = &header->routes[i];
    if (books->first_slot != slots || books->slot_count < 2 * LL_SLOT_RUN ||
        books->slot_count > header->slot_count - slots || books->slots_used > books->slot_count)
      return "impossible shares of routes";
    slots += books->slot_count;
    size_t length = strnlen(books->name, sizeof books->name);
    if (length == 0 || length == sizeof books->name || strspn(books->name, LL_ROUTE_NAME_LETTERS) != length)
      return "impossible name of a route";
    if (books->context > header->context_changes || header->context_changes - books->context >= LL_CONTEXTS)
      return "impossible changes of the context";
  }
  return NULL;
}

/* Readers reject a batch whose calibrations run backwards: FORMAT.md, section 3.3. */
static const char *fault_of_clock(const ll_file_header *header) {
  static const char fault[] = "impossible calibrations";
  if (header->clock > LL_CLOCK_MONOTONIC) return "unknown clock";
  if (header->calibration_current > 1) return fault;
  const ll_calibrations *all = &header->calibrations[header->calibration_current];
  if (all->count > LL_CALIBRATIONS_MAX) return fault;
  for (uint32_t i = 0; i < all->count; i++) {
    const ll_calibration *now = &all->at[i], *last = &all->at[i > 0 ? i - 1 : 0];
    int64_t real, last_real;
    if (now->monotonic_ns > INT64_MAX || (now->flags & ~LL_CALIBRATION_STEP) != 0 ||
        __builtin_add_overflow((int64_t)now->monotonic_ns, now->realtime_offset_ns, &real) ||
        __builtin_add_overflow((int64_t)last->monotonic_ns, last->realtime_offset_ns, &last_real))
      return fault;
    if (i == 0) continue;
    bool stepped = (now->flags & LL_CALIBRATION_STEP) != 0;
    if (now->tick <= last->tick || now->monotonic_ns < last->monotonic_ns || (!stepped && real < last_real))
      return fault;
    uint64_t ns = stepped ? now->monotonic_ns - last->monotonic_ns : (uint64_t)real - (uint64_t)last_real;
    if (ns / (now->tick - last->tick) >= TICK_NS_MOST) return fault;
  }
  return NULL;
}

const char *ll_validate_header(const ll_store *store) {
  const ll_file_header *header = store->header;
  if (header->magic != LL_FILE_MAGIC) return "not a ring file";
  if (header->version != LL_FILE_VERSION && header->version != LL_FILE_VERSION_LARGE)
    return "a ring file of another version of Lifeline; deliver its events with the lifeline-recover of that version";
  if (header->file_bytes != store->bytes) return "its size differs from the one in its header";
  if (header->slot_count < 2 * LL_SLOT_RUN || header->slot_count > LL_SLOTS_MAX) return "impossible number of slots";
  if (header->slots_offset != ll_layout_slots() || header->data_offset != ll_layout_data(header->slot_count) ||
      header->data_offset > store->bytes)
    return "impossible layout";
  if (header->names_bytes > LL_IDENTITY_BYTES || header->context_bytes > LL_IDENTITY_BYTES - header->names_bytes)
    return "impossible identity";
  if (header->descriptors_used > LL_DESCRIPTORS_BYTES) return "impossible descriptors";
  if (memchr(header->spool, '\0', sizeof header->spool) == NULL) return "impossible spool";
  for (uint32_t i = 0; i < LL_ROUTES_MAX; i++)
    if (memchr(header->destinations[i], '\0', LL_DESTINATION_BYTES) == NULL) return "impossible destination of a route";
  const char *fault = fault_of_clock(header);
  if (fault == NULL) fault = fault_of_routes(header);
  return fault != NULL ? fault : fault_of_rings(store);
}

/* --- slots --- */

static const char *fault_of_slot(const ll_store *store, uint32_t index, const ll_slot *latest, uint32_t used,
                                 uint32_t end) {
  const ll_slot *slot = ll_slot_at(store, index);
  uint64_t word = store->header->slot_words[index], sequence = ll_slot_sequence(word);
  ll_slot_state state = ll_slot_state_of(word);
  if (state > LL_SLOT_REFUSED) return "unknown slot state";
  if (sequence >> SEQUENCE_BITS != 0) return "impossible sequence";
  if (state != LL_SLOT_FREE && index >= used) return "a batch where there is none";
  if (state != LL_SLOT_FREE && sequence == 0) return "impossible sequence"; /* would never be sent */
  if (state != LL_SLOT_SEALED) return NULL;
  uint32_t extent = ll_slot_extent(store, index, latest);
  uint32_t most = store->header->version == LL_FILE_VERSION_LARGE ? LL_SLOT_RUN_MOST : LL_SLOT_RUN;
  if (extent == 0 || extent > most || extent > end - index) return "a sealed batch of an impossible number of slots";
  if (slot->bytes > LL_BATCH_MOST || ll_slot_used(slot) > (uint64_t)extent * LL_SLOT_BYTES)
    return "a sealed batch larger than its slots";
  if (slot->take_count > LL_TAKES_MAX) return "a sealed batch that took from too many rings";
  for (uint32_t i = index + 1; i < index + extent; i++)
    if (ll_slot_extent(store, i, latest) != 0) return "batches that overlap";
  for (uint32_t t = 0; t < slot->take_count; t++)
    if (ll_slot_takes(slot)[t].ring >= store->header->ring_count) return "a sealed batch that took from no ring";
  return NULL;
}

const char *ll_slots_fault(const ll_store *store) {
  const char *fault = NULL;
  for (uint32_t route = 0; route < store->header->route_count; route++) {
    const ll_route_books *books = &store->header->routes[route];
    uint32_t end = books->first_slot + books->slot_count, used = ll_slots_of(store, route).end;
    uint64_t sequence;
    const ll_slot *latest = ll_slot_latest(store, route, &sequence);
    for (uint32_t i = books->first_slot; i < end && fault == NULL; i++)
      fault = fault_of_slot(store, i, latest, used, end);
  }
  return fault;
}

/* A batch took from rings of its own route, and only what had been published. */
static const char *fault_of_takes(const ll_store *store) {
  for (uint32_t i = 0; i < store->header->slot_count; i++) {
    if (ll_slot_state_of(store->header->slot_words[i]) != LL_SLOT_SEALED) continue;
    const ll_slot *slot = ll_slot_at(store, i);
    for (uint32_t t = 0; t < slot->take_count; t++) {
      const ll_take *take = &ll_slot_takes(slot)[t];
      if (take->to > store->rings[take->ring].head || take->to % 8 != 0)
        return "a sealed batch refers to events that never existed";
    }
  }
  return NULL;
}

/* --- texts that recovered batches contain --- */

/* Reads a str16 of least to most bytes. NULL when it is not one. */
static const uint8_t *skip_text(const uint8_t *at, const uint8_t *end, size_t least, size_t most) {
  uint16_t bytes;
  if (end - at < (ptrdiff_t)sizeof bytes) return NULL;
  memcpy(&bytes, at, sizeof bytes);
  at += sizeof bytes;
  if (bytes < least || bytes > most || bytes > end - at || !ll_is_utf8_bytes(at, bytes)) return NULL;
  return at + bytes;
}

static bool are_pairs(const uint8_t *at, size_t bytes, uint32_t count) {
  const uint8_t *end = at + bytes;
  for (; count > 0 && at != NULL; count--) {
    at = skip_text(at, end, 1, NAME_MAX_BYTES);
    if (at != NULL) at = skip_text(at, end, 0, TEXT_MAX);
  }
  return at == end;
}

static const char *fault_of_texts(const ll_store *store) {
  const ll_file_header *header = store->header;
  const uint8_t *at = store->identity, *end = at + header->names_bytes;
  at = skip_text(at, end, 0, TEXT_MAX);
  if (at != NULL) at = skip_text(at, end, 0, TEXT_MAX);
  if (at != end && header->names_bytes > 0) return "impossible names";
  if (!are_pairs(end, header->context_bytes, header->context_count)) return "impossible context";
  for (uint32_t i = 0; i < LL_CONTEXTS; i++) {
    const ll_context *context = &header->contexts[i];
    if (context->bytes > sizeof context->at || context->count > LL_CONTEXT_PAIRS ||
        !are_pairs(context->at, context->bytes, context->count))
      return "impossible context";
  }
  return NULL;
}

const char *ll_validate_contents(const ll_store *store) {
  const char *fault = ll_slots_fault(store);
  if (fault == NULL) fault = fault_of_takes(store);
  return fault != NULL ? fault : fault_of_texts(store);
}
