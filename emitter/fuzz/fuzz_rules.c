/* libFuzzer target: untrusted activation lines. An accepted line stays within its bounds, and its own text is accepted
 * again. A rejection names a column of the line. A trigger file replaces the previous one. */
#include "resolution/activations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ll_field fields[] = {{LL_CODE_u64, "id", ""},   {LL_CODE_i32, "nbytes", "B"}, {LL_CODE_f32, "rate", ""},
                                  {LL_CODE_f64, "x", ""},    {LL_CODE_string, "path", ""}, {LL_CODE_bool, "ok", ""},
                                  {LL_CODE_i64, "delta", ""}};
static const ll_event_type type = {
    .level = LL_INFO, .field_count = sizeof fields / sizeof *fields, .name = "disk.read.end", .fields = fields};

static void require(int condition) {
  if (!condition) abort();
}

static void check_span(const ll_rule *rule, ll_span span) {
  require(span.at + (size_t)span.bytes <= strlen(rule->text));
}

/* Every number satisfies exactly one of a comparison and its opposite. */
static void check_threshold(ll_rule *rule) {
  int field = ll_rule_field(rule, &rule->when, &type);
  if (rule->when.bytes == 0 || field < 0) return;
  static const ll_comparison opposites[] = {[LL_LESS] = LL_AT_LEAST, [LL_AT_MOST] = LL_MORE,  [LL_MORE] = LL_AT_MOST,
                                            [LL_AT_LEAST] = LL_LESS, [LL_EQUAL] = LL_UNEQUAL, [LL_UNEQUAL] = LL_EQUAL};
  static const uint64_t samples[] = {0, 1, UINT64_MAX, (uint64_t)INT64_MIN, INT64_MAX, 65536};
  ll_bounds bounds = {0}, others = {0};
  uint8_t code = fields[field].code;
  ll_rule_bounds(rule, code, &bounds);
  rule->comparison = opposites[rule->comparison];
  ll_rule_bounds(rule, code, &others);
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    ll_number number =
        ll_kind_of(code) == LL_KIND_REAL ? ll_real((double)(int64_t)samples[i]) : ll_unsigned(samples[i]);
    require(ll_within(&bounds, number) != ll_within(&others, number));
  }
}

static void try_line(const char *text, size_t bytes) {
  ll_rule rule, again;
  char why[256] = "";
  unsigned column = 0;
  if (!ll_rule_parse(&rule, text, bytes, why, sizeof why)) {
    require(sscanf(why, "column %u: ", &column) == 1 && column >= 1 && column <= bytes + 1);
    return;
  }
  require(bytes <= LL_RULE_BYTES_MAX && strlen(rule.text) == bytes);
  const ll_span spans[] = {rule.name.text, rule.program.text, rule.host.text, rule.when, rule.of, rule.route, rule.id};
  for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
    check_span(&rule, spans[i]);
  require(rule.sample >= 1 && rule.level_least <= rule.level_most);
  require(ll_rule_parse(&again, rule.text, strlen(rule.text), why, sizeof why));
  require(memcmp(&rule, &again, sizeof rule) == 0);
  (void)ll_rule_matches(&rule, &type);
  check_threshold(&rule);
}

static void try_file(const char *text, size_t bytes) {
  static ll_routes routes;
  static ll_activations all;
  char why[512] = "";
  ll_moment now = {.monotonic_ns = 1000000000, .realtime_ms = 1792660000000};
  if (routes.count == 0) require(ll_routes_parse(&routes, "audit=null:", why, sizeof why));
  all.limits = (ll_activation_limits){"copy", "node7", 3600000000000, &routes};
  uint32_t before = all.count;
  bool taken = ll_activations_replace(&all, LL_FROM_FILE, text, bytes, '\n', &now, why, sizeof why);
  require(taken || (all.count == before && strncmp(why, "line ", 5) == 0));
  for (uint32_t i = 0; i < all.count; i++)
    require(all.list[i]->until_ns <= now.monotonic_ns + all.limits.for_most_ns);
  (void)ll_activations_decide(&all, &type, now.monotonic_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try_line((const char *)data, size);
  try_file((const char *)data, size);
  return 0;
}
