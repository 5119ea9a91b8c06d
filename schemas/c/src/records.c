#include "internal.h"

/* FORMAT.md, section 6: `u64 tick << 16 | type`, the fields packed, padded to 8. */

/* Size of the record at p, padding included; 0 after a rejection. */
static size_t check_record(const llb_batch *batch, const uint8_t *p, const uint8_t *end, size_t offset,
                           llb_rejection *rejection) {
  const llb_event_type *type = llb_type_by_number(batch, (uint16_t)load64(p, batch->big_endian));
  if (!type) {
    llb_reject(rejection, LLB_UNKNOWN_TYPE, offset, "A record's type %u has no descriptor.",
               (unsigned)(load64(p, batch->big_endian) & UINT16_MAX));
    return 0;
  }
  const uint8_t *at = p + 8;
  for (size_t i = 0; i < type->field_count; i++) {
    size_t bytes = llb_value_bytes(type->fields[i].type, at, end, batch->big_endian);
    if (bytes == 0) {
      llb_reject(rejection, LLB_BAD_RECORD, offset, "A record of type %u runs over its segment's end.", type->number);
      return 0;
    }
    if (type->fields[i].type == LLB_BOOL && *at > 1) {
      llb_reject(rejection, LLB_BAD_RECORD, offset, "A bool in a record of type %u is neither 0 nor 1.", type->number);
      return 0;
    }
    at += bytes;
  }
  size_t size = pad8((size_t)(at - p));
  if (size > LLB_MAX_RECORD_BYTES) {
    llb_reject(rejection, LLB_BAD_RECORD, offset, "A record of type %u is larger than %d bytes.", type->number,
               LLB_MAX_RECORD_BYTES);
    return 0;
  }
  return size;
}

bool llb_check_records(const llb_batch *batch, size_t offset, llb_rejection *rejection) {
  const uint8_t *start = batch->events.data, *at = start;
  for (size_t i = 0; i < batch->segment_count; i++) {
    const llb_segment *segment = &batch->segments[i];
    const uint8_t *end = at + segment->bytes;
    uint32_t events = 0;
    for (size_t size; at < end; at += size, events++) {
      size = check_record(batch, at, end, offset + (size_t)(at - start), rejection);
      if (size == 0) return false;
    }
    if (events != segment->events)
      return llb_reject(rejection, LLB_BAD_COUNT, offset + (size_t)(at - start),
                        "Segment %zu holds %u records, not %u.", i, events, segment->events);
  }
  return true;
}

llb_cursor llb_events(const llb_batch *batch) {
  return (llb_cursor){batch, 0, 0, batch->segment_count ? batch->segments[0].events : 0};
}

bool llb_next(llb_cursor *cursor, llb_event *event) {
  const llb_batch *batch = cursor->batch;
  while (cursor->left == 0) {
    if (cursor->segment + 1 >= batch->segment_count) return false;
    cursor->left = batch->segments[++cursor->segment].events;
  }
  cursor->left--;
  const uint8_t *p = batch->events.data + cursor->offset, *at = p + 8;
  const uint8_t *end = batch->events.data + batch->events.size;
  uint64_t word = load64(p, batch->big_endian);
  event->type = llb_type_by_number(batch, (uint16_t)word);
  event->tick = llb_full_tick(batch->base_tick, word >> 16);
  event->time_ns = llb_time_ns(batch, event->tick);
  event->thread = batch->segments[cursor->segment].thread;
  event->offset = cursor->offset;
  for (size_t i = 0; i < event->type->field_count; i++) {
    uint8_t type = event->type->fields[i].type;
    event->values[i] = llb_load_value(type, at, batch->big_endian);
    at += llb_value_bytes(type, at, end, batch->big_endian);
  }
  cursor->offset += pad8((size_t)(at - p));
  return true;
}

bool llb_append(llb_batch *batch, llb_segment *segment, const llb_event_type *type, uint64_t tick,
                const llb_value *values, llb_rejection *rejection) {
  struct llb_private *priv = batch->priv;
  if (!priv->events) {
    priv->events = llb_batch_alloc(batch, LLB_MAX_EVENTS_BYTES);
    if (!priv->events) return llb_reject(rejection, LLB_NO_MEMORY, 0, "Out of memory.");
    batch->events.data = priv->events;
  }
  if (llb_full_tick(batch->base_tick, tick) != tick)
    return llb_reject(rejection, LLB_BAD_RECORD, 0, "An event's tick is too far from base_tick.");
  size_t size = 8;
  for (size_t i = 0; i < type->field_count; i++) {
    if ((type->fields[i].type == LLB_STRING || type->fields[i].type == LLB_BYTES) && values[i].bytes.size > UINT16_MAX)
      return llb_reject(rejection, LLB_BAD_RECORD, 0, "A string or bytes value is longer than 65535 bytes.");
    size += llb_stored_bytes(type->fields[i].type, values[i]);
  }
  if (pad8(size) > LLB_MAX_RECORD_BYTES)
    return llb_reject(rejection, LLB_BAD_RECORD, 0, "An event is larger than %d bytes.", LLB_MAX_RECORD_BYTES);
  if (pad8(size) > LLB_MAX_EVENTS_BYTES - batch->events.size)
    return llb_reject(rejection, LLB_TOO_LARGE, 0, "The events are more than %d bytes.", LLB_MAX_EVENTS_BYTES);
  uint8_t *p = priv->events + batch->events.size;
  store_bytes(p, 8, tick << 16 | type->number, batch->big_endian);
  p += 8;
  for (size_t i = 0; i < type->field_count; i++) {
    llb_store_value(p, type->fields[i].type, values[i], batch->big_endian);
    p += llb_stored_bytes(type->fields[i].type, values[i]);
  }
  batch->events.size += pad8(size);
  segment->bytes += (uint32_t)pad8(size);
  segment->events++;
  return true;
}
