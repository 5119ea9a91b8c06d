/* Summaries and calipers: many values in a few numbers, also while an operation still hangs. */
#include "support.h"

#include <errno.h>
#include <lifeline/caliper.h>
#include <lifeline/dynamic.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

LL_EVENT(transfer, "test.transfer", LL_INFO, (u64, id, ""), (string, peer, ""), (u64, nbytes, "B"), (f32, load, "%"));
LL_EVENT(unitless, "test.unitless", LL_INFO, (i32, a, ""), (bool, b, ""), (i64, c, ""));
LL_CALIPER(reading, "test.reading", LL_INFO, "B");
LL_CALIPER(idle, "test.idle", LL_DEBUG, "");
LL_CALIPER(nameless, "", LL_INFO, "");

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

/* Contents of a lifeline.summary. */
typedef struct told {
  char type[64], field[64], unit[64];
  uint64_t interval_ns, count, not_finite;
  double min, max, sum, mean, variance;
  uint32_t threads;
} told;

typedef struct found {
  told summaries[256];
  unsigned summary_count;
  unsigned open_count;
  uint64_t open_age_ns, open_id, open_thread, open_incarnation_events;
  bool several_open;
  unsigned starts, ends, others;
  double end_value;
} found;

static void copy_text(char *to, llb_bytes text) {
  assert_true(text.size < 64);
  memcpy(to, text.data, text.size);
  to[text.size] = '\0';
}

static void look(const llb_event *event, void *ctx) {
  found *all = ctx;
  const llb_value *v = event->values;
  char name[64];
  copy_text(name, event->type->name);
  if (strcmp(name, "lifeline.summary") == 0) {
    told *one = &all->summaries[all->summary_count++];
    assert_true(all->summary_count < 256);
    copy_text(one->type, v[0].bytes), copy_text(one->field, v[1].bytes), copy_text(one->unit, v[2].bytes);
    one->interval_ns = v[3].u64, one->count = v[4].u64;
    one->min = v[5].f64, one->max = v[6].f64, one->sum = v[7].f64, one->mean = v[8].f64, one->variance = v[9].f64;
    one->not_finite = v[10].u64, one->threads = v[11].u32;
  } else if (strcmp(name, "lifeline.open") == 0) {
    char type[64];
    copy_text(type, v[1].bytes);
    assert_string_equal(type, "test.reading");
    all->several_open |= all->open_count++ > 0 && all->open_id != v[0].u64;
    all->open_id = v[0].u64, all->open_thread = v[2].u64, all->open_age_ns = v[3].u64;
  } else if (strcmp(name, "test.reading.start") == 0) {
    all->starts++;
  } else if (strcmp(name, "test.reading.end") == 0) {
    all->ends++;
    all->end_value = v[1].f64;
  } else {
    all->others++;
  }
}

static found read_all(test_batches *batches) {
  static found all;
  memset(&all, 0, sizeof all);
  *batches = test_read_batches(directory.out);
  test_each_event(batches, look, &all);
  return all;
}

/* The last batch has the final counters. */
static uint64_t folded_in(const test_batches *batches) {
  return batches->at[batches->count - 1]->counters[10];
}

static const told *find(const found *all, const char *type, const char *field) {
  const told *one = NULL;
  for (unsigned i = 0; i < all->summary_count; i++) {
    if (strcmp(all->summaries[i].type, type) != 0 || strcmp(all->summaries[i].field, field) != 0) continue;
    assert_null(one); /* one summary for each field and interval */
    one = &all->summaries[i];
  }
  if (one == NULL) fail_msg("no summary of %s, %s", type, field);
  return one;
}

static uint64_t count_of(const found *all, const char *type, const char *field) {
  uint64_t count = 0;
  for (unsigned i = 0; i < all->summary_count; i++)
    if (strcmp(all->summaries[i].type, type) == 0 && strcmp(all->summaries[i].field, field) == 0)
      count += all->summaries[i].count;
  return count;
}

/* --- events at resolution summary --- */

static void emit_transfers(void) {
  setenv("LIFELINE_RESOLUTION", "test.transfer summary", 1);
  for (uint64_t i = 1; i <= 1000; i++)
    ll_emit(transfer, i, "somebody", i, i == 500 ? NAN : (float)i / 2);
}

static void a_summary_tells_of_each_field_with_a_unit_and_no_event_travels(void **state) {
  (void)state;
  assert_int_equal(test_in_child(emit_transfers, NULL), 0);
  test_batches batches;
  found all = read_all(&batches);
  assert_int_equal(all.others, 0);
  assert_int_equal(all.summary_count, 2);
  const told *nbytes = find(&all, "test.transfer", "nbytes"), *load = find(&all, "test.transfer", "load");
  assert_string_equal(nbytes->unit, "B");
  assert_int_equal(nbytes->count, 1000);
  assert_true(nbytes->min == 1 && nbytes->max == 1000 && nbytes->sum == 500500 && nbytes->mean == 500.5);
  assert_true(fabs(nbytes->variance - 1000 * 1001 / 12.0) < 1e-6);
  assert_true(nbytes->interval_ns > 0 && nbytes->interval_ns < UINT64_C(10000000000));
  assert_string_equal(load->unit, "%");
  assert_int_equal(load->count, 999);
  assert_int_equal(load->not_finite, 1);
  assert_true(load->sum == (500500 - 500) / 2.0);
  assert_int_equal(folded_in(&batches), 1000);
  assert_int_equal(batches.at[batches.count - 1]->counters[0], 2); /* the summaries themselves */
  test_free_batches(&batches);
}

static void emit_of_one_field(void) {
  setenv("LIFELINE_RESOLUTION", "test.transfer summary of=load timed; test.unitless summary", 1);
  for (int i = 0; i < 100; i++) {
    ll_emit(transfer, 1, "x", 2, 3.5f);
    ll_emit(unitless, -i, i % 2 == 0, INT64_MIN + i);
  }
}

static void one_field_can_be_asked_for_with_its_rate_and_integers_are_exact(void **state) {
  (void)state;
  assert_int_equal(test_in_child(emit_of_one_field, NULL), 0);
  test_batches batches;
  found all = read_all(&batches);
  assert_int_equal(all.summary_count, 6);
  assert_int_equal(find(&all, "test.transfer", "load")->count, 100);
  const told *between = find(&all, "test.transfer", "load.interval"), *rate = find(&all, "test.transfer", "load.rate");
  assert_int_equal(between->count, 99); /* the first has no predecessor */
  assert_string_equal(between->unit, "ns");
  assert_true(between->min > 0);
  assert_string_equal(rate->unit, "%/s");
  assert_true(fabs(rate->max * between->min / 1e9 - 3.5) < 1e-6);
  assert_true(find(&all, "test.unitless", "a")->sum == -4950);
  assert_true(find(&all, "test.unitless", "b")->sum == 50);
  const told *c = find(&all, "test.unitless", "c");
  assert_true(fabs(c->variance - 100 * 101 / 12.0) < 1e-9);
  test_free_batches(&batches);
}

static void flush_twice(void) {
  setenv("LIFELINE_RESOLUTION", "test.unitless summary of=a", 1);
  ll_emit(unitless, 1, true, 1);
  if (ll_flush(TEST_PATIENCE_MS) != 0) exit(1);
  ll_emit(unitless, 2, true, 1);
  ll_emit(unitless, 3, true, 1);
  if (ll_flush(TEST_PATIENCE_MS) != 0) exit(1);
}

static void a_flush_ends_the_interval_and_an_empty_one_is_not_told_of(void **state) {
  (void)state;
  assert_int_equal(test_in_child(flush_twice, NULL), 0);
  test_batches batches;
  found all = read_all(&batches);
  assert_int_equal(all.summary_count, 2);
  assert_int_equal(all.summaries[0].count, 1);
  assert_int_equal(all.summaries[1].count, 2);
  assert_true(all.summaries[1].sum == 5);
  test_free_batches(&batches);
}

enum { THREADS = 8, ROUNDS = 150, FEW = 1009, EACH = 10007 };

static void *emit_and_end(void *unused) {
  (void)unused;
  for (int i = 0; i < EACH; i++)
    ll_emit(unitless, 1, true, i);
  return NULL;
}

static void *emit_a_few(void *unused) {
  (void)unused;
  for (int i = 0; i < FEW; i++)
    ll_emit(unitless, 1, true, i);
  return NULL;
}

/* More threads over time than folders exist at once; all end before the interval does. */
static void emit_from_threads(void) {
  pthread_t threads[THREADS];
  setenv("LIFELINE_RESOLUTION", "test.unitless summary of=c interval=1s", 1);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < THREADS; i++)
      if (pthread_create(&threads[i], NULL, emit_a_few, NULL) != 0) exit(1);
    for (int i = 0; i < THREADS; i++)
      pthread_join(threads[i], NULL);
  }
}

static void the_values_of_threads_that_ended_are_not_lost(void **state) {
  (void)state;
  assert_int_equal(test_in_child(emit_from_threads, NULL), 0);
  test_batches batches;
  found all = read_all(&batches);
  double sum = 0;
  for (unsigned i = 0; i < all.summary_count; i++)
    sum += all.summaries[i].sum;
  assert_int_equal(count_of(&all, "test.unitless", "c"), ROUNDS * THREADS * FEW);
  assert_true(sum == 1.0 * ROUNDS * THREADS * FEW * (FEW - 1) / 2);
  assert_int_equal(folded_in(&batches), ROUNDS * THREADS * FEW);
  test_free_batches(&batches);
}

/* Intervals end while threads add values: each flipped half is collected once. */
static void flush_under_load(void) {
  pthread_t threads[2];
  setenv("LIFELINE_RESOLUTION", "test.unitless summary of=a", 1);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, emit_and_end, NULL);
  for (int i = 0; i < 50; i++)
    if (ll_flush(TEST_PATIENCE_MS) != 0) exit(1);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
}

static void intervals_that_end_while_threads_add_lose_nothing_and_double_nothing(void **state) {
  (void)state;
  assert_int_equal(test_in_child(flush_under_load, NULL), 0);
  test_batches batches;
  found all = read_all(&batches);
  assert_int_equal(count_of(&all, "test.unitless", "a"), 2 * EACH);
  test_free_batches(&batches);
}

/* --- calipers --- */

static void sleep_ms(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static void measure_reads(void) {
  for (int i = 1; i <= 40; i++) {
    ll_operation operation = ll_begin(reading);
    sleep_ms(2);
    ll_end(reading, operation, i == 7 ? INFINITY : 1000.0);
  }
}

static void check_reads(void) {
  assert_int_equal(test_in_child(measure_reads, NULL), 0);
  test_batches batches;
  found all = read_all(&batches);
  assert_int_equal(all.summary_count, 3);
  assert_int_equal(all.starts + all.ends + all.open_count, 0);
  const told *value = find(&all, "test.reading", "value"), *duration = find(&all, "test.reading", "duration"),
             *rate = find(&all, "test.reading", "rate");
  assert_int_equal(value->count, 39);
  assert_int_equal(value->not_finite, 1);
  assert_int_equal(duration->threads, 1);
  assert_true(value->min == 1000 && value->max == 1000 && value->variance == 0);
  assert_string_equal(value->unit, "B");
  assert_string_equal(duration->unit, "ns");
  assert_int_equal(duration->count, 40);
  assert_true(duration->min > 1.9e6 && duration->mean < 1e9);
  assert_string_equal(rate->unit, "B/s");
  assert_int_equal(rate->count, 39);
  assert_true(rate->max < 1000 / 1.9e-3 && rate->min > 0);
  assert_int_equal(folded_in(&batches), 40);
  test_free_batches(&batches);
}

enum { WORKERS = 3 };

static pthread_barrier_t meeting;

/* All work in the first interval, one in the second; the others end in the third without another operation. */
static void *work_by_turns(void *number) {
  for (int interval = 0; interval < 2; interval++) {
    for (int i = 0; i < 100 && (interval == 0 || number == NULL); i++)
      ll_end(reading, ll_begin(reading), 1);
    pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting); /* meanwhile the interval is ended */
  }
  if (number == NULL) ll_end(reading, ll_begin(reading), 1);
  return NULL;
}

static void measure_by_turns(void) {
  static int numbers[WORKERS];
  pthread_t threads[WORKERS];
  pthread_barrier_init(&meeting, NULL, WORKERS + 1);
  for (int i = 0; i < WORKERS; i++)
    if (pthread_create(&threads[i], NULL, work_by_turns, i == 0 ? NULL : &numbers[i]) != 0) exit(1);
  for (int interval = 0; interval < 2; interval++) {
    pthread_barrier_wait(&meeting);
    if (ll_flush(TEST_PATIENCE_MS) != 0) exit(1);
    pthread_barrier_wait(&meeting);
  }
  for (int i = 0; i < WORKERS; i++)
    pthread_join(threads[i], NULL);
  ll_end(reading, ll_begin(reading), 1);
}

static void a_summary_counts_the_threads_that_had_values_in_the_interval(void **state) {
  (void)state;
  assert_int_equal(test_in_child(measure_by_turns, NULL), 0);
  test_batches batches;
  found all = read_all(&batches);
  const uint32_t expected[] = {WORKERS, 1, 2}; /* at last one that ended and the main thread */
  unsigned intervals = 0;
  for (unsigned i = 0; i < all.summary_count; i++)
    if (strcmp(all.summaries[i].field, "value") == 0 && intervals < 3)
      assert_int_equal(all.summaries[i].threads, expected[intervals++]);
  assert_int_equal(intervals, 3);
  test_free_batches(&batches);
}

static void a_caliper_tells_value_duration_and_rate(void **state) {
  (void)state;
  check_reads();
}

static void a_caliper_measures_by_the_monotonic_clock_too(void **state) {
  (void)state;
  setenv("LIFELINE_CLOCK", "monotonic", 1);
  check_reads();
  unsetenv("LIFELINE_CLOCK");
}

enum { LOOKS = 600, LOOK_MS = 100 /* for a minute in all */ };

static bool let_go;

static void *hang(void *unused) {
  ll_operation operation = ll_begin(reading);
  (void)unused;
  while (!__atomic_load_n(&let_go, __ATOMIC_ACQUIRE))
    sleep_ms(LOOK_MS / 10);
  ll_end(reading, operation, 1);
  return NULL;
}

/* The events that have arrived so far, counted by `wanted`. */
static uint64_t look_now(uint64_t (*wanted)(const found *all)) {
  test_batches batches;
  found all = read_all(&batches);
  test_free_batches(&batches);
  return wanted(&all);
}

static uint64_t open_operations(const found *all) {
  return all->open_count;
}

static uint64_t values(const found *all) {
  return count_of(all, "test.reading", "value");
}

/* Checks while the thread still hangs. */
static void hang_and_look(void) {
  pthread_t thread;
  setenv("LIFELINE_RESOLUTION", "test.reading summary interval=1s", 1);
  setenv("LIFELINE_INTERVAL_MS", "50", 1);
  ll_end(reading, ll_begin(reading), 5);
  pthread_create(&thread, NULL, hang, NULL);
  for (int i = 0; i < LOOKS && look_now(open_operations) == 0; i++)
    sleep_ms(LOOK_MS);
  if (look_now(open_operations) == 0 || look_now(values) != 1) exit(1);
  __atomic_store_n(&let_go, true, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void an_operation_that_hangs_is_told_of_while_it_hangs(void **state) {
  (void)state;
  uint64_t began_ns = now_ns();
  assert_int_equal(test_in_child(hang_and_look, NULL), 0);
  uint64_t took_ns = now_ns() - began_ns;
  test_batches batches;
  found all = read_all(&batches);
  assert_in_range(all.open_count, 1, took_ns / 1000000000);
  assert_in_range(all.open_age_ns, 1000000000, took_ns);
  assert_int_equal(count_of(&all, "test.reading", "duration"), 2);
  test_free_batches(&batches);
}

static void nest(void) {
  ll_operation outer = ll_begin(reading);
  for (int i = 0; i < 1000; i++) {
    ll_operation some[100]; /* more than there are marks */
    for (int j = 0; j < 100; j++)
      some[j] = ll_begin(reading);
    ll_end(idle, ll_begin(idle), 0);
    for (int j = 0; j < 100; j++)
      ll_end(reading, some[j], 1);
  }
  sleep_ms(1100);
  ll_flush(TEST_PATIENCE_MS); /* only the outer one is open */
  ll_end(reading, outer, 2);
}

static void operations_of_one_caliper_nest_and_overlap(void **state) {
  (void)state;
  assert_int_equal(test_in_child(nest, NULL), 0);
  test_batches batches;
  found all = read_all(&batches);
  assert_true(all.open_count > 0);
  assert_false(all.several_open);
  assert_int_equal(count_of(&all, "test.reading", "value"), 100001);
  assert_int_equal(count_of(&all, "test.idle", "duration"), 1000);
  test_free_batches(&batches);
}

static ll_operation handed_over;

static void *end_it(void *unused) {
  (void)unused;
  ll_end(reading, handed_over, 3);
  return NULL;
}

static void hand_over(void) {
  pthread_t thread;
  handed_over = ll_begin(reading);
  pthread_create(&thread, NULL, end_it, NULL);
  pthread_join(thread, NULL);
  sleep_ms(1100);
}

static void another_thread_may_end_an_operation(void **state) {
  (void)state;
  assert_int_equal(test_in_child(hand_over, NULL), 0);
  test_batches batches;
  found all = read_all(&batches);
  assert_int_equal(all.open_count, 0);
  assert_int_equal(count_of(&all, "test.reading", "value"), 1);
  test_free_batches(&batches);
}

static void measure_at_full(void) {
  setenv("LIFELINE_RESOLUTION", "test.reading full; test.idle off", 1);
  for (int i = 0; i < 10; i++) {
    ll_end(reading, ll_begin(reading), i);
    ll_end(idle, ll_begin(idle), i);
  }
}

static void at_full_operations_are_events_too_and_off_is_off(void **state) {
  (void)state;
  assert_int_equal(test_in_child(measure_at_full, NULL), 0);
  test_batches batches;
  found all = read_all(&batches);
  assert_int_equal(all.starts, 10);
  assert_int_equal(all.ends, 10);
  assert_true(all.end_value == 9);
  assert_int_equal(all.summary_count, 3);
  assert_int_equal(all.others, 0);
  test_free_batches(&batches);
}

static void fork_and_measure(void) {
  for (int i = 0; i < 100; i++)
    ll_end(reading, ll_begin(reading), 1);
  ll_operation inherited = ll_begin(reading);
  pid_t child = fork();
  if (child == 0) {
    ll_end(reading, inherited, 2);
    for (int i = 0; i < 10; i++)
      ll_end(reading, ll_begin(reading), 2);
    exit(0);
  }
  if (test_wait(child) != 0) exit(1);
  ll_end(reading, inherited, 1);
}

static void a_forked_child_starts_with_nothing(void **state) {
  (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  skip(); /* see test_fork.c */
#endif
  assert_int_equal(test_in_child(fork_and_measure, NULL), 0);
  test_batches batches;
  found all = read_all(&batches);
  double sum = 0;
  for (unsigned i = 0; i < all.summary_count; i++)
    if (strcmp(all.summaries[i].field, "value") == 0) {
      assert_true(all.summaries[i].min == all.summaries[i].max);
      sum += all.summaries[i].sum;
    }
  assert_int_equal(count_of(&all, "test.reading", "value"), 101 + 11);
  assert_true(sum == 101 + 22);
  test_free_batches(&batches);
}

static volatile uint64_t handled;

static void measure_in_handler(int signal) {
  (void)signal;
  ll_end(reading, ll_begin(reading), 1);
  handled++;
}

static void measure_under_fire(void) {
  struct sigaction action = {.sa_handler = measure_in_handler, .sa_flags = SA_RESTART};
  ll_end(reading, ll_begin(reading), 1);
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  uint64_t own = 1;
  for (; handled < 2000; own++)
    ll_end(reading, ll_begin(reading), 1);
  setitimer(ITIMER_REAL, &never, NULL);
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(1);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  test_batches batches;
  found all = read_all(&batches);
  if (count_of(&all, "test.reading", "value") + now.dropped_reentrant != own + handled) exit(2);
  test_free_batches(&batches);
}

static void operations_of_signal_handlers_count_or_are_counted(void **state) {
  (void)state;
  assert_int_equal(test_in_child(measure_under_fire, NULL), 0);
}

static void measure_after_the_end(void) {
  ll_end(reading, ll_begin(reading), 1);
  ll_operation late = ll_begin(reading);
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(1);
  ll_end(reading, late, 1);
  ll_end(reading, ll_begin(reading), 1);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  if (now.dropped_shutdown != 2) exit(2);
}

static void what_ends_after_the_shutdown_is_counted(void **state) {
  (void)state;
  assert_int_equal(test_in_child(measure_after_the_end, NULL), 0);
}

/* --- functions that report with the summaries --- */

LL_EVENT(own_sum, "test.own", LL_INFO, (u64, sum, ""));

static uint64_t own_sum_now;

static void report_own(void *ctx, double tick_ns) {
  assert_ptr_equal(ctx, &own_sum_now);
  assert_true(tick_ns > 0);
  ll_emit(own_sum, __atomic_exchange_n(&own_sum_now, 0, __ATOMIC_RELAXED));
}

/* At a flush, and at the end. */
static void report_with_summaries(void) {
  assert_int_equal(ll_on_report(report_own, &own_sum_now), 0);
  assert_int_equal(ll_on_report(report_own, NULL), EBUSY);
  ll_end(reading, ll_begin(reading), 1);
  own_sum_now = 5;
  assert_int_equal(ll_flush(TEST_PATIENCE_MS), 0);
  assert_int_equal(own_sum_now, 0);
  own_sum_now = 6;
}

static void add_own(const llb_event *event, void *sum) {
  if (event->type->name.size == 8 && memcmp(event->type->name.data, "test.own", 8) == 0)
    *(uint64_t *)sum += event->values[0].u64;
}

static void a_function_reports_with_the_summaries(void **state) {
  (void)state;
  uint64_t sum = 0;
  assert_int_equal(test_in_child(report_with_summaries, NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  test_each_event(&batches, add_own, &sum);
  test_free_batches(&batches);
  assert_int_equal(sum, 5 + 6);
}

static void measure_nowhere(void) {
  unsetenv("LIFELINE_URL");
  ll_operation operation = ll_begin(reading);
  if (operation.began != 0) exit(1);
  ll_end(reading, operation, 1);
}

static void without_a_url_calipers_are_off(void **state) {
  (void)state;
  assert_int_equal(test_in_child(measure_nowhere, NULL), 0);
}

/* A refused type has no number, and must not use another's, here the first, whose cell it would fill. */
static void measure_what_is_refused(void) {
  setenv("LIFELINE_RESOLUTION", "test.unitless summary of=a", 1);
  ll_emit(unitless, 1, true, 1);
  for (int i = 0; i < 100; i++)
    ll_end(nameless, ll_begin(nameless), 7);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  if (now.dropped_no_ring != 100) exit(1);
}

static void operations_of_a_refused_caliper_are_counted_and_touch_no_other(void **state) {
  (void)state;
  char output[200];
  snprintf(output, sizeof output, "%s/output", directory.path); /* a line logs the refusal */
  assert_int_equal(test_in_child(measure_what_is_refused, output), 0);
  test_batches batches;
  found all = read_all(&batches);
  assert_int_equal(all.summary_count, 1);
  assert_int_equal(find(&all, "test.unitless", "a")->count, 1);
  test_free_batches(&batches);
}

static void measure_beyond_a_rule(void) {
  setenv("LIFELINE_RESOLUTION", "test.reading summary interval=1s for=1s", 1);
  setenv("LIFELINE_INTERVAL_MS", "50", 1);
  ll_end(reading, ll_begin(reading), 1);
  for (int i = 0; i < LOOKS && look_now(values) == 0; i++)
    sleep_ms(LOOK_MS); /* the interval is over, */
  sleep_ms(2000);      /* and so is the rule */
  ll_end(reading, ll_begin(reading), 2);
  sleep_ms(1300); /* longer than the previous interval */
  ll_end(reading, ll_begin(reading), 3);
}

static void a_caliper_falls_back_to_its_own_interval(void **state) {
  (void)state;
  assert_int_equal(test_in_child(measure_beyond_a_rule, NULL), 0);
  test_batches batches;
  found all = read_all(&batches);
  const told *last = NULL;
  for (unsigned i = 0; i < all.summary_count; i++)
    if (strcmp(all.summaries[i].field, "value") == 0) last = &all.summaries[i];
  assert_non_null(last);
  assert_int_equal(last->count, 2);
  assert_true(last->min == 2 && last->max == 3 && last->interval_ns >= 1300000000);
  test_free_batches(&batches);
}

/* --- bounded memory --- */

enum { MANY = 3000 };

static void summarise_many_types(void) {
  setenv("LIFELINE_RESOLUTION", "many.* summary", 1);
  static const ll_dynamic_field fields[] = {{LL_F64, "x", ""}, {LL_F64, "y", ""}, {LL_F64, "z", ""}};
  static const ll_value values[3] = {{.f64 = 1}, {.f64 = 2}, {.f64 = 3}};
  for (int i = 0; i < MANY; i++) {
    char name[32];
    ll_dynamic *type;
    snprintf(name, sizeof name, "many.t%d", i);
    if (ll_declare(name, LL_INFO, fields, 3, &type) != 0) exit(1);
    if (ll_emit_values(type, values, 3) != 0) exit(2);
  }
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(3);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  test_batches batches;
  batches = test_read_batches(directory.out);
  if (folded_in(&batches) == 0 || now.dropped_no_ring == 0) exit(4);
  if (folded_in(&batches) + now.dropped_no_ring != MANY) exit(5);
  if (test_events_in(&batches) != 3 * folded_in(&batches)) exit(6);
  test_free_batches(&batches);
}

static void what_finds_no_room_is_counted_and_the_rest_is_told(void **state) {
  (void)state;
  assert_int_equal(test_in_child(summarise_many_types, NULL), 0);
}

enum { CROWD = 64, FOLDED = 1000 };

static pthread_barrier_t crowded;

static void *take_a_ring(void *unused) {
  (void)unused;
  ll_emit(unitless, 1, true, 1);
  pthread_barrier_wait(&crowded);
  pause();
  return NULL;
}

/* All rings are in use, and none is left for reporting. */
static void summarise_in_a_crowd(void) {
  setenv("LIFELINE_RESOLUTION", "test.transfer summary of=nbytes", 1);
  setenv("LIFELINE_BUDGET_BYTES", "2097152", 1);
  for (uint64_t i = 0; i < FOLDED; i++)
    ll_emit(transfer, i, "somebody", i, 0);
  pthread_barrier_init(&crowded, NULL, CROWD + 1);
  for (int i = 0; i < CROWD; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, take_a_ring, NULL) != 0) exit(1);
  }
  pthread_barrier_wait(&crowded);
  ll_statistics before = {.size = sizeof before}, now = {.size = sizeof now};
  ll_stats(&before);
  if (before.dropped_no_ring == 0) exit(2);
  ll_shutdown(200);                                /* for so long the summaries wait for a ring, */
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(3); /* and a busy machine may take longer to end */
  ll_stats(&now);
  _exit(now.folded + now.dropped_no_ring - before.dropped_no_ring == FOLDED ? 0 : 4);
}

static void summaries_that_find_no_ring_are_counted_as_dropped(void **state) {
  (void)state;
  assert_int_equal(test_in_child(summarise_in_a_crowd, NULL), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(a_summary_tells_of_each_field_with_a_unit_and_no_event_travels),
      TEST(one_field_can_be_asked_for_with_its_rate_and_integers_are_exact),
      TEST(a_flush_ends_the_interval_and_an_empty_one_is_not_told_of),
      TEST(the_values_of_threads_that_ended_are_not_lost),
      TEST(intervals_that_end_while_threads_add_lose_nothing_and_double_nothing),
      TEST(a_summary_counts_the_threads_that_had_values_in_the_interval),
      TEST(a_caliper_tells_value_duration_and_rate),
      TEST(a_caliper_measures_by_the_monotonic_clock_too),
      TEST(an_operation_that_hangs_is_told_of_while_it_hangs),
      TEST(operations_of_one_caliper_nest_and_overlap),
      TEST(another_thread_may_end_an_operation),
      TEST(at_full_operations_are_events_too_and_off_is_off),
      TEST(a_forked_child_starts_with_nothing),
      TEST(operations_of_signal_handlers_count_or_are_counted),
      TEST(what_ends_after_the_shutdown_is_counted),
      TEST(a_function_reports_with_the_summaries),
      TEST(without_a_url_calipers_are_off),
      TEST(operations_of_a_refused_caliper_are_counted_and_touch_no_other),
      TEST(a_caliper_falls_back_to_its_own_interval),
      TEST(what_finds_no_room_is_counted_and_the_rest_is_told),
      TEST(summaries_that_find_no_ring_are_counted_as_dropped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
