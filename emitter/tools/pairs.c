#include "pairs.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {NULL, "i32", "i64", "f32", "f64", "string", "u32", "u64", "bool", "bytes"};
enum { TYPES = sizeof type_names / sizeof type_names[0] };

static bool is_integer(const char *text) {
  text += *text == '-';
  return *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* True for what strtod accepts, except hexadecimal numbers, blanks, infinities and NaN. */
static bool is_real(const char *text) {
  char *end;
  if (*text == '\0' || strspn(text, "+-.0123456789eE") != strlen(text)) return false;
  double value = strtod(text, &end);
  return *end == '\0' && isfinite(value);
}

static ll_field_type infer(const char *text) {
  if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) return LL_BOOL;
  if (is_integer(text)) {
    errno = 0;
    strtoll(text, NULL, 10);
    if (errno == 0) return LL_I64;
    errno = 0;
    strtoull(text, NULL, 10);
    if (errno == 0 && *text != '-') return LL_U64;
  }
  return is_real(text) ? LL_F64 : LL_STRING;
}

static int digit_of(char c) {
  static const char digits[] = "0123456789abcdef0123456789ABCDEF";
  const char *at = c != '\0' ? strchr(digits, c) : NULL;
  return at != NULL ? (int)((at - digits) % 16) : -1;
}

/* Decodes hex in place. */
static const char *parse_bytes(char *text, ll_value *value) {
  size_t count = strlen(text);
  value->bytes = (ll_bytes){text, count / 2};
  for (size_t i = 0; i + 1 < count; i += 2) {
    int high = digit_of(text[i]), low = digit_of(text[i + 1]);
    if (high < 0 || low < 0) return "bytes must be hex";
    text[i / 2] = (char)(high << 4 | low);
  }
  return count % 2 == 0 ? NULL : "bytes must be hex, two digits each";
}

static const char *parse_signed(const char *text, int64_t least, int64_t most, ll_value *value) {
  errno = 0;
  value->i64 = is_integer(text) ? strtoll(text, NULL, 10) : 0;
  if (!is_integer(text)) return "the value must be an integer";
  return errno == 0 && value->i64 >= least && value->i64 <= most ? NULL : "the integer is out of the range of its type";
}

static const char *parse_unsigned(const char *text, uint64_t most, ll_value *value) {
  errno = 0;
  if (!is_integer(text) || *text == '-') return "the value must be an integer of at least 0";
  value->u64 = strtoull(text, NULL, 10);
  return errno == 0 && value->u64 <= most ? NULL : "the integer is out of the range of its type";
}

static const char *parse_real(const char *text, ll_value *value) {
  char *end;
  value->f64 = strtod(text, &end); /* an explicit type also allows nan and inf */
  return *text != '\0' && *end == '\0' ? NULL : "the value must be a number";
}

static const char *parse_bool(const char *text, ll_value *value) {
  value->u64 = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
  bool legal = value->u64 == 1 || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
  return legal ? NULL : "a bool must be true or false";
}

static const char *parse_value(ll_field_type type, char *text, ll_value *value) {
  switch (type) {
  case LL_I32: return parse_signed(text, INT32_MIN, INT32_MAX, value);
  case LL_I64: return parse_signed(text, INT64_MIN, INT64_MAX, value);
  case LL_U32: return parse_unsigned(text, UINT32_MAX, value);
  case LL_U64: return parse_unsigned(text, UINT64_MAX, value);
  case LL_F32:
  case LL_F64: return parse_real(text, value);
  case LL_BOOL: return parse_bool(text, value);
  case LL_BYTES: return parse_bytes(text, value);
  default: value->bytes = (ll_bytes){text, strlen(text)}; return NULL;
  }
}

const char *pair_parse(char *word, ll_dynamic_field *field, ll_value *value) {
  char *equals = strchr(word, '=');
  if (equals == NULL || equals == word) return "a field must be KEY=VALUE";
  *equals = '\0';
  *field = (ll_dynamic_field){infer(equals + 1), word, ""};
  char *type = strchr(word, ':');
  if (type != NULL) {
    *type++ = '\0';
    char *unit = strchr(type, ':');
    if (unit != NULL) {
      *unit++ = '\0';
      field->unit = unit;
    }
    unsigned code = 1;
    while (code < TYPES && strcmp(type_names[code], type) != 0)
      code++;
    if (*type != '\0' && code == TYPES) return "the type must be one of i32 i64 f32 f64 string u32 u64 bool bytes";
    if (*type != '\0') field->type = (ll_field_type)code;
  }
  return parse_value(field->type, equals + 1, value);
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static char unescaped(char c) {
  return c == 'n' ? '\n' : c == 't' ? '\t' : c;
}

/* Copies one word to `to`, which may overlap its source. NULL if a quote is not closed. */
static const char *take_word(const char *from, char **to) {
  bool quoted = false;
  for (; *from != '\0' && (quoted || !is_blank(*from)); from++) {
    if (*from == '"') {
      quoted = !quoted;
    } else if (quoted && *from == '\\' && from[1] != '\0') {
      *(*to)++ = unescaped(*++from);
    } else {
      *(*to)++ = *from;
    }
  }
  return quoted ? NULL : from;
}

const char *line_split(char *line, char **words, unsigned most, unsigned *count) {
  const char *from = line;
  char *to = line;
  for (*count = 0;;) {
    while (is_blank(*from))
      from++;
    if (*from == '\0' || (*count == 0 && *from == '#')) return NULL;
    if (*count == most) return "an event has at most 255 fields";
    words[(*count)++] = to;
    from = take_word(from, &to);
    if (from == NULL) return "a closing quote is missing";
    bool last = *from == '\0';
    if (!last) from++;
    *to++ = '\0';
    if (last) return NULL;
  }
}
