/* Matches rules against event types, and computes the values that pass a threshold. */
#include "rules.h"

#include <string.h>

bool ll_glob_matches(const char *text, const ll_glob *glob, const char *name) {
  size_t bytes = strlen(name);
  if (glob->prefix ? bytes < glob->text.bytes : bytes != glob->text.bytes) return false;
  return memcmp(text + glob->text.at, name, glob->text.bytes) == 0;
}

static bool given_and_different(const ll_rule *rule, const ll_glob *glob, const char *name) {
  bool given = glob->text.bytes > 0 || glob->prefix;
  return given && !ll_glob_matches(rule->text, glob, name);
}

bool ll_rule_is_for(const ll_rule *rule, const char *program, const char *host) {
  return !given_and_different(rule, &rule->program, program) && !given_and_different(rule, &rule->host, host);
}

int ll_rule_field(const ll_rule *rule, const ll_span *name, const ll_event_type *type) {
  for (int i = 0; i < type->field_count; i++) {
    const ll_field *field = &type->fields[i];
    if (ll_kind_of(field->code) != LL_KIND_NONE && strlen(field->name) == name->bytes &&
        memcmp(field->name, rule->text + name->at, name->bytes) == 0)
      return i;
  }
  return -1;
}

static bool has_number(const ll_event_type *type) {
  for (int i = 0; i < type->field_count; i++)
    if (ll_kind_of(type->fields[i].code) != LL_KIND_NONE) return true;
  return false;
}

bool ll_rule_matches(const ll_rule *rule, const ll_event_type *type) {
  return type->level >= rule->level_least && type->level <= rule->level_most &&
         ll_glob_matches(rule->text, &rule->name, type->name) &&
         (rule->when.bytes == 0 || ll_rule_field(rule, &rule->when, type) >= 0) &&
         (rule->of.bytes == 0 || ll_rule_field(rule, &rule->of, type) >= 0) &&
         (rule->resolution != LL_RESOLUTION_SUMMARY || has_number(type));
}

ll_kind ll_kind_of(uint8_t code) {
  static const ll_kind kinds[] = {
      [LL_CODE_i32] = LL_KIND_SIGNED,   [LL_CODE_i64] = LL_KIND_SIGNED,   [LL_CODE_f32] = LL_KIND_REAL,
      [LL_CODE_f64] = LL_KIND_REAL,     [LL_CODE_u32] = LL_KIND_UNSIGNED, [LL_CODE_u64] = LL_KIND_UNSIGNED,
      [LL_CODE_bool] = LL_KIND_UNSIGNED};
  return code < sizeof kinds / sizeof *kinds ? kinds[code] : LL_KIND_NONE;
}

/* --- integers: a comparison with any number is one with the nearest integers --- */

__extension__ typedef __int128 wide;

#define WIDEST ((wide)1 << 66)

static wide floor_of(const ll_decimal *value) {
  if (value->whole) return value->negative ? -(wide)value->magnitude : (wide)value->magnitude;
  if (value->real >= 0x1p66) return WIDEST;
  if (value->real <= -0x1p66) return -WIDEST;
  wide cut = (wide)value->real;
  return (double)cut > value->real ? cut - 1 : cut;
}

static wide ceiling_of(const ll_decimal *value) {
  wide below = floor_of(value);
  return value->whole || (double)below == value->real ? below : below + 1;
}

typedef struct range {
  wide least, most;
} range;

static range integers(const ll_rule *rule) {
  wide below = floor_of(&rule->value), above = ceiling_of(&rule->value);
  switch (rule->comparison) {
  case LL_LESS: return (range){-WIDEST, above - 1};
  case LL_AT_MOST: return (range){-WIDEST, below};
  case LL_MORE: return (range){below + 1, WIDEST};
  case LL_AT_LEAST: return (range){above, WIDEST};
  default: return (range){above, below}; /* empty between two integers */
  }
}

static void cut_to(range *wanted, wide least, wide most) {
  if (wanted->least > most || wanted->most < least) *wanted = (range){1, 0};
  if (wanted->least < least) wanted->least = least;
  if (wanted->most > most) wanted->most = most;
}

/* --- reals --- */

/* The next double above a value that is not NaN; negate argument and result for the one below. Not nextafter, which
 * requires libm. */
static double next_above(double value) {
  if (value == __builtin_inf()) return value;
  if (value == 0) return 0x1p-1074;
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits += bits < 0 ? -1 : 1;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void set_reals(const ll_rule *rule, bool is_f32, ll_bounds *bounds) {
  double value = rule->value.real, inf = __builtin_inf();
  float narrow = (float)value; /* 0.1 in the rule means the nearest float */
  if (is_f32 && narrow - narrow == 0) value = (double)narrow;
  bounds->least.f = -inf;
  bounds->most.f = inf;
  switch (rule->comparison) {
  case LL_LESS: bounds->most.f = -next_above(-value); break;
  case LL_AT_MOST: bounds->most.f = value; break;
  case LL_MORE: bounds->least.f = next_above(value); break;
  case LL_AT_LEAST: bounds->least.f = value; break;
  default: bounds->least.f = bounds->most.f = value;
  }
}

void ll_rule_bounds(const ll_rule *rule, uint8_t code, ll_bounds *bounds) {
  range whole = integers(rule);
  bounds->kind = ll_kind_of(code);
  bounds->outside = rule->comparison == LL_UNEQUAL;
  switch (bounds->kind) {
  case LL_KIND_SIGNED:
    cut_to(&whole, INT64_MIN, INT64_MAX);
    bounds->least.i = (int64_t)whole.least;
    bounds->most.i = (int64_t)whole.most;
    break;
  case LL_KIND_UNSIGNED:
    cut_to(&whole, 0, UINT64_MAX);
    bounds->least.u = (uint64_t)whole.least;
    bounds->most.u = (uint64_t)whole.most;
    break;
  case LL_KIND_REAL: set_reals(rule, code == LL_CODE_f32, bounds); break;
  default: break;
  }
}
