/* libFuzzer target: an accepted batch can be iterated, printed, and written again.
 *
 * Random bytes would fail at the CRC. So each input is read unchanged, and again after a repair of the frame: magic,
 * version, lengths, CRC. Since compression would hide the records from mutation, each input is also read as
 * uncompressed events under the same header.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lifeline/batch_json.h>

#include "internal.h"

static FILE *nowhere;

/* Uses all parts of the batch. */
static void use(const llb_batch *batch) {
  llb_json_print(batch, nowhere);
  uint32_t events = 0;
  llb_cursor cursor = llb_events(batch);
  for (llb_event event; llb_next(&cursor, &event);)
    events++;
  if (events != batch->event_count) abort();
}

/* A batch that is written again has the same records, byte for byte. */
static void write_again(const llb_batch *batch) {
  llb_rejection rejection;
  size_t size;
  uint8_t *bytes = llb_write(batch, &size, &rejection);
  if (!bytes) { /* a different compression may make it too large; no other failure is legal */
    if (rejection.code != LLB_TOO_LARGE) abort();
    return;
  }
  llb_batch *again = llb_read(bytes, size, &rejection);
  if (!again || again->events.size != batch->events.size ||
      memcmp(again->events.data, batch->events.data, batch->events.size) != 0 || again->type_count != batch->type_count)
    abort();
  llb_batch_free(again);
  free(bytes);
}

static void try_read(const uint8_t *bytes, size_t size) {
  llb_rejection rejection = {0};
  llb_batch *batch = llb_read(bytes, size, &rejection);
  if (!batch) {
    if (rejection.code == LLB_OK || rejection.offset > size + LLB_MAX_EVENTS_BYTES || !*rejection.message) abort();
    return;
  }
  use(batch);
  write_again(batch);
  llb_batch_free(batch);
}

static uint32_t minimum(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* Repairs the frame. Truncates lengths that do not fit, from front to back. */
static void repair(uint8_t *b, size_t size) {
  memcpy(b, MAGIC, sizeof MAGIC);
  b[4] = 1;
  b[AT_BYTE_ORDER] &= 1;
  bool big = b[AT_BYTE_ORDER];
  uint32_t room = (uint32_t)(size - CRC_BYTES);
  uint32_t header = minimum(load32(b + AT_HEADER_LENGTH, big), room) & ~7u;
  if (header < FIXED_HEADER_BYTES) header = FIXED_HEADER_BYTES;
  uint32_t descriptors = minimum(load32(b + AT_DESCRIPTORS_LENGTH, big), room - header) & ~7u;
  uint32_t events = room - header - descriptors;
  store_bytes(b + AT_HEADER_LENGTH, 4, header, big);
  store_bytes(b + AT_TOTAL_LENGTH, 4, size, big);
  store_bytes(b + AT_DESCRIPTORS_LENGTH, 4, descriptors, big);
  store_bytes(b + AT_EVENTS_LENGTH, 4, events, big);
  if (b[AT_COMPRESSION] == LLB_PLAIN) store_bytes(b + AT_EVENTS_RAW_LENGTH, 4, events, big);
  store_bytes(b + size - CRC_BYTES, 4, llb_crc32c(b, size - CRC_BYTES), big);
}

static void try_repaired(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size); /* exact size, so that the sanitizer detects overreads */
  memcpy(copy, data, size);
  repair(copy, size);
  try_read(copy, size);
  free(copy);
}

/* Declares the events uncompressed, whatever they contain. */
static void try_behind_decompression(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size);
  memcpy(copy, data, size);
  copy[AT_COMPRESSION] = LLB_PLAIN;
  copy[AT_SHUFFLE] = 0;
  size -= size % 8 == CRC_BYTES ? 0 : (size + CRC_BYTES) % 8; /* raw events are a multiple of 8 */
  repair(copy, size);
  try_read(copy, size);
  free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!nowhere) nowhere = fopen("/dev/null", "w");
  try_read(data, size);
  if (size < FIXED_HEADER_BYTES + CRC_BYTES + 8 || size > LLB_MAX_BATCH_BYTES) return 0;
  try_repaired(data, size);
  try_behind_decompression(data, size);
  return 0;
}
