/* Which line decides about a type, and for how long: ACTIVATION.md, sections 2 to 5, without a clock or a file. */
#include "resolution/activations.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define MINUTE (60 * SECOND)

static const ll_field fields[] = {{LL_CODE_u32, "nbytes", "B"}};
static const ll_event_type read_end = {.level = LL_INFO, .field_count = 1, .name = "disk.read.end", .fields = fields};

static ll_activations all;
static ll_routes routes;
static ll_moment now;
static char why[512];

static int set_up(void **state) {
  (void)state;
  assert_true(ll_routes_parse(&routes, "audit=null:", why, sizeof why));
  memset(&all, 0, sizeof all);
  all.limits = (ll_activation_limits){"copy", "node7", 24 * 60 * MINUTE, &routes};
  now = (ll_moment){.monotonic_ns = 1000 * SECOND, .realtime_ms = 1792660000000};
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  ll_activations_clear(&all);
  return 0;
}

static bool take(ll_source source, const char *text) {
  return ll_activations_replace(&all, source, text, strlen(text), '\n', &now, why, sizeof why);
}

static bool set(const char *id, const char *line, int64_t issued_ms) {
  return ll_activations_set(&all, LL_FROM_CONTROL, id, line, issued_ms, &now, why, sizeof why);
}

static void later(uint64_t ns) {
  now.monotonic_ns += ns;
  now.realtime_ms += (int64_t)(ns / 1000000);
}

/* The line that decides; "": none. */
static const char *decided(void) {
  const ll_activation *by = ll_activations_decide(&all, &read_end, now.monotonic_ns);
  return by != NULL ? by->rule.text : "";
}

static void the_topic_goes_before_the_file_and_that_before_the_environment(void **state) {
  (void)state;
  assert_string_equal(decided(), "");
  assert_true(take(LL_FROM_ENVIRONMENT, "* sample:2"));
  assert_string_equal(decided(), "* sample:2");
  assert_true(take(LL_FROM_FILE, "* sample:3"));
  assert_string_equal(decided(), "* sample:3");
  assert_true(set("a", "* sample:4", now.realtime_ms));
  assert_string_equal(decided(), "* sample:4");
  assert_true(ll_activations_end(&all, LL_FROM_CONTROL, "a"));
  assert_string_equal(decided(), "* sample:3");
  assert_true(take(LL_FROM_FILE, ""));
  assert_string_equal(decided(), "* sample:2");
}

static void of_a_file_the_last_line_that_matches_decides(void **state) {
  (void)state;
  assert_true(take(LL_FROM_FILE, "* off\n\n  # a remark\ndisk.* sample:5\nnet.* full\n* full when size>1\n"));
  assert_string_equal(decided(), "disk.* sample:5");
}

static void of_the_topic_the_latest_issue_decides_in_whatever_order_it_is_read(void **state) {
  (void)state;
  assert_true(set("c", "* sample:3", now.realtime_ms - 10));
  assert_true(set("a", "* sample:1", now.realtime_ms - 30));
  assert_true(set("b", "* sample:2", now.realtime_ms - 20));
  assert_string_equal(decided(), "* sample:3");
  assert_true(set("d", "* sample:4", now.realtime_ms - 10));
  assert_string_equal(decided(), "* sample:4"); /* the greater id */
  assert_true(set("a2", "* sample:5 issued=1792659999995", now.realtime_ms - 1000));
  assert_string_equal(decided(), "* sample:5 issued=1792659999995"); /* issued= in the line takes precedence */
}

static void an_activation_lasts_ten_minutes_unless_it_says_otherwise(void **state) {
  (void)state;
  assert_true(take(LL_FROM_FILE, "* sample:3 for=20m\ndisk.* sample:2"));
  later(10 * MINUTE - 1);
  assert_string_equal(decided(), "disk.* sample:2");
  assert_true(ll_activations_next_end(&all, now.monotonic_ns) == now.monotonic_ns + 1);
  later(1);
  assert_string_equal(decided(), "* sample:3 for=20m");
  later(10 * MINUTE);
  assert_string_equal(decided(), "");
  assert_true(ll_activations_next_end(&all, now.monotonic_ns) == UINT64_MAX);
}

static void a_line_of_the_environment_lasts_for_ever_unless_it_says_otherwise(void **state) {
  (void)state;
  assert_true(take(LL_FROM_ENVIRONMENT, "* off\ndisk.* full for=1m"));
  later(MINUTE);
  assert_string_equal(decided(), "* off");
  later(1000000 * MINUTE);
  assert_string_equal(decided(), "* off");
}

static void a_time_in_the_future_does_not_outrank_what_comes_later(void **state) {
  (void)state;
  assert_true(set("forged", "* full issued=99999999999999 for=365d", now.realtime_ms));
  later(2 * MINUTE);
  char line[64];
  snprintf(line, sizeof line, "* off issued=%lld for=10m", (long long)now.realtime_ms);
  assert_true(set("a", line, now.realtime_ms));
  assert_string_equal(decided(), line);
  /* the same when both are read by a program that starts now */
  ll_activations_clear(&all);
  assert_true(set("a", line, now.realtime_ms));
  assert_true(set("forged", "* full issued=99999999999999 for=365d", now.realtime_ms - 120000));
  assert_string_equal(decided(), line);
}

static void the_time_since_it_was_issued_is_taken_off(void **state) {
  (void)state;
  assert_true(set("a", "* off for=10m", now.realtime_ms - 9 * 60000));
  later(MINUTE - 1);
  assert_string_equal(decided(), "* off for=10m");
  later(1);
  assert_string_equal(decided(), "");
  assert_true(set("b", "* off for=10m", now.realtime_ms - 10 * 60000)); /* yesterday's, still kept by the broker */
  assert_string_equal(decided(), "");
  assert_true(set("c", "* full", now.realtime_ms + 3600000)); /* a clock ahead of ours */
  later(10 * MINUTE - 1);
  assert_string_equal(decided(), "* full");
  later(1);
  assert_string_equal(decided(), "");
}

static void no_request_lasts_longer_than_the_user_allows(void **state) {
  (void)state;
  all.limits.for_most_ns = 5 * MINUTE;
  assert_true(set("a", "* off for=365d", now.realtime_ms));
  assert_true(take(LL_FROM_FILE, "* sample:2"));
  assert_true(take(LL_FROM_ENVIRONMENT, "* sample:3 for=1h"));
  later(5 * MINUTE);
  assert_string_equal(decided(), "* sample:3 for=1h");
}

static void a_line_that_is_still_there_keeps_its_time(void **state) {
  (void)state;
  assert_true(take(LL_FROM_FILE, "* off"));
  later(9 * MINUTE);
  assert_true(take(LL_FROM_FILE, "net.* full\n* off"));
  later(MINUTE);
  assert_string_equal(decided(), "");
  assert_true(take(LL_FROM_FILE, "* off")); /* an ended line is not revived by writing it again */
  assert_string_equal(decided(), "");
  assert_true(take(LL_FROM_FILE, "* off id=again"));
  assert_string_equal(decided(), "* off id=again");
}

static void a_topic_that_is_read_again_prolongs_nothing(void **state) {
  (void)state;
  int64_t issued_ms = now.realtime_ms;
  assert_true(set("a", "* off", issued_ms));
  later(9 * MINUTE);
  now.realtime_ms -= 3600000; /* the time of day was set meanwhile */
  assert_true(set("a", "* off", issued_ms));
  later(MINUTE);
  assert_string_equal(decided(), "");
  assert_true(set("a", "* off", issued_ms));
  assert_string_equal(decided(), "");
}

static void one_bad_line_keeps_all_that_was_there(void **state) {
  (void)state;
  assert_true(take(LL_FROM_FILE, "* sample:2"));
  assert_false(take(LL_FROM_FILE, "* off\n\ndisk.* of"));
  assert_string_equal(why, "line 3, column 8: \"of\" is not a resolution: off, summary, sample:N or full");
  assert_string_equal(decided(), "* sample:2");
}

static void a_bad_line_of_the_topic_ends_the_one_before(void **state) {
  (void)state;
  assert_true(set("a", "* off", now.realtime_ms));
  assert_false(set("a", "* of", now.realtime_ms));
  assert_string_equal(decided(), "");
  assert_false(set("a", "* off id=b", now.realtime_ms));
  assert_string_equal(why, "column 7: on the control topic the key is the id");
}

static void a_route_must_be_declared(void **state) {
  (void)state;
  assert_true(set("a", "* full route=audit", now.realtime_ms));
  assert_int_equal(ll_activations_decide(&all, &read_end, now.monotonic_ns)->route, 1);
  assert_true(set("a", "* full route=default", now.realtime_ms));
  assert_int_equal(ll_activations_decide(&all, &read_end, now.monotonic_ns)->route, 0);
  assert_false(set("a", "* full route=elsewhere", now.realtime_ms));
  assert_string_equal(why, "column 14: the route \"elsewhere\" is not declared; see LIFELINE_ROUTES");
  assert_true(set("a", "* full route=elsewhere program=other", now.realtime_ms)); /* may be declared there */
}

static void lines_for_others_do_not_count(void **state) {
  (void)state;
  char id[16];
  assert_true(take(LL_FROM_FILE, "* off program=move\n* off host=node8\n"));
  assert_string_equal(decided(), "");
  for (int i = 0; i < 1000; i++) {
    snprintf(id, sizeof id, "%d", i);
    assert_true(set(id, "* off host=node8", now.realtime_ms));
  }
  assert_int_equal(all.count, 0);
  assert_true(set("mine", "* sample:2 program=co* host=node7", now.realtime_ms));
  assert_string_equal(decided(), "* sample:2 program=co* host=node7");
}

static void at_most_256_of_a_source_count_and_those_that_are_over_make_room(void **state) {
  (void)state;
  char id[16], text[257 * 8] = "";
  for (int i = 0; i < LL_ACTIVATIONS_MAX; i++) {
    snprintf(id, sizeof id, "%d", i);
    assert_true(set(id, i == 7 ? "* off for=1s" : "* off", now.realtime_ms));
  }
  assert_false(set("one more", "* off", now.realtime_ms));
  assert_string_equal(why, "there are 256 activations already");
  assert_true(set("8", "* full", now.realtime_ms)); /* replaces the previous line of that id */
  later(SECOND);
  assert_true(set("one more", "* off", now.realtime_ms));
  assert_false(set("two more", "* off", now.realtime_ms));
  for (int i = 0; i < 257; i++)
    strcat(text, "* off\n");
  assert_false(take(LL_FROM_FILE, text));
  assert_string_equal(why, "line 257, column 1: there are 256 activations already");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(the_topic_goes_before_the_file_and_that_before_the_environment),
      TEST(of_a_file_the_last_line_that_matches_decides),
      TEST(of_the_topic_the_latest_issue_decides_in_whatever_order_it_is_read),
      TEST(an_activation_lasts_ten_minutes_unless_it_says_otherwise),
      TEST(a_line_of_the_environment_lasts_for_ever_unless_it_says_otherwise),
      TEST(a_time_in_the_future_does_not_outrank_what_comes_later),
      TEST(the_time_since_it_was_issued_is_taken_off),
      TEST(no_request_lasts_longer_than_the_user_allows),
      TEST(a_line_that_is_still_there_keeps_its_time),
      TEST(a_topic_that_is_read_again_prolongs_nothing),
      TEST(one_bad_line_keeps_all_that_was_there),
      TEST(a_bad_line_of_the_topic_ends_the_one_before),
      TEST(a_route_must_be_declared),
      TEST(lines_for_others_do_not_count),
      TEST(at_most_256_of_a_source_count_and_those_that_are_over_make_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
