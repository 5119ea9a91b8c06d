#include "rules.h"

#include "base/utf8.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)
#define LONGEST (365 * 24 * HOUR)

enum { SAMPLE_MAX = 1000000000, WORD_MAX = 128, QUOTED_MAX = 64, STANDARD_LEVELS = 8 };

/* --- the line as words --- */

typedef struct parser {
  ll_rule *rule;
  size_t bytes;
  size_t at;
  size_t timed_at, interval_at;
  char *why;
  size_t why_bytes;
} parser;

__attribute__((format(printf, 3, 4))) static bool fault(const parser *in, size_t at, const char *format, ...) {
  int used = snprintf(in->why, in->why_bytes, "column %zu: ", at + 1);
  if (used < 0 || (size_t)used >= in->why_bytes) return false;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(in->why + used, in->why_bytes - (size_t)used, format, arguments);
  va_end(arguments);
  ll_make_utf8(in->why); /* a word may have been truncated */
  return false;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static bool check_text(const parser *in) {
  const char *text = in->rule->text;
  if (in->bytes > LL_RULE_BYTES_MAX) return fault(in, LL_RULE_BYTES_MAX, "a line has at most 1024 bytes");
  for (size_t i = 0; i < in->bytes; i++)
    if ((unsigned char)text[i] < ' ' && !is_blank(text[i])) return fault(in, i, "a control character");
  for (size_t i = 0; i < in->bytes; i++)
    if (text[i] == 0x7f) return fault(in, i, "a control character");
  size_t legal = ll_utf8_prefix(text);
  return legal == in->bytes || fault(in, legal, "a byte that is not UTF-8");
}

static void skip_blanks(parser *in) {
  while (in->at < in->bytes && is_blank(in->rule->text[in->at]))
    in->at++;
}

/* Takes the text up to a blank or one of `stops`. */
static ll_span take_until(parser *in, const char *stops) {
  size_t from = in->at;
  while (in->at < in->bytes && !is_blank(in->rule->text[in->at]) && strchr(stops, in->rule->text[in->at]) == NULL)
    in->at++;
  return (ll_span){(uint16_t)from, (uint16_t)(in->at - from)};
}

static const char *text_at(const parser *in, ll_span span) {
  return in->rule->text + span.at;
}

static bool is(const parser *in, ll_span span, const char *word) {
  return span.bytes == strlen(word) && memcmp(text_at(in, span), word, span.bytes) == 0;
}

static int shown(ll_span span) {
  return span.bytes < QUOTED_MAX ? span.bytes : QUOTED_MAX;
}

/* --- parts of words --- */

/* Parses an unsigned integer that fills the text. */
static bool whole_number(const char *text, size_t bytes, uint64_t most, uint64_t *value) {
  *value = 0;
  for (size_t i = 0; i < bytes; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    uint64_t digit = (uint64_t)(text[i] - '0');
    if (*value > (most - digit) / 10) return false;
    *value = *value * 10 + digit;
  }
  return bytes > 0;
}

bool ll_duration_parse(const char *text, size_t bytes, uint64_t *ns) {
  static const struct {
    const char *name;
    uint64_t ns;
  } units[] = {{"ms", MS}, {"s", SECOND}, {"m", 60 * SECOND}, {"h", HOUR}, {"d", 24 * HOUR}};
  size_t digits = 0;
  while (digits < bytes && text[digits] >= '0' && text[digits] <= '9')
    digits++;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (bytes - digits != strlen(units[i].name) || memcmp(text + digits, units[i].name, bytes - digits) != 0) continue;
    uint64_t count;
    if (!whole_number(text, digits, LONGEST / units[i].ns, &count)) return false;
    *ns = count * units[i].ns;
    return true;
  }
  return false;
}

static bool take_glob(const parser *in, ll_span word, const char *what, ll_glob *glob) {
  if (word.bytes == 0) return fault(in, word.at, "%s is missing", what);
  const char *text = text_at(in, word), *star = memchr(text, '*', word.bytes);
  glob->text = word;
  glob->prefix = star == text + word.bytes - 1;
  if (glob->prefix) glob->text.bytes--;
  if (star != NULL && !glob->prefix)
    return fault(in, word.at + (size_t)(star - text), "\"*\" may only be the last character of %s", what);
  return true;
}

static bool take_decimal(const parser *in, ll_span word, ll_decimal *value) {
  const char *text = text_at(in, word);
  bool legal = word.bytes > 0 && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
  for (size_t i = 0; i < word.bytes; i++)
    legal = legal && strchr("0123456789.eE+-", text[i]) != NULL;
  *value = (ll_decimal){.negative = legal && text[0] == '-'};
  size_t sign = value->negative;
  char copy[LL_RULE_BYTES_MAX + 1];
  memcpy(copy, text, word.bytes);
  copy[word.bytes] = '\0';
  char *end = copy;
  /* Not the program's locale, in which the decimal point may differ. */
  locale_t plain = legal ? newlocale(LC_ALL_MASK, "C", (locale_t)0) : (locale_t)0;
  if (plain != (locale_t)0) {
    value->real = strtod_l(copy, &end, plain);
    freelocale(plain);
  }
  if (end == copy || *end != '\0' || value->real - value->real != 0)
    return fault(in, word.at, "\"%.*s\" is not a number such as 65536, -1, 0.5 or 1e9", shown(word), text);
  value->whole = whole_number(text + sign, word.bytes - sign, UINT64_MAX, &value->magnitude);
  return true;
}

/* --- options --- */

static const char *const level_names[STANDARD_LEVELS] = {"fatal", "error",  "warn",   "info",
                                                         "debug", "debug1", "debug2", "debug3"};

/* Parses the rest of "level<=debug" after the word `level`. */
static bool take_level(parser *in, ll_span *unused) {
  (void)unused;
  ll_rule *rule = in->rule;
  const char *text = rule->text + in->at;
  char relation = in->at < in->bytes ? text[0] : '\0';
  if (relation == '<' || relation == '>') text++;
  if (in->at == in->bytes || *text != '=') return fault(in, in->at, "level must be followed by =, <= or >=");
  in->at += relation == '=' ? 1 : 2;
  ll_span word = take_until(in, "");
  for (int i = 0; i < STANDARD_LEVELS; i++) {
    if (!is(in, word, level_names[i])) continue;
    if (relation != '<') rule->level_least = (uint8_t)(LL_FATAL + i);
    if (relation != '>') rule->level_most = (uint8_t)(LL_FATAL + i);
    return true;
  }
  return fault(in, word.at, "\"%.*s\" is not a level: fatal error warn info debug debug1 debug2 debug3", shown(word),
               text_at(in, word));
}

static bool take_comparison(parser *in, ll_comparison *comparison) {
  static const char *const signs[] = {[LL_AT_MOST] = "<=", [LL_AT_LEAST] = ">=", [LL_UNEQUAL] = "!=",
                                      [LL_LESS] = "<",     [LL_MORE] = ">",      [LL_EQUAL] = "="};
  static const ll_comparison longest_first[] = {LL_AT_MOST, LL_AT_LEAST, LL_UNEQUAL, LL_LESS, LL_MORE, LL_EQUAL};
  for (size_t i = 0; i < sizeof longest_first / sizeof *longest_first; i++) {
    const char *sign = signs[longest_first[i]];
    if (in->bytes - in->at < strlen(sign) || memcmp(in->rule->text + in->at, sign, strlen(sign)) != 0) continue;
    in->at += strlen(sign);
    *comparison = longest_first[i];
    return true;
  }
  return fault(in, in->at, "a comparison is missing: <, <=, >, >=, = or !=");
}

/* Parses the rest of "when nbytes > 65536" after the word `when`. */
static bool take_when(parser *in, ll_span *field) {
  if (in->at < in->bytes && !is_blank(in->rule->text[in->at]))
    return fault(in, in->at, "when must be followed by a space");
  skip_blanks(in);
  *field = take_until(in, "<>=!");
  if (field->bytes == 0) return fault(in, field->at, "the name of a field is missing");
  skip_blanks(in);
  if (!take_comparison(in, &in->rule->comparison)) return false;
  skip_blanks(in);
  return take_decimal(in, take_until(in, ""), &in->rule->value);
}

static bool take_program(parser *in, ll_span *word) {
  return take_glob(in, *word, "a program's name", &in->rule->program);
}

static bool take_host(parser *in, ll_span *word) {
  return take_glob(in, *word, "a host's name", &in->rule->host);
}

static bool take_of(parser *in, ll_span *word) {
  return word->bytes > 0 || fault(in, word->at, "the name of a field is missing");
}

static bool take_timed(parser *in, ll_span *unused) {
  (void)unused;
  in->rule->timed = true;
  return true;
}

static bool take_duration(const parser *in, ll_span word, uint64_t longest, const char *range, uint64_t *ns) {
  if (ll_duration_parse(text_at(in, word), word.bytes, ns) && *ns >= SECOND && *ns <= longest) return true;
  return fault(in, word.at, "\"%.*s\" is not a duration such as 90s or 10m, from %s", shown(word), text_at(in, word),
               range);
}

static bool take_interval(parser *in, ll_span *word) {
  in->interval_at = word->at - strlen("interval=");
  return take_duration(in, *word, HOUR, "1s to 1h", &in->rule->interval_ns);
}

static bool take_for(parser *in, ll_span *word) {
  return take_duration(in, *word, LONGEST, "1s to 365d", &in->rule->for_ns);
}

static bool take_route(parser *in, ll_span *word) {
  const char *text = text_at(in, *word);
  bool legal = word->bytes >= 1 && word->bytes <= LL_RULE_ROUTE_MAX;
  for (size_t i = 0; i < word->bytes; i++)
    legal = legal && ((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9') || text[i] == '-');
  return legal || fault(in, word->at, "\"%.*s\" is not a route name: 1 to 31 of a-z, 0-9 and -", shown(*word), text);
}

static bool take_issued(parser *in, ll_span *word) {
  uint64_t value;
  if (!whole_number(text_at(in, *word), word->bytes, INT64_MAX / 2, &value))
    return fault(in, word->at, "\"%.*s\" is not a time in milliseconds since 1970", shown(*word), text_at(in, *word));
  in->rule->has_issued = true;
  in->rule->issued_ms = (int64_t)value;
  return true;
}

static bool take_id(parser *in, ll_span *word) {
  if (word->bytes >= 1 && word->bytes <= WORD_MAX) return true;
  return fault(in, word->at, "an id must have 1 to 128 bytes");
}

/* Options whose name ends in "=" get the rest of their word; the others parse any further text themselves. */
static bool take_option(parser *in, uint32_t *seen) {
  ll_rule *rule = in->rule;
  const struct {
    const char *name;
    ll_span *span;
    bool (*take)(parser *in, ll_span *span);
  } options[] = {
      {"level", NULL, take_level},        {"when", &rule->when, take_when},     {"program=", NULL, take_program},
      {"host=", NULL, take_host},         {"of=", &rule->of, take_of},          {"timed", NULL, take_timed},
      {"interval=", NULL, take_interval}, {"route=", &rule->route, take_route}, {"for=", NULL, take_for},
      {"issued=", NULL, take_issued},     {"id=", &rule->id, take_id},
  };
  size_t start = in->at;
  ll_span name = take_until(in, "<>=!");
  if (in->at < in->bytes && rule->text[in->at] == '=' && !is(in, name, "level")) {
    in->at++;
    name.bytes++;
  }
  for (uint32_t i = 0; i < sizeof options / sizeof *options; i++) {
    if (!is(in, name, options[i].name)) continue;
    if ((*seen & 1u << i) != 0) return fault(in, start, "%s is given twice", options[i].name);
    *seen |= 1u << i;
    bool has_value = options[i].name[strlen(options[i].name) - 1] == '=';
    ll_span rest = {0, 0};
    if (has_value) rest = take_until(in, "");
    if (options[i].take == take_timed) in->timed_at = start;
    if (!options[i].take(in, &rest)) return false;
    if (options[i].span != NULL) *options[i].span = rest;
    return true;
  }
  in->at = start;
  ll_span word = take_until(in, "");
  return fault(
      in, start,
      "\"%.*s\" is not an option; options are level, when, program=, host=, of=, timed, interval=, route=, for=, "
      "issued= and id=",
      shown(word), text_at(in, word));
}

static bool take_resolution(parser *in) {
  ll_rule *rule = in->rule;
  ll_span word = take_until(in, "");
  if (word.bytes == 0) return fault(in, word.at, "the resolution is missing: off, summary, sample:N or full");
  static const char sample[] = "sample:";
  const size_t name = sizeof sample - 1;
  if (is(in, word, "off")) {
    rule->resolution = LL_RESOLUTION_OFF;
  } else if (is(in, word, "summary")) {
    rule->resolution = LL_RESOLUTION_SUMMARY;
  } else if (is(in, word, "full")) {
    rule->resolution = LL_RESOLUTION_FULL;
  } else if (word.bytes >= name && memcmp(text_at(in, word), sample, name) == 0) {
    uint64_t count;
    rule->resolution = LL_RESOLUTION_SAMPLE;
    if (!whole_number(text_at(in, word) + name, word.bytes - name, SAMPLE_MAX, &count) || count == 0)
      return fault(in, word.at + name, "sample: must be followed by a number from 1 to 1000000000");
    rule->sample = (uint32_t)count;
  } else {
    return fault(in, word.at, "\"%.*s\" is not a resolution: off, summary, sample:N or full", shown(word),
                 text_at(in, word));
  }
  return true;
}

static bool check_options(const parser *in) {
  const ll_rule *rule = in->rule;
  bool summary = rule->resolution == LL_RESOLUTION_SUMMARY;
  if (!summary && rule->of.bytes > 0) return fault(in, rule->of.at - strlen("of="), "of= is valid only with summary");
  if (!summary && rule->timed) return fault(in, in->timed_at, "timed is valid only with summary");
  if (!summary && rule->interval_ns > 0) return fault(in, in->interval_at, "interval= is valid only with summary");
  if ((summary || rule->resolution == LL_RESOLUTION_OFF) && rule->route.bytes > 0)
    return fault(in, rule->route.at - strlen("route="), "route= is valid only with full and sample:N");
  return true;
}

bool ll_rule_parse(ll_rule *rule, const char *text, size_t bytes, char *why, size_t why_bytes) {
  parser in = {.rule = rule, .bytes = bytes, .why = why, .why_bytes = why_bytes};
  memset(rule, 0, sizeof *rule);
  memcpy(rule->text, text, bytes < LL_RULE_BYTES_MAX ? bytes : LL_RULE_BYTES_MAX);
  rule->sample = 1;
  rule->level_least = LL_FATAL;
  rule->level_most = LL_DEBUG3;
  if (!check_text(&in)) return false;
  skip_blanks(&in);
  if (!take_glob(&in, take_until(&in, ""), "the event type's name", &rule->name)) return false;
  skip_blanks(&in);
  if (!take_resolution(&in)) return false;
  uint32_t seen = 0;
  for (skip_blanks(&in); in.at < in.bytes; skip_blanks(&in))
    if (!take_option(&in, &seen)) return false;
  return check_options(&in);
}
