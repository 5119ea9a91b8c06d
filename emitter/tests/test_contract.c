/* What lifeline.h promises to signal handlers, to threads with small stacks, and to log functions. Runs twice: with and
 * without a pthread key for the ends of threads (TEST_KEYS_ARE_TAKEN). */
#include "following.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "batch/batch.h"
#include "summary/cells.h"

#include <lifeline/caliper.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define FIFTY "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

LL_EVENT(plain, "contract.plain", LL_INFO, (u64, value, ""));
LL_EVENT(summed, "contract.summed", LL_INFO, (u64, value, "B"));
LL_EVENT(refused, FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY, LL_INFO, (u64, value, ""));
LL_EVENT(refused_too, FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY "a", LL_INFO, (u64, value, ""));
LL_EVENT(refused_as_well, FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY "b", LL_INFO, (u64, value, ""));
LL_CALIPER(work, "contract.work", LL_INFO, "B");

static test_directory directory;
static char output[200];

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  snprintf(output, sizeof output, "%s/output", directory.path);
  setenv("LIFELINE_BUDGET_BYTES", "2097152", 1);
  setenv("LIFELINE_INTERVAL_MS", "10", 1);
  setenv("LIFELINE_RESOLUTION", "contract.summed summary", 1);
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
  if (status != 0) fail_msg("%d: %s", status, test_text_of(output));
}

static void take_keys(void) {
  pthread_key_t key;
  for (int i = 0; i < 40; i++)
    pthread_key_create(&key, NULL);
}

/* Before the library's constructors. */
__attribute__((constructor(101))) static void take_keys_first(void) {
  if (getenv("TEST_KEYS_ARE_TAKEN") != NULL) take_keys();
}

static void start_and_join(void *(*body)(void *), size_t stack_bytes) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack_bytes > 0) REQUIRE(pthread_attr_setstacksize(&attributes, stack_bytes) == 0);
  REQUIRE(pthread_create(&thread, &attributes, body, NULL) == 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
}

static void measure(void) {
  ll_operation begun = ll_begin(work);
  ll_end(work, begun, 1);
}

/* --- signal handlers --- */

static __thread bool in_handler;
static atomic_uint allocations; /* in handlers */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);

void *malloc(size_t bytes) {
  allocations += in_handler;
  return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  allocations += in_handler;
  return __libc_calloc(count, bytes);
}

static void handle(int unused) {
  (void)unused;
  in_handler = true;
  measure();
  ll_emit(summed, 1);
  in_handler = false;
}

static void *be_interrupted(void *unused) {
  ll_emit(plain, 1);
  raise(SIGUSR1);
  return unused;
}

static void check_handlers(void) {
  ll_init(NULL);
  take_keys();
  measure();
  ll_emit(summed, 1);
  signal(SIGUSR1, handle);
  start_and_join(be_interrupted, 0);
  REQUIRE(allocations == 0);
}

static void a_handler_allocates_no_memory(void **state) {
  (void)state;
  run(check_handlers);
}

/* --- ends of threads --- */

static void *emit_and_measure(void *unused) {
  ll_emit(plain, 1);
  ll_emit(summed, 1);
  measure();
  return unused;
}

static bool are_folders_free(void) {
  for (uint32_t i = 0; i < ll_the_summaries->folders_used; i++)
    if (__atomic_load_n(&ll_the_summaries->folders[i].in_use, __ATOMIC_ACQUIRE) != 0) return false;
  return true;
}

/* The budget has room for 16 threads at a time. */
static void check_ends(void) {
  uint64_t stored = 0;
  ll_init(NULL);
  for (int tries = 0; stored < 100 && tries < 1000000; tries++) {
    start_and_join(emit_and_measure, 0);
    ll_statistics now = test_statistics();
    stored = now.emitted - now.dropped_no_ring;
  }
  REQUIRE(stored >= 100);
  BECOMES(are_folders_free, true);
}

static void ended_threads_return_what_they_had(void **state) {
  (void)state;
  run(check_ends);
}

/* --- small stacks --- */

#define STACK ((size_t)PTHREAD_STACK_MIN)
enum { OWN = 7 << 10, FOR_THE_START = 8 << 10 };

#define USE_STACK(bytes)                                                                                               \
  volatile char used[bytes];                                                                                           \
  used[0] = used[(bytes)-1] = 0

static void *emit_on_a_small_stack(void *unused) {
  USE_STACK(OWN);
  ll_emit(plain, 1);
  return unused;
}

static void *measure_on_a_small_stack(void *unused) {
  USE_STACK(OWN);
  measure();
  return unused;
}

static void check_small_stacks(void) {
  ll_init(NULL);
  start_and_join(emit_on_a_small_stack, STACK);
  start_and_join(measure_on_a_small_stack, STACK);
}

static void check_start_by_emit(void) {
  start_and_join(emit_on_a_small_stack, STACK + FOR_THE_START);
}

static void check_start_by_caliper(void) {
  start_and_join(measure_on_a_small_stack, STACK + FOR_THE_START);
}

static void threads_with_the_smallest_stack_emit(void **state) {
  (void)state;
  run(check_small_stacks);
  run(check_start_by_emit);
  run(check_start_by_caliper);
}

/* --- log lines --- */

static unsigned lines;
static char last_line[64];

static void count_line(void *ctx, ll_log_level level, const char *line) {
  (void)ctx, (void)level;
  REQUIRE(!ll_lock_is_held());
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  REQUIRE(sigismember(&blocked, SIGTERM) == 0);
  snprintf(last_line, sizeof last_line, "%s", line);
  lines++;
}

static void check_lines(void) {
  ll_saved_state before;
  ll_log_to(count_line, NULL);
  ll_lock(&before);
  ll_log(LL_LOG_WARN, "first");
  REQUIRE(lines == 0);
  ll_unlock(&before);
  REQUIRE(lines == 1 && strcmp(last_line, "first") == 0);
  ll_lock(&before);
  for (int i = 0; i < 100; i++)
    ll_log(LL_LOG_WARN, "line %d", i);
  ll_unlock(&before);
  REQUIRE(lines == 9 && strcmp(last_line, "line 99") == 0);
}

static void a_line_is_logged_without_the_lock(void **state) {
  (void)state;
  run(check_lines);
}

/* --- a fork out of an emit --- */

static pthread_t emitting;
static pid_t child;

static void fork_and_emit(void *ctx, ll_log_level level, const char *line) {
  (void)ctx, (void)level;
  if (strstr(line, "its events are dropped") == NULL || !pthread_equal(pthread_self(), emitting)) return;
  child = fork();
  if (child != 0) return;
  for (uint64_t i = 0; i < 5; i++)
    ll_emit(plain, i);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  REQUIRE(now.emitted == 5 && now.dropped_reentrant == 5);
  exit(0);
}

static void check_fork(void) {
  ll_options options = LL_OPTIONS_INIT;
  options.log = fork_and_emit;
  emitting = pthread_self();
  ll_init(&options);
  ll_emit(refused, 1);
  if (child == 0) ll_emit(refused_too, 1); /* another thread may have taken the line */
  if (child == 0) ll_emit(refused_as_well, 1);
  int status = -1;
  REQUIRE(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void events_of_a_child_forked_out_of_an_emit_are_counted(void **state) {
  (void)state;
  run(check_fork);
  test_batches batches = test_read_batches(directory.out);
  uint64_t drops = 0; /* of the child: the parent has none */
  for (size_t i = 0; i < batches.count; i++)
    if (batches.at[i]->counters[LL_COUNT_REENTRANT] > drops) drops = batches.at[i]->counters[LL_COUNT_REENTRANT];
  BOOKS_EQUAL(drops, 5);
  test_free_batches(&batches);
}

/* --- ticks --- */

static void check_ticks(void) {
  ll_init(NULL);
  ll_operation begun = ll_begin(work);
  if (!ll_tls_folder->fast) return; /* then the library reads the clock */
  ll_caliper_end_at(&ll_type_work, begun, begun.began - 300, 1);
  const ll_cell *cell = ll_find_cell(ll_tls_folder, ll_type_work.state & LL_TYPE_NUMBER_MAX);
  REQUIRE(cell != NULL && cell->rows[cell->turn] == 2 && cell->words[cell->turn][1] == 1);
}

static void an_operation_that_ends_before_it_began_takes_one_tick(void **state) {
  (void)state;
  assert_int_equal(ll_ticks_from(100, 103), 3);
  assert_int_equal(ll_ticks_from(100, 100), 1);
  assert_int_equal(ll_ticks_from(100, 99), 1);
  run(check_ticks);
}

static void the_kernel_lists_the_clocks_it_trusts(void **state) {
  (void)state;
  assert_true(ll_clock_is_listed("tsc hpet acpi_pm \n", "tsc"));
  assert_true(ll_clock_is_listed("kvm-clock tsc", "tsc"));
  assert_false(ll_clock_is_listed("hpet acpi_pm \n", "tsc"));
  assert_false(ll_clock_is_listed("tsc-early hyperv_tsc \n", "tsc"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(a_handler_allocates_no_memory),
      TEST(ended_threads_return_what_they_had),
      TEST(threads_with_the_smallest_stack_emit),
      TEST(a_line_is_logged_without_the_lock),
      TEST(events_of_a_child_forked_out_of_an_emit_are_counted),
      TEST(an_operation_that_ends_before_it_began_takes_one_tick),
      cmocka_unit_test(the_kernel_lists_the_clocks_it_trusts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
