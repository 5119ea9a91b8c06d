/* The lines of ACTIVATION.md: accepted and rejected ones with the position of the error, matches, and thresholds. */
#include "resolution/rules.h"
#include "support.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ll_field fields[] = {{LL_CODE_u64, "id", ""},   {LL_CODE_u32, "nbytes", "B"}, {LL_CODE_i64, "delta", ""},
                                  {LL_CODE_f32, "rate", ""}, {LL_CODE_f64, "load", ""},    {LL_CODE_string, "path", ""},
                                  {LL_CODE_bool, "ok", ""}};
static const ll_event_type read_end = {
    .level = LL_INFO, .field_count = sizeof fields / sizeof *fields, .name = "disk.read.end", .fields = fields};

static ll_rule parsed(const char *line) {
  ll_rule rule;
  char why[256] = "";
  if (!ll_rule_parse(&rule, line, strlen(line), why, sizeof why)) fail_msg("%s: %s", line, why);
  return rule;
}

static const char *refusal_of(const char *line, size_t bytes) {
  static char why[256];
  ll_rule rule;
  why[0] = '\0';
  assert_false(ll_rule_parse(&rule, line, bytes, why, sizeof why));
  return why;
}

static FILE *vectors(const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/activations/%s", TEST_VECTORS_DIR, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  return file;
}

static void every_valid_line_is_taken(void **state) {
  (void)state;
  char line[2048];
  unsigned count = 0;
  FILE *file = vectors("valid.txt");
  for (; fgets(line, sizeof line, file) != NULL; count++) {
    line[strcspn(line, "\n")] = '\0';
    parsed(line);
  }
  fclose(file);
  assert_true(count >= 25);
}

static void every_invalid_line_is_refused_at_its_column(void **state) {
  (void)state;
  char line[2048];
  unsigned count = 0;
  FILE *file = vectors("invalid.txt");
  while (fgets(line, sizeof line, file) != NULL) {
    if (line[0] == '#') continue;
    line[strcspn(line, "\n")] = '\0';
    char *text;
    unsigned long column = strtoul(line, &text, 10);
    assert_int_equal(*text++, ' ');
    const char *why = refusal_of(text, strlen(text));
    unsigned long said = 0;
    if (sscanf(why, "column %lu: ", &said) != 1 || said != column)
      fail_msg("'%s' should be refused at column %lu: %s", text, column, why);
    count++;
  }
  fclose(file);
  assert_true(count >= 50);
}

static void every_part_of_a_line_is_understood(void **state) {
  (void)state;
  ll_rule rule = parsed("disk.* sample:7 level<=warn program=copy* host=node7 when nbytes >= 10 route=audit for=90s "
                        "issued=1792660000000 id=a/b");
  assert_int_equal(rule.resolution, LL_RESOLUTION_SAMPLE);
  assert_int_equal(rule.sample, 7);
  assert_int_equal(rule.level_least, LL_FATAL);
  assert_int_equal(rule.level_most, LL_WARN);
  assert_int_equal(rule.for_ns, 90 * UINT64_C(1000000000));
  assert_true(rule.has_issued);
  assert_int_equal(rule.issued_ms, 1792660000000);
  assert_memory_equal(rule.text + rule.route.at, "audit", rule.route.bytes);
  assert_memory_equal(rule.text + rule.id.at, "a/b", rule.id.bytes);
  assert_memory_equal(rule.text + rule.when.at, "nbytes", rule.when.bytes);
  assert_int_equal(parsed("* summary interval=1h").interval_ns, 3600 * UINT64_C(1000000000));
}

static void an_error_quotes_the_word_and_says_what_to_write(void **state) {
  (void)state;
  const char *line = "net.send.end sampel:100";
  assert_string_equal(refusal_of(line, strlen(line)),
                      "column 14: \"sampel:100\" is not a resolution: off, summary, sample:N or full");
  line = "* full when nbytes>64k";
  assert_string_equal(refusal_of(line, strlen(line)),
                      "column 20: \"64k\" is not a number such as 65536, -1, 0.5 or 1e9");
}

static void text_that_is_none_is_refused(void **state) {
  (void)state;
  char line[LL_RULE_BYTES_MAX + 100];
  assert_string_equal(refusal_of("* off\0", 6), "column 6: a control character");
  assert_string_equal(refusal_of("* of\x1b[2Jf", 9), "column 5: a control character");
  assert_string_equal(refusal_of("* off id=\xff", 10), "column 10: a byte that is not UTF-8");
  memset(line, ' ', sizeof line);
  memcpy(line, "* off", 5);
  ll_rule rule;
  char why[256];
  assert_true(ll_rule_parse(&rule, line, LL_RULE_BYTES_MAX, why, sizeof why));
  assert_string_equal(refusal_of(line, LL_RULE_BYTES_MAX + 1), "column 1025: a line has at most 1024 bytes");
}

static void a_pattern_is_a_name_or_a_prefix(void **state) {
  (void)state;
  static const struct {
    const char *line;
    bool matches;
  } cases[] = {
      {"* off", true},
      {"disk.* off", true},
      {"disk.read.end off", true},
      {"disk.read.end* off", true},
      {"disk.read.end.* off", false},
      {"disk.read off", false},
      {"isk.read.end off", false},
      {"d* off", true},
      {"Disk.* off", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ll_rule rule = parsed(cases[i].line);
    if (ll_rule_matches(&rule, &read_end) != cases[i].matches) fail_msg("%s", cases[i].line);
  }
}

static void a_level_bounds_from_either_side(void **state) {
  (void)state;
  static const char *const matching[] = {"* off level=info", "* off level<=info", "* off level>=info",
                                         "* off level<=debug3", "* off level>=fatal"};
  static const char *const others[] = {"* off level=warn", "* off level<=warn", "* off level>=debug"};
  for (size_t i = 0; i < sizeof matching / sizeof *matching; i++) {
    ll_rule rule = parsed(matching[i]);
    if (!ll_rule_matches(&rule, &read_end)) fail_msg("%s", matching[i]);
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    ll_rule rule = parsed(others[i]);
    if (ll_rule_matches(&rule, &read_end)) fail_msg("%s", others[i]);
  }
}

static void a_rule_may_be_for_other_programs_or_hosts(void **state) {
  (void)state;
  ll_rule rule = parsed("* off program=copy* host=node7");
  assert_true(ll_rule_is_for(&rule, "copy", "node7"));
  assert_true(ll_rule_is_for(&rule, "copy-all", "node7"));
  assert_false(ll_rule_is_for(&rule, "cop", "node7"));
  assert_false(ll_rule_is_for(&rule, "copy", "node70"));
  rule = parsed("* off program=*");
  assert_true(ll_rule_is_for(&rule, "", ""));
}

static void a_type_without_the_field_is_not_matched(void **state) {
  (void)state;
  static const char *const others[] = {"* full when size>1", "* full when path=1", "* summary of=path",
                                       "* summary of=nbyte"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    ll_rule rule = parsed(others[i]);
    if (ll_rule_matches(&rule, &read_end)) fail_msg("%s", others[i]);
  }
  ll_rule rule = parsed("* summary of=nbytes when ok=1");
  assert_true(ll_rule_matches(&rule, &read_end));
}

static bool passes(const char *condition, uint8_t code, ll_number value) {
  char line[128];
  snprintf(line, sizeof line, "* full when x%s", condition);
  ll_rule rule = parsed(line);
  ll_bounds bounds;
  ll_rule_bounds(&rule, code, &bounds);
  return ll_within(&bounds, value);
}

static void integers_are_compared_exactly(void **state) {
  (void)state;
  const uint64_t large = UINT64_MAX;
  assert_true(passes(">65536", LL_CODE_u64, ll_unsigned(65537)));
  assert_false(passes(">65536", LL_CODE_u64, ll_unsigned(65536)));
  assert_true(passes(">=65536", LL_CODE_u64, ll_unsigned(65536)));
  assert_true(passes(">18446744073709551614", LL_CODE_u64, ll_unsigned(large)));
  assert_false(passes(">18446744073709551614", LL_CODE_u64, ll_unsigned(large - 1)));
  assert_false(passes(">18446744073709551615", LL_CODE_u64, ll_unsigned(large)));
  assert_true(passes("=9007199254740993", LL_CODE_i64, ll_signed(9007199254740993)));
  assert_false(passes("=9007199254740993", LL_CODE_i64, ll_signed(9007199254740992)));
  assert_true(passes("<=-9223372036854775808", LL_CODE_i64, ll_signed(INT64_MIN)));
  assert_false(passes("<-9223372036854775808", LL_CODE_i64, ll_signed(INT64_MIN)));
  assert_true(passes("!=5", LL_CODE_i32, ll_signed(4)));
  assert_false(passes("!=5", LL_CODE_i32, ll_signed(5)));
  assert_true(passes("=1", LL_CODE_bool, ll_unsigned(true)));
}

static void a_limit_outside_of_the_fields_range_decides_for_all_values(void **state) {
  (void)state;
  assert_true(passes(">-1", LL_CODE_u64, ll_unsigned(0)));
  assert_false(passes("<-1", LL_CODE_u64, ll_unsigned(0)));
  assert_false(passes("=-1", LL_CODE_u64, ll_unsigned(UINT64_MAX)));
  assert_true(passes("!=-1", LL_CODE_u64, ll_unsigned(UINT64_MAX)));
  assert_true(passes("<1e300", LL_CODE_i64, ll_signed(INT64_MAX)));
  assert_false(passes(">1e300", LL_CODE_i64, ll_signed(INT64_MAX)));
  assert_true(passes(">-1e300", LL_CODE_i64, ll_signed(INT64_MIN)));
  assert_false(passes(">=18446744073709551616", LL_CODE_u64, ll_unsigned(UINT64_MAX)));
}

static void integers_meet_fractions(void **state) {
  (void)state;
  assert_true(passes(">0.5", LL_CODE_i32, ll_signed(1)));
  assert_false(passes(">0.5", LL_CODE_i32, ll_signed(0)));
  assert_true(passes("<0.5", LL_CODE_i32, ll_signed(0)));
  assert_false(passes("<=-0.5", LL_CODE_i32, ll_signed(0)));
  assert_true(passes("<=-0.5", LL_CODE_i32, ll_signed(-1)));
  assert_false(passes("=0.5", LL_CODE_i32, ll_signed(0)));
  assert_true(passes("!=0.5", LL_CODE_i32, ll_signed(0)));
  assert_true(passes(">=1e3", LL_CODE_i32, ll_signed(1000)));
  assert_false(passes(">1e3", LL_CODE_i32, ll_signed(1000)));
}

static void reals_are_compared_as_reals(void **state) {
  (void)state;
  assert_true(passes(">0.5", LL_CODE_f64, ll_real(nextafter(0.5, 1))));
  assert_false(passes(">0.5", LL_CODE_f64, ll_real(0.5)));
  assert_true(passes("<0.5", LL_CODE_f64, ll_real(nextafter(0.5, 0))));
  assert_false(passes("<0.5", LL_CODE_f64, ll_real(0.5)));
  assert_false(passes(">-0.5", LL_CODE_f64, ll_real(-0.5)));
  assert_true(passes(">-0.5", LL_CODE_f64, ll_real(nextafter(-0.5, 0))));
  assert_true(passes(">0", LL_CODE_f64, ll_real(5e-324)));
  assert_false(passes(">0", LL_CODE_f64, ll_real(-0.0)));
  assert_true(passes("<0", LL_CODE_f64, ll_real(-5e-324)));
  assert_true(passes(">1e308", LL_CODE_f64, ll_real(INFINITY)));
  assert_true(passes("<0", LL_CODE_f64, ll_real(-INFINITY)));
  assert_true(passes("=0.1", LL_CODE_f32, ll_real((double)0.1f)));
  assert_false(passes(">0.1", LL_CODE_f32, ll_real((double)0.1f)));
  assert_false(passes("<=1e39", LL_CODE_f32, ll_real(INFINITY)));
}

static void what_is_not_a_number_is_unequal_to_all(void **state) {
  (void)state;
  static const char *const others[] = {"<5", "<=5", ">5", ">=5", "=5"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(passes(others[i], LL_CODE_f64, ll_real(NAN)));
  assert_true(passes("!=5", LL_CODE_f64, ll_real(NAN)));
}

static void the_programs_locale_has_no_say(void **state) {
  (void)state;
  static const char *const with_commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
  for (size_t i = 0; i < sizeof with_commas / sizeof *with_commas; i++)
    if (setlocale(LC_ALL, with_commas[i]) != NULL) break;
  assert_true(passes(">0.25", LL_CODE_f64, ll_real(0.5)));
  assert_false(passes(">0.25", LL_CODE_f64, ll_real(0.125)));
  setlocale(LC_ALL, "C");
}

static void durations_have_a_unit(void **state) {
  (void)state;
  uint64_t ns;
  assert_true(ll_duration_parse("1500ms", 6, &ns) && ns == 1500000000);
  assert_true(ll_duration_parse("365d", 4, &ns) && ns == 365 * 86400 * UINT64_C(1000000000));
  static const char *const others[] = {"",   "s", "10", "10 s", "-1s", "1.5h", "366d", "99999999999999999999s",
                                       "1w", "1S"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (ll_duration_parse(others[i], strlen(others[i]), &ns)) fail_msg("%s", others[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_valid_line_is_taken),
      cmocka_unit_test(every_invalid_line_is_refused_at_its_column),
      cmocka_unit_test(every_part_of_a_line_is_understood),
      cmocka_unit_test(an_error_quotes_the_word_and_says_what_to_write),
      cmocka_unit_test(text_that_is_none_is_refused),
      cmocka_unit_test(a_pattern_is_a_name_or_a_prefix),
      cmocka_unit_test(a_level_bounds_from_either_side),
      cmocka_unit_test(a_rule_may_be_for_other_programs_or_hosts),
      cmocka_unit_test(a_type_without_the_field_is_not_matched),
      cmocka_unit_test(integers_are_compared_exactly),
      cmocka_unit_test(a_limit_outside_of_the_fields_range_decides_for_all_values),
      cmocka_unit_test(integers_meet_fractions),
      cmocka_unit_test(reals_are_compared_as_reals),
      cmocka_unit_test(what_is_not_a_number_is_unequal_to_all),
      cmocka_unit_test(the_programs_locale_has_no_say),
      cmocka_unit_test(durations_have_a_unit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
