/* Reads and writes Lifeline batches, as defined by schemas/FORMAT.md.
 *
 * The library never prints, exits, keeps global state or takes locks: threads may use different batches concurrently. A
 * batch returned by llb_read refers to the message that it was read from; keep the message until llb_batch_free.
 */
#ifndef LIFELINE_SCHEMAS_BATCH_H
#define LIFELINE_SCHEMAS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  LLB_MAX_BATCH_BYTES = 960000,
  LLB_MAX_EVENTS_BYTES = 1048576, /* after decompression */
  LLB_MAX_RECORD_BYTES = 32768,
  LLB_MAX_FIELDS = 255,
  LLB_COUNTERS = 12, /* minimum that a header carries */
};

/* Reasons for rejecting a message: FORMAT.md, section 9. The last two are not defects of a message. */
typedef enum llb_code {
  LLB_OK,
  LLB_TRUNCATED,
  LLB_BAD_MAGIC,
  LLB_BAD_VERSION,
  LLB_BAD_FLAG,
  LLB_TOO_LARGE,
  LLB_BAD_LENGTH,
  LLB_BAD_CRC,
  LLB_BAD_CALIBRATION,
  LLB_BAD_COUNT,
  LLB_BAD_TEXT,
  LLB_BAD_DESCRIPTOR,
  LLB_BAD_COMPRESSION,
  LLB_UNKNOWN_TYPE,
  LLB_BAD_RECORD,
  LLB_BAD_JSON,
  LLB_NO_MEMORY,
} llb_code;

/* The code as FORMAT.md spells it, such as "bad_crc". */
const char *llb_code_name(llb_code code);

typedef struct llb_rejection {
  llb_code code;
  size_t offset;     /* bytes from the start of the batch; inside compressed events, as if they were uncompressed */
  char message[192]; /* one sentence; never contains bytes of the message */
} llb_rejection;

typedef struct llb_bytes {
  const uint8_t *data; /* not terminated */
  size_t size;
} llb_bytes;

typedef enum llb_compression { LLB_PLAIN = 0, LLB_LZ4 = 1, LLB_ZSTD = 2 } llb_compression;
enum { LLB_TICK_DIFFERENCES = 1 }; /* in shuffle */
typedef enum llb_clock { LLB_TICKS = 0, LLB_MONOTONIC = 1 } llb_clock;

enum {
  LLB_FINAL = 1 << 0,
  LLB_RECOVERED = 1 << 1,
  LLB_CLOCK_UNCERTAIN = 1 << 2,
  LLB_DERIVED = 1 << 3,
};

typedef struct llb_calibration {
  uint64_t tick;
  uint64_t monotonic_ns;
  int64_t realtime_offset_ns;
  uint32_t error_ns;
  bool step;
} llb_calibration;

typedef struct llb_segment {
  uint64_t thread;
  uint32_t bytes;
  uint32_t events;
} llb_segment;

typedef struct llb_parent {
  uint8_t incarnation[16];
  uint64_t sequence;
  uint16_t route;
  uint32_t events_in;
  uint32_t events_out;
} llb_parent;

typedef struct llb_context {
  llb_bytes key;
  llb_bytes value;
} llb_context;

typedef enum llb_field_type {
  LLB_I32 = 1,
  LLB_I64,
  LLB_F32,
  LLB_F64,
  LLB_STRING,
  LLB_U32,
  LLB_U64,
  LLB_BOOL,
  LLB_BYTES,
} llb_field_type;

/* The field's type determines the member. Floats are stored unchanged, NaN payloads included. */
typedef union llb_value {
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;
  uint32_t u32;
  uint64_t u64;
  bool boolean;
  llb_bytes bytes; /* for string and bytes. A record's string need not be UTF-8: see llb_utf8_length */
} llb_value;

typedef struct llb_field {
  uint8_t type; /* llb_field_type */
  llb_bytes name;
  llb_bytes unit;
} llb_field;

typedef struct llb_constant {
  llb_field field;
  llb_value value;
} llb_constant;

typedef struct llb_event_type {
  uint16_t number;
  uint8_t level; /* 1 fatal ... 8 debug3 */
  uint8_t field_count;
  uint8_t constant_count;
  uint64_t hash;
  llb_bytes name;
  llb_field *fields;
  llb_constant *constants;
} llb_event_type;

typedef struct llb_batch {
  bool big_endian;
  uint8_t compression; /* llb_compression */
  uint8_t shuffle;     /* 0, or the stride of the byte shuffle, | LLB_TICK_DIFFERENCES */
  uint8_t clock;       /* llb_clock */
  uint32_t flags;
  uint8_t incarnation[16];
  uint64_t sequence;
  uint64_t base_tick;
  uint64_t tick_hz;
  uint32_t event_count;
  uint32_t pid;
  uint32_t crc; /* as read; llb_write computes it */
  uint16_t route;
  uint16_t counter_count;
  uint16_t calibration_count;
  uint16_t segment_count;
  uint16_t context_count;
  size_t type_count;
  uint64_t *counters;
  llb_calibration *calibrations;
  llb_segment *segments;
  llb_parent parent; /* valid only with LLB_DERIVED */
  llb_bytes host;
  llb_bytes program;
  llb_bytes route_name;
  llb_context *context;
  llb_event_type *types;
  llb_bytes events; /* the records, decompressed, in the batch's byte order */

  struct llb_private *priv;
} llb_batch;

/* Reads one message, which must be exactly one batch, and checks all of it, records included: iterating cannot fail
 * afterwards. Returns NULL and fills rejection if the message is illegal (or LLB_NO_MEMORY). Memory is bounded by the
 * limits above, whatever the message claims. */
llb_batch *llb_read(const void *message, size_t size, llb_rejection *rejection);

/* Returns total_length of the batch at the start of these bytes, to split concatenated batches; 0 if there is none. */
size_t llb_frame_bytes(const void *bytes, size_t size);

/* Creates an empty batch for llb_append and llb_write; NULL if out of memory. */
llb_batch *llb_batch_new(void);

/* Allocates zeroed memory that lives as long as the batch; NULL if out of memory. */
void *llb_batch_alloc(llb_batch *batch, size_t size);

/* NULL is allowed. */
void llb_batch_free(llb_batch *batch);

typedef struct llb_event {
  const llb_event_type *type;
  uint64_t tick;
  int64_t time_ns; /* since the Unix epoch */
  uint64_t thread;
  size_t offset; /* of the record in batch->events */
  llb_value values[LLB_MAX_FIELDS];
} llb_event;

typedef struct llb_cursor {
  const llb_batch *batch;
  size_t offset;
  size_t segment;
  uint32_t left; /* in the segment */
} llb_cursor;

/* Iterates over the events of a batch from llb_read, in stored order. llb_next returns false after the last. */
llb_cursor llb_events(const llb_batch *batch);
bool llb_next(llb_cursor *cursor, llb_event *event);

/* Converts a full tick to exact nanoseconds since the Unix epoch: FORMAT.md, section 7. The batch must come from
 * llb_read. */
int64_t llb_time_ns(const llb_batch *batch, uint64_t tick);

/* The full tick nearest to base_tick with these low 48 bits. */
uint64_t llb_full_tick(uint64_t base_tick, uint64_t tick48);

/* Computes the hash that identifies a type. Ignores the type's number and hash. */
uint64_t llb_type_hash(const llb_event_type *type);

/* The type with this number, or NULL. */
const llb_event_type *llb_type_by_number(const llb_batch *batch, uint16_t number);

/* Length of the well-formed UTF-8 sequence at the start of the text; 0 if there is none. */
size_t llb_utf8_length(const uint8_t *text, size_t size);

/* The code point of a character of this length if it is a control character, ends a line or changes the writing
 * direction; else 0. */
uint32_t llb_harmful(const uint8_t *at, size_t length);

/* Appends one record to a batch from llb_batch_new, and counts it in the segment, which must be the one of the previous
 * call or the next one. Set big_endian and base_tick before. Copies the values. */
bool llb_append(llb_batch *batch, llb_segment *segment, const llb_event_type *type, uint64_t tick,
                const llb_value *values, llb_rejection *rejection);

/* Serialises the batch with the byte order, compression and shuffle set in it; computes lengths, counts, hashes and
 * CRC. Returns memory for free(). Never returns a batch that llb_read would reject: then NULL, with the reader's
 * code. */
uint8_t *llb_write(const llb_batch *batch, size_t *size, llb_rejection *rejection);

#ifdef __cplusplus
}
#endif

#endif
