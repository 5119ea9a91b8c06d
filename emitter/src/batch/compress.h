/* Compression of a batch's records, with the method chosen by trial.
 *
 * Raw records cost the harvester nothing but the broker much; whether LZ4 or Zstandard, with or without byte shuffle,
 * pays off depends on the events. The libraries are optional and loaded at run time: liblz4.so.1, libzstd.so.1.
 */
#ifndef LIFELINE_COMPRESS_H
#define LIFELINE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ll_compression { LL_COMPRESSION_NONE, LL_COMPRESSION_LZ4, LL_COMPRESSION_ZSTD } ll_compression;

typedef struct ll_compressor ll_compressor;

typedef struct ll_packed {
  size_t bytes;
  uint8_t compression;
  uint8_t shuffle;
} ll_packed;

/* `wish` is auto, none, lz4 or zstd. If the wanted library is not installed, batches go uncompressed and `why` holds a
 * line; otherwise `why` is empty. NULL: out of memory. */
ll_compressor *ll_compressor_create(const char *wish, char *why, size_t why_bytes);
void ll_compressor_free(ll_compressor *compressor);

/* True when records of this size are stored uncompressed without a trial. */
bool ll_compressor_is_idle(const ll_compressor *compressor, size_t bytes);

/* Writes the records to `out`, which has room for `bytes`, compressed if that is smaller. `record_bytes` is the length
 * of each record, or 0 when they differ. */
ll_packed ll_compress(ll_compressor *compressor, const uint8_t *records, size_t bytes, uint32_t record_bytes,
                      uint8_t *out);

#endif
