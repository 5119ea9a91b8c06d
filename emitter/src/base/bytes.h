/* Bytes as text, and as one number. */
#ifndef LIFELINE_BYTES_H
#define LIFELINE_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* Two lower-case digits per byte, and a terminator. Async-signal-safe. */
static inline void ll_hex(const uint8_t *bytes, size_t count, char *text) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < count; i++) {
    *text++ = digits[bytes[i] >> 4];
    *text++ = digits[bytes[i] & 15];
  }
  *text = '\0';
}

#endif
