#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <zstd.h>

#include "internal.h"

enum { ZSTD_LEVEL = 3 };

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

bool llb_decompress(uint8_t compression, uint8_t shuffle, llb_bytes stored, uint8_t *raw, uint8_t *scratch,
                    size_t raw_size) {
  uint8_t *rows = shuffle ? scratch : raw;
  if (compression == LLB_LZ4) {
    if (!lz4_well_formed(stored, raw_size)) return false;
    int n = LZ4_decompress_safe((const char *)stored.data, (char *)rows, (int)stored.size, (int)raw_size);
    if (n < 0 || (size_t)n != raw_size) return false;
  } else if (!unzstd(stored, rows, raw_size)) {
    return false;
  }
  if (shuffle) unshuffle_rows(rows, raw, raw_size, shuffle);
  return true;
}

uint8_t *llb_compress(uint8_t compression, uint8_t shuffle, llb_bytes raw, size_t *size) {
  size_t bound = compression == LLB_LZ4    ? (size_t)LZ4_compressBound((int)raw.size)
                 : compression == LLB_ZSTD ? ZSTD_compressBound(raw.size)
                                           : raw.size;
  uint8_t *rows = malloc(raw.size + 1), *stored = malloc(bound + 1);
  *size = 0;
  if (rows && stored) {
    if (shuffle)
      shuffle_rows(raw.data, rows, raw.size, shuffle);
    else if (raw.size)
      memcpy(rows, raw.data, raw.size);
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
