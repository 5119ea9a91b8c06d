#include "pool.h"

#include "atomics.h"
#include "core.h"

#include <sys/mman.h>

enum {
  RESERVE = 4,  /* rings that wait for a thread */
  CLUTTER = 32, /* rings that wait to be drained: 2 MiB of the smallest */
};

/* Maps the pages before an event needs them. Old kernels do it at the first touch. */
static void prefault(const ll_store *store, const ll_ring *ring) {
#ifdef MADV_POPULATE_WRITE
  madvise(ll_ring_base(store, ring), ring->bytes, MADV_POPULATE_WRITE);
#else
  (void)store, (void)ring;
#endif
}

/* Takes the first free one, and tells how many more there are. */
static ll_ring *take_free_ring(ll_store *store, uint64_t bytes, uint32_t *left) {
  uint32_t count = load_acquire(&store->header->ring_count);
  ll_ring *taken = NULL;
  *left = 0;
  for (uint32_t i = 0; i < count && *left < RESERVE; i++) {
    ll_ring *ring = &store->rings[i];
    if (ring->bytes != bytes || load_relaxed(&ring->state) != LL_RING_FREE) continue;
    if (taken != NULL)
      ++*left;
    else if (compare_and_swap_u32(&ring->state, LL_RING_FREE, LL_RING_OWNED))
      taken = ring;
  }
  return taken;
}

/* The ring's state is set before anybody can see it. */
static ll_ring *make_ring(ll_store *store, uint64_t bytes, ll_ring_state state) {
  ll_disturbances before;
  ll_core_lock(&before);
  ll_file_header *header = store->header;
  uint32_t index = header->ring_count;
  uint64_t offset = header->data_offset + header->data_used;
  ll_ring *ring = NULL;
  if (index < LL_RINGS_MAX && bytes <= header->file_bytes - offset && ll_store_reserve(store, offset, bytes)) {
    ring = &store->rings[index];
    ring->offset = offset;
    ring->bytes = bytes;
    prefault(store, ring);
    store_relaxed(&ring->state, state);
    header->data_used += bytes;
    store_release(&header->ring_count, index + 1);
  }
  ll_core_unlock(&before);
  return ring;
}

ll_ring *ll_pool_take(ll_store *store, uint64_t bytes) {
  uint32_t left;
  ll_ring *ring = take_free_ring(store, bytes, &left);
  if (bytes == LL_RING_BYTES_MIN && left < RESERVE / 2) ll_wake_harvester();
  return ring != NULL ? ring : make_ring(store, bytes, LL_RING_OWNED);
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

/* A small budget is for the threads that there are: the reserve takes an eighth of it at most. */
static uint32_t reserve_within(const ll_store *store) {
  uint64_t most = (store->header->file_bytes - store->header->data_offset) / 8 / LL_RING_BYTES_MIN;
  return most < RESERVE ? (uint32_t)most : RESERVE;
}

void ll_pool_replenish(ll_store *store) {
  ll_pool_reclaim(store);
  uint32_t count = load_acquire(&store->header->ring_count), free_rings = 0;
  for (uint32_t i = 0; i < count; i++) {
    const ll_ring *ring = &store->rings[i];
    free_rings += ring->bytes == LL_RING_BYTES_MIN && load_relaxed(&ring->state) == LL_RING_FREE;
  }
  if (ll_pool_is_cluttered(store)) return; /* there will be some in a moment */
  for (uint32_t wanted = reserve_within(store); free_rings < wanted; free_rings++)
    if (make_ring(store, LL_RING_BYTES_MIN, LL_RING_FREE) == NULL) return;
}
