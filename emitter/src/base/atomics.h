/* Atomic operations, named by their memory order. The shared words are plain integers, since the producer's half lies
 * in a header that C++ includes too. ThreadSanitizer understands these builtins where it compiles them. In a program
 * that is built with it, while this library is not, it would see only the producer's half: the library reports its own.
 */
#ifndef LIFELINE_ATOMICS_H
#define LIFELINE_ATOMICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef __SANITIZE_THREAD__
__attribute__((weak, visibility("default"))) void __tsan_acquire(void *word);
__attribute__((weak, visibility("default"))) void __tsan_release(void *word);
#define ll_is_watched_by_tsan (__tsan_acquire != NULL)
#define ll_has_acquired(word) (__tsan_acquire != NULL ? __tsan_acquire((void *)(word)) : (void)0)
#define ll_will_release(word) (__tsan_release != NULL ? __tsan_release((void *)(word)) : (void)0)
#else
#define ll_is_watched_by_tsan true
#define ll_has_acquired(word) ((void)0)
#define ll_will_release(word) ((void)0)
#endif

#define ll_load(word, order)                                                                                           \
  ({                                                                                                                   \
    __typeof__(*(word) + 0) ll_now = __atomic_load_n(word, order);                                                     \
    ll_has_acquired(word);                                                                                             \
    ll_now;                                                                                                            \
  })

#define load_relaxed(word) __atomic_load_n(word, __ATOMIC_RELAXED)
#define load_acquire(word) ll_load(word, __ATOMIC_ACQUIRE)
#define load_ordered(word) ll_load(word, __ATOMIC_SEQ_CST)
#define store_relaxed(word, value) __atomic_store_n(word, value, __ATOMIC_RELAXED)
#define store_release(word, value) (ll_will_release(word), __atomic_store_n(word, value, __ATOMIC_RELEASE))
#define store_ordered(word, value) (ll_will_release(word), __atomic_store_n(word, value, __ATOMIC_SEQ_CST))
#define add_relaxed(word, value) __atomic_fetch_add(word, value, __ATOMIC_RELAXED)
#define exchange_ordered(word, value) __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST)

static inline bool compare_and_swap_u32(uint32_t *word, uint32_t expected, uint32_t desired) {
  ll_will_release(word);
  bool done = __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  ll_has_acquired(word);
  return done;
}

static inline bool compare_and_swap_u64(uint64_t *word, uint64_t expected, uint64_t desired) {
  ll_will_release(word);
  bool done = __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  ll_has_acquired(word);
  return done;
}

/* For a counter with a single writer: needs no locked instruction. */
static inline void add_owned(uint64_t *word, uint64_t value) {
  store_relaxed(word, load_relaxed(word) + value);
}

#endif
