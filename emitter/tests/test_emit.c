/* Events arrive as they were emitted. */
#include "emit_in_cxx.h"
#include "support.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

LL_EVENT(all_types, "test.all_types", LL_INFO, (i32, a, "B"), (i64, b, ""), (f32, c, ""), (f64, d, ""), (string, e, ""),
         (u32, f, ""), (u64, g, ""), (bool, h, ""), (bytes, i, ""));
LL_EVENT(no_fields, "test.no_fields", LL_DEBUG3);
LL_EVENT(cancelled, "test.cancelled", LL_INFO);
LL_EVENT(number, "test.number", LL_INFO, (u64, value, ""));
LL_EVENT(text, "test.text", LL_INFO, (string, value, ""));
LL_EVENT_CONST(constants, "test.constants", LL_INFO,
               ((string, stage, "", "net"), (i32, negative, "m", -5), (u64, large, "", UINT64_MAX),
                (bool, on, "", true), (bytes, raw, "", "\x01\x02"), (f32, half, "", 0.5)),
               (u32, value, ""));

static test_directory directory;

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  unsetenv("LIFELINE_PLUGIN_DIR");
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  test_directory_remove(&directory);
  return 0;
}

static test_batches run(void (*body)(void)) {
  assert_int_equal(test_in_child(body, NULL), 0);
  assert_int_equal(test_ring_files(&directory), 0);
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  return batches;
}

static bool text_is(llb_bytes bytes, const char *expected) {
  return bytes.size == strlen(expected) && memcmp(bytes.data, expected, bytes.size) == 0;
}

static void emit_all_types(void) {
  ll_bytes three = {"\0\1\2", 3}, none = {NULL, 0};
  ll_emit(all_types, INT32_MIN, INT64_MIN, -0.0f, 1e300, "h\xc3\xa9llo", UINT32_MAX, UINT64_MAX, true, three);
  ll_emit(all_types, 1, 2, 3, 4, NULL, 5, 6, false, none);
}

static void check_all_types(const llb_event *event, void *ctx) {
  unsigned *count = ctx;
  const llb_value *v = event->values;
  assert_true(text_is(event->type->name, "test.all_types"));
  if (++*count == 1) {
    assert_int_equal(v[0].i32, INT32_MIN);
    assert_true(v[1].i64 == INT64_MIN);
    assert_true(v[2].f32 == 0 && signbit(v[2].f32));
    assert_true(v[3].f64 == 1e300);
    assert_true(text_is(v[4].bytes, "h\xc3\xa9llo"));
    assert_true(v[5].u32 == UINT32_MAX && v[6].u64 == UINT64_MAX && v[7].boolean);
    assert_int_equal(v[8].bytes.size, 3);
    assert_memory_equal(v[8].bytes.data, "\0\1\2", 3);
  } else {
    assert_int_equal(v[0].i32, 1);
    assert_int_equal(v[4].bytes.size, 0);
    assert_false(v[7].boolean);
    assert_int_equal(v[8].bytes.size, 0);
  }
}

static void every_field_type_arrives_as_it_was_emitted(void **state) {
  (void)state;
  unsigned count = 0;
  test_batches batches = run(emit_all_types);
  test_each_event(&batches, check_all_types, &count);
  assert_int_equal(count, 2);
  assert_true(text_is(batches.at[0]->types[0].fields[0].unit, "B"));
  test_free_batches(&batches);
}

static void emit_constants(void) {
  ll_emit(no_fields);
  ll_emit(constants, 1);
}

static void constants_travel_once_in_the_descriptor(void **state) {
  (void)state;
  test_batches batches = run(emit_constants);
  assert_int_equal(batches.count, 1);
  assert_int_equal(batches.at[0]->event_count, 2);
  assert_int_equal(batches.at[0]->type_count, 2);
  assert_int_equal(batches.at[0]->types[0].field_count, 0);
  const llb_event_type *type = &batches.at[0]->types[1];
  assert_int_equal(type->constant_count, 6);
  assert_true(text_is(type->constants[0].value.bytes, "net"));
  assert_int_equal(type->constants[1].value.i32, -5);
  assert_true(type->constants[2].value.u64 == UINT64_MAX);
  assert_true(type->constants[3].value.boolean);
  assert_int_equal(type->constants[4].value.bytes.size, 2);
  assert_true(type->constants[5].value.f32 == 0.5f);
  test_free_batches(&batches);
}

static void emit_from_both_languages(void) {
  ll_emit(shared, 1);
  emit_in_cxx();
}

static void a_declaration_in_c_and_in_cxx_is_one_type(void **state) {
  (void)state;
  test_batches batches = run(emit_from_both_languages);
  assert_int_equal(test_events_in(&batches), 4);
  assert_int_equal(batches.at[0]->type_count, 3);
  test_free_batches(&batches);
}

enum { THREADS = 6, EACH = 100000 };

static void *emit_numbers(void *unused) {
  (void)unused;
  for (uint64_t i = 0; i < EACH; i++)
    ll_emit(number, i);
  return NULL;
}

static void emit_from_threads(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, emit_numbers, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

/* Each number of each thread arrives once, and in order within a batch's segment of one thread. (Across segments ticks
 * define the order: for a while a thread whose ring grew has two rings.) */
typedef struct numbers {
  uint64_t thread[THREADS];
  uint8_t seen[THREADS][EACH];
  uint64_t count;
} numbers;

static void check_run(const llb_event *event, numbers *all, bool first, uint64_t *last) {
  int i = 0;
  while (i < THREADS && all->thread[i] != 0 && all->thread[i] != event->thread)
    i++;
  assert_true(i < THREADS);
  all->thread[i] = event->thread;
  uint64_t value = event->values[0].u64;
  assert_true(value < EACH && (first || value == *last + 1));
  assert_int_equal(all->seen[i][value]++, 0);
  all->count++;
  *last = value;
}

static void each_threads_events_arrive_complete_and_in_order(void **state) {
  (void)state;
  static numbers all;
  static llb_event event;
  setenv("LIFELINE_POLICY", "block", 1);
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "60000", 1);
  test_batches batches = run(emit_from_threads);
  unsetenv("LIFELINE_POLICY");
  unsetenv("LIFELINE_BLOCK_TIMEOUT_MS");
  assert_int_equal(test_drops_in(&batches), 0);
  for (size_t i = 0; i < batches.count; i++) {
    llb_cursor cursor = llb_events(batches.at[i]);
    for (uint16_t s = 0; s < batches.at[i]->segment_count; s++) {
      uint64_t last = 0;
      for (uint32_t e = 0; e < batches.at[i]->segments[s].events; e++) {
        assert_true(llb_next(&cursor, &event));
        check_run(&event, &all, e == 0, &last);
      }
    }
  }
  assert_int_equal(all.count, THREADS * EACH);
  test_free_batches(&batches);
}

static void emit_a_few(void) {
  for (uint64_t i = 0; i < 1000; i++)
    ll_emit(number, i);
}

static void check_time(const llb_event *event, void *ctx) {
  const int64_t *window = ctx;
  assert_in_range(event->time_ns, window[0], window[1]);
}

static int64_t realtime_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void times_are_those_of_the_emits(const char *clock) {
  setenv("LIFELINE_CLOCK", clock, 1);
  int64_t window[2] = {realtime_ns() - 1000, 0};
  test_batches batches = run(emit_a_few);
  window[1] = realtime_ns() + 1000;
  unsetenv("LIFELINE_CLOCK");
  assert_int_equal(test_events_in(&batches), 1000);
  test_each_event(&batches, check_time, window);
  test_free_batches(&batches);
}

static void times_by_the_cpus_counter_are_those_of_the_emits(void **state) {
  (void)state;
  times_are_those_of_the_emits("auto");
}

static void times_by_the_monotonic_clock_are_those_of_the_emits(void **state) {
  (void)state;
  times_are_those_of_the_emits("monotonic");
}

/* A busy machine may cut off batches of a few events, which do not shrink. */
static void every_compression_arrives(void **state) {
  (void)state;
  enum { ENOUGH = 64 };
  static const struct {
    const char *name;
    int code;
  } kinds[] = {{"none", LLB_PLAIN}, {"lz4", LLB_LZ4}, {"zstd", LLB_ZSTD}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    setenv("LIFELINE_COMPRESSION", kinds[i].name, 1);
    remove(directory.out);
    test_batches batches = run(emit_a_few);
    assert_int_equal(test_events_in(&batches), 1000);
    bool judged = false;
    for (size_t batch = 0; batch < batches.count; batch++) {
      const llb_batch *one = batches.at[batch];
      judged |= one->event_count >= ENOUGH;
      if (one->event_count >= ENOUGH || one->compression != LLB_PLAIN)
        assert_int_equal(one->compression, kinds[i].code);
    }
    assert_true(judged);
    test_free_batches(&batches);
  }
  unsetenv("LIFELINE_COMPRESSION");
}

static void only_readers_that_know_them_get_differences_of_ticks(void **state) {
  (void)state;
  static const char *const wishes[] = {"compatible", "auto"};
  for (int known = 0; known < 2; known++) {
    setenv("LIFELINE_COMPRESSION", wishes[known], 1);
    remove(directory.out);
    test_batches batches = run(emit_a_few);
    assert_int_equal(test_events_in(&batches), 1000);
    bool compressed = false, differences = false; /* in any: a busy machine may seal a first one of few events */
    for (size_t i = 0; i < batches.count; i++) {
      compressed |= batches.at[i]->compression != LLB_PLAIN;
      differences |= (batches.at[i]->shuffle & LLB_TICK_DIFFERENCES) != 0;
    }
    assert_true(compressed);
    assert_int_equal(differences, known);
    test_free_batches(&batches);
  }
  unsetenv("LIFELINE_COMPRESSION");
}

static void describe(void) {
  ll_options options = LL_OPTIONS_INIT;
  options.program = "pro\xffgram";
  options.host = "some-host";
  options.context = "session=42,resource.rack=b 7";
  if (ll_init(&options) != 0) exit(1);
  ll_emit(number, 1);
}

static void host_program_and_context_travel_with_each_batch(void **state) {
  (void)state;
  test_batches batches = run(describe);
  const llb_batch *batch = batches.at[0];
  assert_true(text_is(batch->host, "some-host"));
  assert_true(text_is(batch->program, "pro?gram"));
  assert_int_equal(batch->context_count, 2);
  assert_true(text_is(batch->context[0].key, "session") && text_is(batch->context[0].value, "42"));
  assert_true(text_is(batch->context[1].key, "resource.rack") && text_is(batch->context[1].value, "b 7"));
  test_free_batches(&batches);
}

LL_EVENT(costly, "test.costly", LL_INFO, (u64, value, ""));
static unsigned computed;

static uint64_t compute(void) {
  return ++computed;
}

static void emit_what_is_costly(void) {
  for (int i = 0; i < 3; i++)
    if (ll_event_is_on(costly)) ll_emit(costly, compute());
  fprintf(stderr, "%u", computed);
  exit(computed == (getenv("LIFELINE_RESOLUTION") != NULL ? 1 : 3) ? 0 : 1);
}

static void values_of_a_type_that_is_off_need_not_be_computed(void **state) {
  (void)state;
  assert_int_equal(test_in_child(emit_what_is_costly, NULL), 0);
  setenv("LIFELINE_RESOLUTION", "test.costly off", 1);
  int status = test_in_child(emit_what_is_costly, NULL); /* the first event resolves the state */
  unsetenv("LIFELINE_RESOLUTION");
  assert_int_equal(status, 0);
}

static void flush_and_look(void) {
  ll_emit(number, 7);
  if (ll_flush(TEST_PATIENCE_MS) != 0) exit(1);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  if (now.emitted != 1 || now.batches_in_flight != 0 || !now.on || !now.crash_safe) exit(2);
  test_batches batches = test_read_batches(directory.out);
  if (test_events_in(&batches) != 1) exit(3);
  test_free_batches(&batches);
}

static void a_flush_returns_when_the_sink_has_everything(void **state) {
  (void)state;
  test_batches batches = run(flush_and_look);
  assert_int_equal(batches.count, 2);
  test_free_batches(&batches);
}

static void emit_from_signals(int signal) {
  (void)signal;
  ll_emit(number, 1);
}

static volatile sig_atomic_t signals; /* a signal may come when the compiler expects none, such as in setitimer */

static void count_and_emit(int signal) {
  signals++;
  emit_from_signals(signal);
}

static void emit_under_fire(void) {
  if (ll_init(NULL) != 0) exit(1);
  ll_emit(number, 0);
  struct sigaction action = {.sa_handler = count_and_emit, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  uint64_t emitted = 1;
  for (; signals < 2000; emitted++)
    ll_emit(text, "between two signals");
  setitimer(ITIMER_REAL, &never, NULL);
  emitted += (uint64_t)signals;
  ll_shutdown(TEST_PATIENCE_MS);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  if (now.emitted != emitted) {
    fprintf(stderr, "emitted %llu, counted %llu\n", (unsigned long long)emitted, (unsigned long long)now.emitted);
    exit(1);
  }
}

static void events_of_signal_handlers_arrive_or_are_counted(void **state) {
  (void)state;
  test_batches batches = run(emit_under_fire);
  const llb_batch *last = batches.at[batches.count - 1];
  assert_int_equal(last->counters[0], test_events_in(&batches) + test_drops_in(&batches));
  test_free_batches(&batches);
}

static void a_sink_with_a_small_limit_gets_small_batches(void **state) {
  (void)state;
  test_use_sink(&directory, "small");
  test_batches batches = run(emit_a_few);
  assert_true(batches.count > 1);
  assert_int_equal(test_events_in(&batches), 1000);
  test_free_batches(&batches);
}

/* Its first emit opens a file, which is where a thread is cancelled. */
static void *emit_while_cancelled(void *unused) {
  (void)unused;
  pthread_cancel(pthread_self());
  ll_emit(cancelled);
  pthread_testcancel();
  return NULL;
}

static void cancel_a_thread_and_emit(void) {
  pthread_t thread;
  void *result;
  alarm(30);
  pthread_create(&thread, NULL, emit_while_cancelled, NULL);
  pthread_join(thread, &result);
  if (result != PTHREAD_CANCELED) exit(1);
  ll_emit(cancelled);
}

static void a_cancelled_thread_finishes_its_emit_and_leaves_the_others_theirs(void **state) {
  (void)state;
  assert_int_equal(test_in_child(cancel_a_thread_and_emit, NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), 2);
  test_free_batches(&batches);
}

/* The first emit opens files; the last ones find no room and give up. */
static void disturb_errno(void) {
  enum { UNTOUCHED = 4711 };
  errno = UNTOUCHED;
  ll_emit(number, 0);
  if (errno != UNTOUCHED) exit(1);
  ll_statistics now = {.size = sizeof now};
  for (uint64_t i = 1; now.dropped_ring_full == 0; i++) {
    ll_emit(number, i);
    if (i % 1000 == 0) ll_stats(&now);
  }
  if (errno != UNTOUCHED) exit(2);
  if (ll_flush(1) != ETIMEDOUT || errno != UNTOUCHED) exit(3);
  if (ll_shutdown(1) != ETIMEDOUT || errno != UNTOUCHED) exit(4);
}

static void no_function_touches_errno(void **state) {
  (void)state;
  test_use_sink(&directory, "never");
  setenv("LIFELINE_POLICY", "block", 1);
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "1", 1);
  setenv("LIFELINE_BUDGET_BYTES", "2097152", 1);
  int status = test_in_child(disturb_errno, NULL);
  unsetenv("LIFELINE_POLICY");
  unsetenv("LIFELINE_BLOCK_TIMEOUT_MS");
  unsetenv("LIFELINE_BUDGET_BYTES");
  assert_int_equal(status, 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(every_field_type_arrives_as_it_was_emitted),
      TEST(constants_travel_once_in_the_descriptor),
      TEST(a_declaration_in_c_and_in_cxx_is_one_type),
      TEST(each_threads_events_arrive_complete_and_in_order),
      TEST(times_by_the_cpus_counter_are_those_of_the_emits),
      TEST(times_by_the_monotonic_clock_are_those_of_the_emits),
      TEST(every_compression_arrives),
      TEST(only_readers_that_know_them_get_differences_of_ticks),
      TEST(host_program_and_context_travel_with_each_batch),
      TEST(a_flush_returns_when_the_sink_has_everything),
      TEST(values_of_a_type_that_is_off_need_not_be_computed),
      TEST(events_of_signal_handlers_arrive_or_are_counted),
      TEST(a_cancelled_thread_finishes_its_emit_and_leaves_the_others_theirs),
      TEST(no_function_touches_errno),
      TEST(a_sink_with_a_small_limit_gets_small_batches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
