/* Builds a batch: gathers records from rings, then lays them out as described in FORMAT.md.
 *
 * Gathering reads the records in place. It is bounded by the size of the finished batch, including the header and
 * descriptors that become necessary, so that a batch never has to be split afterwards. Writing copies each record once,
 * directly to its place behind the header, except for compression. The rings must not be released in between.
 *
 * Records have the low 48 bits of their ticks, which repeat after hours: 2^48 ticks are 26 h at 3 GHz. So that events
 * that waited for longer, in an outage or a stopped process, get the right time, the consumer notes in each ring a full
 * tick shortly before its first record (`since`), and here until which position it has seen the ring at which tick. A
 * batch only holds events that its base tick tells apart.
 */
#ifndef LIFELINE_BATCH_H
#define LIFELINE_BATCH_H

#include "base/format.h"
#include "compress.h"
#include "ring/slots.h"
#include "ring/types.h"

enum {
  LL_BATCH_FINAL = 1,
  LL_BATCH_RECOVERED = 2,
  LL_BATCH_CLOCK_UNCERTAIN = 4,
};

typedef struct ll_segment {
  uint64_t thread;
  uint32_t bytes;
  uint32_t events;
} ll_segment;

#define LL_LATE_TICKS (UINT64_C(1) << 46) /* records that waited for longer are told apart one by one */

/* Records from this position on were written after this tick. */
typedef struct ll_sighting {
  uint64_t position;
  uint64_t tick;
} ll_sighting;

typedef struct ll_batch {
  const ll_types *types;
  size_t raw_limit;          /* for the records; at most LL_BATCH_RAW_MAX */
  size_t total_limit;        /* for the whole batch */
  size_t fixed_bytes;        /* header without calibrations and segments, and the CRC */
  const ll_context *context; /* what follows the fixed part of the context */

  size_t records_bytes;
  uint32_t event_count;
  uint32_t uniform_bytes; /* length of each record; 0 when they differ */
  uint64_t earliest_tick48;
  uint64_t now;                      /* full tick of the gathering; in a recovery, of the last calibration */
  uint64_t base;                     /* full tick near those of all events */
  bool stopped;                      /* nobody looked for so long that the order of events and that time is not known */
  bool doubtful;                     /* the times of some events may be wrong by 2^48 ticks */
  ll_piece pieces[2 * LL_TAKES_MAX]; /* the records: per take at most two pieces, a ring's end and its beginning */
  uint32_t piece_count;

  ll_segment segments[LL_TAKES_MAX];
  uint32_t segment_count;
  ll_take takes[LL_TAKES_MAX];
  uint32_t take_count;
  uint64_t since[LL_TAKES_MAX]; /* the rings' `since` after these takes */
  ll_sighting seen[LL_RINGS_MAX];

  uint16_t numbers[LL_TYPE_NUMBER_MAX]; /* numbers of the types present, in order of first event */
  uint32_t number_count;
  size_t descriptors_bytes;
  uint16_t noted[65536]; /* by type number: record length or NOTED_VARIES when present, else 0 */
} ll_batch;

typedef enum ll_gathered {
  LL_GATHERED_ALL,     /* the ring is drained up to its head, or to the next context */
  LL_GATHERED_FULL,    /* no room for its next record */
  LL_GATHERED_GARBAGE, /* no valid record where one should be: the ring was overwritten. Its rest is skipped */
} ll_gathered;

/* Starts an empty batch of that route, of at most raw_limit bytes of records and total_limit bytes overall. */
void ll_batch_begin(ll_batch *batch, const ll_types *types, const ll_store *store, uint32_t route, size_t raw_limit,
                    size_t total_limit, uint64_t now);

/* Notes the ring's head. Before a gathering, and while none is possible. */
void ll_batch_look(ll_batch *batch, ll_ring *ring, uint32_t ring_index, uint64_t now);

/* Adds the ring's records from its tail on, as far as there is room and the context is the same. Does not move the
 * tail. */
ll_gathered ll_batch_gather(ll_batch *batch, const ll_store *store, uint32_t ring_index);

typedef struct ll_batch_header {
  uint64_t sequence;
  uint32_t flags;
  uint16_t route;
  const char *route_name;
  uint64_t counters[LL_COUNTERS];
} ll_batch_header;

/* Lays the batch out at `out`, which has room for total_limit bytes, and returns its length. */
size_t ll_batch_write(ll_batch *batch, const ll_store *store, const ll_calibrations *calibrations,
                      ll_compressor *compressor, const ll_batch_header *header, uint8_t *out);

#endif
