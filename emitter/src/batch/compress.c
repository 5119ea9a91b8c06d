#include "compress.h"

#include "base/library.h"
#include "base/loading.h"
#include "ring/ringfile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) && !defined(LL_PORTABLE) /* which a test defines */
#define TILES_IN_REGISTERS
#include <immintrin.h>
#endif

/* Declared here, so that building needs the headers of neither library. */
typedef int (*lz4_compress)(const char *from, char *to, int from_bytes, int to_bytes, int acceleration);
typedef size_t (*zstd_compress)(void *context, void *to, size_t to_bytes, const void *from, size_t from_bytes,
                                int level);
typedef void *(*zstd_create)(void);
typedef size_t (*zstd_free)(void *context);
typedef unsigned (*zstd_is_error)(size_t code);

enum {
  TRIAL_EVERY = 64,       /* batches between trials, */
  TRIAL_SELDOM = 1024,    /* or up to this many while trials choose the same */
  TRIAL_BYTES = 32 << 10, /* of the batch are compressed in a trial */
  WORTH_IT = 256,         /* bytes: smaller batches stay uncompressed */
  SHUFFLE_MAX = 128,
  TICK_DIFFERENCES = 1, /* in a batch's shuffle, beside the stride */
  LZ4_ACCELERATION = 4, /* 5 % more bytes, less harvester time */
  ZSTD_LEVEL = 1,
};

#define TICK_MASK (~UINT64_C(0xffff)) /* of a record's first word, without the type */

/* How records are arranged for the library. */
typedef enum arrangement { AS_THEY_ARE, IN_COLUMNS, WITH_DIFFERENCES, ARRANGEMENTS } arrangement;

struct ll_compressor {
  lz4_compress lz4;
  zstd_compress zstd;
  zstd_free zstd_free_context;
  zstd_is_error zstd_failed;
  void *zstd_context;
  bool may[3], may_take_differences;
  ll_compression choice;
  arrangement choice_arranged;
  uint32_t until_trial, between_trials;
  uint8_t arranged[LL_BATCH_RAW_MAX]; /* the records in one block, in columns or as they are */
  uint8_t sample[TRIAL_BYTES], packed_sample[TRIAL_BYTES];
};

static bool load_lz4(ll_compressor *compressor) {
  void *library = ll_library_open("liblz4.so.1");
  if (library != NULL) compressor->lz4 = (lz4_compress)dlsym(library, "LZ4_compress_fast");
  return compressor->lz4 != NULL;
}

static bool load_zstd(ll_compressor *compressor) {
  void *library = ll_library_open("libzstd.so.1");
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
  bool compatible = strcmp(wish, LL_COMPRESSION_COMPATIBLE) == 0, any = compatible || strcmp(wish, "auto") == 0;
  bool lz4 = strcmp(wish, "lz4") == 0, zstd = strcmp(wish, "zstd") == 0;
  ll_compressor *compressor = calloc(1, sizeof *compressor);
  why[0] = '\0';
  if (compressor == NULL) return NULL;
  ll_loading_begin();
  compressor->may[LL_COMPRESSION_LZ4] = (any || lz4) && load_lz4(compressor);
  compressor->may[LL_COMPRESSION_ZSTD] = (any || zstd) && load_zstd(compressor);
  ll_loading_end();
  bool done_without = (lz4 && !compressor->may[LL_COMPRESSION_LZ4]) || (zstd && !compressor->may[LL_COMPRESSION_ZSTD]);
  compressor->may[LL_COMPRESSION_NONE] = any || done_without;
  compressor->may_take_differences = !compatible;
  if (done_without)
    snprintf(why, why_bytes, "compression %s needs %s, which is not installed: batches are sent uncompressed", wish,
             lz4 ? "liblz4.so.1" : "libzstd.so.1");
  return compressor;
}

void ll_compressor_free(ll_compressor *compressor) {
  if (compressor == NULL) return;
  if (compressor->zstd_context != NULL) compressor->zstd_free_context(compressor->zstd_context);
  free(compressor);
}

static uint64_t word_at(const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

/* A byte in each of eight columns. */
static void put_word(uint64_t word, uint8_t *to, size_t rows) {
  uint8_t bytes[sizeof word];
  memcpy(bytes, &word, sizeof word);
  for (size_t column = 0; column < sizeof word; column++)
    to[column * rows] = bytes[column];
}

/* FORMAT.md, section 8: byte j of row i moves to j * rows + i. This is a transposition, done in tiles: rounds of
 * interleaving turn 16 registers of one row each into 16 of one column each.
 *
 * Differences of ticks are taken on the way, in the tiles of a row's first word. They need the row before the tile. */
#if defined(TILES_IN_REGISTERS)

/* Eight bytes of each of 16 rows. */
static void shuffle_tile(const uint8_t *from, uint8_t *to, size_t stride, size_t rows, bool differences) {
  const __m128i ticks = _mm_cvtsi64_si128((int64_t)TICK_MASK);
  __m128i words[16], a[8], b[8];
#pragma GCC unroll 16
  for (size_t i = 0; i < 16; i++)
    words[i] = _mm_loadl_epi64((const __m128i *)(from + i * stride));
  if (differences) {
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; i++) {
      __m128i before = _mm_loadl_epi64((const __m128i *)(from + i * stride - stride));
      words[i] = _mm_sub_epi64(words[i], _mm_and_si128(before, ticks));
    }
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; i++)
    a[i] = _mm_unpacklo_epi8(words[i], words[i + 8]);
#define ROUND(out, in)                                                                                                 \
  _Pragma("GCC unroll 4") for (size_t i = 0; i < 4; i++) {                                                             \
    out[2 * i] = _mm_unpacklo_epi8(in[i], in[i + 4]);                                                                  \
    out[2 * i + 1] = _mm_unpackhi_epi8(in[i], in[i + 4]);                                                              \
  }
  ROUND(b, a)
  ROUND(a, b)
  ROUND(b, a)
#undef ROUND
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; i++)
    _mm_storeu_si128((__m128i *)(to + i * rows), b[i]);
}

#define WITH_AVX2 __attribute__((target("avx2")))

/* Sixteen bytes of two rows. */
WITH_AVX2 static inline __m256i pair(const uint8_t *one, const uint8_t *other) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)one)),
                                 _mm_loadu_si128((const __m128i *)other), 1);
}

/* Sixteen bytes of each of 32 rows; each half of a register holds 16 rows. */
WITH_AVX2 static void shuffle_wide_tile(const uint8_t *from, uint8_t *to, size_t stride, size_t rows,
                                        bool differences) {
  const __m256i ticks = _mm256_set_epi64x(0, (int64_t)TICK_MASK, 0, (int64_t)TICK_MASK);
  __m256i a[16], b[16];
#pragma GCC unroll 16
  for (size_t i = 0; i < 16; i++)
    a[i] = pair(from + i * stride, from + (i + 16) * stride);
  if (differences) {
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; i++) {
      __m256i before = pair(from + i * stride - stride, from + (i + 16) * stride - stride);
      a[i] = _mm256_sub_epi64(a[i], _mm256_and_si256(before, ticks));
    }
  }
#define ROUND(out, in)                                                                                                 \
  _Pragma("GCC unroll 8") for (size_t i = 0; i < 8; i++) {                                                             \
    out[2 * i] = _mm256_unpacklo_epi8(in[i], in[i + 8]);                                                               \
    out[2 * i + 1] = _mm256_unpackhi_epi8(in[i], in[i + 8]);                                                           \
  }
  ROUND(b, a)
  ROUND(a, b)
  ROUND(b, a)
  ROUND(a, b)
#undef ROUND
#pragma GCC unroll 16
  for (size_t i = 0; i < 16; i++)
    _mm256_storeu_si256((__m256i *)(to + i * rows), a[i]);
}

static bool has_wide_tiles(void) {
  return __builtin_cpu_supports("avx2");
}

#else

static void shuffle_tile(const uint8_t *from, uint8_t *to, size_t stride, size_t rows, bool differences) {
  for (size_t row = 0; row < 16; row++, from += stride)
    put_word(word_at(from) - (differences ? word_at(from - stride) & TICK_MASK : 0), to + row, rows);
}

static void shuffle_wide_tile(const uint8_t *from, uint8_t *to, size_t stride, size_t rows, bool differences) {
  for (size_t row = 0; row < 32; row += 16)
    for (size_t column = 0; column < 16; column += 8)
      shuffle_tile(from + row * stride + column, to + column * rows + row, stride, rows, differences && column == 0);
}

static bool has_wide_tiles(void) {
  return false;
}

#endif

/* `before` is the first word of the row before, or 0. */
static void shuffle_row(const uint8_t *from, uint8_t *to, size_t stride, size_t rows, uint64_t before) {
  put_word(word_at(from) - (before & TICK_MASK), to, rows);
  for (size_t column = 8; column < stride; column += 8)
    put_word(word_at(from + column), to + column * rows, rows);
}

/* Moves `count` rows to `to`, where a column has `rows` of them. The stride is a multiple of 8. Columns a power of two
 * apart would evict each other from the L1 cache at every step, so columns are built contiguously and then copied in
 * longer runs. */
static void shuffle_rows(const uint8_t *from, uint8_t *to, size_t count, size_t stride, size_t rows, bool differences) {
  enum { RUN = 256 };
  uint8_t columns[16 * RUN];
  size_t tiled = count / 16 * 16, block = 0;
  bool wide = has_wide_tiles();
  for (; block + RUN <= count; block += RUN)
    for (size_t column = 0, width; column < stride; column += width) {
      const uint8_t *at = from + block * stride + column;
      bool first_word = differences && column == 0;
      width = wide && stride - column >= 16 ? 16 : 8;
      if (width == 16)
        for (size_t row = 0; row < RUN; row += 32)
          shuffle_wide_tile(at + row * stride, columns + row, stride, RUN, first_word);
      else
        for (size_t row = 0; row < RUN; row += 16)
          shuffle_tile(at + row * stride, columns + row, stride, RUN, first_word);
      for (size_t i = 0; i < width; i++)
        memcpy(to + (column + i) * rows + block, columns + i * RUN, RUN);
    }
  for (size_t row = block; row < tiled; row += 16)
    for (size_t column = 0; column < stride; column += 8)
      shuffle_tile(from + row * stride + column, to + column * rows + row, stride, rows, differences && column == 0);
  for (size_t row = tiled; row < count; row++) {
    const uint8_t *at = from + row * stride;
    shuffle_row(at, to + row, stride, rows, differences ? word_at(at - stride) : 0);
  }
}

/* Only a sample has a part of a row at its end. */
static void shuffle(const ll_records *records, uint8_t *to, uint8_t how) {
  bool differences = (how & TICK_DIFFERENCES) != 0;
  size_t stride = how & ~(unsigned)TICK_DIFFERENCES;
  size_t rows = records->bytes / stride, part = records->bytes % stride, done = 0;
  uint64_t before = 0;
  for (uint32_t i = 0; i < records->piece_count; i++) {
    const uint8_t *from = records->pieces[i].at;
    size_t count = records->pieces[i].bytes / stride;
    if (differences && count > 0) { /* the row before a piece's first is in another piece */
      shuffle_row(from, to + done, stride, rows, before);
      before = word_at(from + (count - 1) * stride);
      from += stride;
      count--;
      done++;
    }
    shuffle_rows(from, to + done, count, stride, rows, differences);
    done += count;
  }
  const ll_piece *last = &records->pieces[records->piece_count - 1];
  memcpy(to + rows * stride, last->at + last->bytes - part, part);
}

/* Copies the first `bytes` bytes. */
static void copy(const ll_records *records, uint8_t *to, size_t bytes) {
  for (const ll_piece *piece = records->pieces; bytes > 0; piece++) {
    size_t part = piece->bytes < bytes ? piece->bytes : bytes;
    memcpy(to, piece->at, part);
    to += part;
    bytes -= part;
  }
}

/* What the libraries compress: the records in columns, or as they are if `how`, the batch's shuffle, is 0. */
static const uint8_t *arrange(ll_compressor *compressor, const ll_records *records, uint8_t how) {
  if (how == 0 && records->piece_count == 1) return records->pieces[0].at;
  if (how != 0)
    shuffle(records, compressor->arranged, how);
  else
    copy(records, compressor->arranged, records->bytes);
  return compressor->arranged;
}

/* Returns 0 when the result would not be smaller. */
static size_t pack(ll_compressor *compressor, ll_compression how, const uint8_t *from, size_t bytes, uint8_t *out) {
  if (how == LL_COMPRESSION_LZ4) {
    int packed = compressor->lz4((const char *)from, (char *)out, (int)bytes, (int)bytes - 1, LZ4_ACCELERATION);
    return packed > 0 ? (size_t)packed : 0;
  }
  size_t packed = compressor->zstd(compressor->zstd_context, out, bytes - 1, from, bytes, ZSTD_LEVEL);
  return compressor->zstd_failed(packed) ? 0 : packed;
}

static size_t pack_arranged(ll_compressor *compressor, ll_compression how, uint8_t shuffle, const ll_records *records,
                            uint8_t *out) {
  return pack(compressor, how, arrange(compressor, records, shuffle), records->bytes, out);
}

/* The batch's shuffle. Rows are records if those are short and equally long, else words, most of which are no ticks. */
static uint8_t shuffle_for(arrangement arranged, uint32_t record_bytes) {
  bool by_records = record_bytes != 0 && record_bytes <= SHUFFLE_MAX;
  if (arranged == AS_THEY_ARE) return 0;
  if (!by_records) return 8;
  return (uint8_t)(record_bytes | (arranged == WITH_DIFFERENCES ? TICK_DIFFERENCES : 0));
}

/* Compares the candidates on the beginning of the batch. Zstandard takes three times as long as LZ4, so it must save a
 * further fifth of the bytes; any compression must save at least a tenth. */
static void choose(ll_compressor *compressor, const ll_records *records) {
  size_t bytes = records->bytes < TRIAL_BYTES ? records->bytes : TRIAL_BYTES;
  copy(records, compressor->sample, bytes);
  ll_records sample = {&(ll_piece){compressor->sample, bytes}, 1, records->record_bytes, bytes};
  size_t best = compressor->may[LL_COMPRESSION_NONE] ? bytes - bytes / 10 : SIZE_MAX;
  ll_compression before = compressor->choice;
  arrangement before_arranged = compressor->choice_arranged;
  compressor->choice = LL_COMPRESSION_NONE;
  compressor->choice_arranged = AS_THEY_ARE;
  for (ll_compression how = LL_COMPRESSION_LZ4; how <= LL_COMPRESSION_ZSTD; how++)
    for (arrangement arranged = AS_THEY_ARE; arranged < ARRANGEMENTS && compressor->may[how]; arranged++) {
      uint8_t shuffle = shuffle_for(arranged, sample.record_bytes);
      bool takes_differences = (shuffle & TICK_DIFFERENCES) != 0;
      if (arranged == WITH_DIFFERENCES && !(takes_differences && compressor->may_take_differences)) continue;
      size_t packed = pack_arranged(compressor, how, shuffle, &sample, compressor->packed_sample);
      if (packed == 0) continue;
      if (how == LL_COMPRESSION_ZSTD && compressor->may[LL_COMPRESSION_LZ4]) packed += bytes / 5;
      if (packed >= best) continue;
      best = packed;
      compressor->choice = how;
      compressor->choice_arranged = arranged;
    }
  bool same = compressor->choice == before && compressor->choice_arranged == before_arranged;
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

ll_packed ll_compress(ll_compressor *compressor, const ll_records *records, uint8_t *out) {
  if (!ll_compressor_is_idle(compressor, records->bytes)) {
    if (compressor->until_trial == 0) choose(compressor, records);
    compressor->until_trial--;
    if (compressor->choice != LL_COMPRESSION_NONE) {
      uint8_t shuffle = shuffle_for(compressor->choice_arranged, records->record_bytes);
      size_t packed = pack_arranged(compressor, compressor->choice, shuffle, records, out);
      if (packed > 0) return (ll_packed){packed, (uint8_t)compressor->choice, shuffle};
    }
  }
  copy(records, out, records->bytes);
  return (ll_packed){records->bytes, LL_COMPRESSION_NONE, 0};
}
