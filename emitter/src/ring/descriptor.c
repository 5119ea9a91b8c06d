#include "descriptor.h"

#include "base/bytes.h"
#include "base/format.h"
#include "base/utf8.h"

#include <lifeline/lifeline.h>

#include <string.h>

enum {
  RESERVED_AT = 6,
  LEVEL_AT = 16,
  FIELDS_AT,
  CONSTANTS_AT,
  RESERVED_TOO_AT,
  NAME_MAX_BYTES = 255,
  NAMES_MAX = 510
};

_Static_assert((int)LEVEL_AT == (int)LL_DESCRIPTOR_HASHED && (int)RESERVED_TOO_AT + 1 == (int)LL_DESCRIPTOR_NAME,
               "FORMAT.md");

/* The identity is defined over the little-endian form. Its only multi-byte integers are the lengths of texts and the
 * values of constants, so a big-endian machine swaps those. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
uint64_t ll_descriptor_hash(const uint8_t *entry, size_t bytes) {
  return ll_fnv1a(entry + LL_DESCRIPTOR_HASHED, bytes - LL_DESCRIPTOR_HASHED);
}
#else
#error "ll_descriptor_hash wants the little-endian form of a descriptor"
#endif

uint32_t ll_descriptor_bytes(const uint8_t *entry, size_t available) {
  uint32_t bytes;
  if (available < LL_DESCRIPTOR_NAME + 4) return 0;
  memcpy(&bytes, entry, sizeof bytes);
  bool fits = bytes >= LL_DESCRIPTOR_NAME + 4 && bytes <= LL_DESCRIPTOR_MAX && bytes % 8 == 0 && bytes <= available;
  return fits ? bytes : 0;
}

typedef struct text {
  const uint8_t *at;
  uint16_t bytes;
} text;

typedef struct reader {
  const uint8_t *at, *end;
  text names[NAMES_MAX]; /* of fields and constants */
  uint32_t count;
} reader;

static bool take_text(reader *from, size_t least, size_t most, text *taken) {
  if (from->end - from->at < 2) return false;
  memcpy(&taken->bytes, from->at, sizeof taken->bytes);
  taken->at = from->at + 2;
  if (taken->bytes < least || taken->bytes > most || taken->bytes > from->end - taken->at) return false;
  from->at = taken->at + taken->bytes;
  return ll_is_utf8_bytes(taken->at, taken->bytes);
}

static bool take_field(reader *from, uint8_t *code) {
  text unit, *name = &from->names[from->count++];
  if (from->at == from->end) return false;
  *code = *from->at++;
  if (*code < LL_CODE_i32 || *code > LL_CODE_bytes || !take_text(from, 1, NAME_MAX_BYTES, name)) return false;
  for (uint32_t i = 0; i + 1 < from->count; i++)
    if (from->names[i].bytes == name->bytes && memcmp(from->names[i].at, name->at, name->bytes) == 0) return false;
  return take_text(from, 0, NAME_MAX_BYTES, &unit);
}

static bool take_value(reader *from, uint8_t code) {
  size_t bytes = 8;
  text value;
  switch (code) {
  case LL_CODE_string: return take_text(from, 0, UINT16_MAX, &value);
  case LL_CODE_bytes:
    if (from->end - from->at < 2) return false;
    memcpy(&value.bytes, from->at, sizeof value.bytes);
    bytes = 2u + value.bytes;
    break;
  case LL_CODE_bool:
    bytes = 1;
    if (from->at == from->end || *from->at > 1) return false;
    break;
  case LL_CODE_i32:
  case LL_CODE_u32:
  case LL_CODE_f32: bytes = 4; break;
  default: break;
  }
  if ((size_t)(from->end - from->at) < bytes) return false;
  from->at += bytes;
  return true;
}

bool ll_descriptor_is_sound(const uint8_t *entry, uint32_t bytes) {
  reader from = {.at = entry + LL_DESCRIPTOR_NAME, .end = entry + bytes};
  uint16_t number, reserved;
  uint64_t hash;
  uint8_t code;
  text name;
  memcpy(&number, entry + LL_DESCRIPTOR_NUMBER, sizeof number);
  memcpy(&reserved, entry + RESERVED_AT, sizeof reserved);
  memcpy(&hash, entry + LL_DESCRIPTOR_HASH, sizeof hash);
  if (number == 0 || reserved != 0 || entry[RESERVED_TOO_AT] != 0 || entry[LEVEL_AT] < LL_FATAL ||
      entry[LEVEL_AT] > LL_DEBUG3 || !take_text(&from, 1, NAME_MAX_BYTES, &name))
    return false;
  for (uint32_t i = 0; i < entry[FIELDS_AT]; i++)
    if (!take_field(&from, &code)) return false;
  for (uint32_t i = 0; i < entry[CONSTANTS_AT]; i++)
    if (!take_field(&from, &code) || !take_value(&from, code)) return false;
  return from.end - from.at < 8 && ll_descriptor_hash(entry, (size_t)(from.at - entry)) == hash;
}
