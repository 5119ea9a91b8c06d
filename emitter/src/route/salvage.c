#include "salvage.h"

#include "base/format.h"
#include "batch/batch.h"
#include "batch/crc32c.h"
#include "ring/context.h"
#include "ring/replace.h"
#include "ring/slots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- records of a ring --- */

typedef enum found {
  FOUND_RECORD,
  FOUND_FILLER,
  FOUND_ILLEGAL,    /* a record of this length, which readers would reject */
  FOUND_DOUBTFUL,   /* its type is damaged, so its length may be wrong */
  FOUND_UNREADABLE, /* no record */
} found;

static bool bools_are_legal(const ll_shape *shape, const uint8_t *record) {
  static const uint8_t fixed[] = {0, 4, 8, 4, 8, 0, 4, 8, 1, 0};
  const uint8_t *at = record + 8;
  for (uint32_t i = 0; i < shape->field_count; i++) {
    uint8_t code = shape->field_codes[i];
    uint16_t count;
    if (code == LL_CODE_bool && *at > 1) return false;
    at += fixed[code];
    if (fixed[code] != 0) continue;
    memcpy(&count, at, sizeof count);
    at += 2u + count;
  }
  return true;
}

/* What is at this position, and where the next record begins. */
static found look(const ll_types *types, const ll_ring *ring, const uint8_t *base, uint64_t at, uint64_t *next) {
  uint64_t offset = at & (ring->bytes - 1), lap_end = at + ring->bytes - offset, word;
  uint64_t end = lap_end < ring->head ? lap_end : ring->head;
  memcpy(&word, base + offset, sizeof word);
  uint16_t number = (uint16_t)word;
  *next = end;
  if (number == 0) {
    bool filler = word == 0 && lap_end <= ring->head && end - at < LL_RECORD_MAX;
    return filler ? FOUND_FILLER : FOUND_UNREADABLE;
  }
  size_t bytes = number <= types->count ? ll_record_bytes(types, base + offset, end - at) : 0;
  if (bytes == 0) return FOUND_UNREADABLE;
  *next = at + bytes;
  if (types->shapes[number].doubtful) return FOUND_DOUBTFUL;
  return bools_are_legal(&types->shapes[number], base + offset) ? FOUND_RECORD : FOUND_ILLEGAL;
}

/* A change of the context lies between two records, or its place is damaged. */
static bool is_within(const ll_ring *ring, uint64_t boundary) {
  return boundary > ring->tail && boundary < ring->head;
}

typedef struct survey {
  uint64_t events;   /* that cannot be kept */
  uint64_t readable; /* the end of what can be read */
  bool torn;         /* a boundary is inside of a record */
} survey;

static bool is_undamaged(const ll_ring *ring, survey seen) {
  return seen.events == 0 && seen.readable == ring->head && !seen.torn;
}

static survey survey_ring(const ll_types *types, const ll_ring *ring, const uint8_t *base) {
  survey seen = {0, ring->tail, false};
  uint64_t at = ring->tail, next, first_doubtful = UINT64_MAX, events_before = 0;
  for (; at < ring->head; at = next) {
    found what = look(types, ring, base, at, &next);
    if (what == FOUND_DOUBTFUL && first_doubtful == UINT64_MAX) {
      first_doubtful = at;
      events_before = seen.events;
    }
    if (what == FOUND_UNREADABLE) break;
    seen.events += what == FOUND_ILLEGAL || what == FOUND_DOUBTFUL;
    for (uint32_t place = 0; place < LL_CONTEXTS; place++)
      seen.torn |=
          is_within(ring, ring->boundaries[place]) && ring->boundaries[place] > at && ring->boundaries[place] < next;
  }
  seen.readable = at;
  if (at < ring->head && first_doubtful != UINT64_MAX) { /* a wrong length may have led here */
    seen.readable = first_doubtful;
    seen.events = events_before;
  }
  return seen;
}

/* --- sealed batches --- */

static bool batch_is_sound(const ll_store *store, const ll_slot *slot, uint64_t sequence, ll_batch_head *head) {
  uint32_t crc;
  if (slot->bytes < LL_BATCH_LEAST + LL_COUNTERS * sizeof(uint64_t)) return false;
  memcpy(head, slot->batch, sizeof *head);
  memcpy(&crc, slot->batch + slot->bytes - LL_BATCH_CRC_BYTES, sizeof crc);
  return memcmp(head->magic, LL_BATCH_MAGIC, sizeof head->magic) == 0 && head->version == LL_BATCH_VERSION &&
         head->total_bytes == slot->bytes && head->sequence == sequence && head->counter_count == LL_COUNTERS &&
         memcmp(head->incarnation, store->header->incarnation, sizeof head->incarnation) == 0 &&
         crc == ll_crc32c(slot->batch, slot->bytes - LL_BATCH_CRC_BYTES);
}

/* What the slot has to say about its batch. */
static ll_slot described_by(const ll_slot *slot, const ll_batch_head *head) {
  ll_slot right = *slot;
  uint64_t counters[LL_COUNTERS];
  memcpy(counters, slot->batch + sizeof *head, sizeof counters);
  right.flags = head->flags & ~(uint32_t)LL_BATCH_CLOCK_UNCERTAIN; /* which is the batch's alone */
  right.event_count = head->event_count;
  right.route = head->route;
  right.events_total = counters[LL_COUNT_EMITTED];
  for (int i = LL_COUNT_RING_FULL; i <= LL_COUNT_SHUTDOWN; i++)
    right.events_total -= counters[i];
  right.reported_total = 0;
  for (int i = 1; i < LL_COUNTERS - 1; i++)
    right.reported_total += counters[i];
  return right;
}

static bool differ(const ll_slot *a, const ll_slot *b) {
  return a->flags != b->flags || a->event_count != b->event_count || a->route != b->route ||
         a->events_total != b->events_total || a->reported_total != b->reported_total;
}

/* Looks at each sealed slot of `store`; with `mend` (the same store), corrects and refuses. */
static void look_at_slots(const ll_store *store, ll_store *mend, ll_damage *damage) {
  for (uint32_t route = 0; route < store->header->route_count; route++) {
    ll_slot_range range = ll_slots_of(store, route);
    for (uint32_t i = range.first; i < range.end; i++) {
      uint64_t word = store->header->slot_words[i];
      if (ll_slot_state_of(word) != LL_SLOT_SEALED) continue;
      ll_slot *slot = ll_slot_at(store, i);
      ll_batch_head head;
      if (batch_is_sound(store, slot, ll_slot_sequence(word), &head) && head.route == route) {
        ll_slot right = described_by(slot, &head);
        damage->books |= differ(&right, slot);
        if (mend != NULL) *slot = right;
        continue;
      }
      damage->batches++;
      if (mend == NULL) continue;
      slot->counted_by = 0;
      slot->route = (uint16_t)route;
      ll_slot_move(mend, i, ll_slot_sequence(word), LL_SLOT_SEALED, LL_SLOT_REFUSED);
    }
  }
}

bool ll_damage_find(const ll_store *store, const ll_types *types, ll_damage *damage) {
  bool torn = false;
  memset(damage, 0, sizeof *damage);
  look_at_slots(store, NULL, damage);
  for (uint32_t i = 0; i < store->header->ring_count; i++) {
    const ll_ring *ring = &store->rings[i];
    survey seen = survey_ring(types, ring, ll_ring_base(store, ring));
    damage->events += seen.events;
    damage->bytes += ring->head - seen.readable;
    torn |= seen.torn;
  }
  damage->books |= torn;
  return damage->books || damage->batches + damage->events + damage->bytes > 0;
}

/* Moves the records that readers accept to the front, behind the tail. There is room: each is at most as far behind the
 * tail as before, so that no filler gets longer than what it replaces. */
static bool compact(ll_store *store, const ll_types *types, ll_ring *ring, survey seen) {
  uint8_t *base = ll_ring_base(store, ring), *before = malloc(ring->bytes);
  if (before == NULL) return false;
  memcpy(before, base, ring->bytes);
  const ll_ring was = *ring;
  uint64_t to = was.tail, next;
  bool placed[LL_CONTEXTS] = {false};
  for (uint64_t at = was.tail; at < seen.readable; at = next) {
    found what = look(types, &was, before, at, &next);
    for (uint32_t place = 0; place < LL_CONTEXTS; place++) {
      if (placed[place] || !is_within(&was, was.boundaries[place]) || was.boundaries[place] > at) continue;
      ring->boundaries[place] = to;
      placed[place] = true;
    }
    if (what != FOUND_RECORD) continue;
    uint64_t bytes = next - at, offset = to & (was.bytes - 1);
    if (offset + bytes > was.bytes) {
      memset(base + offset, 0, was.bytes - offset);
      to += was.bytes - offset;
      offset = 0;
    }
    memcpy(base + offset, before + (at & (was.bytes - 1)), bytes);
    to += bytes;
  }
  for (uint32_t place = 0; place < LL_CONTEXTS; place++)
    if (!placed[place] && was.boundaries[place] > was.tail && was.boundaries[place] <= was.head)
      ring->boundaries[place] = to;
  ring->head = to;
  store->header->routes[ring->route].dropped_shutdown += seen.events;
  free(before);
  return true;
}

bool ll_salvage(const ll_store *store, const ll_types *types, char *why, size_t why_bytes) {
  ll_store copy;
  ll_damage mended = {0};
  if (!ll_replace_begin(store, &copy, why, why_bytes)) return false;
  look_at_slots(&copy, &copy, &mended);
  for (uint32_t i = 0; i < copy.header->ring_count; i++) {
    ll_ring *ring = &copy.rings[i];
    survey seen = survey_ring(types, ring, ll_ring_base(&copy, ring));
    if (is_undamaged(ring, seen) || compact(&copy, types, ring, seen)) continue;
    snprintf(why, why_bytes, "no memory");
    ll_replace_cancel(&copy);
    return false;
  }
  return ll_replace_end(store, &copy, why, why_bytes);
}

void ll_damage_describe(const ll_damage *damage, char *text, size_t bytes) {
  if (damage->batches + damage->events + damage->bytes == 0)
    snprintf(text, bytes, "its positions or totals did not fit its batches and were corrected");
  else
    snprintf(text, bytes, "%llu batches, %llu events and %llu bytes of rings cannot be read",
             (unsigned long long)damage->batches, (unsigned long long)damage->events,
             (unsigned long long)damage->bytes);
}
