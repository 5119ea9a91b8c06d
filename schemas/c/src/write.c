#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Growing buffer. After an error it ignores all writes, so that only the end must check for errors. */
typedef struct output {
  uint8_t *bytes;
  size_t size, capacity;
  bool big;
  bool failed;
} output;

static uint8_t *reserve(output *out, size_t size) {
  if (!out->failed && size > out->capacity - out->size) {
    size_t capacity = 2 * out->capacity + size;
    uint8_t *bytes = realloc(out->bytes, capacity);
    out->failed = !bytes;
    if (bytes) {
      out->bytes = bytes;
      out->capacity = capacity;
    }
  }
  if (out->failed) return NULL;
  uint8_t *p = out->bytes + out->size;
  out->size += size;
  return p;
}

static void put_raw(output *out, const uint8_t *data, size_t size) {
  uint8_t *p = reserve(out, size);
  if (p && size) memcpy(p, data, size);
}

static void put(output *out, unsigned width, uint64_t value) {
  uint8_t *p = reserve(out, width);
  if (p) store_bytes(p, width, value, out->big);
}

static void put_padding(output *out) {
  static const uint8_t zeros[8];
  put_raw(out, zeros, pad8(out->size) - out->size);
}

static void put_text(output *out, llb_bytes text) {
  out->failed |= text.size > UINT16_MAX;
  put(out, 2, text.size);
  put_raw(out, text.data, text.size);
}

static void put_field(output *out, const llb_field *field) {
  put(out, 1, field->type);
  put_text(out, field->name);
  put_text(out, field->unit);
}

static void put_constant(output *out, const llb_constant *constant) {
  put_field(out, &constant->field);
  uint8_t type = constant->field.type;
  if ((type == LLB_STRING || type == LLB_BYTES) && constant->value.bytes.size > UINT16_MAX) {
    out->failed = true;
    return;
  }
  uint8_t *p = reserve(out, llb_stored_bytes(type, constant->value));
  if (p) llb_store_value(p, type, constant->value, out->big);
}

static void put_descriptor(output *out, const llb_event_type *type) {
  size_t from = out->size;
  put(out, 4, 0); /* entry_length, set after the padding */
  put(out, 2, type->number);
  put(out, 2, 0);
  put(out, 8, llb_type_hash(type));
  put(out, 1, type->level);
  put(out, 1, type->field_count);
  put(out, 1, type->constant_count);
  put(out, 1, 0);
  put_text(out, type->name);
  for (size_t i = 0; i < type->field_count; i++)
    put_field(out, &type->fields[i]);
  for (size_t i = 0; i < type->constant_count; i++)
    put_constant(out, &type->constants[i]);
  put_padding(out);
  if (!out->failed) store_bytes(out->bytes + from, 4, out->size - from, out->big);
}

static uint32_t count_events(const llb_batch *batch) {
  uint32_t events = 0;
  for (size_t i = 0; i < batch->segment_count; i++)
    events += batch->segments[i].events;
  return events;
}

/* The caller sets header_length, total_length and descriptors_length at the end. */
static void put_header(output *out, const llb_batch *batch, size_t stored_events) {
  const uint8_t head[4] = {1, batch->big_endian, batch->compression, batch->shuffle};
  put_raw(out, MAGIC, sizeof MAGIC);
  put_raw(out, head, sizeof head);
  put(out, 4, batch->flags);
  put(out, 4, 0);
  put_raw(out, batch->incarnation, sizeof batch->incarnation);
  put(out, 8, batch->sequence);
  put(out, 8, batch->base_tick);
  put(out, 8, batch->tick_hz);
  put(out, 4, 0);
  put(out, 4, 0);
  put(out, 4, stored_events);
  put(out, 4, batch->events.size);
  put(out, 4, count_events(batch));
  put(out, 4, batch->pid);
  put(out, 2, batch->route);
  put(out, 2, batch->counter_count);
  put(out, 2, batch->calibration_count);
  put(out, 2, batch->segment_count);
  put(out, 2, batch->context_count);
  put(out, 1, batch->clock);
  put_raw(out, (const uint8_t[5]){0}, 5);
  for (size_t i = 0; i < batch->counter_count; i++)
    put(out, 8, batch->counters[i]);
  for (size_t i = 0; i < batch->calibration_count; i++) {
    const llb_calibration *c = &batch->calibrations[i];
    put(out, 8, c->tick);
    put(out, 8, c->monotonic_ns);
    put(out, 8, (uint64_t)c->realtime_offset_ns);
    put(out, 4, c->error_ns);
    put(out, 4, c->step ? CALIBRATION_STEP : 0);
  }
  for (size_t i = 0; i < batch->segment_count; i++) {
    put(out, 8, batch->segments[i].thread);
    put(out, 4, batch->segments[i].bytes);
    put(out, 4, batch->segments[i].events);
  }
}

static void put_parent(output *out, const llb_parent *parent) {
  put_raw(out, parent->incarnation, sizeof parent->incarnation);
  put(out, 8, parent->sequence);
  put(out, 2, parent->route);
  put(out, 2, 0);
  put(out, 4, parent->events_in);
  put(out, 4, parent->events_out);
  put(out, 4, 0);
}

static void put_batch(output *out, const llb_batch *batch, llb_bytes stored) {
  put_header(out, batch, stored.size);
  if (batch->flags & LLB_DERIVED) put_parent(out, &batch->parent);
  put_text(out, batch->host);
  put_text(out, batch->program);
  put_text(out, batch->route_name);
  for (size_t i = 0; i < batch->context_count; i++) {
    put_text(out, batch->context[i].key);
    put_text(out, batch->context[i].value);
  }
  put_padding(out);
  size_t header = out->size;
  for (size_t i = 0; i < batch->type_count; i++)
    put_descriptor(out, &batch->types[i]);
  size_t descriptors = out->size - header;
  put_raw(out, stored.data, stored.size);
  if (out->failed) return;
  store_bytes(out->bytes + AT_HEADER_LENGTH, 4, header, out->big);
  store_bytes(out->bytes + AT_TOTAL_LENGTH, 4, out->size + CRC_BYTES, out->big);
  store_bytes(out->bytes + AT_TOTAL_LENGTH + 4, 4, descriptors, out->big);
  put(out, CRC_BYTES, llb_crc32c(out->bytes, out->size));
}

uint8_t *llb_write(const llb_batch *batch, size_t *size, llb_rejection *rejection) {
  if (batch->compression > LLB_ZSTD || !llb_shuffle_is_legal(batch->shuffle, batch->compression)) {
    llb_reject(rejection, LLB_BAD_FLAG, 6, "The compression or shuffle is unknown.");
    return NULL;
  }
  llb_bytes stored = {NULL, 0};
  uint8_t *compressed = llb_compress(batch, &stored.size);
  output out = {.big = batch->big_endian, .failed = !compressed};
  stored.data = compressed;
  put_batch(&out, batch, stored);
  free(compressed);
  if (out.failed) {
    llb_reject(rejection, LLB_NO_MEMORY, 0, "Out of memory, or a text is longer than 65535 bytes.");
    free(out.bytes);
    return NULL;
  }
  llb_batch *again = llb_read(out.bytes, out.size, rejection);
  llb_batch_free(again);
  if (!again) {
    free(out.bytes);
    return NULL;
  }
  *size = out.size;
  return out.bytes;
}
