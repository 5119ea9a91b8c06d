#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Cursor within one entry. */
typedef struct entry {
  const uint8_t *start; /* of the batch */
  const uint8_t *at, *end;
  bool big;
} entry;

static bool cut(const entry *e, llb_rejection *rejection) {
  return llb_reject(rejection, LLB_BAD_LENGTH, (size_t)(e->at - e->start), "A descriptor runs over its end.");
}

static bool take_text(entry *e, llb_bytes *text, llb_rejection *rejection) {
  size_t room = (size_t)(e->end - e->at);
  if (room < 2 || room - 2 < load16(e->at, e->big)) return cut(e, rejection);
  *text = (llb_bytes){e->at + 2, load16(e->at, e->big)};
  e->at += 2 + text->size;
  return true;
}

static bool take_field(entry *e, llb_field *field, llb_rejection *rejection) {
  if (e->at == e->end) return cut(e, rejection);
  field->type = *e->at++;
  return take_text(e, &field->name, rejection) && take_text(e, &field->unit, rejection);
}

static bool known_type(uint8_t type) {
  return type >= LLB_I32 && type <= LLB_BYTES;
}

/* Sets *known to false at a constant of an unknown type. Its end is unknown, its value stays empty, and a later check
 * rejects it. */
static bool take_constant(entry *e, llb_constant *constant, bool *known, llb_rejection *rejection) {
  if (!take_field(e, &constant->field, rejection)) return false;
  *known = known_type(constant->field.type);
  if (!*known) return true;
  size_t bytes = llb_value_bytes(constant->field.type, e->at, e->end, e->big);
  if (bytes == 0) return cut(e, rejection);
  constant->value = llb_load_value(constant->field.type, e->at, e->big);
  if (constant->field.type == LLB_BOOL && *e->at > 1)
    constant->field.type = 0; /* illegal bool: a later check rejects it */
  e->at += bytes;
  return true;
}

static bool read_entry(llb_batch *batch, entry *e, llb_event_type *type, llb_rejection *rejection) {
  const uint8_t *p = e->at;
  size_t offset = (size_t)(p - e->start);
  *type = (llb_event_type){.number = load16(p + 4, e->big),
                           .hash = load64(p + 8, e->big),
                           .level = p[16],
                           .field_count = p[17],
                           .constant_count = p[18]};
  type->fields = llb_batch_alloc(batch, type->field_count * sizeof *type->fields);
  type->constants = llb_batch_alloc(batch, type->constant_count * sizeof *type->constants);
  if (!type->fields || !type->constants) return llb_reject(rejection, LLB_NO_MEMORY, 0, "Out of memory.");
  e->at += DESCRIPTOR_FIXED_BYTES;
  if (!take_text(e, &type->name, rejection)) return false;
  for (size_t i = 0; i < type->field_count; i++)
    if (!take_field(e, &type->fields[i], rejection)) return false;
  bool known = true;
  for (size_t i = 0; i < type->constant_count && known; i++)
    if (!take_constant(e, &type->constants[i], &known, rejection)) return false;
  if (known && e->end - e->at >= 8)
    return llb_reject(rejection, LLB_BAD_LENGTH, offset, "A descriptor is longer than what it holds.");
  return true;
}

static size_t count_entries(const uint8_t *start, size_t from, size_t to, bool big, llb_rejection *rejection) {
  size_t count = 0;
  for (size_t at = from, length; at < to; at += length, count++) {
    length = to - at < 24 ? 0 : load32(start + at, big);
    if (length < 24 || length % 8 || length > to - at) {
      llb_reject(rejection, LLB_BAD_LENGTH, at, "A descriptor's length does not fit its section.");
      return SIZE_MAX;
    }
  }
  return count;
}

bool llb_read_descriptors(llb_batch *batch, llb_bytes message, size_t from, size_t to, llb_rejection *rejection) {
  const uint8_t *start = message.data;
  size_t count = count_entries(start, from, to, batch->big_endian, rejection);
  if (count == SIZE_MAX) return false;
  batch->type_count = count;
  batch->types = llb_batch_alloc(batch, count * sizeof *batch->types);
  if (!batch->types) return llb_reject(rejection, LLB_NO_MEMORY, 0, "Out of memory.");
  size_t at = from;
  for (size_t i = 0; i < count; i++) {
    uint32_t length = load32(start + at, batch->big_endian);
    entry e = {start, start + at, start + at + length, batch->big_endian};
    if (!read_entry(batch, &e, &batch->types[i], rejection)) return false;
    at += length;
  }
  return true;
}

static bool check_field_text(const uint8_t *start, const llb_field *field, llb_rejection *rejection) {
  return llb_check_text(start, field->name, 1, MAX_NAME_BYTES, "name of a field or constant", rejection) &&
         llb_check_text(start, field->unit, 0, MAX_NAME_BYTES, "unit", rejection);
}

bool llb_check_descriptors_text(const llb_batch *batch, const uint8_t *start, llb_rejection *rejection) {
  for (size_t t = 0; t < batch->type_count; t++) {
    const llb_event_type *type = &batch->types[t];
    if (!llb_check_text(start, type->name, 1, MAX_NAME_BYTES, "name of an event type", rejection)) return false;
    for (size_t i = 0; i < type->field_count; i++)
      if (!check_field_text(start, &type->fields[i], rejection)) return false;
    for (size_t i = 0; i < type->constant_count; i++) {
      const llb_constant *constant = &type->constants[i];
      if (!constant->field.name.data) /* after a constant of an unknown type, which the next check rejects */
        break;
      if (!check_field_text(start, &constant->field, rejection)) return false;
      if (constant->field.type == LLB_STRING &&
          !llb_check_text(start, constant->value.bytes, 0, UINT16_MAX, "value of a constant", rejection))
        return false;
    }
  }
  return true;
}

static int compare_names(const void *left, const void *right) {
  const llb_bytes *a = left, *b = right;
  int order = memcmp(a->data, b->data, a->size < b->size ? a->size : b->size);
  return order ? order : (a->size > b->size) - (a->size < b->size);
}

static bool names_repeat(const llb_event_type *type) {
  llb_bytes names[2 * LLB_MAX_FIELDS];
  size_t count = 0;
  for (size_t i = 0; i < type->field_count; i++)
    names[count++] = type->fields[i].name;
  for (size_t i = 0; i < type->constant_count; i++)
    names[count++] = type->constants[i].field.name;
  qsort(names, count, sizeof *names, compare_names);
  for (size_t i = 1; i < count; i++)
    if (compare_names(&names[i - 1], &names[i]) == 0) return true;
  return false;
}

static bool check_type(const llb_event_type *type, size_t offset, llb_rejection *rejection) {
  if (type->number == 0) return llb_reject(rejection, LLB_BAD_DESCRIPTOR, offset, "An event type has the number 0.");
  if (type->level < 1 || type->level > 8)
    return llb_reject(rejection, LLB_BAD_DESCRIPTOR, offset, "Level %u of type %u is unknown.", type->level,
                      type->number);
  for (size_t i = 0; i < type->field_count; i++)
    if (!known_type(type->fields[i].type))
      return llb_reject(rejection, LLB_BAD_DESCRIPTOR, offset, "Field %zu of type %u has the unknown type %u.", i,
                        type->number, type->fields[i].type);
  for (size_t i = 0; i < type->constant_count; i++)
    if (!known_type(type->constants[i].field.type))
      return llb_reject(rejection, LLB_BAD_DESCRIPTOR, offset,
                        "Constant %zu of type %u has an unknown type, or is a bool that is neither 0 nor 1.", i,
                        type->number);
  if (names_repeat(type))
    return llb_reject(rejection, LLB_BAD_DESCRIPTOR, offset, "Type %u has two fields or constants of one name.",
                      type->number);
  if (llb_type_hash(type) != type->hash)
    return llb_reject(rejection, LLB_BAD_DESCRIPTOR, offset, "The hash of type %u does not fit.", type->number);
  return true;
}

bool llb_check_descriptors(llb_batch *batch, const uint8_t *start, llb_rejection *rejection) {
  if (!llb_index_types(batch)) return llb_reject(rejection, LLB_NO_MEMORY, 0, "Out of memory.");
  for (size_t i = 0; i < batch->type_count; i++) {
    const llb_event_type *type = &batch->types[i];
    size_t offset = (size_t)(type->name.data - start) - 2 - DESCRIPTOR_FIXED_BYTES;
    if (!check_type(type, offset, rejection)) return false;
    if (llb_type_by_number(batch, type->number) != type) /* the index has the last type of each number */
      return llb_reject(rejection, LLB_BAD_DESCRIPTOR, offset, "The number %u has two event types.", type->number);
  }
  return true;
}
