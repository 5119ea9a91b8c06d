#include "relief.h"

#include "base/atomics.h"
#include "base/clock.h"

#include <stdlib.h>

typedef struct found {
  ll_spool_candidate candidates[LL_SLOTS_MAX];
  unsigned count;
} found;

static int order(const void *one, const void *other) {
  const ll_spool_candidate *a = one, *b = other;
  if (a->offered != b->offered) return a->offered ? 1 : -1;
  return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* Finds the sealed slots that the sink does not hold. Static because it is large; only the harvester has a spool. */
static const found *find(const ll_spool *spool, const ll_relief_view *view) {
  static found all;
  ll_slot_range range = ll_slots_of(spool->store, spool->identity.route);
  all.count = 0;
  for (uint32_t i = range.first; i < range.end; i++) {
    if (load_acquire(&view->in_flight[i]) != 0) continue; /* first: an answer moves the slot, then clears this */
    uint64_t word = load_acquire(&spool->store->header->slot_words[i]), sequence = ll_slot_sequence(word);
    if (ll_slot_state_of(word) != LL_SLOT_SEALED) continue;
    all.candidates[all.count++] = (ll_spool_candidate){sequence, i, view->offered[i] == sequence};
  }
  qsort(all.candidates, all.count, sizeof all.candidates[0], order);
  return &all;
}

/* Moves batches until half of the slots are free, or more until some free slots are contiguous. */
void ll_relieve(ll_spool *spool, const ll_relief_view *view) {
  if (spool->settings == NULL || ll_monotonic_ns() < spool->retry_at_ns) return;
  uint32_t route = spool->identity.route, slots = spool->store->header->routes[route].slot_count;
  uint32_t vacant = ll_slots_vacant(spool->store, route);
  if (vacant > slots / 4 && ll_slot_to_fill(spool->store, route, LL_SLOT_RUN) != NULL) return;
  const found *all = find(spool, view);
  for (unsigned first = 0, count; first < all->count; first += count) {
    for (count = 0; first + count < all->count && (count == 0 || vacant < slots / 2); count++)
      vacant += ll_slot_extent(spool->store, all->candidates[first + count].slot, NULL);
    if (ll_spool_put(spool, all->candidates + first, count) < count) return;
    if (ll_slot_to_fill(spool->store, route, LL_SLOT_RUN) != NULL) return;
  }
}

bool ll_relieve_all(ll_spool *spool, const ll_relief_view *view) {
  if (spool->settings == NULL) return false;
  const found *all = find(spool, view);
  spool->retry_at_ns = 0; /* no later attempt */
  return ll_spool_put(spool, all->candidates, all->count) == all->count;
}
