/* The floor of all emit rows: read the CPU's counter and store a record of 16 bytes in a thread's own ring of 64 KiB.
 * No emitter that timestamps and keeps events can cost less. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include "timing.h"

#include <stddef.h>

enum { FLOOR_RING_BYTES = 64 << 10 };

typedef struct floor_record {
  uint64_t word;
  int32_t count;
  float value;
} floor_record;

enum { FLOOR_RECORDS = FLOOR_RING_BYTES / sizeof(floor_record) };

static __thread floor_record floor_ring[FLOOR_RECORDS];

static inline void floor_store(uint64_t i) {
  floor_record *at = &floor_ring[i % FLOOR_RECORDS];
  at->word = read_tick() << 16 | 1;
  at->count = (int32_t)i;
  at->value = (float)i;
  __asm__ volatile("" ::: "memory"); /* keeps the compiler from removing the stores: the ring is never read */
}

/* Nanoseconds per event. */
__attribute__((noinline, unused)) static double floor_run(uint64_t events) {
  uint64_t began = now_ns();
  for (uint64_t i = 0; i < events; i++)
    floor_store(i);
  return (double)(now_ns() - began) / (double)events;
}

#endif
