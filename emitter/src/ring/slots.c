#include "slots.h"

#include "base/atomics.h"
#include "base/cgroup.h"
#include "base/crash_point.h"

#include <stddef.h>

_Static_assert(sizeof(ll_slot) == 128 && offsetof(ll_slot, batch) == 128, "the meta data");
_Static_assert(sizeof(ll_slot) + LL_BATCH_ORDINARY + 7 + LL_TAKES_MAX * sizeof(ll_take) <= LL_SLOT_RUN * LL_SLOT_BYTES,
               "a batch of more than LL_SLOT_RUN slots is no ordinary one");
_Static_assert(sizeof(ll_slot) + LL_BATCH_MOST + 7 + LL_TAKES_MAX * sizeof(ll_take) <= LL_SLOT_RUN_MOST * LL_SLOT_BYTES,
               "that many slots hold any batch");
_Static_assert(LL_SLOT_RUN % 4 == 0 && LL_SLOT_RUN_MOST % 4 == 0, "a batch of more slots never exceeds the free ones");
_Static_assert(LL_SLOT_RUN + (LL_SLOT_RUN_MOST - LL_SLOT_RUN) / 4 < 64, "a word has six bits for the number of slots");
_Static_assert(sizeof(ll_ring) == 128, "a line for the producer and one for the consumer");

static uint64_t word_at(const ll_store *store, uint32_t index) {
  return load_acquire(&store->header->slot_words[index]);
}

ll_slot_range ll_slots_of(const ll_store *store, uint32_t route) {
  const ll_route_books *books = &store->header->routes[route];
  return (ll_slot_range){books->first_slot, books->first_slot + load_relaxed(&books->slots_used)};
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

uint32_t ll_slot_extent(const ll_store *store, uint32_t index, const ll_slot *latest) {
  uint64_t word = word_at(store, index);
  switch (ll_slot_state_of(word)) {
  case LL_SLOT_FREE: return ll_slot_at(store, index) == latest;
  case LL_SLOT_SEALED: return ll_slot_count_of(word);
  default: return 1;
  }
}

uint32_t ll_slots_vacant(const ll_store *store, uint32_t route) {
  ll_slot_range range = ll_slots_of(store, route);
  uint64_t sequence;
  const ll_slot *latest = ll_slot_latest(store, route, &sequence);
  uint32_t vacant = store->header->routes[route].slot_count;
  for (uint32_t i = range.first; i < range.end; i++)
    vacant -= ll_slot_extent(store, i, latest);
  return vacant;
}

static bool is_ready(const ll_store *store, uint32_t index) {
  return (store->slots_ready[index / 64] >> index % 64 & 1) != 0;
}

/* Keeps a distance from the limit of the control group, at which the kernel would kill the program. The program needs
 * memory, too. */
static bool memory_has_room(uint64_t bytes) {
  ll_cgroup_memory now = ll_cgroup_memory_of(LL_CGROUP_MEMBERSHIP, LL_CGROUP_MOUNTS);
  return now.limit == UINT64_MAX || now.room > now.limit / 8 + bytes;
}

/* After an outage the memory goes back to the control group. */
static void shrink(ll_store *store, const ll_route_books *books) {
  uint32_t first = books->first_slot + 2 * LL_SLOT_RUN_MOST, end = books->first_slot + books->slot_count;
  if (!store->limited || books->slots_used > LL_SLOT_RUN_MOST) return;
  while (end > first && !is_ready(store, end - 1))
    end--;
  if (end <= first) return;
  ll_store_give_back(store, (uint64_t)((uint8_t *)ll_slot_at(store, first) - store->map),
                     (uint64_t)(end - first) * LL_SLOT_BYTES);
  for (uint32_t i = first; i < end; i++)
    store->slots_ready[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* Allocates memory for the slots where they have none yet. */
static bool make_ready(ll_store *store, uint32_t first, uint32_t slots) {
  uint32_t end = first + slots, i = first;
  while (i < end && is_ready(store, i))
    i++;
  store->full = LL_LACKS_NOTHING;
  if (i == end) return true;
  if (store->limited && !memory_has_room((uint64_t)(end - i) * LL_SLOT_BYTES)) {
    store->full = LL_LACKS_MEMORY;
    return false;
  }
  if (!ll_store_reserve(store, (uint64_t)((uint8_t *)ll_slot_at(store, i) - store->map),
                        (uint64_t)(end - i) * LL_SLOT_BYTES)) {
    store->full = store->denied != 0 ? LL_LACKS_PERMISSION : LL_LACKS_SPACE;
    return false;
  }
  for (; i < end; i++)
    store->slots_ready[i / 64] |= UINT64_C(1) << i % 64;
  return true;
}

/* Reduces the range to scan after an outage. */
static void forget_unused(ll_store *store, uint32_t route, const ll_slot *latest) {
  ll_route_books *books = &store->header->routes[route];
  uint32_t used = books->slots_used;
  while (used > 0 && ll_slot_extent(store, books->first_slot + used - 1, latest) == 0)
    used--;
  if (used < books->slots_used) store_release(&books->slots_used, used);
}

uint32_t ll_slots_for(const ll_store *store, uint32_t route, uint64_t record_bytes) {
  enum { HEADER_BYTES = 64 << 10 }; /* with descriptors and takes; LL_SLOT_RUN slots hold 256 KiB of records */
  uint64_t wanted = (record_bytes + HEADER_BYTES) / LL_SLOT_BYTES;
  uint64_t most = store->header->routes[route].slot_count / 4;
  if (wanted > LL_SLOT_RUN_MOST) wanted = LL_SLOT_RUN_MOST;
  if (wanted > most) wanted = most;
  return wanted > LL_SLOT_RUN ? (uint32_t)(wanted - wanted % 4) : LL_SLOT_RUN;
}

ll_slot *ll_slot_to_fill(ll_store *store, uint32_t route, uint32_t slots) {
  const ll_route_books *books = &store->header->routes[route];
  uint64_t sequence;
  const ll_slot *latest = ll_slot_latest(store, route, &sequence);
  forget_unused(store, route, latest);
  shrink(store, books);
  ll_slot_range used = ll_slots_of(store, route);
  uint32_t first = used.first; /* of the contiguous free slots */
  for (uint32_t i = used.first; i < used.end && i < first + slots; i++) {
    uint32_t extent = ll_slot_extent(store, i, latest);
    if (extent == 0) continue;
    first = i + extent;
    i = first - 1;
  }
  bool found = first + slots <= books->first_slot + books->slot_count;
  if (!found) store->full = LL_LACKS_NOTHING;
  return found && make_ready(store, first, slots) ? ll_slot_at(store, first) : NULL;
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
  ll_route_books *books = &store->header->routes[slot->route];
  uint32_t index = ll_slot_index(store, slot), end = index + 1 - books->first_slot;
  uint32_t slots = (uint32_t)((ll_slot_used(slot) + LL_SLOT_BYTES - 1) / LL_SLOT_BYTES);
  slot->counted_by = 0;
  if (end > books->slots_used) store_release(&books->slots_used, end);
  if (slot->bytes > LL_BATCH_ORDINARY) { /* first, so that no earlier version of Lifeline reads the word */
    store_release(&store->header->version, LL_FILE_VERSION_LARGE);
    ll_crash_point("stamped-unsealed");
  }
  store_release(&store->header->slot_words[index], ll_slot_word(sequence, slots, LL_SLOT_SEALED));
}

bool ll_slot_move(ll_store *store, uint32_t index, uint64_t sequence, ll_slot_state from, ll_slot_state to) {
  uint64_t word = word_at(store, index);
  return ll_slot_sequence(word) == sequence && ll_slot_state_of(word) == from &&
         compare_and_swap_u64(&store->header->slot_words[index], word, (word & ~UINT64_C(3)) | to);
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
