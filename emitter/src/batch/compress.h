/* Compression of a batch's records, with the method chosen by trial.
 *
 * Raw records cost the harvester nothing but the broker much; whether LZ4 or Zstandard, with or without byte shuffle,
 * pays off depends on the events. If all records have one length, ticks are also stored as differences, where that is
 * smaller. The libraries are optional and loaded at run time: liblz4.so.1, libzstd.so.1.
 */
#ifndef LIFELINE_COMPRESS_H
#define LIFELINE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ll_compression { LL_COMPRESSION_NONE, LL_COMPRESSION_LZ4, LL_COMPRESSION_ZSTD } ll_compression;

typedef struct ll_compressor ll_compressor;

/* Contiguous records. */
typedef struct ll_piece {
  const uint8_t *at;
  size_t bytes;
} ll_piece;

/* The records of a batch where they lie in the rings: pieces of whole records. */
typedef struct ll_records {
  const ll_piece *pieces;
  uint32_t piece_count;
  uint32_t record_bytes; /* length of each record; 0 when they differ */
  size_t bytes;          /* of all pieces, at most LL_BATCH_RAW_MAX */
} ll_records;

typedef struct ll_packed {
  size_t bytes;
  uint8_t compression;
  uint8_t shuffle;
} ll_packed;

/* A wish: like auto, but without differences of ticks, which readers of the first builds reject. */
#define LL_COMPRESSION_COMPATIBLE "compatible"

/* `wish` is auto, none, lz4, zstd or compatible. If the wanted library is not installed, batches go uncompressed and
 * `why` holds a line; otherwise `why` is empty. NULL: out of memory. */
ll_compressor *ll_compressor_create(const char *wish, char *why, size_t why_bytes);
void ll_compressor_free(ll_compressor *compressor);

/* True when records of this size are stored uncompressed without a trial. */
bool ll_compressor_is_idle(const ll_compressor *compressor, size_t bytes);

/* Writes the records to `out`, which has room for all of their bytes, compressed if that is smaller. */
ll_packed ll_compress(ll_compressor *compressor, const ll_records *records, uint8_t *out);

#endif
