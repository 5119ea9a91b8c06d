/* The messages of benchmarks without an emitter: bytes that do not compress, as in raw-publisher. */
#ifndef BENCH_PAYLOAD_H
#define BENCH_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

static inline void payload_fill(uint8_t *data, size_t bytes) {
  uint64_t state = 88172645463325252u; /* xorshift */
  for (size_t i = 0; i < bytes; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    data[i] = (uint8_t)state;
  }
}

#endif
