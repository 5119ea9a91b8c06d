/* One line as described in schemas/ACTIVATION.md: parsed once, then matched against event types. Independent of source
 * and clock. */
#ifndef LIFELINE_RULES_H
#define LIFELINE_RULES_H

#include <lifeline/detail/emit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LL_RULE_BYTES_MAX 1024
#define LL_RULE_ROUTE_MAX 31

typedef enum ll_resolution {
  LL_RESOLUTION_OFF,
  LL_RESOLUTION_SUMMARY,
  LL_RESOLUTION_SAMPLE,
  LL_RESOLUTION_FULL
} ll_resolution;

typedef enum ll_comparison { LL_LESS, LL_AT_MOST, LL_MORE, LL_AT_LEAST, LL_EQUAL, LL_UNEQUAL } ll_comparison;

/* A part of the rule's text; empty if not given. */
typedef struct ll_span {
  uint16_t at;
  uint16_t bytes;
} ll_span;

/* A name, or with `prefix` the beginning of a name. */
typedef struct ll_glob {
  ll_span text;
  bool prefix;
} ll_glob;

/* A decimal number; exact if it is a whole number of at most 64 bits. */
typedef struct ll_decimal {
  bool whole;
  bool negative;
  uint64_t magnitude;
  double real;
} ll_decimal;

typedef struct ll_rule {
  char text[LL_RULE_BYTES_MAX + 1];
  ll_glob name;
  ll_glob program, host; /* without text and prefix: all */
  ll_resolution resolution;
  uint32_t sample; /* one event of so many */
  uint8_t level_least, level_most;
  ll_span when; /* the threshold's field */
  ll_comparison comparison;
  ll_decimal value;
  ll_span of; /* the summarised field */
  ll_span route;
  ll_span id;
  bool timed;
  uint64_t interval_ns; /* 0: not given */
  uint64_t for_ns;      /* 0: not given */
  bool has_issued;
  int64_t issued_ms;
} ll_rule;

/* Values that pass a threshold: from least to most, or with `outside` all others. `kind` selects the members in use. */
typedef enum ll_kind { LL_KIND_NONE, LL_KIND_SIGNED, LL_KIND_UNSIGNED, LL_KIND_REAL } ll_kind;

typedef struct ll_bounds {
  ll_kind kind;
  bool outside;
  ll_number least, most;
} ll_bounds;

/* False, with a line in why that begins with the column of the fault. The text need not be terminated. */
bool ll_rule_parse(ll_rule *rule, const char *text, size_t bytes, char *why, size_t why_bytes);

/* Parses a duration such as "90s", which fills the text. False when it is invalid, or longer than a year. */
bool ll_duration_parse(const char *text, size_t bytes, uint64_t *ns);

bool ll_glob_matches(const char *text, const ll_glob *glob, const char *name);

bool ll_rule_is_for(const ll_rule *rule, const char *program, const char *host);

/* Whether the rule applies to events of this type. A rule that names a field does not match a type without it. */
bool ll_rule_matches(const ll_rule *rule, const ll_event_type *type);

/* The index of the type's numeric field of that name; -1 if it has none. */
int ll_rule_field(const ll_rule *rule, const ll_span *name, const ll_event_type *type);

ll_kind ll_kind_of(uint8_t code);

/* The rule's comparison, as bounds for a field of this code. */
void ll_rule_bounds(const ll_rule *rule, uint8_t code, ll_bounds *bounds);

static inline bool ll_within(const ll_bounds *bounds, ll_number value) {
  switch (bounds->kind) {
  case LL_KIND_SIGNED: return (bounds->least.i <= value.i && value.i <= bounds->most.i) != bounds->outside;
  case LL_KIND_UNSIGNED: return (bounds->least.u <= value.u && value.u <= bounds->most.u) != bounds->outside;
  case LL_KIND_REAL: return (bounds->least.f <= value.f && value.f <= bounds->most.f) != bounds->outside;
  default: return true;
  }
}

#endif
