#include "pool.h"

#include "base/lock.h"
#include "ring/emitter.h"

enum {
  RESERVE = 4,  /* rings kept ready for new threads */
  CLUTTER = 32, /* rings waiting to be drained: 2 MiB of the smallest */
};

/* A never-used ring may go to any route. A used one stays with its route, whose counters it holds. */
static bool is_fresh(const ll_ring *ring) {
  return load_acquire(&ring->thread) == 0;
}

/* Takes a fresh ring, or a used one of this route. */
static ll_ring *take_free_ring(ll_store *store, uint32_t route, uint64_t bytes, bool fresh) {
  uint32_t count = load_acquire(&store->header->ring_count);
  for (uint32_t i = 0; i < count; i++) {
    ll_ring *ring = &store->rings[i];
    if (ring->bytes != bytes || load_acquire(&ring->state) != LL_RING_FREE || is_fresh(ring) != fresh) continue;
    if (!fresh && ring->route != route) continue;
    if (!compare_and_swap_u32(&ring->state, LL_RING_FREE, LL_RING_OWNED)) continue;
    if (is_fresh(ring) == fresh) return ring;
    store_release(&ring->state, LL_RING_FREE); /* another thread used it in the meantime */
  }
  return NULL;
}

static bool claim_share(ll_route_books *books, uint64_t bytes) {
  if (add_relaxed(&books->ring_bytes, bytes) + bytes <= books->ring_bytes_most) return true;
  add_relaxed(&books->ring_bytes, -bytes);
  return false;
}

/* The number of rings ready for the default route's next threads. */
static uint32_t ready_rings(const ll_store *store) {
  uint32_t count = load_acquire(&store->header->ring_count), ready = 0;
  for (uint32_t i = 0; i < count; i++) {
    const ll_ring *ring = &store->rings[i];
    ready += ring->bytes == LL_RING_BYTES_MIN && load_acquire(&ring->state) == LL_RING_FREE &&
             (is_fresh(ring) || ll_ring_is_of(ring, 0));
  }
  return ready;
}

/* The ring's state is set before the ring becomes visible to other threads. */
static ll_ring *make_ring(ll_store *store, uint64_t bytes, ll_ring_state state) {
  ll_saved_state before;
  ll_lock(&before);
  ll_file_header *header = store->header;
  uint32_t index = header->ring_count;
  uint64_t offset = header->data_offset + header->data_used;
  ll_ring *ring = NULL;
  if (index < LL_RINGS_MAX && bytes <= header->file_bytes - offset && ll_store_reserve(store, offset, bytes)) {
    ring = &store->rings[index];
    ring->offset = offset;
    ring->bytes = bytes;
    store_relaxed(&ring->state, state);
    header->data_used += bytes;
    store_release(&header->ring_count, index + 1);
  }
  ll_unlock(&before);
  return ring;
}

ll_ring *ll_pool_take(ll_store *store, uint32_t route, uint64_t bytes) {
  if (bytes == LL_RING_BYTES_MIN && ready_rings(store) <= RESERVE / 2) ll_wake_harvester();
  ll_ring *ring = take_free_ring(store, route, bytes, false);
  ll_route_books *books = &store->header->routes[route];
  if (ring != NULL || !claim_share(books, bytes)) return ring;
  ring = take_free_ring(store, route, bytes, true);
  if (ring == NULL) ring = make_ring(store, bytes, LL_RING_OWNED);
  if (ring == NULL) {
    add_relaxed(&books->ring_bytes, -bytes);
    return NULL;
  }
  ring->route = route;
  return ring;
}

void ll_pool_reclaim(ll_store *store) {
  uint32_t count = load_acquire(&store->header->ring_count);
  for (uint32_t i = 0; i < count; i++) {
    ll_ring *ring = &store->rings[i];
    if (load_acquire(&ring->state) == LL_RING_RETIRED && load_relaxed(&ring->tail) == load_acquire(&ring->head))
      store_release(&ring->state, LL_RING_FREE);
  }
}

bool ll_pool_is_cluttered(const ll_store *store) {
  uint32_t count = load_acquire(&store->header->ring_count), waiting = 0;
  for (uint32_t i = 0; i < count && waiting < CLUTTER; i++)
    waiting += load_relaxed(&store->rings[i].state) == LL_RING_RETIRED;
  return waiting == CLUTTER;
}

/* In a small budget existing threads have priority: the reserve takes at most an eighth of it. */
static uint32_t reserve_within(const ll_store *store) {
  uint64_t most = (store->header->file_bytes - store->header->data_offset) / 8 / LL_RING_BYTES_MIN;
  return most < RESERVE ? (uint32_t)most : RESERVE;
}

void ll_pool_replenish(ll_store *store) {
  ll_pool_reclaim(store);
  if (ll_pool_is_cluttered(store)) return; /* draining will free some soon */
  for (uint32_t wanted = reserve_within(store), ready = ready_rings(store); ready < wanted; ready++)
    if (make_ring(store, LL_RING_BYTES_MIN, LL_RING_FREE) == NULL) return;
}
