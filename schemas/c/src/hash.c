#include "internal.h"

static uint64_t fnv1a(uint64_t hash, const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

static uint64_t hash_text(uint64_t hash, llb_bytes text) {
  uint8_t count[2];
  store_bytes(count, 2, text.size, false);
  return fnv1a(fnv1a(hash, count, 2), text.data, text.size);
}

static uint64_t hash_field(uint64_t hash, const llb_field *field) {
  return hash_text(hash_text(fnv1a(hash, &field->type, 1), field->name), field->unit);
}

static uint64_t hash_value(uint64_t hash, uint8_t type, llb_value value) {
  if (type == LLB_STRING || type == LLB_BYTES) return hash_text(hash, value.bytes);
  uint8_t bytes[8];
  llb_store_value(bytes, type, value, false);
  return fnv1a(hash, bytes, llb_stored_bytes(type, value));
}

/* Hashes the entry's bytes from level on, in little-endian order. */
uint64_t llb_type_hash(const llb_event_type *type) {
  uint8_t head[4] = {type->level, type->field_count, type->constant_count, 0};
  uint64_t hash = hash_text(fnv1a(0xcbf29ce484222325, head, sizeof head), type->name);
  for (size_t i = 0; i < type->field_count; i++)
    hash = hash_field(hash, &type->fields[i]);
  for (size_t i = 0; i < type->constant_count; i++)
    hash = hash_value(hash_field(hash, &type->constants[i].field), type->constants[i].field.type,
                      type->constants[i].value);
  return hash;
}
