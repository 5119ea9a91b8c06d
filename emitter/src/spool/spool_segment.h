/* Encodes and decodes a segment of the spool, in the layout of schemas/SPOOL.md. Accesses no files.
 *
 * All input is validated. Three properties allow recovery of the rest when some bytes are damaged: the header is stored
 * twice, each record begins with a magic number, and a batch is recognisable by itself.
 */
#ifndef LIFELINE_SPOOL_SEGMENT_H
#define LIFELINE_SPOOL_SEGMENT_H

#include "base/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LL_SEGMENT_HEADER_BYTES 4096u
#define LL_SEGMENT_CLAIM_OFFSET 4032u
#define LL_SEGMENT_BYTES_MOST (16u << 20) /* limit of a reader; writers stay at a quarter */
#define LL_RECORD_HEADER_BYTES 32u
#define LL_SPOOL_NAME_MAX 256

/* Identity of the batches: all of one incarnation and route. Together with `owner` it is written once. */
typedef struct ll_segment_identity {
  uint8_t incarnation[16];
  uint32_t number; /* 1, 2, 3 ... within incarnation and route */
  uint16_t route;
  uint16_t reserved;
  ll_process owner;
  char host[LL_SPOOL_NAME_MAX];
  char program[LL_SPOOL_NAME_MAX];
  char route_name[LL_SPOOL_NAME_MAX];
} ll_segment_identity;

/* The process that delivers a dead owner's segment; the only part of a segment that changes. */
typedef struct ll_segment_claim {
  ll_process claimer;
  uint32_t crc;
  uint32_t reserved;
} ll_segment_claim;

void ll_segment_header_write(const ll_segment_identity *identity, uint8_t header[LL_SEGMENT_HEADER_BYTES]);

/* Returns NULL, or the fault. */
const char *ll_segment_header_read(const uint8_t *bytes, size_t size, ll_segment_identity *identity);

ll_segment_claim ll_segment_claim_by(const ll_process *process);

/* False when the segment is not claimed, or the claim is invalid. */
bool ll_segment_claim_read(const ll_segment_claim *claim, ll_process *claimer);

/* Writes the header in front of a batch. */
void ll_record_header_write(const ll_segment_identity *identity, uint64_t sequence, uint32_t events,
                            const uint8_t *batch, size_t bytes, uint8_t header[LL_RECORD_HEADER_BYTES]);

/* Size of a record with this batch: header, batch, padding. */
static inline size_t ll_record_total(size_t batch_bytes) {
  return LL_RECORD_HEADER_BYTES + (batch_bytes + 7) / 8 * 8;
}

typedef enum ll_scanned {
  LL_SCANNED_RECORD,
  LL_SCANNED_DAMAGE, /* bytes of a damaged record */
  LL_SCANNED_TORN,   /* the last write was incomplete; its batch is still in its slot */
  LL_SCANNED_END,
} ll_scanned;

typedef struct ll_scanned_record {
  size_t offset; /* of the batch, or of the damage */
  size_t bytes;
  uint64_t sequence;
  uint32_t events;
  bool mended; /* its own header was damaged, the batch is intact */
} ll_scanned_record;

typedef struct ll_segment_scan {
  const ll_segment_identity *identity;
  const uint8_t *bytes;
  size_t size;
  size_t at;
  uint64_t checks; /* bytes that may still be checked: a crafted segment may have claims to its end at each position */
} ll_segment_scan;

ll_segment_scan ll_segment_scan_start(const ll_segment_identity *identity, const uint8_t *bytes, size_t size);
ll_scanned ll_segment_scan_next(ll_segment_scan *scan, ll_scanned_record *record);

#endif
