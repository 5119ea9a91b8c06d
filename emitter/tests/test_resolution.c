/* Rules apply to events in threads, children, loaded objects, and after a kill. */
#include "following.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

LL_EVENT(number, "test.number", LL_INFO, (u64, value, ""));
LL_EVENT(detail, "test.detail", LL_DEBUG, (i32, value, ""), (string, text, ""));
LL_EVENT(ratio, "test.ratio", LL_INFO, (f32, value, ""));
LL_EVENT(secret, "secret.key", LL_INFO, (u64, value, ""));
LL_EVENT(alarm_sample, "test.alarm.sample", LL_INFO, (u64, value, ""));
LL_EVENT(alarm_summary, "test.alarm.summary", LL_INFO, (u64, value, "B"));

static test_directory directory;
static char file[200], output[200];

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  snprintf(file, sizeof file, "%s/triggers", directory.path);
  snprintf(output, sizeof output, "%s/output", directory.path);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  test_forget_rules();
  test_directory_remove(&directory);
  return 0;
}

static void run(void (*body)(void)) {
  int status = test_in_child(body, output);
  if (status != 0) fail_msg("%s", test_text_of(output));
}

/* --- the environment --- */

static void emit_some(void) {
  for (int i = 0; i < 1000; i++) {
    ll_emit(number, (uint64_t)i);
    ll_emit(detail, i - 500, "text");
    ll_emit(ratio, (float)i / 4);
  }
}

static void check_nothing_is_emitted(void) {
  emit_some();
  ll_statistics now = test_statistics();
  REQUIRE(now.on && now.emitted == 0 && now.sampled_out == 0 && now.below_threshold == 0);
}

static void what_is_off_is_neither_emitted_nor_counted(void **state) {
  (void)state;
  setenv("LIFELINE_RESOLUTION", "* off", 1);
  run(check_nothing_is_emitted);
  assert_int_equal(access(directory.out, F_OK), -1);
}

static void check_levels(void) {
  emit_some();
  REQUIRE(test_statistics().emitted == 2000);
}

static void a_level_is_switched_off_for_all_types(void **state) {
  (void)state;
  setenv("LIFELINE_RESOLUTION", "* off level>=debug", 1);
  run(check_levels);
}

static void check_thresholds(void) {
  emit_some();
  ll_statistics now = test_statistics();
  REQUIRE(now.emitted == 10 + 3 + 1000 - 5 && now.below_threshold == 990 + 997 + 5);
}

static void a_threshold_passes_exactly_what_fulfils_it(void **state) {
  (void)state;
  setenv("LIFELINE_RESOLUTION",
         "test.number full when value>989; test.detail full when value <= -498;test.ratio full when value!=0.5; "
         "test.ratio full when value>1",
         1);
  run(check_thresholds);
}

enum { THREADS = 4, EACH = 10007, ONE_OF = 10 };

static void *emit_each(void *unused) {
  (void)unused;
  for (uint64_t i = 0; i < EACH; i++)
    ll_emit(number, i);
  return NULL;
}

static void run_threads(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    REQUIRE(pthread_create(&threads[i], NULL, emit_each, NULL) == 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

static void check_sampling_threads(void) {
  run_threads();
  ll_statistics now = test_statistics();
  REQUIRE(now.emitted == THREADS * (EACH / ONE_OF + 1));
  REQUIRE(now.emitted + now.sampled_out == THREADS * EACH);
}

static void check_is_tenth(const llb_event *event, void *count) {
  assert_int_equal(event->values[0].u64 % ONE_OF, 0);
  ++*(unsigned *)count;
}

static void of_each_threads_events_exactly_every_tenth_is_kept(void **state) {
  (void)state;
  setenv("LIFELINE_RESOLUTION", "* sample:10", 1);
  run(check_sampling_threads);
  test_batches batches = test_read_batches(directory.out);
  unsigned count = 0;
  test_each_event(&batches, check_is_tenth, &count);
  assert_int_equal(count, THREADS * (EACH / ONE_OF + 1));
  assert_int_equal(batches.at[batches.count - 1]->counters[8], THREADS * EACH - count);
  test_free_batches(&batches);
}

static void check_the_threshold_comes_first(void) {
  for (uint64_t i = 0; i < 1000; i++)
    ll_emit(number, i);
  ll_statistics now = test_statistics();
  REQUIRE(now.emitted == 50 && now.sampled_out == 450 && now.below_threshold == 500);
}

static void a_sample_is_one_of_those_above_the_threshold(void **state) {
  (void)state;
  setenv("LIFELINE_RESOLUTION", "* sample:10 when value>=500", 1);
  run(check_the_threshold_comes_first);
}

static void check_folding(void) {
  emit_some();
  ll_statistics now = test_statistics();
  REQUIRE(now.folded == 1000 + 500 && now.below_threshold == 500);
  REQUIRE(now.emitted == 1000 + 2); /* the ratios, and two summaries */
}

static void what_is_summarised_counts_as_folded(void **state) {
  (void)state;
  setenv("LIFELINE_RESOLUTION", "test.number summary; test.detail summary when value>=0", 1);
  run(check_folding);
}

static void check_routes(void) {
  emit_some();
  ll_emit(number, 1000);
  ll_statistics now = test_statistics();
  REQUIRE(now.emitted == 2000 + 101 && now.sampled_out == 900);
}

static void a_route_has_its_own_events_and_counters(void **state) {
  (void)state;
  char other[200], text[256];
  snprintf(other, sizeof other, "%s/audit.llb", directory.path);
  snprintf(text, sizeof text, "audit=file://%s", other);
  setenv("LIFELINE_ROUTES", text, 1);
  setenv("LIFELINE_RESOLUTION", "test.number sample:10 route=audit", 1);
  run(check_routes);
  test_batches batches = test_read_batches(other);
  assert_int_equal(test_events_in(&batches), 101);
  assert_int_equal(batches.at[batches.count - 1]->counters[8], 900);
  test_free_batches(&batches);
  batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), 2000);
  assert_int_equal(batches.at[batches.count - 1]->counters[8], 0);
  test_free_batches(&batches);
}

static void check_who_is_asked_for(void) {
  ll_emit(number, 1);
  REQUIRE(!ll_is_asked_for(&ll_type_number)); /* asked for without an end */
  REQUIRE(ll_is_asked_for(&ll_type_ratio) && ll_is_asked_for(&ll_type_alarm_sample));
  REQUIRE(!ll_is_asked_for(&ll_type_detail));        /* only by "*" */
  REQUIRE(!ll_is_asked_for(&ll_type_alarm_summary)); /* a later line summarises it */
  REQUIRE(!ll_is_asked_for(&ll_type_secret));
}

static void a_type_is_asked_for_by_name_and_for_a_time(void **state) {
  (void)state;
  setenv("LIFELINE_NEVER", "secret.*", 1);
  setenv("LIFELINE_MAX_RATE", "1", 1);
  setenv("LIFELINE_RESOLUTION",
         "* full for=1h; secret.key full for=1h; test.number full; test.ratio full for=1h; test.alarm.* full for=1h; "
         "test.alarm.summary summary for=1h",
         1);
  run(check_who_is_asked_for);
}

static void check_never(void) {
  ll_emit(secret, 1);
  ll_emit(number, 1);
  REQUIRE(test_statistics().emitted == 1);
}

static void nobody_switches_on_what_must_never_be(void **state) {
  (void)state;
  setenv("LIFELINE_NEVER", "other, secret.*", 1);
  setenv("LIFELINE_RESOLUTION", "* full", 1);
  run(check_never);
}

static void emit_into_the_void(void) {
  ll_emit(number, 1);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  REQUIRE(!now.on && now.dropped_shutdown == 1);
}

static void a_bad_line_of_the_environment_is_one_clear_error(void **state) {
  (void)state;
  static const struct {
    const char *variable, *value, *error;
  } cases[] = {
      {"LIFELINE_RESOLUTION", "* full; * of", "LIFELINE_RESOLUTION: line 2, column 4: \"of\" is not a resolution: off"},
      {"LIFELINE_RESOLUTION", "* full route=audit", "the route \"audit\" is not declared"},
      {"LIFELINE_NEVER", "a*b", "LIFELINE_NEVER: \"*\" may only be the last character of a pattern"},
      {"LIFELINE_MAX_FOR", "10", "LIFELINE_MAX_FOR must be a duration like 90s, 10m or 1d"},
      {"LIFELINE_MAX_RATE", "-1", "LIFELINE_MAX_RATE must be a number"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    setenv(cases[i].variable, cases[i].value, 1);
    run(emit_into_the_void);
    unsetenv(cases[i].variable);
    assert_int_equal(test_lines(test_text_of(output)), 1);
    if (strstr(test_text_of(output), cases[i].error) == NULL) fail_msg("%s", test_text_of(output));
  }
}

/* --- threads --- */

typedef struct ticker {
  uint64_t rounds; /* of one event each */
  uint32_t stop;
} ticker;

static ticker tickers[THREADS];

static void *keep_emitting(void *own) {
  ticker *mine = own;
  while (!__atomic_load_n(&mine->stop, __ATOMIC_RELAXED)) {
    ll_emit(number, 0);
    __atomic_fetch_add(&mine->rounds, 1, __ATOMIC_RELAXED);
    usleep(100);
  }
  return NULL;
}

static uint64_t rounds(void) {
  uint64_t sum = 0;
  for (int i = 0; i < THREADS; i++)
    sum += __atomic_load_n(&tickers[i].rounds, __ATOMIC_RELAXED);
  return sum;
}

static bool all_are_quiet(void) {
  uint64_t emitted = test_statistics().emitted, done = rounds();
  while (rounds() < done + 40 * THREADS)
    usleep(1000);
  return test_statistics().emitted == emitted;
}

static void change_while_threads_emit(void) {
  static const char *const texts[] = {"* off\nend\n", "* sample:7 when value=0\nend\n", "* off\nend\n"};
  pthread_t threads[THREADS];
  REQUIRE(ll_init(NULL) == 0);
  for (int i = 0; i < THREADS; i++)
    REQUIRE(pthread_create(&threads[i], NULL, keep_emitting, &tickers[i]) == 0);
  REQUIRE(!all_are_quiet());
  for (int i = 0; i < 3; i++) {
    test_write(file, texts[i]);
    BECOMES(all_are_quiet, i != 1);
  }
  for (int i = 0; i < THREADS; i++)
    __atomic_store_n(&tickers[i].stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

static void a_change_reaches_all_threads(void **state) {
  (void)state;
  setenv("LIFELINE_TRIGGERS", file, 1);
  run(change_while_threads_emit);
}

/* --- processes --- */

static void ask_again_in_a_child(void) {
  REQUIRE(ll_init(NULL) == 0);
  REQUIRE(!test_emits_numbers());
  pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ll_emit(number, 0); /* off, and yet it starts the child's own emitter */
    BECOMES(test_emits_numbers, true);
    exit(0);
  }
  int status;
  REQUIRE(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void in_a_forked_child_rules_end_as_well(void **state) {
  (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  skip(); /* their runtimes do not support a fork with threads: see test_fork.c */
#endif
  setenv("LIFELINE_TRIGGERS", file, 1);
  test_write(file, "* off for=2s\nend\n");
  run(ask_again_in_a_child);
}

static void be_killed(void) {
  REQUIRE(ll_init(NULL) == 0);
  for (uint64_t i = 0; i < 1000; i++)
    ll_emit(number, i);
  kill(getpid(), SIGKILL);
}

static void what_was_left_out_is_counted_even_after_a_kill(void **state) {
  (void)state;
  setenv("LIFELINE_RESOLUTION", "* sample:10 when value>=500", 1);
  setenv("LIFELINE_INTERVAL_MS", "3600000", 1);
  assert_int_equal(test_in_child(be_killed, output), 128 + SIGKILL);
  unsetenv("LIFELINE_INTERVAL_MS");
  const char *const recover[] = {"lifeline-recover", NULL};
  assert_int_equal(test_wait(test_start(recover, output)), 0);
  test_batches batches = test_read_batches(directory.out);
  const llb_batch *last = batches.at[batches.count - 1];
  assert_int_equal(test_events_in(&batches), 50);
  assert_int_equal(last->counters[8], 450);
  assert_int_equal(last->counters[9], 500);
  test_free_batches(&batches);
}

/* --- signal handlers --- */

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
/* The C library's function, called by ours. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);

static __thread volatile sig_atomic_t handling, allocations; /* of this thread, not of the harvester */

void *malloc(size_t bytes) {
  if (handling) allocations++;
  return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  if (handling) allocations++;
  return __libc_calloc(count, bytes);
}

static void emit_in_handler(int signal) {
  (void)signal;
  handling = 1;
  for (uint64_t i = 0; i < 100; i++) {
    ll_emit(alarm_sample, i);
    ll_emit(alarm_summary, i);
  }
  handling = 0;
}

/* The handler may have interrupted malloc, which then holds its lock. */
static void emit_new_types_in_a_handler(void) {
  struct sigaction action = {.sa_handler = emit_in_handler};
  REQUIRE(ll_init(NULL) == 0);
  ll_emit(number, 1);
  REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
  REQUIRE(raise(SIGUSR1) == 0);
  REQUIRE(allocations == 0);
  ll_statistics now = test_statistics();
  REQUIRE(now.emitted == 1 + 10 + 1 && now.sampled_out == 90 && now.folded == 100);
}
#endif

static void the_first_event_of_a_type_in_a_signal_handler_asks_malloc_for_nothing(void **state) {
  (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  skip(); /* they replace malloc */
#else
  setenv("LIFELINE_RESOLUTION", "test.alarm.sample sample:10; test.alarm.summary summary", 1);
  run(emit_new_types_in_a_handler);
#endif
}

/* --- shared objects --- */

typedef void (*emitter)(uint64_t value);

static void *load(emitter *emit) {
  void *object = dlopen(TEST_PLUGIN_DIR "/instrumented.so", RTLD_NOW | RTLD_LOCAL);
  REQUIRE(object != NULL);
  *emit = (emitter)(uintptr_t)dlsym(object, "emit_loaded");
  REQUIRE(*emit != NULL);
  return object;
}

static void load_and_unload(void) {
  emitter emit;
  REQUIRE(ll_init(NULL) == 0);
  for (uint64_t i = 0; i < 20; i++) {
    void *object = load(&emit);
    emit(i);
    REQUIRE(dlclose(object) == 0);
    REQUIRE(dlopen(TEST_PLUGIN_DIR "/instrumented.so", RTLD_NOW | RTLD_NOLOAD) == NULL);
  }
  REQUIRE(test_statistics().emitted == 40);
  REQUIRE(test_emits_numbers());
  test_write(file, "* off\nend\n"); /* writes states, but not to the unloaded object */
  BECOMES(test_emits_numbers, false);
  uint64_t before = test_statistics().emitted;
  void *object = load(&emit);
  emit(0);
  REQUIRE(test_statistics().emitted == before);
  REQUIRE(dlclose(object) == 0);
}

static void an_object_may_be_unloaded_and_rules_may_change(void **state) {
  (void)state;
  setenv("LIFELINE_TRIGGERS", file, 1);
  run(load_and_unload);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(what_is_off_is_neither_emitted_nor_counted),
      TEST(a_level_is_switched_off_for_all_types),
      TEST(a_threshold_passes_exactly_what_fulfils_it),
      TEST(of_each_threads_events_exactly_every_tenth_is_kept),
      TEST(a_sample_is_one_of_those_above_the_threshold),
      TEST(what_is_summarised_counts_as_folded),
      TEST(a_route_has_its_own_events_and_counters),
      TEST(a_type_is_asked_for_by_name_and_for_a_time),
      TEST(nobody_switches_on_what_must_never_be),
      TEST(a_bad_line_of_the_environment_is_one_clear_error),
      TEST(a_change_reaches_all_threads),
      TEST(in_a_forked_child_rules_end_as_well),
      TEST(what_was_left_out_is_counted_even_after_a_kill),
      TEST(the_first_event_of_a_type_in_a_signal_handler_asks_malloc_for_nothing),
      TEST(an_object_may_be_unloaded_and_rules_may_change),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
