/* Shared by the codec's files: offsets of the layout, bytes in either order, rejections, memory. */
#ifndef LIFELINE_BATCH_INTERNAL_H
#define LIFELINE_BATCH_INTERNAL_H

#include <lifeline/batch.h>
#include <string.h>

enum {
  FIXED_HEADER_BYTES = 96,
  CRC_BYTES = 4,
  CALIBRATION_BYTES = 32,
  SEGMENT_BYTES = 16,
  PARENT_BYTES = 40,
  DESCRIPTOR_FIXED_BYTES = 20, /* up to the name */
  DESCRIPTOR_HASHED_FROM = 16,
  MAX_NAME_BYTES = 255,
  MAX_TEXT_BYTES = 4096,
  MAX_SHUFFLE = 128,
};

/* Offsets in the fixed header. */
enum {
  AT_VERSION = 4,
  AT_BYTE_ORDER = 5,
  AT_COMPRESSION = 6,
  AT_SHUFFLE = 7,
  AT_FLAGS = 8,
  AT_HEADER_LENGTH = 12,
  AT_INCARNATION = 16,
  AT_SEQUENCE = 32,
  AT_BASE_TICK = 40,
  AT_TICK_HZ = 48,
  AT_TOTAL_LENGTH = 56,
  AT_DESCRIPTORS_LENGTH = 60,
  AT_EVENTS_LENGTH = 64,
  AT_EVENTS_RAW_LENGTH = 68,
  AT_EVENT_COUNT = 72,
  AT_PID = 76,
  AT_ROUTE = 80,
  AT_COUNTER_COUNT = 82,
  AT_CALIBRATION_COUNT = 84,
  AT_SEGMENT_COUNT = 86,
  AT_CONTEXT_COUNT = 88,
  AT_CLOCK = 90,
  AT_RESERVED = 91,
};

enum {
  FLAGS_KNOWN = LLB_FINAL | LLB_RECOVERED | LLB_CLOCK_UNCERTAIN | LLB_DERIVED,
  FLAGS_IGNORED = 0xff00,
  CALIBRATION_STEP = 1,
};

static const uint8_t MAGIC[4] = {0x89, 'L', 'L', 'B'};

struct llb_private {
  struct arena_block *blocks;
  uint64_t *mult;       /* by calibration: ns per tick after it; a single one has the nominal value */
  uint16_t *type_index; /* by number: index into types plus one, or 0 */
  size_t type_index_len;
  uint8_t *events; /* decompressed, or collected by llb_append */
};

static inline size_t pad8(size_t n) {
  return (n + 7) & ~(size_t)7;
}

/* Copy the bytes, so that alignment does not matter, and swap them if the batch's byte order is not the machine's. */
enum { MACHINE_IS_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

static inline uint16_t load16(const uint8_t *p, bool big) {
  uint16_t v;
  memcpy(&v, p, sizeof v);
  return big == MACHINE_IS_BIG ? v : __builtin_bswap16(v);
}
static inline uint32_t load32(const uint8_t *p, bool big) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return big == MACHINE_IS_BIG ? v : __builtin_bswap32(v);
}
static inline uint64_t load64(const uint8_t *p, bool big) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return big == MACHINE_IS_BIG ? v : __builtin_bswap64(v);
}

static inline void store_bytes(uint8_t *p, unsigned n, uint64_t v, bool big) {
  for (unsigned i = 0; i < n; i++)
    p[i] = (uint8_t)(v >> 8 * (big ? n - 1 - i : i));
}

/* Fills in the rejection. Always returns false. */
__attribute__((format(printf, 4, 5))) bool llb_reject(llb_rejection *rejection, llb_code code, size_t offset,
                                                      const char *format, ...);

/* Size of a packed value at p; 0 if it does not fit before end. */
size_t llb_value_bytes(uint8_t type, const uint8_t *p, const uint8_t *end, bool big);
llb_value llb_load_value(uint8_t type, const uint8_t *p, bool big);
/* Size of the stored value. A string's size must be below 2^16. */
size_t llb_stored_bytes(uint8_t type, llb_value value);
void llb_store_value(uint8_t *p, uint8_t type, llb_value value, bool big);

uint32_t llb_crc32c(const uint8_t *bytes, size_t size);

bool llb_index_types(llb_batch *batch);

/* The phases of llb_read, in the order of FORMAT.md, section 9. Offsets are from the start of the batch. */
bool llb_read_descriptors(llb_batch *batch, llb_bytes message, size_t from, size_t to, llb_rejection *rejection);
bool llb_check_calibrations(llb_batch *batch, size_t offset, llb_rejection *rejection);
bool llb_check_descriptors_text(const llb_batch *batch, const uint8_t *start, llb_rejection *rejection);
bool llb_check_descriptors(llb_batch *batch, const uint8_t *start, llb_rejection *rejection);
bool llb_check_text(const uint8_t *start, llb_bytes text, size_t least, size_t most, const char *what,
                    llb_rejection *rejection);
bool llb_check_records(const llb_batch *batch, size_t offset, llb_rejection *rejection);

bool llb_shuffle_is_legal(uint8_t shuffle, uint8_t compression);
/* Decompresses and unshuffles, as the batch's header says. Returns false unless the result has exactly raw_size bytes.
 * With a shuffle, scratch must be as large as raw. */
bool llb_decompress(const llb_batch *batch, llb_bytes stored, uint8_t *raw, uint8_t *scratch, size_t raw_size);
/* Shuffles and compresses the batch's events. The caller frees the result; NULL if out of memory. */
uint8_t *llb_compress(const llb_batch *batch, size_t *size);

#endif
