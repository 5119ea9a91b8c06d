#include <string.h>

#include "internal.h"

/* Offsets of the sections of one message. */
typedef struct frame {
  const uint8_t *bytes;
  bool big;
  uint32_t header, descriptors, events, events_raw, total;
  size_t calibrations_at, segments_at, parent_at, text_at;
} frame;

static uint32_t u32_at(const frame *f, size_t offset) {
  return load32(f->bytes + offset, f->big);
}
static uint16_t u16_at(const frame *f, size_t offset) {
  return load16(f->bytes + offset, f->big);
}
static uint64_t u64_at(const frame *f, size_t offset) {
  return load64(f->bytes + offset, f->big);
}

/* Checks up to the CRC: true for one whole, undamaged message. */
static bool check_frame(frame *f, const uint8_t *bytes, size_t size, llb_rejection *rejection) {
  f->bytes = bytes;
  if (size < FIXED_HEADER_BYTES + CRC_BYTES)
    return llb_reject(rejection, LLB_TRUNCATED, size, "The message of %zu bytes is shorter than any batch.", size);
  if (memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
    return llb_reject(rejection, LLB_BAD_MAGIC, 0, "The message does not start with the magic of a batch.");
  if (bytes[AT_VERSION] != 1)
    return llb_reject(rejection, LLB_BAD_VERSION, AT_VERSION, "Version %u is unknown; this reader knows version 1.",
                      bytes[AT_VERSION]);
  if (bytes[AT_BYTE_ORDER] > 1)
    return llb_reject(rejection, LLB_BAD_FLAG, AT_BYTE_ORDER, "Byte order %u is unknown.", bytes[AT_BYTE_ORDER]);
  f->big = bytes[AT_BYTE_ORDER];
  f->total = u32_at(f, AT_TOTAL_LENGTH);
  f->header = u32_at(f, AT_HEADER_LENGTH);
  f->descriptors = u32_at(f, AT_DESCRIPTORS_LENGTH);
  f->events = u32_at(f, AT_EVENTS_LENGTH);
  f->events_raw = u32_at(f, AT_EVENTS_RAW_LENGTH);
  if (size < f->total)
    return llb_reject(rejection, LLB_TRUNCATED, size, "The message has %zu of the batch's %u bytes.", size, f->total);
  if (f->total > LLB_MAX_BATCH_BYTES)
    return llb_reject(rejection, LLB_TOO_LARGE, AT_TOTAL_LENGTH, "A batch of %u bytes is larger than %d.", f->total,
                      LLB_MAX_BATCH_BYTES);
  if (f->events_raw > LLB_MAX_EVENTS_BYTES)
    return llb_reject(rejection, LLB_TOO_LARGE, AT_EVENTS_RAW_LENGTH, "Events of %u bytes are more than %d.",
                      f->events_raw, LLB_MAX_EVENTS_BYTES);
  if (size > f->total)
    return llb_reject(rejection, LLB_BAD_LENGTH, f->total, "The message is longer than the batch's %u bytes.",
                      f->total);
  if ((uint64_t)f->header + f->descriptors + f->events + CRC_BYTES != f->total)
    return llb_reject(rejection, LLB_BAD_LENGTH, AT_TOTAL_LENGTH, "The sections do not add up to total_length.");
  if (u32_at(f, f->total - CRC_BYTES) != llb_crc32c(bytes, f->total - CRC_BYTES))
    return llb_reject(rejection, LLB_BAD_CRC, f->total - CRC_BYTES, "The CRC does not fit.");
  return true;
}

static bool check_reserved(const frame *f, llb_rejection *rejection) {
  const uint8_t *b = f->bytes;
  if (b[AT_COMPRESSION] > LLB_ZSTD)
    return llb_reject(rejection, LLB_BAD_FLAG, AT_COMPRESSION, "Compression %u is unknown.", b[AT_COMPRESSION]);
  if (!llb_shuffle_is_legal(b[AT_SHUFFLE], b[AT_COMPRESSION]))
    return llb_reject(rejection, LLB_BAD_FLAG, AT_SHUFFLE, "Shuffle %u is not legal with compression %u.",
                      b[AT_SHUFFLE], b[AT_COMPRESSION]);
  if (u32_at(f, AT_FLAGS) & ~(uint32_t)(FLAGS_KNOWN | FLAGS_IGNORED))
    return llb_reject(rejection, LLB_BAD_FLAG, AT_FLAGS, "A reserved flag is set.");
  if (b[AT_CLOCK] > LLB_MONOTONIC)
    return llb_reject(rejection, LLB_BAD_FLAG, AT_CLOCK, "Clock %u is unknown.", b[AT_CLOCK]);
  for (size_t i = AT_RESERVED; i < FIXED_HEADER_BYTES; i++)
    if (b[i]) return llb_reject(rejection, LLB_BAD_FLAG, i, "A reserved byte is set.");
  return true;
}

/* Checks reserved bits after the fixed header, as far as its counts and the descriptors' lengths reach; those are
 * validated later. */
static bool check_reserved_in_sections(frame *f, llb_rejection *rejection) {
  f->calibrations_at = FIXED_HEADER_BYTES + 8 * (size_t)u16_at(f, AT_COUNTER_COUNT);
  f->segments_at = f->calibrations_at + CALIBRATION_BYTES * (size_t)u16_at(f, AT_CALIBRATION_COUNT);
  f->parent_at = f->segments_at + SEGMENT_BYTES * (size_t)u16_at(f, AT_SEGMENT_COUNT);
  f->text_at = f->parent_at + (u32_at(f, AT_FLAGS) & LLB_DERIVED ? PARENT_BYTES : 0);
  if (f->text_at <= f->header) {
    for (size_t at = f->calibrations_at; at < f->segments_at; at += CALIBRATION_BYTES)
      if (u32_at(f, at + 28) & ~(uint32_t)CALIBRATION_STEP)
        return llb_reject(rejection, LLB_BAD_FLAG, at + 28, "A reserved bit of a calibration is set.");
    if (f->text_at > f->parent_at && (u16_at(f, f->parent_at + 26) || u32_at(f, f->parent_at + 36)))
      return llb_reject(rejection, LLB_BAD_FLAG, f->parent_at + 26, "A reserved byte of the parent is set.");
  }
  size_t end = (size_t)f->header + f->descriptors;
  for (size_t at = f->header, length; end - at >= DESCRIPTOR_FIXED_BYTES; at += length) {
    length = u32_at(f, at);
    if (length < DESCRIPTOR_FIXED_BYTES || length % 8 || length > end - at) break;
    if (u16_at(f, at + 6) || f->bytes[at + 19])
      return llb_reject(rejection, LLB_BAD_FLAG, at, "A reserved byte of a descriptor is set.");
  }
  return true;
}

static bool check_lengths(frame *f, llb_rejection *rejection) {
  if (f->header % 8 || f->header < FIXED_HEADER_BYTES)
    return llb_reject(rejection, LLB_BAD_LENGTH, AT_HEADER_LENGTH, "header_length %u is not legal.", f->header);
  if (u64_at(f, AT_SEQUENCE) == 0) return llb_reject(rejection, LLB_BAD_LENGTH, AT_SEQUENCE, "The sequence is 0.");
  if (f->descriptors % 8)
    return llb_reject(rejection, LLB_BAD_LENGTH, AT_DESCRIPTORS_LENGTH, "descriptors_length is no multiple of 8.");
  if (f->events_raw % 8)
    return llb_reject(rejection, LLB_BAD_LENGTH, AT_EVENTS_RAW_LENGTH, "events_raw_length is no multiple of 8.");
  if (f->bytes[AT_COMPRESSION] == LLB_PLAIN && f->events != f->events_raw)
    return llb_reject(rejection, LLB_BAD_LENGTH, AT_EVENTS_RAW_LENGTH,
                      "Events that are not compressed have two different lengths.");
  if (u16_at(f, AT_COUNTER_COUNT) < LLB_COUNTERS)
    return llb_reject(rejection, LLB_BAD_LENGTH, AT_COUNTER_COUNT, "There are fewer than %d counters.", LLB_COUNTERS);
  if (f->text_at > f->header)
    return llb_reject(rejection, LLB_BAD_LENGTH, AT_HEADER_LENGTH, "The header is too short for its arrays.");
  return true;
}

static void read_fixed(llb_batch *batch, const frame *f) {
  batch->big_endian = f->big;
  batch->compression = f->bytes[AT_COMPRESSION];
  batch->shuffle = f->bytes[AT_SHUFFLE];
  batch->clock = f->bytes[AT_CLOCK];
  batch->flags = u32_at(f, AT_FLAGS);
  memcpy(batch->incarnation, f->bytes + AT_INCARNATION, sizeof batch->incarnation);
  batch->sequence = u64_at(f, AT_SEQUENCE);
  batch->base_tick = u64_at(f, AT_BASE_TICK);
  batch->tick_hz = u64_at(f, AT_TICK_HZ);
  batch->event_count = u32_at(f, AT_EVENT_COUNT);
  batch->pid = u32_at(f, AT_PID);
  batch->crc = u32_at(f, f->total - CRC_BYTES);
  batch->route = u16_at(f, AT_ROUTE);
  batch->counter_count = u16_at(f, AT_COUNTER_COUNT);
  batch->calibration_count = u16_at(f, AT_CALIBRATION_COUNT);
  batch->segment_count = u16_at(f, AT_SEGMENT_COUNT);
  batch->context_count = u16_at(f, AT_CONTEXT_COUNT);
}

static bool read_arrays(llb_batch *batch, const frame *f, llb_rejection *rejection) {
  batch->counters = llb_batch_alloc(batch, batch->counter_count * sizeof *batch->counters);
  batch->calibrations = llb_batch_alloc(batch, batch->calibration_count * sizeof *batch->calibrations);
  batch->segments = llb_batch_alloc(batch, batch->segment_count * sizeof *batch->segments);
  batch->context = llb_batch_alloc(batch, batch->context_count * sizeof *batch->context);
  if (!batch->counters || !batch->calibrations || !batch->segments || !batch->context)
    return llb_reject(rejection, LLB_NO_MEMORY, 0, "Out of memory.");
  for (size_t i = 0; i < batch->counter_count; i++)
    batch->counters[i] = u64_at(f, FIXED_HEADER_BYTES + 8 * i);
  for (size_t i = 0; i < batch->calibration_count; i++) {
    size_t at = f->calibrations_at + CALIBRATION_BYTES * i;
    batch->calibrations[i] = (llb_calibration){u64_at(f, at), u64_at(f, at + 8), (int64_t)u64_at(f, at + 16),
                                               u32_at(f, at + 24), u32_at(f, at + 28) & CALIBRATION_STEP};
  }
  for (size_t i = 0; i < batch->segment_count; i++) {
    size_t at = f->segments_at + SEGMENT_BYTES * i;
    batch->segments[i] = (llb_segment){u64_at(f, at), u32_at(f, at + 8), u32_at(f, at + 12)};
    if (batch->segments[i].bytes % 8)
      return llb_reject(rejection, LLB_BAD_LENGTH, at + 8, "The bytes of segment %zu are no multiple of 8.", i);
  }
  return true;
}

static void read_parent(llb_batch *batch, const frame *f) {
  if (!(batch->flags & LLB_DERIVED)) return;
  size_t at = f->parent_at;
  llb_parent *parent = &batch->parent;
  memcpy(parent->incarnation, f->bytes + at, sizeof parent->incarnation);
  parent->sequence = u64_at(f, at + 16);
  parent->route = u16_at(f, at + 24);
  parent->events_in = u32_at(f, at + 28);
  parent->events_out = u32_at(f, at + 32);
}

/* Reads one str16 that must end within the header. */
static bool take_text(const frame *f, size_t *at, llb_bytes *text, llb_rejection *rejection) {
  if (f->header - *at < 2 || f->header - *at - 2 < u16_at(f, *at))
    return llb_reject(rejection, LLB_BAD_LENGTH, *at, "A text runs over the end of the header.");
  *text = (llb_bytes){f->bytes + *at + 2, u16_at(f, *at)};
  *at += 2 + text->size;
  return true;
}

static bool read_texts(llb_batch *batch, const frame *f, llb_rejection *rejection) {
  size_t at = f->text_at;
  if (!take_text(f, &at, &batch->host, rejection) || !take_text(f, &at, &batch->program, rejection) ||
      !take_text(f, &at, &batch->route_name, rejection))
    return false;
  for (size_t i = 0; i < batch->context_count; i++)
    if (!take_text(f, &at, &batch->context[i].key, rejection) ||
        !take_text(f, &at, &batch->context[i].value, rejection))
      return false;
  return true;
}

static bool check_segments(const llb_batch *batch, const frame *f, llb_rejection *rejection) {
  uint64_t bytes = 0, events = 0;
  for (size_t i = 0; i < batch->segment_count; i++) {
    bytes += batch->segments[i].bytes;
    events += batch->segments[i].events;
  }
  if (bytes != f->events_raw)
    return llb_reject(rejection, LLB_BAD_COUNT, f->segments_at, "The segments do not sum up to events_raw_length.");
  if (events != batch->event_count)
    return llb_reject(rejection, LLB_BAD_COUNT, f->segments_at, "The segments do not sum up to event_count.");
  return true;
}

static bool check_header_text(const llb_batch *batch, const frame *f, llb_rejection *rejection) {
  if (!llb_check_text(f->bytes, batch->host, 0, MAX_TEXT_BYTES, "host", rejection) ||
      !llb_check_text(f->bytes, batch->program, 0, MAX_TEXT_BYTES, "program", rejection) ||
      !llb_check_text(f->bytes, batch->route_name, 0, MAX_TEXT_BYTES, "route name", rejection))
    return false;
  for (size_t i = 0; i < batch->context_count; i++)
    if (!llb_check_text(f->bytes, batch->context[i].key, 1, MAX_NAME_BYTES, "context's key", rejection) ||
        !llb_check_text(f->bytes, batch->context[i].value, 0, MAX_TEXT_BYTES, "context's value", rejection))
      return false;
  return true;
}

static bool unpack_events(llb_batch *batch, const frame *f, llb_rejection *rejection) {
  size_t at = (size_t)f->header + f->descriptors;
  llb_bytes stored = {f->bytes + at, f->events};
  if (batch->compression == LLB_PLAIN) {
    batch->events = stored;
    return true;
  }
  uint8_t *raw = llb_batch_alloc(batch, f->events_raw);
  uint8_t *scratch = batch->shuffle ? llb_batch_alloc(batch, f->events_raw) : NULL;
  if (!raw || (batch->shuffle && !scratch)) return llb_reject(rejection, LLB_NO_MEMORY, 0, "Out of memory.");
  if (!llb_decompress(batch, stored, raw, scratch, f->events_raw))
    return llb_reject(rejection, LLB_BAD_COMPRESSION, at, "The events do not decompress to %u bytes.", f->events_raw);
  batch->events = (llb_bytes){raw, f->events_raw};
  return true;
}

/* The checks of FORMAT.md, section 9, from the second bad_flag on. */
static bool read_sections(llb_batch *batch, frame *f, llb_rejection *rejection) {
  llb_bytes message = {f->bytes, f->total};
  size_t events_at = (size_t)f->header + f->descriptors;
  if (!check_reserved(f, rejection) || !check_reserved_in_sections(f, rejection) || !check_lengths(f, rejection))
    return false;
  read_fixed(batch, f);
  read_parent(batch, f);
  return read_arrays(batch, f, rejection) && read_texts(batch, f, rejection) &&
         llb_read_descriptors(batch, message, f->header, events_at, rejection) &&
         llb_check_calibrations(batch, f->calibrations_at, rejection) && check_segments(batch, f, rejection) &&
         check_header_text(batch, f, rejection) && llb_check_descriptors_text(batch, f->bytes, rejection) &&
         llb_check_descriptors(batch, f->bytes, rejection) && unpack_events(batch, f, rejection) &&
         llb_check_records(batch, events_at, rejection);
}

llb_batch *llb_read(const void *message, size_t size, llb_rejection *rejection) {
  frame f = {0};
  if (!check_frame(&f, message, size, rejection)) return NULL;
  llb_batch *batch = llb_batch_new();
  if (!batch) {
    llb_reject(rejection, LLB_NO_MEMORY, 0, "Out of memory.");
    return NULL;
  }
  if (!read_sections(batch, &f, rejection)) {
    llb_batch_free(batch);
    return NULL;
  }
  return batch;
}

size_t llb_frame_bytes(const void *bytes, size_t size) {
  const uint8_t *b = bytes;
  if (size < FIXED_HEADER_BYTES + CRC_BYTES || memcmp(b, MAGIC, sizeof MAGIC) != 0 || b[AT_BYTE_ORDER] > 1) return 0;
  return load32(b + AT_TOTAL_LENGTH, b[AT_BYTE_ORDER]);
}
