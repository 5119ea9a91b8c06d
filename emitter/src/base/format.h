/* Layout of a batch: schemas/FORMAT.md, sections 3 and 4. The codec in schemas/c defines the layout independently, so
 * that tests compare two implementations of the specification. */
#ifndef LIFELINE_FORMAT_H
#define LIFELINE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define LL_BATCH_MAGIC "\x89LLB"
#define LL_BATCH_VERSION 1
#define LL_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* The fixed part of the header. Numbers are in the machine's byte order. */
typedef struct ll_batch_head {
  uint8_t magic[4];
  uint8_t version, big_endian, compression, shuffle;
  uint32_t flags, header_bytes;
  uint8_t incarnation[16];
  uint64_t sequence, base_tick, tick_hz;
  uint32_t total_bytes, descriptors_bytes, events_bytes, events_raw_bytes, event_count, pid;
  uint16_t route, counter_count, calibration_count, segment_count, context_count;
  uint8_t clock;
  uint8_t reserved[5];
} ll_batch_head;

_Static_assert(sizeof(ll_batch_head) == 96 && offsetof(ll_batch_head, total_bytes) == 56, "as in FORMAT.md");

enum { LL_BATCH_CRC_BYTES = 4, LL_BATCH_LEAST = sizeof(ll_batch_head) + LL_BATCH_CRC_BYTES, LL_BATCH_MOST = 960000 };

/* The counters, in wire order. */
typedef enum ll_counter {
  LL_COUNT_EMITTED,
  LL_COUNT_RING_FULL,
  LL_COUNT_NO_RING,
  LL_COUNT_REENTRANT,
  LL_COUNT_OVERSIZE,
  LL_COUNT_SHUTDOWN,
  LL_COUNT_SPOOL_FULL,
  LL_COUNT_SINK,
  LL_COUNT_SAMPLED_OUT,
  LL_COUNT_BELOW_THRESHOLD,
  LL_COUNT_FOLDED,
  LL_COUNT_SPOOLED,
  LL_COUNTERS
} ll_counter;

/* A descriptor begins with its length and is padded to a multiple of 8. The hash covers the bytes after it. */
enum { LL_DESCRIPTOR_NUMBER = 4, LL_DESCRIPTOR_HASH = 8, LL_DESCRIPTOR_HASHED = 16, LL_DESCRIPTOR_NAME = 20 };

#endif
