#include "bound.h"

enum { LEAST = 40000 }; /* the limit must fit the largest event and its header */

void sink_bound_learn(size_t *bound, size_t refused) {
  size_t half = refused / 2 > LEAST ? refused / 2 : LEAST, before = __atomic_load_n(bound, __ATOMIC_ACQUIRE);
  if (refused > 0 && (before == 0 || half < before)) __atomic_store_n(bound, half, __ATOMIC_RELEASE);
}
