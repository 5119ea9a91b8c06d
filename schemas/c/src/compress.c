#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <zstd.h>

#include "internal.h"

enum { ZSTD_LEVEL = 3 };

static void shuffle_rows(const uint8_t *from, uint8_t *to, size_t n, size_t stride) {
  size_t rows = n / stride;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < stride; j++)
      to[j * rows + i] = from[i * stride + j];
  memcpy(to + rows * stride, from + rows * stride, n - rows * stride);
}

static void unshuffle_rows(const uint8_t *from, uint8_t *to, size_t n, size_t stride) {
  size_t rows = n / stride;
  for (size_t j = 0; j < stride; j++)
    for (size_t i = 0; i < rows; i++)
      to[i * stride + j] = from[j * rows + i];
  memcpy(to + rows * stride, from + rows * stride, n - rows * stride);
}

/* ZSTD_decompress alone would also take several frames, skippable ones and those of old versions. */
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
