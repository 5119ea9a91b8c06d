#include "compress.h"

#include "ringfile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Declared here, since the headers of neither library are needed to build. */
typedef int (*lz4_compress)(const char *from, char *to, int from_bytes, int to_bytes);
typedef size_t (*zstd_compress)(void *context, void *to, size_t to_bytes, const void *from, size_t from_bytes,
                                int level);
typedef void *(*zstd_create)(void);
typedef size_t (*zstd_free)(void *context);
typedef unsigned (*zstd_is_error)(size_t code);

enum {
  TRIAL_EVERY = 64, /* batches */
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
  uint8_t choice_shuffle;
  uint32_t until_trial;
  uint32_t tried_record_bytes;
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

/* FORMAT.md, section 8: byte j of row i goes to j * rows + i. */
static void shuffle(const uint8_t *from, uint8_t *to, size_t bytes, size_t stride) {
  size_t rows = bytes / stride;
  for (size_t i = 0; i < rows; i += 64) {
    size_t end = i + 64 < rows ? i + 64 : rows; /* in tiles that stay in the first cache */
    for (size_t j = 0; j < stride; j++)
      for (size_t row = i; row < end; row++)
        to[j * rows + row] = from[row * stride + j];
  }
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

/* Weighs the candidates on this batch. LZ4 costs a third of Zstandard's time, so the latter must save a quarter more to
 * be chosen; and anything must save a tenth. */
static void choose(ll_compressor *compressor, const uint8_t *records, size_t bytes, uint32_t record_bytes) {
  uint8_t strides[2] = {record_bytes != 0 && record_bytes <= SHUFFLE_MAX ? (uint8_t)record_bytes : 8, 0};
  size_t best = compressor->may[LL_COMPRESSION_NONE] ? bytes - bytes / 10 : SIZE_MAX;
  compressor->choice = LL_COMPRESSION_NONE;
  for (ll_compression how = LL_COMPRESSION_LZ4; how <= LL_COMPRESSION_ZSTD; how++)
    for (int s = 0; s < 2 && compressor->may[how]; s++) {
      size_t packed = pack_shuffled(compressor, how, strides[s], records, bytes, compressor->trial);
      if (packed == 0) continue;
      size_t worth = how == LL_COMPRESSION_ZSTD && compressor->may[LL_COMPRESSION_LZ4] ? packed + packed / 3 : packed;
      if (worth >= best) continue;
      best = worth;
      compressor->choice = how;
      compressor->choice_shuffle = strides[s];
    }
  compressor->until_trial = TRIAL_EVERY;
  compressor->tried_record_bytes = record_bytes;
}

ll_packed ll_compress(ll_compressor *compressor, const uint8_t *records, size_t bytes, uint32_t record_bytes,
                      uint8_t *out) {
  bool could = compressor->may[LL_COMPRESSION_LZ4] || compressor->may[LL_COMPRESSION_ZSTD];
  if (could && bytes >= 256) {
    if (compressor->until_trial == 0 || compressor->tried_record_bytes != record_bytes)
      choose(compressor, records, bytes, record_bytes);
    compressor->until_trial--;
    if (compressor->choice != LL_COMPRESSION_NONE) {
      size_t packed = pack_shuffled(compressor, compressor->choice, compressor->choice_shuffle, records, bytes, out);
      if (packed > 0) return (ll_packed){packed, (uint8_t)compressor->choice, compressor->choice_shuffle};
    }
  }
  if (bytes > 0) memcpy(out, records, bytes);
  return (ll_packed){bytes, LL_COMPRESSION_NONE, 0};
}
