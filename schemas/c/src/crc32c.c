#include "internal.h"

/* Portable version with a small table. Slicing by eight would be faster, but SSE 4.2 is faster still and needs no
 * tables. */

static uint32_t crc_portable(uint32_t crc, const uint8_t *p, size_t n) {
  static const uint32_t nibble[16] = {
      0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
      0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
  };
  for (; n; n--, p++) {
    crc ^= *p;
    crc = nibble[crc & 15] ^ crc >> 4;
    crc = nibble[crc & 15] ^ crc >> 4;
  }
  return crc;
}

#ifdef __x86_64__
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc_sse42(uint32_t crc, const uint8_t *p, size_t n) {
  uint64_t wide = crc;
  for (; n >= 8; n -= 8, p += 8)
    wide = _mm_crc32_u64(wide, load64(p, false));
  crc = (uint32_t)wide;
  for (; n; n--, p++)
    crc = _mm_crc32_u8(crc, *p);
  return crc;
}
#endif

uint32_t llb_crc32c(const uint8_t *bytes, size_t size) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2")) return ~crc_sse42(UINT32_MAX, bytes, size);
#endif
  return ~crc_portable(UINT32_MAX, bytes, size);
}
