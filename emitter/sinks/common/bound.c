#include "bound.h"

#include <string.h>

#include "base/format.h"
#include "sink/sink.h"

enum { LEAST = 40000 }; /* the limit must fit the largest event and its header */

static size_t get(const size_t *of) {
  return __atomic_load_n(of, __ATOMIC_ACQUIRE);
}

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

size_t sink_bound_most(const sink_bound *bound) {
  size_t limit = get(&bound->limit);
  return limit != 0 ? limit : larger(LL_SINK_CAUTIOUS_BYTES, 2 * get(&bound->acknowledged));
}

void sink_bound_tell(sink_bound *bound, size_t limit) {
  if (limit > 0) __atomic_store_n(&bound->limit, limit, __ATOMIC_RELEASE);
}

void sink_bound_acknowledge(sink_bound *bound, size_t bytes) {
  if (bytes > get(&bound->acknowledged)) __atomic_store_n(&bound->acknowledged, bytes, __ATOMIC_RELEASE);
}

void sink_bound_refuse(sink_bound *bound, size_t bytes) {
  size_t half = larger(bytes / 2, LEAST), before = get(&bound->limit);
  if (bytes > 0 && (before == 0 || half < before)) sink_bound_tell(bound, half);
}

size_t sink_bound_bytes(const uint8_t *batch, size_t bytes) {
  ll_batch_head head;
  if (bytes < sizeof head || memcmp(batch, LL_BATCH_MAGIC, sizeof head.magic) != 0) return bytes;
  memcpy(&head, batch, sizeof head);
  return bytes - head.events_bytes + head.events_raw_bytes;
}
