/* Bytes: appended one after the other, as text, and as one number. */
#ifndef LIFELINE_BYTES_H
#define LIFELINE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns the place behind them. `bytes` may be NULL if there are none. */
static inline uint8_t *ll_append(uint8_t *at, const void *bytes, size_t count) {
  if (count > 0) memcpy(at, bytes, count);
  return at + count;
}

/* Two lower-case digits per byte, and a terminator. Async-signal-safe. */
static inline void ll_hex(const uint8_t *bytes, size_t count, char *text) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < count; i++) {
    *text++ = digits[bytes[i] >> 4];
    *text++ = digits[bytes[i] & 15];
  }
  *text = '\0';
}

/* FNV-1a of 64 bits. */
static inline uint64_t ll_fnv1a(const void *bytes, size_t count) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < count; i++)
    hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
  return hash;
}

#endif
