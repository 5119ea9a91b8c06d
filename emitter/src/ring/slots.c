#include "slots.h"

#include "life/atomics.h"

#include <stddef.h>

_Static_assert(sizeof(ll_slot) == LL_SLOT_BYTES, "a slot is its meta data and one batch");
_Static_assert(offsetof(ll_slot, takes) == 128, "the meta data's fixed part");
_Static_assert(sizeof(ll_ring) == 128, "a line for the producer and one for the consumer");

static uint64_t word_at(const ll_store *store, uint32_t index) {
  return load_acquire(&store->header->slot_words[index]);
}

ll_slot_range ll_slots_of(const ll_store *store, uint32_t route) {
  const ll_route_books *books = &store->header->routes[route];
  return (ll_slot_range){books->first_slot, books->first_slot + books->slot_count};
}

ll_slot *ll_slot_latest(const ll_store *store, uint32_t route, uint64_t *sequence) {
  ll_slot_range range = ll_slots_of(store, route);
  ll_slot *latest = NULL;
  *sequence = 0;
  for (uint32_t i = range.first; i < range.end; i++) {
    uint64_t candidate = ll_slot_sequence(word_at(store, i));
    if (candidate <= *sequence) continue;
    *sequence = candidate;
    latest = ll_slot_at(store, i);
  }
  return latest;
}

ll_slot *ll_slot_to_fill(ll_store *store, uint32_t route) {
  ll_slot_range range = ll_slots_of(store, route);
  uint64_t sequence;
  const ll_slot *latest = ll_slot_latest(store, route, &sequence);
  for (uint32_t i = range.first; i < range.end; i++) {
    ll_slot *slot = ll_slot_at(store, i);
    uint64_t word = word_at(store, i);
    if (slot == latest || ll_slot_state_of(word) != LL_SLOT_FREE) continue;
    /* A slot that was sealed before has its memory. */
    if (word != 0 || ll_store_reserve(store, (uint64_t)((uint8_t *)slot - store->map), LL_SLOT_BYTES)) return slot;
    return NULL;
  }
  return NULL;
}

ll_slot *ll_slot_next_sealed(const ll_store *store, uint32_t route, uint64_t *after) {
  ll_slot_range range = ll_slots_of(store, route);
  ll_slot *next = NULL;
  uint64_t lowest = UINT64_MAX;
  for (uint32_t i = range.first; i < range.end; i++) {
    uint64_t word = word_at(store, i), sequence = ll_slot_sequence(word);
    if (ll_slot_state_of(word) != LL_SLOT_SEALED || sequence <= *after || sequence >= lowest) continue;
    lowest = sequence;
    next = ll_slot_at(store, i);
  }
  if (next != NULL) *after = lowest;
  return next;
}

void ll_slot_seal(ll_store *store, ll_slot *slot, uint64_t sequence) {
  slot->counted_by = 0;
  store_release(&store->header->slot_words[ll_slot_index(store, slot)], ll_slot_word(sequence, LL_SLOT_SEALED));
}

bool ll_slot_move(ll_store *store, uint32_t index, uint64_t sequence, ll_slot_state from, ll_slot_state to) {
  return compare_and_swap_u64(&store->header->slot_words[index], ll_slot_word(sequence, from),
                              ll_slot_word(sequence, to));
}

uint32_t ll_slots_in(const ll_store *store, uint32_t route, ll_slot_state state) {
  ll_slot_range range = ll_slots_of(store, route);
  uint32_t count = 0;
  for (uint32_t i = range.first; i < range.end; i++) {
    uint64_t word = word_at(store, i);
    count += word != 0 && ll_slot_state_of(word) == state;
  }
  return count;
}

const char *ll_slots_fault(const ll_store *store) {
  for (uint32_t i = 0; i < store->header->slot_count; i++) {
    uint64_t word = word_at(store, i);
    if (word == 0) continue;
    if (ll_slot_state_of(word) > LL_SLOT_REFUSED) return "unknown slot state";
    if (ll_slot_state_of(word) == LL_SLOT_FREE) continue;
    const ll_slot *slot = ll_slot_at(store, i);
    if (slot->bytes > LL_BATCH_STORED_MAX) return "a sealed batch larger than its slot";
    if (slot->take_count > LL_TAKES_MAX) return "a sealed batch that took from too many rings";
    for (uint32_t t = 0; t < slot->take_count; t++)
      if (slot->takes[t].ring >= store->header->ring_count) return "a sealed batch that took from no ring";
  }
  return NULL;
}
