#include "batch.h"

#include "base/atomics.h"
#include "base/bytes.h"
#include "crc32c.h"
#include "ring/context.h"

#include <string.h>

enum {
  CALIBRATIONS_ROOM = LL_CALIBRATIONS_MAX * sizeof(ll_calibration),
  NOTED_VARIES = 1, /* not a possible record length */
};

#define LATE LL_LATE_TICKS
#define REACH (UINT64_C(1) << 45) /* of a batch's base tick, beside what waited for less than LATE */

void ll_batch_begin(ll_batch *batch, const ll_types *types, const ll_store *store, uint32_t route, size_t raw_limit,
                    size_t total_limit, uint64_t now) {
  for (uint32_t i = 0; i < batch->number_count; i++)
    batch->noted[batch->numbers[i]] = 0;
  batch->types = types;
  batch->raw_limit = raw_limit;
  batch->total_limit = total_limit;
  batch->context = ll_context_of(store, route);
  batch->fixed_bytes = sizeof(ll_batch_head) + LL_COUNTERS * sizeof(uint64_t) + CALIBRATIONS_ROOM +
                       store->header->names_bytes + store->header->context_bytes + batch->context->bytes + 2 + 255 + 8 +
                       LL_BATCH_CRC_BYTES;
  batch->records_bytes = 0;
  batch->event_count = 0;
  batch->uniform_bytes = 0;
  batch->earliest_tick48 = 0;
  batch->now = batch->base = now;
  batch->doubtful = false;
  batch->piece_count = 0;
  batch->segment_count = 0;
  batch->take_count = 0;
  batch->number_count = 0;
  batch->descriptors_bytes = 0;
}

static bool note_type(ll_batch *batch, uint16_t number, size_t weight, bool first) {
  if (batch->noted[number] != 0) return true;
  const ll_shape *shape = &batch->types->shapes[number];
  if (weight + shape->descriptor_bytes > batch->total_limit && !first) return false;
  batch->noted[number] = shape->record_bytes != 0 ? (uint16_t)shape->record_bytes : NOTED_VARIES;
  batch->numbers[batch->number_count++] = number;
  batch->descriptors_bytes += shape->descriptor_bytes;
  return true;
}

/* Compares 48-bit ticks; a batch spans at most hours. */
static bool earlier(uint64_t tick48, uint64_t than) {
  return (int64_t)((tick48 - than) << 16) < 0;
}

static uint64_t distance(uint64_t one, uint64_t other) {
  return (int64_t)(one - other) < 0 ? other - one : one - other;
}

/* The full tick nearest to `near`. */
static uint64_t full_tick(uint64_t near, uint64_t tick48) {
  return near + (uint64_t)((int64_t)((tick48 - near) << 16) >> 16);
}

/* Position of a walk over records. */
typedef struct walk {
  uint64_t position;
  uint64_t tick;           /* of the previous record; before the first, the ring's `since` */
  const ll_sighting *seen; /* NULL unless records may have waited for longer than LATE */
  size_t bytes;            /* of records, without fillers */
  uint32_t events;
} walk;

/* The size of the batch with this record added. */
static size_t weight_with(const ll_batch *batch, const walk *walked, size_t record) {
  return batch->fixed_bytes + (batch->segment_count + 1) * sizeof(ll_segment) + batch->descriptors_bytes +
         batch->records_bytes + walked->bytes + record;
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* The full tick of a record that may have waited for long. */
static uint64_t late_tick(ll_batch *batch, const walk *walked, uint64_t tick48) {
  bool later = walked->seen->tick != 0 && walked->position >= walked->seen->position;
  uint64_t before = later && (int64_t)(walked->seen->tick - walked->tick) > 0 ? walked->seen->tick : walked->tick;
  uint64_t tick = full_tick(before, tick48);
  batch->doubtful |= batch->stopped;
  if (distance(tick, before) <= LATE) return tick;
  batch->doubtful = true;
  return full_tick(batch->now, tick48);
}

/* Returns the number of bytes, within `room`, of consecutive records that have this length and whose types are noted.
 * Most events come in such runs; only their first word is read. (The equal length makes this a well-predicted branch:
 * the CPU does not wait for one record's type to find the next.) */
static size_t run_bytes(const ll_batch *batch, const uint8_t *at, size_t room, size_t record_bytes) {
  size_t run = 0;
  for (; run + record_bytes <= room; run += record_bytes) {
    uint16_t number;
    memcpy(&number, at + run, sizeof number); /* the low half of the first word */
    if (batch->noted[number] != record_bytes) break;
  }
  return run;
}

/* Walks from the current position to `end`, which lies in the same lap, as far as the batch has room. */
static ll_gathered walk_lap(ll_batch *batch, const uint8_t *at, uint64_t end, bool is_lap_end, uint32_t known,
                            walk *walked) {
  while (walked->position < end) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    uint16_t number = (uint16_t)word;
    if (number == 0) { /* filler: the next record did not fit behind it. Invalid anywhere else */
      if (word != 0 || !is_lap_end || end - walked->position >= LL_RECORD_MAX) return LL_GATHERED_GARBAGE;
      walked->position = end;
      break;
    }
    size_t bytes = number <= known ? ll_record_bytes(batch->types, at, end - walked->position) : 0;
    if (bytes == 0) return LL_GATHERED_GARBAGE;
    bool first = batch->event_count + walked->events == 0; /* may exceed the limits, alone in its batch */
    size_t weight = weight_with(batch, walked, bytes);
    bool fits = batch->records_bytes + walked->bytes + bytes <= batch->raw_limit && weight <= batch->total_limit;
    if (!fits && !first) return LL_GATHERED_FULL;
    uint64_t tick48 = word >> 16, tick = walked->tick;
    if (walked->seen != NULL)
      tick = late_tick(batch, walked, tick48);
    else if (walked->events == 0)
      tick = full_tick(batch->now, tick48);
    if (first)
      batch->base = walked->seen != NULL ? tick : batch->now;
    else if (walked->seen != NULL && distance(tick, batch->base) > REACH)
      return LL_GATHERED_FULL;
    if (!note_type(batch, number, weight, first)) return LL_GATHERED_FULL;
    /* A thread's ticks increase, except for events emitted by a signal handler: its first event is the earliest. */
    if (first || (walked->events == 0 && earlier(tick48, batch->earliest_tick48))) batch->earliest_tick48 = tick48;
    if (first)
      batch->uniform_bytes = (uint32_t)bytes;
    else if (bytes != batch->uniform_bytes)
      batch->uniform_bytes = 0;
    size_t taken = bytes;
    weight = weight_with(batch, walked, bytes); /* now with the descriptor */
    walked->tick = tick;
    if (batch->noted[number] == bytes && fits && walked->seen == NULL && weight <= batch->total_limit) {
      size_t room = least(end - walked->position, batch->raw_limit - batch->records_bytes - walked->bytes);
      room = least(room, bytes + batch->total_limit - weight);
      taken += run_bytes(batch, at + bytes, room - bytes, bytes);
    }
    walked->bytes += taken;
    walked->position += taken;
    walked->events += (uint32_t)(taken / bytes);
    at += taken;
  }
  return LL_GATHERED_ALL;
}

void ll_batch_look(ll_batch *batch, ll_ring *ring, uint32_t ring_index, uint64_t now) {
  ll_sighting *seen = &batch->seen[ring_index];
  uint64_t tail = load_relaxed(&ring->tail), head = load_acquire(&ring->head);
  bool later = tail >= seen->position && (int64_t)(seen->tick - load_relaxed(&ring->since)) > 0;
  if (head == tail || (later && seen->tick != 0)) store_relaxed(&ring->since, head == tail ? now : seen->tick);
  if (head == seen->position || tail >= seen->position) *seen = (ll_sighting){head, now};
}

ll_gathered ll_batch_gather(ll_batch *batch, const ll_store *store, uint32_t ring_index) {
  const ll_ring *ring = &store->rings[ring_index];
  const uint8_t *base = ll_ring_base(store, ring);
  uint64_t head = ll_context_end(store, ring), from = load_relaxed(&ring->tail);
  uint32_t known = load_acquire(&batch->types->count);
  if (head <= from) return LL_GATHERED_ALL;
  if (batch->take_count == LL_TAKES_MAX) return LL_GATHERED_FULL;

  uint64_t since = load_relaxed(&ring->since);
  bool late = since != 0 && (int64_t)(batch->now - since) > (int64_t)LATE;
  if (!late && batch->event_count > 0 && distance(batch->now, batch->base) > REACH) return LL_GATHERED_FULL;

  ll_gathered result = LL_GATHERED_ALL;
  walk walked = {.position = from, .tick = since, .seen = late ? &batch->seen[ring_index] : NULL};
  while (walked.position < head && result == LL_GATHERED_ALL) {
    size_t offset = walked.position & (ring->bytes - 1), before = walked.bytes;
    uint64_t lap_end = walked.position + ring->bytes - offset; /* records do not cross it */
    result = walk_lap(batch, base + offset, lap_end < head ? lap_end : head, lap_end <= head, known, &walked);
    if (walked.bytes > before) batch->pieces[batch->piece_count++] = (ll_piece){base + offset, walked.bytes - before};
  }
  if (result == LL_GATHERED_GARBAGE) walked.position = head;
  if (walked.position == from) return result;
  batch->since[batch->take_count] = walked.tick;
  batch->takes[batch->take_count++] = (ll_take){ring_index, from, walked.position};
  if (walked.events > 0)
    batch->segments[batch->segment_count++] =
        (ll_segment){load_relaxed(&ring->thread), (uint32_t)walked.bytes, walked.events};
  batch->records_bytes += walked.bytes;
  batch->event_count += walked.events;
  return result;
}

/* Copies the records and extends the CRC over them, in steps that fit the L1 cache, so that each byte is read from
 * memory once. */
static uint32_t copy_records(const ll_batch *batch, uint8_t *to, uint32_t crc) {
  enum { STEP = 8192 };
  for (uint32_t i = 0; i < batch->piece_count; i++)
    for (size_t done = 0; done < batch->pieces[i].bytes; done += STEP) {
      size_t bytes = least(STEP, batch->pieces[i].bytes - done);
      memcpy(to, batch->pieces[i].at + done, bytes);
      crc = ll_crc32c_more(crc, to, bytes);
      to += bytes;
    }
  return crc;
}

static uint8_t *put_calibrations(uint8_t *to, const ll_calibrations *calibrations, uint32_t first) {
  for (uint32_t i = first; i < calibrations->count; i++) {
    ll_calibration calibration = calibrations->at[i];
    if (i == first) calibration.flags &= ~LL_CALIBRATION_STEP; /* a step from a calibration that is omitted */
    to = ll_append(to, &calibration, sizeof calibration);
  }
  return to;
}

size_t ll_batch_write(ll_batch *batch, const ll_store *store, const ll_calibrations *calibrations,
                      ll_compressor *compressor, const ll_batch_header *header, uint8_t *out) {
  const ll_file_header *file = store->header;
  uint64_t base_tick = calibrations->at[calibrations->count - 1].tick;
  if (distance(base_tick, batch->base) > REACH) base_tick = batch->base;
  uint64_t earliest = batch->event_count > 0 ? full_tick(base_tick, batch->earliest_tick48) : base_tick;
  uint32_t first = ll_calibrations_from(calibrations, earliest);
  size_t route_name_bytes = strlen(header->route_name);
  size_t header_bytes = sizeof(ll_batch_head) + LL_COUNTERS * sizeof(uint64_t) +
                        (calibrations->count - first) * sizeof(ll_calibration) +
                        batch->segment_count * sizeof(ll_segment) + file->names_bytes + 2 + route_name_bytes +
                        file->context_bytes + batch->context->bytes;
  size_t header_padding = (8 - header_bytes % 8) % 8;
  header_bytes += header_padding;

  uint8_t *events = out + header_bytes + batch->descriptors_bytes;
  bool as_it_is = ll_compressor_is_idle(compressor, batch->records_bytes);
  ll_packed packed = {batch->records_bytes, LL_COMPRESSION_NONE, 0};
  ll_records records = {batch->pieces, batch->piece_count, batch->uniform_bytes, batch->records_bytes};
  if (!as_it_is) packed = ll_compress(compressor, &records, events);
  size_t total = header_bytes + batch->descriptors_bytes + packed.bytes + LL_BATCH_CRC_BYTES;
  uint32_t flags = header->flags | (calibrations->uncertain || batch->doubtful ? LL_BATCH_CLOCK_UNCERTAIN : 0);

  ll_batch_head head = {.version = LL_BATCH_VERSION,
                        .big_endian = LL_BIG_ENDIAN,
                        .compression = packed.compression,
                        .shuffle = packed.shuffle,
                        .flags = flags,
                        .header_bytes = (uint32_t)header_bytes,
                        .sequence = header->sequence,
                        .base_tick = base_tick,
                        .tick_hz = ll_tick_hz(calibrations, (ll_clock_kind)file->clock),
                        .total_bytes = (uint32_t)total,
                        .descriptors_bytes = (uint32_t)batch->descriptors_bytes,
                        .events_bytes = (uint32_t)packed.bytes,
                        .events_raw_bytes = (uint32_t)batch->records_bytes,
                        .event_count = batch->event_count,
                        .pid = file->owner.pid,
                        .route = header->route,
                        .counter_count = LL_COUNTERS,
                        .calibration_count = (uint16_t)(calibrations->count - first),
                        .segment_count = (uint16_t)batch->segment_count,
                        .context_count = (uint16_t)(file->context_count + batch->context->count),
                        .clock = (uint8_t)file->clock};
  memcpy(head.magic, LL_BATCH_MAGIC, sizeof head.magic);
  memcpy(head.incarnation, file->incarnation, sizeof head.incarnation);
  uint8_t *to = ll_append(out, &head, sizeof head);
  to = ll_append(to, header->counters, sizeof header->counters);
  to = put_calibrations(to, calibrations, first);
  to = ll_append(to, batch->segments, batch->segment_count * sizeof(ll_segment));
  to = ll_append(to, store->identity, file->names_bytes);
  to = ll_append(to, &(uint16_t){(uint16_t)route_name_bytes}, sizeof(uint16_t));
  to = ll_append(to, header->route_name, route_name_bytes);
  to = ll_append(to, store->identity + file->names_bytes, file->context_bytes);
  to = ll_append(to, batch->context->at, batch->context->bytes);
  to = ll_append(to, (const uint8_t[8]){0}, header_padding);
  for (uint32_t i = 0; i < batch->number_count; i++) {
    const ll_shape *shape = &batch->types->shapes[batch->numbers[i]];
    to = ll_append(to, shape->descriptor, shape->descriptor_bytes);
  }
  uint32_t crc = ll_crc32c(out, (size_t)(to - out));
  crc = as_it_is ? copy_records(batch, to, crc) : ll_crc32c_more(crc, to, packed.bytes);
  ll_append(to + packed.bytes, &crc, sizeof crc);
  return total;
}
