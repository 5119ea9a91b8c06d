/* Types declared at run time: the same events, rules and guarantees as static ones; no argument of the caller is
 * trusted. */
#include "support.h"

#include <errno.h>
#include <lifeline/dynamic.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

LL_EVENT(same, "test.same", LL_WARN, (u64, id, ""), (string, text, ""), (bool, yes, ""));

static test_directory directory;

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  unsetenv("LIFELINE_PLUGIN_DIR");
  unsetenv("LIFELINE_RESOLUTION");
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  test_directory_remove(&directory);
  return 0;
}

static bool text_is(llb_bytes bytes, const char *expected) {
  return bytes.size == strlen(expected) && memcmp(bytes.data, expected, bytes.size) == 0;
}

static const ll_dynamic_field every_field[] = {{LL_I32, "a", "B"}, {LL_I64, "b", NULL},  {LL_F32, "c", ""},
                                               {LL_F64, "d", ""},  {LL_STRING, "e", ""}, {LL_U32, "f", ""},
                                               {LL_U64, "g", ""},  {LL_BOOL, "h", ""},   {LL_BYTES, "i", ""}};

static void emit_every_type(void) {
  ll_dynamic *type;
  const ll_value values[] = {{.i64 = INT32_MIN},     {.i64 = INT64_MIN},  {.f64 = 0.5},        {.f64 = -1e300},
                             {.bytes = {"h\0i", 3}}, {.u64 = UINT32_MAX}, {.u64 = UINT64_MAX}, {.u64 = 1},
                             {.bytes = {NULL, 0}}};
  if (ll_declare("test.every", LL_DEBUG, every_field, 9, &type) != 0) exit(1);
  if (ll_emit_values(type, values, 9) != 0) exit(2);
}

static void check_every_type(const llb_event *event, void *ctx) {
  const llb_value *v = event->values;
  ++*(unsigned *)ctx;
  assert_true(text_is(event->type->name, "test.every"));
  assert_int_equal(event->type->level, LL_DEBUG);
  assert_true(text_is(event->type->fields[0].unit, "B") && event->type->fields[1].unit.size == 0);
  assert_true(v[0].i32 == INT32_MIN && v[1].i64 == INT64_MIN && v[2].f32 == 0.5f && v[3].f64 == -1e300);
  assert_true(v[4].bytes.size == 3 && memcmp(v[4].bytes.data, "h\0i", 3) == 0);
  assert_true(v[5].u32 == UINT32_MAX && v[6].u64 == UINT64_MAX && v[7].boolean && v[8].bytes.size == 0);
}

static void every_field_type_arrives_as_it_was_emitted(void **state) {
  (void)state;
  unsigned count = 0;
  assert_int_equal(test_in_child(emit_every_type, NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  test_each_event(&batches, check_every_type, &count);
  assert_int_equal(count, 1);
  test_free_batches(&batches);
}

static void emit_both(void) {
  static const ll_dynamic_field fields[] = {{LL_U64, "id", ""}, {LL_STRING, "text", ""}, {LL_BOOL, "yes", ""}};
  const ll_value values[] = {{.u64 = 7}, {.bytes = {"odd", 3}}, {.u64 = 0}};
  ll_dynamic *first, *second;
  if (ll_declare("test.same", LL_WARN, fields, 3, &first) != 0) exit(1);
  if (ll_declare("test.same", LL_WARN, fields, 3, &second) != 0 || first != second) exit(2);
  ll_emit(same, 7, "odd", false);
  ll_emit_values(first, values, 3);
}

static void check_same(const llb_event *event, void *ctx) {
  ++*(unsigned *)ctx;
  assert_true(event->values[0].u64 == 7 && text_is(event->values[1].bytes, "odd") && !event->values[2].boolean);
}

static void a_static_and_a_dynamic_declaration_are_one_type(void **state) {
  (void)state;
  unsigned count = 0;
  assert_int_equal(test_in_child(emit_both, NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  test_each_event(&batches, check_same, &count);
  assert_int_equal(count, 2);
  assert_int_equal(batches.at[0]->type_count, 1);
  test_free_batches(&batches);
}

static void refuse(const char *name, ll_level level, const ll_dynamic_field *fields, unsigned count) {
  ll_dynamic *type = (ll_dynamic *)&directory;
  if (ll_declare(name, level, fields, count, &type) != EINVAL || type != NULL) exit(1);
}

static void declare_what_is_no_type(void) {
  static char long_name[257];
  static ll_dynamic_field many[256];
  static char names[256][8];
  memset(long_name, 'n', 256);
  for (int i = 0; i < 256; i++) {
    names[i][0] = 'a', names[i][1] = (char)('a' + i / 16), names[i][2] = (char)('a' + i % 16);
    many[i] = (ll_dynamic_field){LL_BOOL, names[i], NULL};
  }
  const ll_dynamic_field good = {LL_I32, "x", ""}, twice[] = {good, good},
                         bad[] = {{(ll_field_type)0, "x", ""}, {(ll_field_type)10, "x", ""}, {LL_I32, "", ""},
                                  {LL_I32, NULL, ""},          {LL_I32, "\xff", ""},         {LL_I32, "x", "\xff"},
                                  {LL_I32, long_name, ""},     {LL_I32, "x", long_name}};
  refuse(NULL, LL_INFO, &good, 1);
  refuse("", LL_INFO, &good, 1);
  refuse("\xc3", LL_INFO, &good, 1);
  refuse(long_name, LL_INFO, &good, 1);
  refuse("n", (ll_level)0, &good, 1);
  refuse("n", (ll_level)9, &good, 1);
  refuse("n", LL_INFO, twice, 2);
  refuse("n", LL_INFO, NULL, 1);
  refuse("n", LL_INFO, many, 256);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    refuse("n", LL_INFO, &bad[i], 1);
  ll_dynamic *type;
  if (ll_declare("n", LL_INFO, many, 255, &type) != 0) exit(2);
  if (ll_declare("none", LL_INFO, NULL, 0, &type) != 0 || ll_emit_values(type, NULL, 0) != 0) exit(3);
}

static void what_is_no_type_is_refused_before_anything_happens(void **state) {
  (void)state;
  assert_int_equal(test_in_child(declare_what_is_no_type, NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), 1); /* the event without fields */
  test_free_batches(&batches);
}

static void emit_what_does_not_fit(void) {
  ll_dynamic *type;
  if (ll_declare("test.every", LL_INFO, every_field, 9, &type) != 0) exit(1);
  const ll_value good[9] = {{.u64 = 0}}, *none = NULL;
  if (ll_emit_values(NULL, good, 9) != EINVAL || ll_emit_values(type, none, 9) != EINVAL) exit(2);
  if (ll_emit_values(type, good, 8) != EINVAL || ll_emit_values(type, good, 10) != EINVAL) exit(3);
  const struct {
    int field, error;
    ll_value value;
  } bad[] = {{0, ERANGE, {.i64 = (int64_t)INT32_MAX + 1}},
             {0, ERANGE, {.i64 = (int64_t)INT32_MIN - 1}},
             {5, ERANGE, {.u64 = (uint64_t)UINT32_MAX + 1}},
             {7, EINVAL, {.u64 = 2}},
             {4, EINVAL, {.bytes = {NULL, 1}}},
             {8, EINVAL, {.bytes = {NULL, SIZE_MAX}}}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    ll_value values[9];
    memcpy(values, good, sizeof values);
    values[bad[i].field] = bad[i].value;
    if (ll_emit_values(type, values, 9) != bad[i].error) exit(10 + (int)i);
  }
  ll_value huge[9];
  memcpy(huge, good, sizeof huge);
  huge[4].bytes = (ll_bytes){"x", SIZE_MAX}; /* so long that its bytes must not be read */
  if (ll_emit_values(type, huge, 9) != 0) exit(4);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  if (now.dropped_oversize != 1) exit(5);
}

static void what_does_not_fit_its_type_is_refused_and_what_is_too_large_is_counted(void **state) {
  (void)state;
  assert_int_equal(test_in_child(emit_what_does_not_fit, NULL), 0);
}

enum { THREADS = 4, EACH = 5000 };

static void *declare_and_emit(void *unused) {
  static const ll_dynamic_field fields[] = {{LL_U64, "n", ""}};
  (void)unused;
  for (uint64_t i = 0; i < EACH; i++) {
    ll_dynamic *type;
    const ll_value value = {.u64 = i};
    const char *const names[] = {"test.a", "test.b", "test.c"};
    if (ll_declare(names[i % 3], LL_INFO, fields, 1, &type) != 0) return NULL;
    if (ll_emit_values(type, &value, 1) != 0) return NULL;
  }
  return (void *)1;
}

static void declare_from_threads(void) {
  pthread_t threads[THREADS];
  void *good;
  setenv("LIFELINE_POLICY", "block", 1);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, declare_and_emit, NULL);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], &good);
    if (good == NULL) exit(1);
  }
}

static void threads_may_declare_the_same_type_again_and_again(void **state) {
  (void)state;
  assert_int_equal(test_in_child(declare_from_threads, NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), THREADS * EACH);
  for (size_t i = 0; i < batches.count; i++)
    assert_in_range(batches.at[i]->type_count, 0, 3);
  test_free_batches(&batches);
}

static void emit_under_rules(void) {
  static const ll_dynamic_field fields[] = {{LL_STRING, "who", ""}, {LL_F32, "load", "%"}};
  ll_dynamic *off, *large, *tenth;
  setenv("LIFELINE_RESOLUTION", "t.off off; t.large full when load>=50; t.tenth sample:10", 1);
  if (ll_declare("t.off", LL_INFO, fields, 2, &off) != 0 || ll_is_on(off)) exit(1);
  if (ll_declare("t.large", LL_INFO, fields, 2, &large) != 0 || !ll_is_on(large)) exit(2);
  if (ll_declare("t.tenth", LL_INFO, fields, 2, &tenth) != 0) exit(3);
  for (int i = 0; i < 100; i++) {
    const ll_value values[] = {{.bytes = {"me", 2}}, {.f64 = i == 99 ? NAN : i}};
    ll_emit_values(off, values, 2);
    ll_emit_values(large, values, 2);
    ll_emit_values(tenth, values, 2);
  }
}

static void rules_apply_as_to_any_other_type(void **state) {
  (void)state;
  assert_int_equal(test_in_child(emit_under_rules, NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), 49 + 10);
  test_free_batches(&batches);
}

enum { MANY_TYPES = 3000 };

static void declare_many_types_twice(void) {
  static const ll_dynamic_field fields[] = {{LL_U64, "value", ""}};
  static ll_dynamic *types[MANY_TYPES];
  for (int i = 0; i < 2 * MANY_TYPES; i++) {
    char name[32];
    ll_dynamic *type;
    snprintf(name, sizeof name, "test.t%d", i % MANY_TYPES);
    if (ll_declare(name, LL_INFO, fields, 1, &type) != 0) exit(1);
    if (i < MANY_TYPES)
      types[i] = type;
    else if (type != types[i - MANY_TYPES])
      exit(2);
    if (i > 0 && i < MANY_TYPES && type == types[i - 1]) exit(3);
  }
  if (ll_emit_values(types[MANY_TYPES - 1], &(ll_value){.u64 = 1}, 1) != 0) exit(4);
}

static void check_last_of_many(const llb_event *event, void *unused) {
  (void)unused;
  assert_int_equal(event->type->number, MANY_TYPES);
}

static void each_of_many_types_is_found_again(void **state) {
  (void)state;
  assert_int_equal(test_in_child(declare_many_types_twice, NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), 1);
  test_each_event(&batches, check_last_of_many, NULL);
  test_free_batches(&batches);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(every_field_type_arrives_as_it_was_emitted),
      TEST(a_static_and_a_dynamic_declaration_are_one_type),
      TEST(what_is_no_type_is_refused_before_anything_happens),
      TEST(what_does_not_fit_its_type_is_refused_and_what_is_too_large_is_counted),
      TEST(threads_may_declare_the_same_type_again_and_again),
      TEST(each_of_many_types_is_found_again),
      TEST(rules_apply_as_to_any_other_type),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
