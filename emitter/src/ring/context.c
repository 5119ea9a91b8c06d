#include "context.h"

#include "base/crash_point.h"

#include <string.h>

static uint32_t place_of(uint64_t change) {
  return (uint32_t)(change % LL_CONTEXTS);
}

static uint64_t applied(const ll_store *store, uint32_t route) {
  return load_acquire(&store->header->routes[route].context);
}

/* The number of places that no route uses any more, neither as its current context nor as one to come. */
static uint64_t places_left(const ll_store *store) {
  uint64_t left = LL_CONTEXTS - 1;
  for (uint32_t route = 0; route < store->header->route_count; route++) {
    uint64_t behind = store->header->context_changes - applied(store, route);
    if (LL_CONTEXTS - 1 - behind < left) left = LL_CONTEXTS - 1 - behind;
  }
  return left;
}

bool ll_context_change(ll_store *store, const ll_context *context) {
  static const ll_context nothing;
  ll_file_header *header = store->header;
  uint64_t left = places_left(store), next = header->context_changes + 1;
  uint32_t place = place_of(next), count = load_acquire(&header->ring_count);
  bool published = left > 1 || context->count == 0;
  if (left <= 1) { /* the last place is for no session */
    if (left == 0 || header->contexts[place_of(next - 1)].count == 0) return published;
    context = &nothing;
  }
  header->contexts[place] = *context;
  for (uint32_t i = 0; i < count; i++) /* atomically, since a thread whose ring grows looks at all places */
    store_relaxed(&store->rings[i].boundaries[place], load_acquire(&store->rings[i].head));
  ll_crash_point("context-written");
  store_release(&header->context_changes, next);
  ll_crash_point("context-changed");
  return published;
}

bool ll_context_skip(ll_store *store, uint32_t route) {
  ll_route_books *books = &store->header->routes[route];
  uint64_t changes = store->header->context_changes;
  uint64_t kept = changes < LL_CONTEXTS - 3 ? 0 : changes - (LL_CONTEXTS - 3); /* leaves two places */
  if (books->context >= kept || kept > store->summarised) return false;
  store_release(&books->context_lost, 1);
  store_release(&books->context, kept);
  ll_crash_point("context-skipped");
  return true;
}

void ll_context_start(ll_store *store, const ll_context *context) {
  ll_file_header *header = store->header;
  header->contexts[0] = *context;
}

bool ll_context_is_behind(const ll_store *store, uint32_t route) {
  return applied(store, route) != load_acquire(&store->header->context_changes);
}

/* A head below the boundary occurs only in a file that is being recovered, and does not move any more. */
static bool is_drained(const ll_store *store, uint32_t route, uint32_t place) {
  uint32_t count = load_acquire(&store->header->ring_count);
  for (uint32_t i = 0; i < count; i++) {
    const ll_ring *ring = &store->rings[i];
    uint64_t tail = load_relaxed(&ring->tail);
    if (ll_ring_is_of(ring, route) && tail < load_acquire(&ring->boundaries[place]) && tail < load_acquire(&ring->head))
      return false;
  }
  return true;
}

void ll_context_advance(ll_store *store, uint32_t route) {
  ll_route_books *books = &store->header->routes[route];
  uint64_t changes = load_acquire(&store->header->context_changes);
  if (changes > store->summarised) changes = store->summarised;
  if (books->context_lost != 0 && is_drained(store, route, place_of(books->context)))
    store_release(&books->context_lost, 0);
  while (books->context < changes && is_drained(store, route, place_of(books->context + 1))) {
    store_release(&books->context, books->context + 1);
    ll_crash_point("context-applied");
  }
}

const ll_context *ll_context_of(const ll_store *store, uint32_t route) {
  static const ll_context nothing;
  if (store->header->routes[route].context_lost != 0) return &nothing;
  return &store->header->contexts[place_of(applied(store, route))];
}

/* The head is read before the changes: an event emitted after a change is then never taken without seeing it. */
uint64_t ll_context_end(const ll_store *store, const ll_ring *ring) {
  uint64_t head = load_acquire(&ring->head);
  uint64_t next = applied(store, ring->route) + (store->header->routes[ring->route].context_lost == 0);
  if (load_acquire(&store->header->context_changes) < next) return head;
  uint64_t boundary = load_acquire(&ring->boundaries[place_of(next)]);
  return head < boundary ? head : boundary;
}

bool ll_context_summary_begin(ll_store *store, ll_ring *own, uint64_t *changes) {
  *changes = load_acquire(&store->header->context_changes);
  if (*changes <= store->summarised) return false;
  for (uint64_t change = store->summarised + 1; own != NULL && change <= *changes; change++)
    store_release(&own->boundaries[place_of(change)], LL_BOUNDARY_NONE);
  return true;
}

void ll_context_summary_end(ll_store *store, ll_ring *own, uint64_t changes) {
  for (uint64_t change = store->summarised + 1; own != NULL && change <= changes; change++)
    store_release(&own->boundaries[place_of(change)], load_relaxed(&own->head));
  store->summarised = changes;
}

void ll_context_hand_over(ll_ring *from, ll_ring *to) {
  for (uint32_t place = 0; place < LL_CONTEXTS; place++) {
    if (load_relaxed(&from->boundaries[place]) != LL_BOUNDARY_NONE) continue;
    store_release(&to->boundaries[place], LL_BOUNDARY_NONE);
    store_release(&from->boundaries[place], load_relaxed(&from->head));
  }
}
