#include "crc32c.h"

#include <pthread.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

#define POLYNOMIAL 0x82f63b78u /* reflected */

static uint32_t table[8][256];
/* shift[n][b]: byte n of a CRC advanced over BLOCK zero bytes. The instruction has a latency of three cycles but a
 * throughput of one per cycle: three blocks are computed in parallel, then combined by shifting. */
enum { BLOCK = 1024 };
static uint32_t shift[4][256];

/* fold[0], fold[1]: factors that advance the low and the high 64 bits of 128 by FOLD bytes. */
enum { FOLD = 256 };
static uint64_t fold[2];

static uint32_t step(uint32_t crc, uint8_t byte) {
  return table[0][(crc ^ byte) & 0xff] ^ crc >> 8;
}

static uint32_t times_x(uint32_t value) {
  return value >> 1 ^ (value & 1 ? POLYNOMIAL : 0);
}

/* x^exponent modulo the polynomial, bits reflected. */
static uint32_t power_of_x(unsigned exponent) {
  uint32_t value = 0x80000000u;
  while (exponent-- > 0)
    value = times_x(value);
  return value;
}

/* What the bits become, from x^0 on, gives what bytes become: every process makes the table, in microseconds. */
static void make_shift(void) {
  uint32_t bit = power_of_x(8 * BLOCK);
  for (int n = 3; n >= 0; n--) {
    for (uint32_t i = 0x80; i != 0; i >>= 1, bit = times_x(bit))
      shift[n][i] = bit;
    for (uint32_t i = 1; i < 256; i++)
      shift[n][i] = shift[n][i & (i - 1)] ^ shift[n][i & -i];
  }
}

static void make_tables(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++)
      crc = times_x(crc);
    table[0][i] = crc;
  }
  for (uint32_t i = 0; i < 256; i++)
    for (int n = 1; n < 8; n++)
      table[n][i] = table[0][table[n - 1][i] & 0xff] ^ table[n - 1][i] >> 8;
  make_shift();
  fold[0] = (uint64_t)power_of_x(8 * FOLD + 32) << 1;
  fold[1] = (uint64_t)power_of_x(8 * FOLD - 32) << 1;
}

static void need_tables(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_tables);
}

static uint32_t by_table(uint32_t crc, const uint8_t *at, size_t count) {
  for (; count >= 8; at += 8, count -= 8) {
    uint32_t low = crc ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
    crc = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^ table[5][low >> 16 & 0xff] ^ table[4][low >> 24] ^
          table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
  }
  while (count-- > 0)
    crc = step(crc, *at++);
  return crc;
}

uint32_t ll_crc32c_by_table(const void *bytes, size_t count) {
  need_tables();
  return ~by_table(~0u, bytes, count);
}

#if defined(__x86_64__) || defined(__aarch64__)

#if defined(__x86_64__)
#define WITH_INSTRUCTION __attribute__((target("sse4.2")))
#define CRC_U64(crc, value) (uint32_t) _mm_crc32_u64(crc, value)
static int has_instruction(void) {
  return __builtin_cpu_supports("sse4.2");
}
#else
#define WITH_INSTRUCTION __attribute__((target("+crc")))
#define CRC_U64(crc, value) __crc32cd(crc, value)
static int has_instruction(void) {
  return (getauxval(AT_HWCAP) & (1u << 7)) != 0;
}
#endif

static uint32_t shifted(uint32_t crc) {
  return shift[0][crc & 0xff] ^ shift[1][crc >> 8 & 0xff] ^ shift[2][crc >> 16 & 0xff] ^ shift[3][crc >> 24];
}

static uint64_t u64_at(const uint8_t *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

WITH_INSTRUCTION static uint32_t by_instruction(uint32_t crc, const uint8_t *at, size_t count) {
  for (; count >= 3 * BLOCK; at += 3 * BLOCK, count -= 3 * BLOCK) {
    uint32_t second = 0, third = 0;
    for (size_t i = 0; i < BLOCK; i += 8) {
      crc = CRC_U64(crc, u64_at(at + i));
      second = CRC_U64(second, u64_at(at + BLOCK + i));
      third = CRC_U64(third, u64_at(at + 2 * BLOCK + i));
    }
    crc = shifted(shifted(crc) ^ second) ^ third;
  }
  for (; count >= 8; at += 8, count -= 8)
    crc = CRC_U64(crc, u64_at(at));
  return by_table(crc, at, count);
}

#if defined(__x86_64__)
/* A carry-less product advances 128 bits by FOLD bytes, where they have the same remainder, and the next data is added
 * there. The last FOLD bytes have the remainder of all. On CPUs that multiply four pairs at once this is three times as
 * fast as the CRC instruction. */
__attribute__((target("avx512f,vpclmulqdq,sse4.2"))) static uint32_t by_folding(uint32_t crc, const uint8_t *at,
                                                                                size_t count) {
  enum { LANES = FOLD / sizeof(__m512i) };
  const __m512i factors = _mm512_broadcast_i32x4(_mm_set_epi64x((long long)fold[1], (long long)fold[0]));
  __m512i lanes[LANES];
  uint8_t left[FOLD];
#pragma GCC unroll 4
  for (int i = 0; i < LANES; i++)
    lanes[i] = _mm512_loadu_si512((const __m512i *)at + i);
  lanes[0] = _mm512_xor_si512(lanes[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
  for (at += FOLD, count -= FOLD; count >= FOLD; at += FOLD, count -= FOLD) {
#pragma GCC unroll 4
    for (int i = 0; i < LANES; i++) {
      __m512i low = _mm512_clmulepi64_epi128(lanes[i], factors, 0x00);
      __m512i high = _mm512_clmulepi64_epi128(lanes[i], factors, 0x11);
      lanes[i] = _mm512_xor_si512(_mm512_xor_si512(low, high), _mm512_loadu_si512((const __m512i *)at + i));
    }
  }
  memcpy(left, lanes, sizeof left);
  return by_instruction(by_instruction(0, left, sizeof left), at, count);
}

static int has_folding(void) {
  return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512f");
}
#else
static uint32_t by_folding(uint32_t crc, const uint8_t *at, size_t count) {
  return by_instruction(crc, at, count);
}
static int has_folding(void) {
  return 0;
}
#endif

uint32_t ll_crc32c_more(uint32_t crc, const void *bytes, size_t count) {
  need_tables();
  if (!has_instruction()) return ~by_table(~crc, bytes, count);
  return count >= 4 * FOLD && has_folding() ? ~by_folding(~crc, bytes, count) : ~by_instruction(~crc, bytes, count);
}

#else

uint32_t ll_crc32c_more(uint32_t crc, const void *bytes, size_t count) {
  need_tables();
  return ~by_table(~crc, bytes, count);
}

#endif

uint32_t ll_crc32c(const void *bytes, size_t count) {
  return ll_crc32c_more(0, bytes, count);
}
