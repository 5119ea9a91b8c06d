#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <zstd.h>

#include "internal.h"

enum { ZSTD_LEVEL = 3, TYPE_BITS = 16 };

static size_t stride_of(uint8_t shuffle) {
  return (size_t)(shuffle & ~LLB_TICK_DIFFERENCES);
}

bool llb_shuffle_is_legal(uint8_t shuffle, uint8_t compression) {
  size_t stride = stride_of(shuffle);
  return shuffle == 0 || (stride > 0 && stride % 8 == 0 && stride <= MAX_SHUFFLE && compression != LLB_PLAIN);
}

/* Copies the bytes after the last whole row unchanged. Without events the pointers may be NULL, which memcpy
 * forbids. */
static void copy_tail(const uint8_t *from, uint8_t *to, size_t n, size_t stride) {
  size_t left = n % stride;
  if (left > 0) memcpy(to + n - left, from + n - left, left);
}

static void shuffle_rows(const uint8_t *from, uint8_t *to, size_t n, size_t stride) {
  size_t rows = n / stride;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < stride; j++)
      to[j * rows + i] = from[i * stride + j];
  copy_tail(from, to, n, stride);
}

static void unshuffle_rows(const uint8_t *from, uint8_t *to, size_t n, size_t stride) {
  size_t rows = n / stride;
  for (size_t j = 0; j < stride; j++)
    for (size_t i = 0; i < rows; i++)
      to[i * stride + j] = from[j * rows + i];
  copy_tail(from, to, n, stride);
}

static uint64_t tick_part(uint64_t word) {
  return word >> TYPE_BITS << TYPE_BITS;
}

/* From the last row to the first, so that the row before still has its tick. */
static void ticks_to_differences(uint8_t *rows, size_t n, size_t stride, bool big) {
  for (size_t at = n / stride * stride; at >= 2 * stride; at -= stride) {
    uint8_t *row = rows + at - stride;
    store_bytes(row, 8, load64(row, big) - tick_part(load64(row - stride, big)), big);
  }
}

static void differences_to_ticks(uint8_t *rows, size_t n, size_t stride, bool big) {
  uint64_t word = 0;
  for (size_t at = 0; at + stride <= n; at += stride) {
    word = load64(rows + at, big) + tick_part(word);
    store_bytes(rows + at, 8, word, big);
  }
}

/* Reads an LZ4 length: a nibble, followed by bytes up to the first that is not 255. */
static size_t lz4_run(const uint8_t **at, const uint8_t *end, unsigned nibble) {
  size_t sum = nibble;
  for (bool more = nibble == 15; more && *at < end; ++*at) {
    sum += **at;
    more = **at == 255;
  }
  return sum;
}

/* Checks the sequences of a block (lz4_Block_format.md): LZ4_decompress_safe accepts a distance of 0, and then returns
 * previous contents of raw. */
static bool lz4_well_formed(llb_bytes stored, size_t raw_size) {
  enum { MIN_MATCH = 4, LAST_LITERALS = 5, LAST_MATCH_BEFORE = 12 };
  const uint8_t *at = stored.data, *end = at + stored.size;
  size_t out = 0;
  while (at < end) {
    unsigned token = *at++;
    size_t literals = lz4_run(&at, end, token >> 4);
    out += literals;
    if (literals >= (size_t)(end - at)) return literals == (size_t)(end - at) && out == raw_size && (token & 15) == 0;
    at += literals;
    if (end - at < 2 || out > raw_size || raw_size - out < LAST_MATCH_BEFORE) return false;
    size_t distance = load16(at, false);
    if (distance < 1 || distance > out) return false;
    at += 2;
    out += MIN_MATCH + lz4_run(&at, end, token & 15);
    if (out > raw_size || raw_size - out < LAST_LITERALS) return false;
  }
  return false;
}

/* ZSTD_decompress alone would accept several frames, skippable frames and frames of old versions. */
static bool unzstd(llb_bytes stored, uint8_t *raw, size_t raw_size) {
  static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
  if (stored.size < sizeof magic || memcmp(stored.data, magic, sizeof magic) != 0 ||
      ZSTD_findFrameCompressedSize(stored.data, stored.size) != stored.size)
    return false;
  return ZSTD_decompress(raw, raw_size, stored.data, stored.size) == raw_size;
}

bool llb_decompress(const llb_batch *batch, llb_bytes stored, uint8_t *raw, uint8_t *scratch, size_t raw_size) {
  size_t stride = stride_of(batch->shuffle);
  uint8_t *rows = stride ? scratch : raw;
  if (batch->compression == LLB_LZ4) {
    if (!lz4_well_formed(stored, raw_size)) return false;
    int n = LZ4_decompress_safe((const char *)stored.data, (char *)rows, (int)stored.size, (int)raw_size);
    if (n < 0 || (size_t)n != raw_size) return false;
  } else if (!unzstd(stored, rows, raw_size)) {
    return false;
  }
  if (stride) unshuffle_rows(rows, raw, raw_size, stride);
  if (batch->shuffle & LLB_TICK_DIFFERENCES) differences_to_ticks(raw, raw_size, stride, batch->big_endian);
  return true;
}

/* Returns the events as they go into the compressor, in memory of their own; NULL if out of memory. */
static uint8_t *arrange(const llb_batch *batch) {
  llb_bytes raw = batch->events;
  size_t stride = stride_of(batch->shuffle);
  uint8_t *rows = malloc(raw.size + 1), *columns = stride ? malloc(raw.size + 1) : NULL;
  if (rows && raw.size) memcpy(rows, raw.data, raw.size);
  if (!stride) return rows;
  if (rows && columns) {
    if (batch->shuffle & LLB_TICK_DIFFERENCES) ticks_to_differences(rows, raw.size, stride, batch->big_endian);
    shuffle_rows(rows, columns, raw.size, stride);
  } else {
    free(columns);
    columns = NULL;
  }
  free(rows);
  return columns;
}

uint8_t *llb_compress(const llb_batch *batch, size_t *size) {
  uint8_t compression = batch->compression;
  llb_bytes raw = batch->events;
  size_t bound = compression == LLB_LZ4    ? (size_t)LZ4_compressBound((int)raw.size)
                 : compression == LLB_ZSTD ? ZSTD_compressBound(raw.size)
                                           : raw.size;
  uint8_t *rows = arrange(batch), *stored = malloc(bound + 1);
  *size = 0;
  if (rows && stored) {
    if (compression == LLB_LZ4) {
      *size = (size_t)LZ4_compress_default((const char *)rows, (char *)stored, (int)raw.size, (int)bound);
    } else if (compression == LLB_ZSTD) {
      *size = ZSTD_compress(stored, bound, rows, raw.size, ZSTD_LEVEL);
    } else {
      memcpy(stored, rows, raw.size);
      *size = raw.size;
    }
    if (compression == LLB_ZSTD && ZSTD_isError(*size)) {
      free(stored);
      stored = NULL;
    }
  } else {
    free(stored);
    stored = NULL;
  }
  free(rows);
  return stored;
}
