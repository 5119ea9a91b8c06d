/* libFuzzer target: for any segment of a spool, the reader terminates, stays within the segment, and returns only
 * batches that it has checked.
 *
 * Random bytes would fail at the header and the CRCs. So each input is read as the records of a segment with a valid
 * header, first unchanged, then with valid record headers and batches.
 */
#include "batch/crc32c.h"
#include "spool/spool_segment.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void scan_all(const ll_segment_identity *identity, const uint8_t *bytes, size_t size) {
  ll_segment_scan scan = ll_segment_scan_start(identity, bytes, size);
  ll_scanned_record record;
  for (size_t at = scan.at;; at = scan.at) {
    ll_scanned what = ll_segment_scan_next(&scan, &record);
    if (what == LL_SCANNED_END) return;
    if (scan.at <= at || record.offset > size || record.bytes > size - record.offset) abort();
    if (what != LL_SCANNED_RECORD) continue;
    const uint8_t *batch = bytes + record.offset;
    uint64_t sequence;
    memcpy(&sequence, batch + 32, sizeof sequence);
    if (record.bytes < 100 || sequence != record.sequence || memcmp(batch + 16, identity->incarnation, 16) != 0)
      abort();
  }
}

/* Writes batch headers and valid CRCs at the places of records. */
static void repair(const ll_segment_identity *identity, uint8_t *bytes, size_t size) {
  for (size_t at = LL_SEGMENT_HEADER_BYTES; at + LL_RECORD_HEADER_BYTES + 100 <= size;) {
    uint8_t *batch = bytes + at + LL_RECORD_HEADER_BYTES;
    size_t room = size - at - LL_RECORD_HEADER_BYTES;
    uint32_t length, events;
    memcpy(&length, batch + 56, sizeof length);
    length = 100 + length % (room - 99);
    if (batch[99] % 4 == 0) { /* leave some unchanged */
      at += 8;
      continue;
    }
    memcpy(batch, "\x89LLB\x01\x00", 6);
    memcpy(batch + 16, identity->incarnation, 16);
    memcpy(batch + 56, &length, sizeof length);
    memcpy(&events, batch + 72, sizeof events);
    memcpy(batch + 80, &identity->route, sizeof identity->route);
    uint64_t sequence;
    memcpy(&sequence, batch + 32, sizeof sequence);
    uint32_t crc = ll_crc32c(batch, length - 4);
    memcpy(batch + length - 4, &crc, sizeof crc);
    if (batch[98] % 4 != 0) ll_record_header_write(identity, sequence, events, batch, length, bytes + at);
    at += ll_record_total(length);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ll_segment_identity identity, read;
  memset(&identity, 0, sizeof identity);
  memset(identity.incarnation, 7, sizeof identity.incarnation);
  ll_segment_header_read(data, size, &read);
  uint8_t *bytes = malloc(LL_SEGMENT_HEADER_BYTES + size); /* exact size, so that the sanitizer detects overreads */
  ll_segment_header_write(&identity, bytes);
  memcpy(bytes + LL_SEGMENT_HEADER_BYTES, data, size);
  scan_all(&identity, bytes, LL_SEGMENT_HEADER_BYTES + size);
  repair(&identity, bytes, LL_SEGMENT_HEADER_BYTES + size);
  scan_all(&identity, bytes, LL_SEGMENT_HEADER_BYTES + size);
  free(bytes);
  return 0;
}
