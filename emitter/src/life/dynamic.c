#include "base/bytes.h"
#include "base/lock.h"
#include "base/utf8.h"
#include "ring/emitter.h"
#include "ring/producer.h"
#include "ring/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One allocation, never freed: the library's list of types is linked through it, and other threads read its state. */
struct ll_dynamic {
  ll_event_type type;
  struct ll_dynamic *next;
  ll_field *fields;
  uint8_t *codes;
};

static ll_dynamic *chains[1024]; /* by the hash of the name; guarded by the lock */

enum { TEXT_MAX = 255 };

static bool is_text(const char *text, size_t least) {
  if (text == NULL) return least == 0;
  size_t bytes = strnlen(text, TEXT_MAX + 1);
  return bytes >= least && bytes <= TEXT_MAX && ll_is_utf8(text);
}

static bool is_legal(const char *name, ll_level level, const ll_dynamic_field *fields, unsigned count) {
  if (!is_text(name, 1) || level < LL_FATAL || level > LL_DEBUG3) return false;
  if (count > LL_DYNAMIC_FIELDS_MAX || (fields == NULL && count > 0)) return false;
  for (unsigned i = 0; i < count; i++) {
    if (fields[i].type < LL_I32 || fields[i].type > LL_BYTES) return false;
    if (!is_text(fields[i].name, 1) || !is_text(fields[i].unit, 0)) return false;
    for (unsigned j = 0; j < i; j++)
      if (strcmp(fields[i].name, fields[j].name) == 0) return false;
  }
  return true;
}

static const char *unit_of(const ll_dynamic_field *field) {
  return field->unit != NULL ? field->unit : "";
}

static bool is_same(const ll_dynamic *known, const char *name, ll_level level, const ll_dynamic_field *fields,
                    unsigned count) {
  const ll_event_type *type = &known->type;
  if (type->level != level || type->field_count != count || strcmp(type->name, name) != 0) return false;
  for (unsigned i = 0; i < count; i++)
    if (type->fields[i].code != fields[i].type || strcmp(type->fields[i].name, fields[i].name) != 0 ||
        strcmp(type->fields[i].unit, unit_of(&fields[i])) != 0)
      return false;
  return true;
}

static const char *keep(char **room, const char *text) {
  char *kept = *room;
  *room = stpcpy(kept, text) + 1;
  return kept;
}

static ll_dynamic *make(const char *name, ll_level level, const ll_dynamic_field *fields, unsigned count) {
  size_t text = strlen(name) + 1;
  for (unsigned i = 0; i < count; i++)
    text += strlen(fields[i].name) + 1 + strlen(unit_of(&fields[i])) + 1;
  ll_dynamic *made = calloc(1, sizeof *made + count * sizeof(ll_field) + count + text);
  if (made == NULL) return NULL;
  made->fields = (ll_field *)(made + 1);
  made->codes = (uint8_t *)(made->fields + count);
  char *room = (char *)made->codes + count;
  made->type.state = LL_TYPE_NEW;
  made->type.level = (uint8_t)level;
  made->type.field_count = (uint8_t)count;
  made->type.name = keep(&room, name);
  made->type.fields = made->fields;
  for (unsigned i = 0; i < count; i++) {
    made->codes[i] = (uint8_t)fields[i].type;
    made->fields[i] = (ll_field){made->codes[i], keep(&room, fields[i].name), keep(&room, unit_of(&fields[i]))};
  }
  return made;
}

/* Returns NULL when out of memory. */
static ll_dynamic *find_or_make(const char *name, ll_level level, const ll_dynamic_field *fields, unsigned count) {
  ll_saved_state before;
  uint64_t hash = ll_fnv1a(name, strlen(name));
  ll_dynamic **chain = &chains[hash % (sizeof chains / sizeof chains[0])];
  ll_lock(&before);
  ll_dynamic *found = *chain;
  while (found != NULL && !is_same(found, name, level, fields, count))
    found = found->next;
  if (found == NULL && (found = make(name, level, fields, count)) != NULL) {
    found->next = *chain;
    *chain = found;
  }
  ll_unlock(&before);
  return found;
}

int ll_declare(const char *name, ll_level level, const ll_dynamic_field *fields, unsigned field_count,
               ll_dynamic **type) {
  *type = NULL;
  if (!is_legal(name, level, fields, field_count)) return EINVAL;
  ll_enter(); /* so that a forked child has its own lock */
  ll_dynamic *found = find_or_make(name, level, fields, field_count);
  if (found == NULL) return ENOMEM;
  if (ll_make_known(&found->type) == LL_TYPE_REFUSED) return ENOSPC;
  *type = found;
  return 0;
}

/* Converts values to the numbers that rules compare and summaries fold. */
static void numbers_of(const ll_dynamic *dynamic, const ll_value *values, ll_number *numbers) {
  for (unsigned i = 0; i < dynamic->type.field_count; i++) {
    switch (dynamic->codes[i]) {
    case LL_F32: numbers[i].f = (double)(float)values[i].f64; break;
    case LL_STRING:
    case LL_BYTES: numbers[i].u = 0; break;
    default: numbers[i].u = values[i].u64;
    }
  }
}

int ll_emit_values(ll_dynamic *dynamic, const ll_value *values, unsigned value_count) {
  if (dynamic == NULL || value_count != dynamic->type.field_count || (values == NULL && value_count > 0)) return EINVAL;
  int error = ll_values_check(dynamic->codes, value_count, values);
  if (error != 0) return error;
  uint32_t state = load_relaxed(&dynamic->type.state), route = 0;
  if (state == LL_TYPE_OFF) return 0;
  size_t bytes = ll_values_bytes(dynamic->codes, value_count, values);
  ll_reservation taken = ll_reserve(state, bytes);
  if (taken.producer == NULL && state > LL_TYPE_NUMBER_MAX) {
    ll_number numbers[LL_DYNAMIC_FIELDS_MAX];
    numbers_of(dynamic, values, numbers);
    if ((state & LL_TYPE_SUMMED) != 0 && ll_put(state & LL_TYPE_NUMBER_MAX, numbers)) return 0;
    if (!ll_admit(&dynamic->type, numbers, &route)) return 0;
  }
  if (taken.producer == NULL) taken = ll_reserve_slowly(&dynamic->type, bytes, route);
  if (taken.producer == NULL) return 0;
  ll_values_write(dynamic->codes, value_count, values, taken.at + sizeof(uint64_t), bytes);
  ll_publish(taken);
  return 0;
}

int ll_is_on(const ll_dynamic *dynamic) {
  return dynamic != NULL && load_relaxed(&dynamic->type.state) != LL_TYPE_OFF;
}
