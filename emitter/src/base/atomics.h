/* Atomic operations, named by their memory order. The shared words are plain integers, since the producer's half lies
 * in a header that C++ includes too. ThreadSanitizer understands these builtins.
 */
#ifndef LIFELINE_ATOMICS_H
#define LIFELINE_ATOMICS_H

#include <stdbool.h>
#include <stdint.h>

#define load_relaxed(word) __atomic_load_n(word, __ATOMIC_RELAXED)
#define load_acquire(word) __atomic_load_n(word, __ATOMIC_ACQUIRE)
#define load_ordered(word) __atomic_load_n(word, __ATOMIC_SEQ_CST)
#define store_relaxed(word, value) __atomic_store_n(word, value, __ATOMIC_RELAXED)
#define store_release(word, value) __atomic_store_n(word, value, __ATOMIC_RELEASE)
#define store_ordered(word, value) __atomic_store_n(word, value, __ATOMIC_SEQ_CST)
#define add_relaxed(word, value) __atomic_fetch_add(word, value, __ATOMIC_RELAXED)
#define exchange_ordered(word, value) __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST)

static inline bool compare_and_swap_u32(uint32_t *word, uint32_t expected, uint32_t desired) {
  return __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static inline bool compare_and_swap_u64(uint64_t *word, uint64_t expected, uint64_t desired) {
  return __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* For a counter with a single writer: needs no locked instruction. */
static inline void add_owned(uint64_t *word, uint64_t value) {
  store_relaxed(word, load_relaxed(word) + value);
}

#endif
