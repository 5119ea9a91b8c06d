#include "types.h"

#include "base/atomics.h"
#include "base/format.h"
#include "base/untouched.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
  SHAPES = 65536,
  RESERVE_CHUNK = 65536,
};

static const uint8_t fixed_bytes[] = {0, 4, 8, 4, 8, 0, 4, 8, 1, 0};

int ll_types_create(ll_types *types) {
  memset(types, 0, sizeof *types);
  types->shapes = ll_untouched(SHAPES * sizeof(ll_shape));
  types->arena = ll_untouched(LL_DESCRIPTORS_BYTES);
  types->codes = ll_untouched(LL_DESCRIPTORS_BYTES);
  if (types->shapes != NULL && types->arena != NULL && types->codes != NULL) return 0;
  ll_types_free(types);
  return ENOMEM;
}

void ll_types_free(ll_types *types) {
  if (types->shapes != NULL) munmap(types->shapes, SHAPES * sizeof(ll_shape));
  if (types->arena != NULL) munmap(types->arena, LL_DESCRIPTORS_BYTES);
  if (types->codes != NULL) munmap(types->codes, LL_DESCRIPTORS_BYTES);
  memset(types, 0, sizeof *types);
}

/* --- a declaration becomes a descriptor --- */

typedef struct writer {
  uint8_t bytes[LL_DESCRIPTOR_MAX];
  size_t used;
  const char *fault;
} writer;

static void put(writer *out, const void *bytes, size_t count) {
  if (count > sizeof out->bytes - out->used) {
    out->fault = "has a descriptor larger than 8,192 bytes";
    return;
  }
  memcpy(out->bytes + out->used, bytes, count);
  out->used += count;
}

static void put_u8(writer *out, uint8_t value) {
  put(out, &value, 1);
}

static void put_counted(writer *out, const void *bytes, size_t count) {
  uint16_t count16 = (uint16_t)count;
  put(out, &count16, sizeof count16);
  put(out, bytes, count);
}

static void put_text(writer *out, const char *text, size_t least) {
  size_t count = text != NULL ? strlen(text) : 0;
  if (count < least) out->fault = "has an empty name";
  if (count > 255) out->fault = "has a name or unit longer than 255 bytes";
  if (count > 0 && !ll_is_utf8(text)) out->fault = "has a name or unit that is not UTF-8";
  if (out->fault == NULL) put_counted(out, text, count);
}

static void put_value(writer *out, const ll_constant *constant) {
  float real32 = (float)constant->real;
  uint8_t boolean = constant->integer != 0;
  switch (constant->code) {
  case LL_CODE_i32:
  case LL_CODE_u32: put(out, &(uint32_t){(uint32_t)constant->integer}, 4); break;
  case LL_CODE_i64:
  case LL_CODE_u64: put(out, &constant->integer, 8); break;
  case LL_CODE_f32: put(out, &real32, 4); break;
  case LL_CODE_f64: put(out, &constant->real, 8); break;
  case LL_CODE_bool: put_u8(out, boolean); break;
  case LL_CODE_string:
    if (!ll_is_utf8(constant->text)) out->fault = "has a string constant that is not UTF-8";
    put_counted(out, constant->text, strlen(constant->text));
    break;
  case LL_CODE_bytes: put_counted(out, constant->text, (size_t)constant->integer); break;
  default: out->fault = "has a constant of unknown type";
  }
}

static bool names_differ(const ll_event_type *type) {
  unsigned total = type->field_count + type->constant_count;
  for (unsigned i = 0; i < total; i++)
    for (unsigned j = 0; j < i; j++) {
      const char *a = i < type->field_count ? type->fields[i].name : type->constants[i - type->field_count].name;
      const char *b = j < type->field_count ? type->fields[j].name : type->constants[j - type->field_count].name;
      if (strcmp(a, b) == 0) return false;
    }
  return true;
}

static void write_descriptor(writer *out, const ll_event_type *type, uint16_t number) {
  uint8_t zeros[LL_DESCRIPTOR_HASHED] = {0};
  out->used = 0;
  out->fault = NULL;
  put(out, zeros, sizeof zeros);
  put_u8(out, type->level);
  put_u8(out, type->field_count);
  put_u8(out, type->constant_count);
  put_u8(out, 0);
  put_text(out, type->name, 1);
  for (unsigned i = 0; i < type->field_count; i++) {
    put_u8(out, type->fields[i].code);
    put_text(out, type->fields[i].name, 1);
    put_text(out, type->fields[i].unit, 0);
  }
  for (unsigned i = 0; i < type->constant_count; i++) {
    put_u8(out, type->constants[i].code);
    put_text(out, type->constants[i].name, 1);
    put_text(out, type->constants[i].unit, 0);
    put_value(out, &type->constants[i]);
  }
  if (type->level < LL_FATAL || type->level > LL_DEBUG3) out->fault = "has an unknown level";
  if (out->fault == NULL && !names_differ(type)) out->fault = "has two fields or constants of one name";
  if (out->fault != NULL) return;

  uint64_t hash = ll_descriptor_hash(out->bytes, out->used);
  put(out, zeros, (8 - out->used % 8) % 8);
  uint32_t length = (uint32_t)out->used;
  memcpy(out->bytes, &length, sizeof length);
  memcpy(out->bytes + LL_DESCRIPTOR_NUMBER, &number, sizeof number);
  memcpy(out->bytes + LL_DESCRIPTOR_HASH, &hash, sizeof hash);
}

/* --- descriptors become shapes --- */

static uint16_t u16_at(const uint8_t *at) {
  uint16_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

/* Adds the shape of one entry. False: its fields' names extend beyond it. */
static bool add_shape(ll_types *types, const uint8_t *entry, uint32_t bytes, uint16_t number) {
  uint32_t fields = entry[LL_DESCRIPTOR_HASHED + 1];
  if (types->codes_used + fields > LL_DESCRIPTORS_BYTES) return false;
  ll_shape shape = {.descriptor = entry,
                    .descriptor_bytes = bytes,
                    .record_bytes = 8,
                    .field_codes = types->codes + types->codes_used,
                    .field_count = fields};
  size_t at = LL_DESCRIPTOR_NAME;
  if (at + 2 > bytes) return false;
  at += 2 + u16_at(entry + at);
  for (uint32_t i = 0; i < fields; i++) {
    if (at >= bytes) return false;
    uint8_t code = entry[at++];
    for (int text = 0; text < 2; text++) {
      if (at + 2 > bytes) return false;
      at += 2 + u16_at(entry + at);
    }
    if (code < LL_CODE_i32 || code > LL_CODE_bytes) return false;
    types->codes[types->codes_used + i] = code;
    if (fixed_bytes[code] == 0)
      shape.record_bytes = 0;
    else if (shape.record_bytes != 0)
      shape.record_bytes += fixed_bytes[code];
  }
  if (at > bytes) return false;
  shape.record_bytes = (shape.record_bytes + 7) & ~7u;
  types->codes_used += fields;
  types->shapes[number] = shape;
  return true;
}

static uint16_t *chain_of(ll_types *types, const writer *entry) {
  uint64_t hash;
  memcpy(&hash, entry->bytes + LL_DESCRIPTOR_HASH, sizeof hash);
  return &types->chains[hash % (sizeof types->chains / sizeof types->chains[0])];
}

static uint32_t find_equal(const ll_types *types, const writer *entry, uint32_t number) {
  for (; number != 0; number = types->shapes[number].next) {
    const ll_shape *known = &types->shapes[number];
    if (known->descriptor_bytes == entry->used &&
        memcmp(known->descriptor + LL_DESCRIPTOR_HASH, entry->bytes + LL_DESCRIPTOR_HASH,
               entry->used - LL_DESCRIPTOR_HASH) == 0)
      return number;
  }
  return 0;
}

uint32_t ll_types_register(ll_types *types, const ll_event_type *type, char *why, size_t why_bytes) {
  static writer entry; /* too large for the stack of a small thread; one caller at a time */
  write_descriptor(&entry, type, (uint16_t)(types->count + 1));
  uint16_t *chain = NULL;
  if (entry.fault == NULL) {
    chain = chain_of(types, &entry);
    uint32_t equal = find_equal(types, &entry, *chain);
    if (equal != 0) return equal;
    if (types->count == LL_TYPE_NUMBER_MAX || entry.used > LL_DESCRIPTORS_BYTES - types->arena_used) {
      snprintf(why, why_bytes,
               "event type \"%.64s\" is one too many; its events are dropped, and those of each further one",
               type->name);
      if (types->full) why[0] = '\0';
      types->full = true;
      return LL_TYPE_REFUSED;
    }
  }
  if (entry.fault != NULL) {
    snprintf(why, why_bytes, "event type \"%.64s\" %s; its events are dropped", type->name, entry.fault);
    return LL_TYPE_REFUSED;
  }
  uint8_t *home = types->arena + types->arena_used;
  memcpy(home, entry.bytes, entry.used);
  add_shape(types, home, (uint32_t)entry.used, (uint16_t)(types->count + 1));
  types->arena_used += (uint32_t)entry.used;
  types->shapes[types->count + 1].next = *chain;
  *chain = (uint16_t)(types->count + 1);
  store_release(&types->count, types->count + 1);
  return types->count;
}

bool ll_types_save(const ll_types *types, ll_store *store) {
  uint64_t saved = store->header->descriptors_used;
  uint64_t reserved = (saved + RESERVE_CHUNK - 1) / RESERVE_CHUNK * RESERVE_CHUNK;
  uint64_t needed = (types->arena_used + RESERVE_CHUNK - 1) / RESERVE_CHUNK * RESERVE_CHUNK;
  uint64_t offset = (uint64_t)(store->descriptors - store->map);
  if (needed > reserved && !ll_store_reserve(store, offset + reserved, needed - reserved)) return false;
  memcpy(store->descriptors + saved, types->arena + saved, types->arena_used - saved);
  store_release(&store->header->descriptors_used, types->arena_used);
  return true;
}

/* Numbers are consecutive, so as long as nothing is damaged the place of an entry says its number. Behind damage the
 * entry's own number counts. */
void ll_types_load(ll_types *types, const ll_store *store) {
  uint32_t used = (uint32_t)store->header->descriptors_used;
  bool lost = false; /* the entry's number is not known from its place */
  memcpy(types->arena, store->descriptors, used);
  types->arena_used = used;
  for (uint32_t at = 0; at < used && types->count < LL_TYPE_NUMBER_MAX;) {
    uint8_t *entry = types->arena + at;
    uint32_t bytes = ll_descriptor_bytes(entry, used - at);
    uint16_t next = (uint16_t)(types->count + 1), number = next;
    if (bytes > 0 && lost) memcpy(&number, entry + LL_DESCRIPTOR_NUMBER, sizeof number);
    if (bytes > 0 && !lost) memcpy(entry + LL_DESCRIPTOR_NUMBER, &next, sizeof next);
    if (bytes > 0 && number >= next && ll_descriptor_is_sound(entry, bytes) && add_shape(types, entry, bytes, number)) {
      types->count = number;
      lost = false;
      at += bytes;
      continue;
    }
    if (bytes > 0 && !lost && add_shape(types, entry, bytes, number)) {
      types->shapes[number].doubtful = true;
      types->count = number;
    }
    lost = true;
    at += 8;
  }
}

size_t ll_record_bytes(const ll_types *types, const uint8_t *at, size_t available) {
  if (available < 8) return 0;
  uint64_t word;
  memcpy(&word, at, sizeof word);
  const ll_shape *shape = &types->shapes[(uint16_t)word];
  if (shape->record_bytes != 0) return shape->record_bytes <= available ? shape->record_bytes : 0;
  if (shape->descriptor == NULL) return 0;
  size_t length = 8;
  for (uint32_t i = 0; i < shape->field_count; i++) {
    uint8_t code = shape->field_codes[i];
    if (fixed_bytes[code] != 0) {
      length += fixed_bytes[code];
      continue;
    }
    if (length + 2 > available) return 0;
    length += 2u + u16_at(at + length);
  }
  length = (length + 7) & ~(size_t)7;
  return length <= available && length <= LL_RECORD_MAX ? length : 0;
}
