/* Activations between a sink and the harvester: in order and bounded, whatever the topic contains. */
#include "resolution/control.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

/* The calls that the harvester received, one line each. */
typedef struct ears {
  char heard[65536];
  unsigned calls;
} ears;

static ears harvester;
static unsigned news;
static uint64_t now_ns;

static void count_news(void *ctx) {
  (void)ctx;
  news++;
}

static bool hear(void *ctx, const char *id, const char *line, int64_t written_ms, char *why, size_t why_bytes) {
  (void)written_ms;
  (void)why;
  (void)why_bytes;
  ears *e = ctx;
  size_t used = strlen(e->heard);
  snprintf(e->heard + used, sizeof e->heard - used, "%s: %s\n", id, line != NULL ? line : "ended");
  e->calls++;
  return true;
}

static const char *apply(ll_control *control) {
  harvester = (ears){0};
  now_ns += SECOND;
  ll_control_apply(control, now_ns, hear, &harvester);
  return harvester.heard;
}

static void say_bytes(ll_control *control, const char *id, size_t id_bytes, const char *line, size_t line_bytes) {
  ll_control_take(control, &(ll_control_message){id, id_bytes, line, line_bytes, 1});
}

static void say(ll_control *control, const char *id, const char *line) {
  say_bytes(control, id, strlen(id), line, line != NULL ? strlen(line) : 0);
}

static ll_control *begin(void) {
  news = 0;
  ll_control *control = ll_control_create(count_news, NULL, "copy", "node7");
  assert_non_null(control);
  ll_control_begin(control);
  return control;
}

static void a_topic_is_heard_of_only_when_it_is_read_whole(void **state) {
  (void)state;
  ll_control *control = begin();
  say(control, "a", "x off");
  say(control, "b", "y off");
  say(control, "a", NULL); /* a tombstone that the compacted topic still holds */
  assert_string_equal(apply(control), "");
  assert_int_equal(news, 0);
  ll_control_complete(control);
  assert_int_equal(news, 1);
  assert_string_equal(apply(control), "b: y off\n");
  say(control, "b", NULL);
  assert_string_equal(apply(control), "b: ended\n");
  ll_control_free(control);
}

static void what_is_read_again_unchanged_is_not_handed_on_again(void **state) {
  (void)state;
  ll_control *control = begin();
  say(control, "a", "x off");
  say(control, "b", "y off");
  ll_control_complete(control);
  apply(control);
  ll_control_begin(control);
  say(control, "a", "x off");
  say(control, "c", "z off");
  assert_string_equal(apply(control), "");
  ll_control_complete(control);
  assert_string_equal(apply(control), "b: ended\nc: z off\n");
  ll_control_free(control);
}

static void an_empty_line_ends_an_activation(void **state) {
  (void)state;
  ll_control *control = begin();
  say(control, "a", "x off");
  ll_control_complete(control);
  apply(control);
  say(control, "a", "");
  assert_string_equal(apply(control), "a: ended\n");
  ll_control_free(control);
}

static void many_changes_of_one_activation_are_one(void **state) {
  (void)state;
  ll_control *control = begin();
  ll_control_complete(control);
  apply(control);
  char line[32];
  for (int i = 0; i < 10000; i++) {
    snprintf(line, sizeof line, "x sample:%d", i + 1);
    say(control, "a", line);
  }
  assert_string_equal(apply(control), "a: x sample:10000\n");
  ll_control_free(control);
}

static void what_is_hostile_is_ignored_and_costs_a_bounded_time(void **state) {
  (void)state;
  static char large[100000];
  memset(large, 'x', sizeof large);
  ll_control *control = begin();
  ll_control_complete(control);
  apply(control);
  say_bytes(control, "", 0, "x off", 5);
  say_bytes(control, large, 129, "x off", 5);
  say_bytes(control, large, sizeof large, "x off", 5);
  say_bytes(control, "a\0b", 3, "x off", 5);
  say_bytes(control, "a b", 3, "x off", 5);
  say_bytes(control, "\xff\xfe", 2, "x off", 5);
  say_bytes(control, "long", 4, large, 1025);
  say_bytes(control, "huge", 4, large, sizeof large);
  say_bytes(control, "zero", 4, "x \0ff", 5);
  say_bytes(control, "line", 4, "x off\ny off", 11);
  assert_string_equal(apply(control), "");
  say_bytes(control, large, 128, large, 1024);
  apply(control);
  assert_int_equal(harvester.calls, 1);
  ll_control_free(control);
}

static void no_more_than_256_are_kept_and_64_handed_on_at_once(void **state) {
  (void)state;
  ll_control *control = begin();
  char id[32];
  for (int i = 0; i < 10000; i++) {
    snprintf(id, sizeof id, "id-%d", i);
    say(control, id, "x off");
  }
  ll_control_complete(control);
  unsigned all = 0;
  for (int i = 0; i < 10; i++) {
    apply(control);
    assert_in_range(harvester.calls, 0, 64);
    all += harvester.calls;
  }
  assert_int_equal(all, 256);
  say(control, "id-0", NULL);
  apply(control);
  say(control, "late", "x off"); /* there is room again */
  assert_string_equal(apply(control), "late: x off\n");
  ll_control_free(control);
}

static void the_harvester_is_asked_at_most_every_tenth_of_a_second(void **state) {
  (void)state;
  ll_control *control = begin();
  ll_control_complete(control);
  apply(control);
  say(control, "a", "x off");
  harvester = (ears){0};
  assert_int_equal(ll_control_due_ns(control), now_ns + SECOND / 10);
  ll_control_apply(control, now_ns + SECOND / 20, hear, &harvester);
  assert_int_equal(harvester.calls, 0);
  ll_control_apply(control, now_ns + SECOND / 10, hear, &harvester);
  assert_int_equal(harvester.calls, 1);
  assert_int_equal(ll_control_due_ns(control), UINT64_MAX);
  ll_control_free(control);
}

static void lines_for_others_and_invalid_ones_take_no_room(void **state) {
  (void)state;
  ll_control *control = begin();
  char id[16];
  for (int i = 0; i < 2 * LL_CONTROL_IDS_MAX; i++) {
    snprintf(id, sizeof id, "o%d", i);
    say(control, id, i % 2 == 0 ? "x off program=another" : "x off host=another");
  }
  for (int i = 0; i < LL_CONTROL_IDS_MAX; i++) {
    snprintf(id, sizeof id, "i%d", i);
    say(control, id, "no rule");
  }
  say(control, "z", "x off program=copy host=node7");
  ll_control_complete(control);
  bool found = false;
  for (int i = 0; i < 10; i++)
    found |= strstr(apply(control), "z: x off program=copy host=node7\n") != NULL;
  assert_true(found);
  say(control, "z", "x off program=another"); /* it is not for this program any more */
  found = false;
  for (int i = 0; i < 10; i++)
    found |= strstr(apply(control), "z: ended\n") != NULL;
  assert_true(found);
  ll_control_free(control);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_topic_is_heard_of_only_when_it_is_read_whole),
      cmocka_unit_test(what_is_read_again_unchanged_is_not_handed_on_again),
      cmocka_unit_test(an_empty_line_ends_an_activation),
      cmocka_unit_test(many_changes_of_one_activation_are_one),
      cmocka_unit_test(what_is_hostile_is_ignored_and_costs_a_bounded_time),
      cmocka_unit_test(lines_for_others_and_invalid_ones_take_no_room),
      cmocka_unit_test(no_more_than_256_are_kept_and_64_handed_on_at_once),
      cmocka_unit_test(the_harvester_is_asked_at_most_every_tenth_of_a_second),
  };
  return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
