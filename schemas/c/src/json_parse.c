#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <lifeline/batch_json.h>

#include "internal.h"
#include "json_names.h"

/* State of a parse. Only the first error is kept; after it all steps do nothing, so that callers need not check each
 * one. */
typedef struct parse {
  llb_batch *batch;
  llb_rejection *rejection;
  bool failed;
} parse;

static void fail(parse *p, const char *what, const char *expected) {
  if (!p->failed) llb_reject(p->rejection, LLB_BAD_JSON, 0, "\"%s\": %s is expected.", what, expected);
  p->failed = true;
}

static void *allocate(parse *p, size_t count, size_t size) {
  void *memory = p->failed ? NULL : llb_batch_alloc(p->batch, count * size);
  if (!memory && !p->failed) {
    llb_reject(p->rejection, LLB_NO_MEMORY, 0, "Out of memory.");
    p->failed = true;
  }
  return memory;
}

/* Fails and returns NULL, which reads as an empty array, if the value is missing, no array or too long. */
static json_t *array_of(parse *p, const json_t *object, const char *key, size_t most) {
  json_t *array = json_object_get(object, key);
  if (!json_is_array(array))
    fail(p, key, "an array");
  else if (json_array_size(array) > most)
    fail(p, key, "a shorter array");
  return p->failed ? NULL : array;
}

static uint64_t number(parse *p, const char *what, const json_t *value, int64_t least, int64_t most) {
  double n = json_number_value(value);
  if (!json_is_number(value) || n != floor(n) || n < (double)least || n > (double)most) {
    fail(p, what, "a whole number within its range");
    return 0;
  }
  return (uint64_t)(int64_t)n;
}

static uint64_t number_of(parse *p, const json_t *object, const char *key, uint32_t most) {
  return number(p, key, json_object_get(object, key), 0, most);
}

/* Parses a 64-bit integer from a decimal string, since JSON numbers cannot represent all. */
static uint64_t decimal(parse *p, const char *what, const json_t *value, bool with_sign) {
  const char *text = json_string_value(value);
  const char *digits = text && with_sign && *text == '-' ? text + 1 : text;
  if (!text || *digits < '0' || *digits > '9' ||
      strspn(digits, "0123456789") != json_string_length(value) - (size_t)(digits - text)) {
    fail(p, what, "a decimal string");
    return 0;
  }
  errno = 0;
  uint64_t n = with_sign ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
  if (errno) fail(p, what, "an integer of 64 bits");
  return n;
}

static uint64_t decimal_of(parse *p, const json_t *object, const char *key) {
  return decimal(p, key, json_object_get(object, key), false);
}

static llb_bytes text(parse *p, const char *what, const json_t *value) {
  llb_bytes copy = {NULL, 0};
  if (!json_is_string(value)) {
    fail(p, what, "a string");
    return copy;
  }
  uint8_t *memory = allocate(p, json_string_length(value), 1);
  if (!memory) return copy;
  copy = (llb_bytes){memory, json_string_length(value)};
  memcpy(memory, json_string_value(value), copy.size);
  return copy;
}

static llb_bytes text_of(parse *p, const json_t *object, const char *key) {
  return text(p, key, json_object_get(object, key));
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static llb_bytes hex(parse *p, const char *what, const json_t *value) {
  llb_bytes bytes = {NULL, 0};
  const char *digits = json_string_value(value);
  size_t count = digits ? json_string_length(value) : 1;
  if (count % 2) {
    fail(p, what, "a string of lower-case hex digits");
    return bytes;
  }
  uint8_t *memory = allocate(p, count / 2, 1);
  for (size_t i = 0; memory && i < count; i += 2) {
    int high = hex_digit(digits[i]), low = hex_digit(digits[i + 1]);
    if (high < 0 || low < 0) {
      fail(p, what, "a string of lower-case hex digits");
      return bytes;
    }
    memory[i / 2] = (uint8_t)(high << 4 | low);
  }
  if (memory) bytes = (llb_bytes){memory, count / 2};
  return bytes;
}

static void incarnation_of(parse *p, const json_t *object, uint8_t incarnation[16]) {
  llb_bytes bytes = hex(p, "incarnation", json_object_get(object, "incarnation"));
  if (bytes.size == 16)
    memcpy(incarnation, bytes.data, 16);
  else
    fail(p, "incarnation", "a string of 32 hex digits");
}

static size_t word(parse *p, const char *what, const json_t *value, const char *const *words, size_t count) {
  const char *given = json_string_value(value);
  for (size_t i = 0; given && i < count; i++)
    if (*words[i] && strcmp(words[i], given) == 0) return i;
  fail(p, what, "one of the words of the format");
  return 0;
}

static size_t word_of(parse *p, const json_t *object, const char *key, const char *const *words, size_t count) {
  return word(p, key, json_object_get(object, key), words, count);
}

/* A float is a number, or a string if JSON numbers cannot represent it. NaN bits have as many hex digits as the
 * type. */
static uint64_t nan_bits(parse *p, const char *given, int digits) {
  char *end;
  uint64_t bits = strtoull(given + 4, &end, 16);
  if (*end || strlen(given) != 4 + (size_t)digits) fail(p, "fields", "\"nan:\" with all of the bits' hex digits");
  return bits;
}

static double float_value(parse *p, const json_t *value) {
  const char *given = json_string_value(value);
  if (json_is_number(value)) return json_number_value(value);
  if (given && strcmp(given, "-0") == 0) return -0.0;
  if (given && strcmp(given, "inf") == 0) return HUGE_VAL;
  if (given && strcmp(given, "-inf") == 0) return -HUGE_VAL;
  fail(p, "fields", "a number, \"-0\", \"inf\", \"-inf\" or \"nan:<bits>\"");
  return 0;
}

static llb_value float_of(parse *p, uint8_t type, const json_t *value) {
  llb_value result = {0};
  const char *given = json_string_value(value);
  bool nan = given && strncmp(given, "nan:", 4) == 0;
  if (nan && type == LLB_F32) {
    uint32_t bits = (uint32_t)nan_bits(p, given, 8);
    memcpy(&result.f32, &bits, sizeof bits);
    nan = isnan(result.f32);
  } else if (nan) {
    uint64_t bits = nan_bits(p, given, 16);
    memcpy(&result.f64, &bits, sizeof bits);
    nan = isnan(result.f64);
  } else {
    double n = float_value(p, value);
    if (type == LLB_F32)
      result.f32 = (float)n;
    else
      result.f64 = n;
    if (type == LLB_F32 && isfinite(n) && (double)result.f32 != n && !(isfinite(result.f32)))
      fail(p, "fields", "a number that f32 holds");
    return result;
  }
  if (!nan) fail(p, "fields", "the bits of a NaN");
  return result;
}

static llb_value value_of(parse *p, uint8_t type, const json_t *value) {
  llb_value result = {0};
  switch (type) {
  case LLB_I32: result.i32 = (int32_t)number(p, "fields", value, INT32_MIN, INT32_MAX); break;
  case LLB_U32: result.u32 = (uint32_t)number(p, "fields", value, 0, UINT32_MAX); break;
  case LLB_I64: result.i64 = (int64_t)decimal(p, "fields", value, true); break;
  case LLB_U64: result.u64 = decimal(p, "fields", value, false); break;
  case LLB_STRING: result.bytes = text(p, "fields", value); break;
  case LLB_BYTES: result.bytes = hex(p, "fields", value); break;
  case LLB_BOOL:
    result.boolean = json_is_true(value);
    if (!json_is_boolean(value)) fail(p, "fields", "true or false");
    break;
  default: result = float_of(p, type, value);
  }
  return result;
}

static void parse_fixed(parse *p, const json_t *root) {
  llb_batch *b = p->batch;
  if (number_of(p, root, "version", UINT8_MAX) != 1) fail(p, "version", "1");
  static const char *const byte_orders[] = {"little", "big"};
  b->big_endian = word_of(p, root, "byte_order", byte_orders, 2);
  b->compression = (uint8_t)word_of(p, root, "compression", compression_names, COMPRESSION_NAMES);
  b->shuffle = (uint8_t)number_of(p, root, "shuffle", UINT8_MAX);
  b->clock = (uint8_t)word_of(p, root, "clock", clock_names, CLOCK_NAMES);
  const json_t *flags = array_of(p, root, "flags", FLAG_NAMES);
  for (size_t i = 0; i < json_array_size(flags); i++)
    b->flags |= 1u << word(p, "flags", json_array_get(flags, i), flag_names, FLAG_NAMES);
  incarnation_of(p, root, b->incarnation);
  b->sequence = decimal_of(p, root, "sequence");
  b->base_tick = decimal_of(p, root, "base_tick");
  b->tick_hz = decimal_of(p, root, "tick_hz");
  b->pid = (uint32_t)number_of(p, root, "pid", UINT32_MAX);
  b->route = (uint16_t)number_of(p, root, "route", UINT16_MAX);
  b->route_name = text_of(p, root, "route_name");
  b->host = text_of(p, root, "host");
  b->program = text_of(p, root, "program");
}

static void parse_counters(parse *p, const json_t *root) {
  const json_t *array = array_of(p, root, "counters", UINT16_MAX);
  p->batch->counters = allocate(p, json_array_size(array), sizeof *p->batch->counters);
  for (size_t i = 0; !p->failed && i < json_array_size(array); i++)
    p->batch->counters[i] = decimal(p, "counters", json_array_get(array, i), false);
  p->batch->counter_count = (uint16_t)json_array_size(array);
}

static void parse_calibrations(parse *p, const json_t *root) {
  const json_t *array = array_of(p, root, "calibrations", UINT16_MAX);
  p->batch->calibrations = allocate(p, json_array_size(array), sizeof *p->batch->calibrations);
  for (size_t i = 0; !p->failed && i < json_array_size(array); i++) {
    const json_t *given = json_array_get(array, i);
    const json_t *step = json_object_get(given, "step");
    if (!json_is_boolean(step)) fail(p, "step", "true or false");
    p->batch->calibrations[i] = (llb_calibration){
        .tick = decimal_of(p, given, "tick"),
        .monotonic_ns = decimal_of(p, given, "monotonic_ns"),
        .realtime_offset_ns =
            (int64_t)decimal(p, "realtime_offset_ns", json_object_get(given, "realtime_offset_ns"), true),
        .error_ns = (uint32_t)number_of(p, given, "error_ns", UINT32_MAX),
        .step = json_is_true(step),
    };
  }
  p->batch->calibration_count = (uint16_t)json_array_size(array);
}

static void parse_parent(parse *p, const json_t *root) {
  const json_t *given = json_object_get(root, "parent");
  if (!(p->batch->flags & LLB_DERIVED)) {
    if (given) fail(p, "parent", "nothing without the flag DERIVED");
    return;
  }
  llb_parent *parent = &p->batch->parent;
  incarnation_of(p, given, parent->incarnation);
  parent->sequence = decimal_of(p, given, "sequence");
  parent->route = (uint16_t)number_of(p, given, "route", UINT16_MAX);
  parent->events_in = (uint32_t)number_of(p, given, "events_in", UINT32_MAX);
  parent->events_out = (uint32_t)number_of(p, given, "events_out", UINT32_MAX);
}

static void parse_context(parse *p, const json_t *root) {
  const json_t *array = array_of(p, root, "context", UINT16_MAX);
  p->batch->context = allocate(p, json_array_size(array), sizeof *p->batch->context);
  for (size_t i = 0; !p->failed && i < json_array_size(array); i++) {
    const json_t *pair = json_array_get(array, i);
    if (json_array_size(pair) != 2) fail(p, "context", "an array of [key, value]");
    p->batch->context[i].key = text(p, "context", json_array_get(pair, 0));
    p->batch->context[i].value = text(p, "context", json_array_get(pair, 1));
  }
  p->batch->context_count = (uint16_t)json_array_size(array);
}

static llb_field parse_field(parse *p, const json_t *given) {
  return (llb_field){
      .type = (uint8_t)word_of(p, given, "type", type_names, TYPE_NAMES),
      .name = text_of(p, given, "name"),
      .unit = text_of(p, given, "unit"),
  };
}

static void parse_type(parse *p, const json_t *given, llb_event_type *type) {
  type->number = (uint16_t)number_of(p, given, "number", UINT16_MAX);
  type->level = (uint8_t)word_of(p, given, "level", level_names, LEVEL_NAMES);
  type->name = text_of(p, given, "name");
  const json_t *fields = array_of(p, given, "fields", UINT8_MAX);
  const json_t *constants = array_of(p, given, "constants", UINT8_MAX);
  type->fields = allocate(p, json_array_size(fields), sizeof *type->fields);
  for (size_t i = 0; !p->failed && i < json_array_size(fields); i++)
    type->fields[i] = parse_field(p, json_array_get(fields, i));
  type->constants = allocate(p, json_array_size(constants), sizeof *type->constants);
  for (size_t i = 0; !p->failed && i < json_array_size(constants); i++) {
    const json_t *constant = json_array_get(constants, i);
    type->constants[i].field = parse_field(p, constant);
    type->constants[i].value = value_of(p, type->constants[i].field.type, json_object_get(constant, "value"));
  }
  type->field_count = (uint8_t)json_array_size(fields);
  type->constant_count = (uint8_t)json_array_size(constants);
}

static void parse_types(parse *p, const json_t *root) {
  const json_t *array = array_of(p, root, "types", UINT16_MAX);
  p->batch->types = allocate(p, json_array_size(array), sizeof *p->batch->types);
  for (size_t i = 0; !p->failed && i < json_array_size(array); i++)
    parse_type(p, json_array_get(array, i), &p->batch->types[i]);
  p->batch->type_count = json_array_size(array);
  if (!p->failed && !llb_index_types(p->batch)) {
    llb_reject(p->rejection, LLB_NO_MEMORY, 0, "Out of memory.");
    p->failed = true;
  }
}

static void parse_event(parse *p, const json_t *given, llb_segment *segment) {
  const llb_event_type *type = llb_type_by_number(p->batch, (uint16_t)number_of(p, given, "type", UINT16_MAX));
  if (!type) {
    fail(p, "type", "the number of one of the types");
    return;
  }
  uint64_t tick = decimal_of(p, given, "tick");
  const json_t *fields = array_of(p, given, "fields", UINT8_MAX);
  if (json_array_size(fields) != type->field_count) fail(p, "fields", "as many values as the type has fields");
  llb_value values[LLB_MAX_FIELDS];
  for (size_t i = 0; !p->failed && i < type->field_count; i++)
    values[i] = value_of(p, type->fields[i].type, json_array_get(fields, i));
  if (!p->failed) p->failed = !llb_append(p->batch, segment, type, tick, values, p->rejection);
}

static void parse_events(parse *p, const json_t *root) {
  const json_t *segments = array_of(p, root, "segments", UINT16_MAX);
  const json_t *events = array_of(p, root, "events", LLB_MAX_EVENTS_BYTES / 8);
  p->batch->segments = allocate(p, json_array_size(segments), sizeof *p->batch->segments);
  p->batch->segment_count = (uint16_t)json_array_size(segments);
  size_t next = 0;
  for (size_t i = 0; !p->failed && i < json_array_size(segments); i++) {
    const json_t *given = json_array_get(segments, i);
    llb_segment *segment = &p->batch->segments[i];
    segment->thread = decimal_of(p, given, "thread");
    for (uint64_t left = number_of(p, given, "events", UINT32_MAX); !p->failed && left; left--)
      parse_event(p, json_array_get(events, next++), segment);
  }
  if (!p->failed && next != json_array_size(events)) fail(p, "events", "as many events as the segments say");
}

llb_batch *llb_json_parse(const char *json, size_t size, llb_rejection *rejection) {
  json_error_t error;
  /* Every number is an i32, u32, length or float, so that a double holds it. As an integer, a float without exponent
   * such as 1e20 would overflow. */
  json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &error);
  if (!json_is_object(root)) {
    llb_reject(rejection, LLB_BAD_JSON, root ? 0 : (size_t)error.position, "The text is no JSON object.");
    json_decref(root);
    return NULL;
  }
  parse p = {llb_batch_new(), rejection, false};
  if (!p.batch) {
    llb_reject(rejection, LLB_NO_MEMORY, 0, "Out of memory.");
    p.failed = true;
  } else {
    parse_fixed(&p, root);
    parse_counters(&p, root);
    parse_calibrations(&p, root);
    parse_parent(&p, root);
    parse_context(&p, root);
    parse_types(&p, root);
    parse_events(&p, root);
  }
  json_decref(root);
  if (p.failed) {
    llb_batch_free(p.batch);
    return NULL;
  }
  return p.batch;
}
