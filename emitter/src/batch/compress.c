#include "compress.h"

#include "ring/ringfile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Declared here, since the headers of neither library are needed to build. */
typedef int (*lz4_compress)(const char *from, char *to, int from_bytes, int to_bytes);
typedef size_t (*zstd_compress)(void *context, void *to, size_t to_bytes, const void *from, size_t from_bytes,
                                int level);
typedef void *(*zstd_create)(void);
typedef size_t (*zstd_free)(void *context);
typedef unsigned (*zstd_is_error)(size_t code);

enum {
  TRIAL_EVERY = 64,       /* batches, */
  TRIAL_SELDOM = 1024,    /* when trial after trial chooses the same */
  TRIAL_BYTES = 32 << 10, /* of the batch are weighed */
  WORTH_IT = 256,         /* bytes: smaller batches go as they are */
  SHUFFLE_MAX = 128,
  ZSTD_LEVEL = 1,
};

struct ll_compressor {
  lz4_compress lz4;
  zstd_compress zstd;
  zstd_free zstd_free_context;
  zstd_is_error zstd_failed;
  void *zstd_context;
  bool may[3];
  ll_compression choice;
  bool choice_shuffled;
  uint32_t until_trial, between_trials;
  uint8_t shuffled[LL_BATCH_RAW_MAX];
  uint8_t trial[LL_BATCH_RAW_MAX];
};

static bool load_lz4(ll_compressor *compressor) {
  void *library = dlopen("liblz4.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library != NULL) compressor->lz4 = (lz4_compress)dlsym(library, "LZ4_compress_default");
  return compressor->lz4 != NULL;
}

static bool load_zstd(ll_compressor *compressor) {
  void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return false;
  zstd_create create = (zstd_create)dlsym(library, "ZSTD_createCCtx");
  compressor->zstd = (zstd_compress)dlsym(library, "ZSTD_compressCCtx");
  compressor->zstd_free_context = (zstd_free)dlsym(library, "ZSTD_freeCCtx");
  compressor->zstd_failed = (zstd_is_error)dlsym(library, "ZSTD_isError");
  if (create == NULL || compressor->zstd == NULL || compressor->zstd_free_context == NULL ||
      compressor->zstd_failed == NULL)
    return false;
  compressor->zstd_context = create();
  return compressor->zstd_context != NULL;
}

ll_compressor *ll_compressor_create(const char *wish, char *why, size_t why_bytes) {
  bool any = strcmp(wish, "auto") == 0, lz4 = strcmp(wish, "lz4") == 0, zstd = strcmp(wish, "zstd") == 0;
  ll_compressor *compressor = calloc(1, sizeof *compressor);
  why[0] = '\0';
  if (compressor == NULL) return NULL;
  compressor->may[LL_COMPRESSION_LZ4] = (any || lz4) && load_lz4(compressor);
  compressor->may[LL_COMPRESSION_ZSTD] = (any || zstd) && load_zstd(compressor);
  bool done_without = (lz4 && !compressor->may[LL_COMPRESSION_LZ4]) || (zstd && !compressor->may[LL_COMPRESSION_ZSTD]);
  compressor->may[LL_COMPRESSION_NONE] = any || done_without;
  if (done_without)
    snprintf(why, why_bytes, "compression %s needs %s, which is not installed: batches go uncompressed", wish,
             lz4 ? "liblz4.so.1" : "libzstd.so.1");
  return compressor;
}

void ll_compressor_free(ll_compressor *compressor) {
  if (compressor == NULL) return;
  if (compressor->zstd_context != NULL) compressor->zstd_free_context(compressor->zstd_context);
  free(compressor);
}

#if defined(__SSE2__)
static __m128i eight_bytes(const uint8_t *at) {
  return _mm_loadl_epi64((const __m128i *)at);
}

static void put_column(uint8_t *at, __m128i column) {
  _mm_storeu_si128((__m128i *)at, column);
}

/* Eight bytes of each of 16 rows, as eight columns of 16: a transposition in four rounds of interleaving. */
static void shuffle_tile(const uint8_t *from, uint8_t *to, size_t stride, size_t rows) {
#define ROWS(i) _mm_unpacklo_epi8(eight_bytes(from + (i)*stride), eight_bytes(from + ((i) + 8) * stride))
  __m128i a0 = ROWS(0), a1 = ROWS(1), a2 = ROWS(2), a3 = ROWS(3), a4 = ROWS(4), a5 = ROWS(5), a6 = ROWS(6),
          a7 = ROWS(7);
#undef ROWS
  __m128i b0 = _mm_unpacklo_epi8(a0, a4), b1 = _mm_unpackhi_epi8(a0, a4);
  __m128i b2 = _mm_unpacklo_epi8(a1, a5), b3 = _mm_unpackhi_epi8(a1, a5);
  __m128i b4 = _mm_unpacklo_epi8(a2, a6), b5 = _mm_unpackhi_epi8(a2, a6);
  __m128i b6 = _mm_unpacklo_epi8(a3, a7), b7 = _mm_unpackhi_epi8(a3, a7);
  __m128i c0 = _mm_unpacklo_epi8(b0, b4), c1 = _mm_unpackhi_epi8(b0, b4);
  __m128i c2 = _mm_unpacklo_epi8(b2, b6), c3 = _mm_unpackhi_epi8(b2, b6);
  __m128i c4 = _mm_unpacklo_epi8(b1, b5), c5 = _mm_unpackhi_epi8(b1, b5);
  __m128i c6 = _mm_unpacklo_epi8(b3, b7), c7 = _mm_unpackhi_epi8(b3, b7);
  put_column(to, _mm_unpacklo_epi8(c0, c2));
  put_column(to + rows, _mm_unpackhi_epi8(c0, c2));
  put_column(to + 2 * rows, _mm_unpacklo_epi8(c1, c3));
  put_column(to + 3 * rows, _mm_unpackhi_epi8(c1, c3));
  put_column(to + 4 * rows, _mm_unpacklo_epi8(c4, c6));
  put_column(to + 5 * rows, _mm_unpackhi_epi8(c4, c6));
  put_column(to + 6 * rows, _mm_unpacklo_epi8(c5, c7));
  put_column(to + 7 * rows, _mm_unpackhi_epi8(c5, c7));
}
#else
static void shuffle_tile(const uint8_t *from, uint8_t *to, size_t stride, size_t rows) {
  for (size_t column = 0; column < 8; column++)
    for (size_t row = 0; row < 16; row++)
      to[column * rows + row] = from[row * stride + column];
}
#endif

/* FORMAT.md, section 8: byte j of row i goes to j * rows + i. The stride is a multiple of 8. Whole cache lines are
 * written, before others that lie a power of two away push them out. */
static void shuffle(const uint8_t *from, uint8_t *to, size_t bytes, size_t stride) {
  enum { LINE = 64 };
  size_t rows = bytes / stride, tiled = rows / 16 * 16;
  for (size_t block = 0; block < tiled; block += LINE)
    for (size_t column = 0; column < stride; column += 8)
      for (size_t row = block; row < tiled && row < block + LINE; row += 16)
        shuffle_tile(from + row * stride + column, to + column * rows + row, stride, rows);
  for (size_t row = tiled; row < rows; row++)
    for (size_t column = 0; column < stride; column++)
      to[column * rows + row] = from[row * stride + column];
  memcpy(to + rows * stride, from + rows * stride, bytes % stride);
}

/* Returns 0 when the result would not be smaller. */
static size_t pack(ll_compressor *compressor, ll_compression how, const uint8_t *from, size_t bytes, uint8_t *out) {
  if (how == LL_COMPRESSION_LZ4) {
    int packed = compressor->lz4((const char *)from, (char *)out, (int)bytes, (int)bytes - 1);
    return packed > 0 ? (size_t)packed : 0;
  }
  size_t packed = compressor->zstd(compressor->zstd_context, out, bytes - 1, from, bytes, ZSTD_LEVEL);
  return compressor->zstd_failed(packed) ? 0 : packed;
}

static size_t pack_shuffled(ll_compressor *compressor, ll_compression how, uint8_t stride, const uint8_t *from,
                            size_t bytes, uint8_t *out) {
  if (stride == 0) return pack(compressor, how, from, bytes, out);
  shuffle(from, compressor->shuffled, bytes, stride);
  return pack(compressor, how, compressor->shuffled, bytes, out);
}

static uint8_t stride_for(uint32_t record_bytes) {
  return record_bytes != 0 && record_bytes <= SHUFFLE_MAX ? (uint8_t)record_bytes : 8;
}

/* Weighs the candidates on the batch's beginning. Zstandard takes thrice the time of LZ4: it must save a fifth of the
 * bytes more to be chosen; and anything must save a tenth. */
static void choose(ll_compressor *compressor, const uint8_t *records, size_t bytes, uint8_t stride) {
  bytes = bytes < TRIAL_BYTES ? bytes : TRIAL_BYTES;
  size_t best = compressor->may[LL_COMPRESSION_NONE] ? bytes - bytes / 10 : SIZE_MAX;
  ll_compression before = compressor->choice;
  bool before_shuffled = compressor->choice_shuffled;
  compressor->choice = LL_COMPRESSION_NONE;
  compressor->choice_shuffled = false;
  for (ll_compression how = LL_COMPRESSION_LZ4; how <= LL_COMPRESSION_ZSTD; how++)
    for (int plain = 0; plain < 2 && compressor->may[how]; plain++) {
      size_t packed = pack_shuffled(compressor, how, plain ? 0 : stride, records, bytes, compressor->trial);
      if (packed == 0) continue;
      if (how == LL_COMPRESSION_ZSTD && compressor->may[LL_COMPRESSION_LZ4]) packed += bytes / 5;
      if (packed >= best) continue;
      best = packed;
      compressor->choice = how;
      compressor->choice_shuffled = !plain;
    }
  bool same = compressor->choice == before && compressor->choice_shuffled == before_shuffled;
  uint32_t longer = compressor->between_trials * 2;
  compressor->between_trials = !same || longer < TRIAL_EVERY ? TRIAL_EVERY
                               : longer < TRIAL_SELDOM       ? longer
                                                             : TRIAL_SELDOM;
  compressor->until_trial = compressor->between_trials;
}

bool ll_compressor_is_idle(const ll_compressor *compressor, size_t bytes) {
  bool can = compressor->may[LL_COMPRESSION_LZ4] || compressor->may[LL_COMPRESSION_ZSTD];
  return !can || bytes < WORTH_IT;
}

ll_packed ll_compress(ll_compressor *compressor, const uint8_t *records, size_t bytes, uint32_t record_bytes,
                      uint8_t *out) {
  if (!ll_compressor_is_idle(compressor, bytes)) {
    uint8_t stride = stride_for(record_bytes);
    if (compressor->until_trial == 0) choose(compressor, records, bytes, stride);
    compressor->until_trial--;
    if (compressor->choice != LL_COMPRESSION_NONE) {
      if (!compressor->choice_shuffled) stride = 0;
      size_t packed = pack_shuffled(compressor, compressor->choice, stride, records, bytes, out);
      if (packed > 0) return (ll_packed){packed, (uint8_t)compressor->choice, stride};
    }
  }
  if (bytes > 0) memcpy(out, records, bytes);
  return (ll_packed){bytes, LL_COMPRESSION_NONE, 0};
}
