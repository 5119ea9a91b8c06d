#include "spool_segment.h"

#include "base/format.h"
#include "batch/crc32c.h"

#include <string.h>

#define SEGMENT_MAGIC UINT64_C(0x314c4f4f50534c4c) /* "LLSPOOL1" on a little-endian machine */
#define RECORD_MAGIC 0x52534c89u                   /* "\x89LSR" */

enum {
  VERSION = 1,
  COPY_OFFSET = 2048, /* of the header's second copy */
  ALIGNMENT = 8,
  CHECKS = 4, /* how often each byte is checked on average. An intact one is checked once, a damaged one twice */
};

typedef struct header_copy {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;
  ll_segment_identity identity;
  uint32_t reserved;
  uint32_t crc; /* of all preceding fields */
} header_copy;

typedef struct record_header {
  uint32_t magic;
  uint32_t bytes;
  uint64_t sequence;
  uint32_t events;
  uint32_t batch_crc;
  uint32_t reserved;
  uint32_t crc; /* of all preceding fields, incarnation and route: excludes records of other sets */
} record_header;

_Static_assert(sizeof(ll_segment_identity) == 64 + 3 * LL_SPOOL_NAME_MAX, "no padding");
_Static_assert(sizeof(header_copy) == 24 + sizeof(ll_segment_identity), "no padding");
_Static_assert(sizeof(header_copy) <= COPY_OFFSET, "a copy fits its half");
_Static_assert(COPY_OFFSET + sizeof(header_copy) <= LL_SEGMENT_CLAIM_OFFSET, "the claim lies behind both copies");
_Static_assert(LL_SEGMENT_CLAIM_OFFSET + sizeof(ll_segment_claim) <= LL_SEGMENT_HEADER_BYTES, "and in the header");
_Static_assert(sizeof(record_header) == LL_RECORD_HEADER_BYTES, "no padding");

void ll_segment_header_write(const ll_segment_identity *identity, uint8_t header[LL_SEGMENT_HEADER_BYTES]) {
  header_copy copy = {.magic = SEGMENT_MAGIC, .version = VERSION, .header_bytes = LL_SEGMENT_HEADER_BYTES};
  copy.identity = *identity;
  copy.crc = ll_crc32c(&copy, offsetof(header_copy, crc));
  memset(header, 0, LL_SEGMENT_HEADER_BYTES);
  memcpy(header, &copy, sizeof copy);
  memcpy(header + COPY_OFFSET, &copy, sizeof copy);
}

static bool ends(const char name[LL_SPOOL_NAME_MAX]) {
  return memchr(name, '\0', LL_SPOOL_NAME_MAX) != NULL;
}

static const char *read_copy(const uint8_t *bytes, ll_segment_identity *identity) {
  header_copy copy;
  memcpy(&copy, bytes, sizeof copy);
  if (copy.magic != SEGMENT_MAGIC) return "not a segment of a spool";
  if (copy.crc != ll_crc32c(&copy, offsetof(header_copy, crc))) return "its header is damaged";
  if (copy.version != VERSION || copy.header_bytes != LL_SEGMENT_HEADER_BYTES)
    return "a segment of another version of Lifeline";
  if (!ends(copy.identity.host) || !ends(copy.identity.program) || !ends(copy.identity.route_name))
    return "impossible names";
  *identity = copy.identity;
  return NULL;
}

const char *ll_segment_header_read(const uint8_t *bytes, size_t size, ll_segment_identity *identity) {
  if (size < sizeof(header_copy)) return "it ends within its header";
  const char *fault = read_copy(bytes, identity);
  if (fault == NULL || size < COPY_OFFSET + sizeof(header_copy)) return fault;
  return read_copy(bytes + COPY_OFFSET, identity) == NULL ? NULL : fault;
}

static uint32_t claim_crc(const ll_process *claimer) {
  return ll_crc32c(claimer, sizeof *claimer);
}

ll_segment_claim ll_segment_claim_by(const ll_process *process) {
  return (ll_segment_claim){.claimer = *process, .crc = claim_crc(process)};
}

bool ll_segment_claim_read(const ll_segment_claim *claim, ll_process *claimer) {
  *claimer = claim->claimer;
  return claim->claimer.pid != 0 && claim->crc == claim_crc(&claim->claimer);
}

static uint32_t record_header_crc(const ll_segment_identity *identity, const record_header *header) {
  uint8_t covered[offsetof(record_header, crc) + sizeof identity->incarnation + sizeof identity->route];
  uint8_t *at = covered;
  memcpy(at, header, offsetof(record_header, crc));
  at += offsetof(record_header, crc);
  memcpy(at, identity->incarnation, sizeof identity->incarnation);
  at += sizeof identity->incarnation;
  memcpy(at, &identity->route, sizeof identity->route);
  return ll_crc32c(covered, sizeof covered);
}

void ll_record_header_write(const ll_segment_identity *identity, uint64_t sequence, uint32_t events,
                            const uint8_t *batch, size_t bytes, uint8_t to[LL_RECORD_HEADER_BYTES]) {
  record_header header = {.magic = RECORD_MAGIC,
                          .bytes = (uint32_t)bytes,
                          .sequence = sequence,
                          .events = events,
                          .batch_crc = ll_crc32c(batch, bytes)};
  header.crc = record_header_crc(identity, &header);
  memcpy(to, &header, sizeof header);
}

ll_segment_scan ll_segment_scan_start(const ll_segment_identity *identity, const uint8_t *bytes, size_t size) {
  return (ll_segment_scan){identity, bytes, size, LL_SEGMENT_HEADER_BYTES, (uint64_t)size * CHECKS};
}

static uint32_t u32_at(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

/* Reads the header of a batch. False when it belongs to another set, or does not end within the segment. */
static bool read_batch_head(const ll_segment_scan *scan, size_t offset, ll_scanned_record *record) {
  ll_batch_head head;
  size_t room = scan->size - offset;
  if (room < LL_BATCH_LEAST) return false;
  memcpy(&head, scan->bytes + offset, sizeof head);
  if (memcmp(head.magic, LL_BATCH_MAGIC, sizeof head.magic) != 0 || head.version != LL_BATCH_VERSION) return false;
  if (head.big_endian != LL_BIG_ENDIAN || head.route != scan->identity->route) return false;
  if (memcmp(head.incarnation, scan->identity->incarnation, sizeof head.incarnation) != 0) return false;
  *record = (ll_scanned_record){
      .offset = offset, .bytes = head.total_bytes, .events = head.event_count, .sequence = head.sequence};
  return record->bytes >= LL_BATCH_LEAST && record->bytes <= LL_BATCH_MOST && record->bytes <= room;
}

static bool has_crc(ll_segment_scan *scan, size_t offset, size_t bytes, uint32_t crc) {
  if (bytes > scan->checks) return false;
  scan->checks -= bytes;
  return ll_crc32c(scan->bytes + offset, bytes) == crc;
}

/* Whether a complete batch with a valid CRC begins here. */
static bool is_batch(ll_segment_scan *scan, size_t offset, ll_scanned_record *record) {
  if (offset > scan->size || !read_batch_head(scan, offset, record)) return false;
  return has_crc(scan, offset, record->bytes - 4, u32_at(scan->bytes + offset + record->bytes - 4));
}

static bool is_record_header(const ll_segment_scan *scan, size_t offset, record_header *header) {
  if (scan->size - offset < sizeof *header || u32_at(scan->bytes + offset) != RECORD_MAGIC) return false;
  memcpy(header, scan->bytes + offset, sizeof *header);
  return header->crc == record_header_crc(scan->identity, header) && header->bytes >= LL_BATCH_LEAST &&
         header->bytes <= LL_BATCH_MOST;
}

static bool only_zeros_from(const ll_segment_scan *scan, size_t offset) {
  for (size_t i = offset; i < scan->size; i++)
    if (scan->bytes[i] != 0) return false;
  return true;
}

/* An interrupted write leaves the beginning of a record, followed by nothing or by zeros. So its last byte, which
 * belongs to the batch's CRC, is zero or missing. */
static bool is_torn(const ll_segment_scan *scan, size_t offset) {
  if (scan->size - offset < sizeof(record_header)) return true;
  record_header header;
  if (!is_record_header(scan, offset, &header)) return only_zeros_from(scan, offset + sizeof header);
  size_t last = offset + sizeof header + header.bytes - 1;
  return last >= scan->size || only_zeros_from(scan, last);
}

/* The first position behind `offset` where an intact record header or batch begins; the segment's end when there is
 * none. */
static size_t next_whole(ll_segment_scan *scan, size_t offset) {
  record_header header;
  ll_scanned_record record;
  for (size_t at = offset + ALIGNMENT; at + sizeof header <= scan->size; at += ALIGNMENT)
    if (is_record_header(scan, at, &header) || is_batch(scan, at + sizeof header, &record)) return at;
  return scan->size;
}

static void step_over(ll_segment_scan *scan, size_t bytes) {
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  scan->at = bytes < scan->size - scan->at ? scan->at + bytes : scan->size;
}

ll_scanned ll_segment_scan_next(ll_segment_scan *scan, ll_scanned_record *record) {
  if (scan->at >= scan->size || only_zeros_from(scan, scan->at)) return LL_SCANNED_END;
  record_header header;
  size_t batch = scan->at + sizeof header;
  bool headed = is_record_header(scan, scan->at, &header);
  if (headed && read_batch_head(scan, batch, record) && record->bytes == header.bytes &&
      record->sequence == header.sequence && record->events == header.events &&
      has_crc(scan, batch, header.bytes, header.batch_crc)) {
    step_over(scan, sizeof header + header.bytes);
    return LL_SCANNED_RECORD;
  }
  if (!headed && is_batch(scan, batch, record)) {
    record->mended = true;
    step_over(scan, sizeof header + record->bytes);
    return LL_SCANNED_RECORD;
  }
  size_t next = next_whole(scan, scan->at);
  bool torn = next == scan->size && is_torn(scan, scan->at);
  *record = (ll_scanned_record){.offset = scan->at, .bytes = next - scan->at};
  if (headed) record->sequence = header.sequence, record->events = header.events;
  scan->at = next;
  return torn ? LL_SCANNED_TORN : LL_SCANNED_DAMAGE;
}
