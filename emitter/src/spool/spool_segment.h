/* A segment of the spool, as bytes: schemas/SPOOL.md says how they lie. No file is touched here.
 *
 * Everything read is hostile until it is checked. Three things let the rest be saved when some bytes are bad: the
 * header stands there twice, each record begins with a word that can be searched for, and a batch can be recognised by
 * itself.
 */
#ifndef LIFELINE_SPOOL_SEGMENT_H
#define LIFELINE_SPOOL_SEGMENT_H

#include "base/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LL_SEGMENT_HEADER_BYTES 4096u
#define LL_SEGMENT_CLAIM_OFFSET 4032u
#define LL_SEGMENT_BYTES_MOST (16u << 20) /* what a reader takes; writers stay at a quarter */
#define LL_RECORD_HEADER_BYTES 32u
#define LL_SPOOL_NAME_MAX 256

/* Whose batches these are: all of one incarnation and route. Together with `owner` it is written once. */
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

/* Who delivers a dead owner's segment; the only part of a segment that changes. */
typedef struct ll_segment_claim {
  ll_process claimer;
  uint32_t crc;
  uint32_t reserved;
} ll_segment_claim;

void ll_segment_header_write(const ll_segment_identity *identity, uint8_t header[LL_SEGMENT_HEADER_BYTES]);

/* NULL, or what is wrong with it. */
const char *ll_segment_header_read(const uint8_t *bytes, size_t size, ll_segment_identity *identity);

ll_segment_claim ll_segment_claim_by(const ll_process *process);

/* False when nobody has claimed the segment, or what stands there is no claim. */
bool ll_segment_claim_read(const ll_segment_claim *claim, ll_process *claimer);

/* What stands in front of a batch. */
void ll_record_header_write(const ll_segment_identity *identity, uint64_t sequence, uint32_t events,
                            const uint8_t *batch, size_t bytes, uint8_t header[LL_RECORD_HEADER_BYTES]);

/* Of a record with this batch: header, batch, padding. */
static inline size_t ll_record_total(size_t batch_bytes) {
  return LL_RECORD_HEADER_BYTES + (batch_bytes + 7) / 8 * 8;
}

typedef enum ll_scanned {
  LL_SCANNED_RECORD,
  LL_SCANNED_DAMAGE, /* bytes that were a record once */
  LL_SCANNED_TORN,   /* the last write did not come to its end; its batch is where it came from */
  LL_SCANNED_END,
} ll_scanned;

typedef struct ll_scanned_record {
  size_t offset; /* of the batch; of damage: where it begins */
  size_t bytes;
  uint64_t sequence;
  uint32_t events;
  bool mended; /* its own header was damaged, the batch is not */
} ll_scanned_record;

typedef struct ll_segment_scan {
  const ll_segment_identity *identity;
  const uint8_t *bytes;
  size_t size;
  size_t at;
} ll_segment_scan;

ll_segment_scan ll_segment_scan_start(const ll_segment_identity *identity, const uint8_t *bytes, size_t size);
ll_scanned ll_segment_scan_next(ll_segment_scan *scan, ll_scanned_record *record);

#endif
