/* With a faulty, unreachable, slow or refusing sink the program runs on, logs one line, and all events are accounted
 * for. */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lifeline/lifeline.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

LL_EVENT(number, "test.number", LL_INFO, (u64, value, ""));
LL_EVENT(text, "test.text", LL_INFO, (string, value, ""));
LL_EVENT(bad_type, "", LL_INFO, (u64, value, ""));

enum { MANY = 300000, SKIPPED = 77, NOBODY = 65534, SQUATTED = 64999 };
enum { LOOKS = 6000, LOOK_US = 10000 /* for a minute in all */ };

static test_directory directory;
static char log_path[200];

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  snprintf(log_path, sizeof log_path, "%s/log", directory.path);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  unsetenv("LIFELINE_BUDGET_BYTES");
  unsetenv("LIFELINE_COMPRESSION");
  unsetenv("LIFELINE_POLICY");
  unsetenv("LIFELINE_BLOCK_TIMEOUT_MS");
  unsetenv("LIFELINE_FLUSH_TIMEOUT_MS");
  unsetenv("LIFELINE_BATCH_BYTES");
  unsetenv("LIFELINE_INTERVAL_MS");
  unsetenv("LIFELINE");
  test_directory_remove(&directory);
  return 0;
}

static void emit_many(void) {
  for (uint64_t i = 0; i < MANY; i++)
    ll_emit(number, i);
}

/* In the child: events that still wait in a ring count neither as emitted nor as dropped. */
static void leave_with_ring_full(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  exit(now.dropped_ring_full > 0 && now.emitted > now.dropped_ring_full && now.emitted <= MANY ? 0 : 1);
}

/* In the child: exits with 0 if all of MANY were counted as emitted, and `wanted` is true. */
static void leave_with(bool wanted) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  if (now.emitted == MANY && wanted) exit(0);
  fprintf(stderr, "wrong books: emitted=%llu ring_full=%llu shutdown=%llu sink=%llu\n", (unsigned long long)now.emitted,
          (unsigned long long)now.dropped_ring_full, (unsigned long long)now.dropped_shutdown,
          (unsigned long long)now.dropped_sink);
  exit(1);
}

static ll_statistics stats(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now;
}

static void expect(void (*body)(void), const char *line) {
  int status = test_in_child(body, log_path);
  const char *told = test_text_of(log_path);
  if (status != 0) fail_msg("status %d: %s", status, told);
  if (test_other_lines(told) != (line != NULL) || strstr(told, line != NULL ? line : "") == NULL)
    fail_msg("told: %s", told);
}

static void emit_into_nothing(void) {
  emit_many();
  ll_shutdown(1000);
  leave_with(stats().dropped_shutdown + stats().dropped_ring_full == MANY);
}

static void a_url_that_is_none_costs_one_line_and_the_events_are_counted(void **state) {
  (void)state;
  const char *none[] = {"garbage", "localhost:4222"};
  for (unsigned i = 0; i < 2; i++) {
    setenv("LIFELINE_URL", none[i], 1);
    expect(emit_into_nothing, "must begin with nats://");
  }
}

static void a_sink_that_is_not_installed_is_named(void **state) {
  (void)state;
  setenv("LIFELINE_URL", "carrier-pigeon:secret", 1);
  setenv("LIFELINE_URL", "pigeon://user:secret@coop", 1);
  expect(emit_into_nothing, "no sink for pigeon:// is installed; installed are null:, file:");
  assert_null(strstr(test_text_of(log_path), "secret"));
}

static void a_bad_setting_is_one_clear_error(void **state) {
  (void)state;
  setenv("LIFELINE_BATCH_BYTES", "many", 1);
  expect(emit_into_nothing, "LIFELINE_BATCH_BYTES must be a number from 4096 to 262144");
}

static void init_wrongly(void) {
  ll_options options = LL_OPTIONS_INIT;
  options.url = "null:oops";
  if (ll_init(&options) != EINVAL || ll_init(&options) != EALREADY) exit(1);
}

static void init_with_a_policy_that_is_none(void) {
  ll_options options = LL_OPTIONS_INIT;
  options.policy = (ll_policy)3;
  if (ll_init(&options) != EINVAL || stats().on) exit(1);
}

static void init_tells_what_is_wrong(void **state) {
  (void)state;
  expect(init_wrongly, "the URL of the null sink");
  expect(init_with_a_policy_that_is_none, "options.policy is 3");
}

static void init_without_a_size(void) {
  ll_options options = {0};
  options.url = "null:";
  if (ll_init(&options) != EINVAL || stats().on) exit(1);
}

static void options_that_do_not_say_their_size_are_refused(void **state) {
  (void)state;
  expect(init_without_a_size, "initialise it with LL_OPTIONS_INIT");
}

/* A harvester blocked in the lock would log nothing. */
static void wait_for_a_locked_file(void) {
  ll_emit(number, 1);
  for (int i = 0; i < LOOKS && test_text_of(log_path)[0] == '\0'; i++)
    if (ll_flush(LOOK_US / 1000) != ETIMEDOUT) exit(1);
}

static void a_file_that_another_process_has_locked_is_a_line_and_no_standstill(void **state) {
  (void)state;
  int fd = open(directory.out, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  assert_int_equal(flock(fd, LOCK_EX), 0);
  setenv("LIFELINE_FLUSH_TIMEOUT_MS", "1", 1);
  assert_int_equal(test_in_child(wait_for_a_locked_file, log_path), 0);
  assert_non_null(strstr(test_text_of(log_path), "another process has locked it"));
  assert_int_equal(flock(fd, LOCK_UN), 0);
  close(fd);
}

static void stay_silent(void) {
  emit_many();
  if (stats().emitted != 0 || stats().on || ll_flush(10) != 0 || ll_shutdown(10) != 0) exit(1);
}

static void without_a_url_nothing_happens_and_nothing_is_said(void **state) {
  (void)state;
  unsetenv("LIFELINE_URL");
  expect(stay_silent, NULL);
  assert_int_equal(test_ring_files(&directory), 0);
}

static void lifeline_off_wins_over_the_url(void **state) {
  (void)state;
  setenv("LIFELINE", "off", 1);
  expect(stay_silent, NULL);
}

static char called_back[256];

static void call_back(void *ctx, ll_log_level level, const char *message) {
  (void)ctx, (void)level;
  snprintf(called_back, sizeof called_back, "%s", message);
}

static void log_to_the_program(void) {
  ll_options options = LL_OPTIONS_INIT;
  options.url = "nonsense";
  options.log = call_back;
  if (ll_init(&options) == 0 || strstr(called_back, "must begin with") == NULL) exit(1);
}

static void the_programs_own_log_gets_the_line_instead(void **state) {
  (void)state;
  expect(log_to_the_program, NULL);
}

static void emit_one_and_leave(void) {
  ll_emit(number, 1);
  ll_shutdown(100);
}

/* Another user who may write the folder would choose the file. */
static void a_symbolic_link_is_not_followed(void **state) {
  (void)state;
  char target[200];
  snprintf(target, sizeof target, "%s/another's", directory.path);
  assert_int_equal(symlink(target, directory.out), 0);
  assert_int_equal(test_in_child(emit_one_and_leave, log_path), 0);
  assert_non_null(strstr(test_text_of(log_path), "it is a symbolic link"));
  assert_int_not_equal(access(target, F_OK), 0);
}

static void fill_up(void) {
  emit_many();
  ll_shutdown(50);
  leave_with_ring_full();
}

/* The recovery of the first run's events meets the same error as the second run's own sink. */
static void a_folder_that_is_not_there_is_told_once_and_what_is_left_once(void **state) {
  (void)state;
  char url[200];
  snprintf(url, sizeof url, "file://%s/nowhere/out.llb", directory.path);
  setenv("LIFELINE_URL", url, 1);
  for (int run = 0; run < 2; run++) {
    assert_int_equal(test_in_child(emit_one_and_leave, log_path), 0);
    const char *told = test_text_of(log_path);
    assert_int_equal(test_lines(told), 2);
    assert_non_null(strstr(told, "cannot append to"));
    assert_non_null(strstr(told, "(1 batch); they are kept in"));
  }
}

static void with_a_sink_that_takes_nothing_the_newest_are_dropped_and_counted(void **state) {
  (void)state;
  test_use_sink(&directory, "busy");
  setenv("LIFELINE_BUDGET_BYTES", "2097152", 1);
  setenv("LIFELINE_COMPRESSION", "none", 1);
  expect(fill_up, "they are kept in");
  assert_int_equal(test_ring_files(&directory), 1);

  /* The events that were not dropped are recovered. */
  const char *const recover[] = {"lifeline-recover", "--url", directory.out, NULL};
  char url[200];
  snprintf(url, sizeof url, "file://%s", directory.out);
  const char *const arguments[] = {recover[0], recover[1], url, NULL};
  assert_int_equal(test_wait(test_start(arguments, log_path)), 0);
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  BOOKS_EQUAL(test_events_in(&batches) + test_drops_in(&batches), MANY);
  BOOKS_EQUAL(batches.at[batches.count - 1]->counters[0], MANY);
  test_free_batches(&batches);
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void block_in_vain(void) {
  uint64_t began = now_ms();
  emit_many();
  uint64_t took = now_ms() - began;
  if (took < 100 || took > 60000) exit(2); /* a wait at each event would take hours */
  ll_shutdown(50);
  leave_with_ring_full();
}

LL_EVENT(odd, "test.odd", LL_INFO, (u64, value, ""), (u64, more, "")); /* 24 bytes: does not divide half a ring */
LL_EVENT(even, "test.even", LL_INFO, (u64, value, ""));                /* 16 bytes: divides it */

enum { HALF_A_RING = 32 << 10, FALL_ASLEEP_US = 100000 };

static void leave_when_harvested(void) {
  for (int i = 0; i < LOOKS && stats().emitted == 0; i++)
    usleep(LOOK_US);
  exit(stats().emitted > 0 ? 0 : 1);
}

/* In the child: neither the interval nor a full batch wakes the harvester. */
static void begin_the_second_half(void) {
  ll_init(NULL);
  usleep(FALL_ASLEEP_US);
  for (uint64_t i = 0; i < HALF_A_RING / 24 + 1; i++)
    ll_emit(odd, i, i);
  leave_when_harvested();
}

static void fill_one_half_and_begin_the_other(void) {
  ll_init(NULL);
  usleep(FALL_ASLEEP_US);
  for (uint64_t i = 0; i < HALF_A_RING / 16 + 1; i++)
    ll_emit(even, i);
  leave_when_harvested();
}

static void a_producer_that_begins_the_second_half_of_its_ring_wakes_the_harvester(void **state) {
  (void)state;
  setenv("LIFELINE_URL", "null:", 1);
  setenv("LIFELINE_BATCH_BYTES", "262144", 1);
  setenv("LIFELINE_INTERVAL_MS", "3600000", 1);
  expect(begin_the_second_half, NULL);
  expect(fill_one_half_and_begin_the_other, NULL);
}

static void blocking_is_bounded(void **state) {
  (void)state;
  test_use_sink(&directory, "busy");
  setenv("LIFELINE_BUDGET_BYTES", "2097152", 1);
  setenv("LIFELINE_POLICY", "block", 1);
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "100", 1);
  setenv("LIFELINE_COMPRESSION", "none", 1);
  expect(block_in_vain, "not acknowledged yet");
}

static void block_for_a_slow_sink(void) {
  emit_many();
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(2);
  leave_with(stats().dropped_ring_full == 0);
}

static void blocking_loses_nothing_to_a_slow_sink(void **state) {
  (void)state;
  test_use_sink(&directory, "later");
  setenv("LIFELINE_BUDGET_BYTES", "2097152", 1);
  setenv("LIFELINE_POLICY", "block", 1);
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "60000", 1);
  expect(block_for_a_slow_sink, NULL);
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  BOOKS_EQUAL(test_events_in(&batches), MANY);
  test_free_batches(&batches);
}

static void be_refused(void) {
  for (uint64_t i = 0; i < MANY; i++) {
    ll_emit(number, i);
    if (i % 50000 == 0) ll_flush(TEST_PATIENCE_MS);
  }
  ll_shutdown(TEST_PATIENCE_MS);
  leave_with(stats().dropped_sink + stats().dropped_ring_full == MANY);
}

static void refused_events_are_counted_and_one_line_says_why(void **state) {
  (void)state;
  test_use_sink(&directory, "refuse");
  expect(be_refused, "the sink refused a batch: the test wants it so");
  assert_int_equal(test_ring_files(&directory), 0);
}

static void be_failed(void) {
  ll_emit(number, 1);
  ll_shutdown(TEST_PATIENCE_MS);
  if (stats().dropped_sink != 1) exit(1);
}

static void a_batch_that_can_never_be_sent_counts_as_refused(void **state) {
  (void)state;
  test_use_sink(&directory, "fail");
  expect(be_failed, "it can never be sent");
}

static void be_refused_half(void) {
  for (uint64_t i = 0; i < MANY; i++) {
    ll_emit(number, i);
    if (i % 20000 == 0) ll_flush(TEST_PATIENCE_MS);
  }
  ll_shutdown(TEST_PATIENCE_MS);
}

static void later_batches_tell_of_refused_ones_and_final_has_the_last_word(void **state) {
  (void)state;
  test_use_sink(&directory, "odd");
  assert_int_equal(test_in_child(be_refused_half, log_path), 0);
  test_batches batches = test_read_batches(directory.out);
  const llb_batch *last = batches.at[batches.count - 1];
  assert_true(last->flags & LLB_FINAL);
  assert_true(last->counters[7] > 0);
  BOOKS_EQUAL(last->counters[0], MANY);
  BOOKS_EQUAL(test_events_in(&batches) + test_drops_in(&batches) + last->counters[7], MANY);
  test_free_batches(&batches);
}

static void flush_often(void) {
  for (uint64_t i = 0; i < MANY; i++)
    ll_emit(number, i);
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(2);
  leave_with(true);
}

static void batches_that_have_to_be_sent_again_arrive_once(void **state) {
  (void)state;
  test_use_sink(&directory, "retry");
  expect(flush_often, NULL);
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  BOOKS_EQUAL(test_events_in(&batches) + test_drops_in(&batches), MANY);
  test_free_batches(&batches);
}

static void emit_too_much(void) {
  static char longest[40000];
  memset(longest, 'x', sizeof longest - 1);
  longest[32768 - 8 - 2] = '\0';
  ll_emit(text, longest);
  longest[32768 - 8 - 2] = 'x';
  ll_emit(text, longest);
  ll_emit(text, "short");
  if (ll_flush(TEST_PATIENCE_MS) != 0 || stats().emitted != 3 || stats().dropped_oversize != 1) exit(1);
}

static void an_event_larger_than_a_record_may_be_is_dropped_and_counted(void **state) {
  (void)state;
  expect(emit_too_much, NULL);
  assert_non_null(strstr(test_text_of(log_path), "1 events were dropped: they are larger than 32768 bytes"));
  test_batches batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), 2);
  assert_int_equal(batches.at[batches.count - 1]->counters[4], 1);
  test_free_batches(&batches);
}

static void emit_bad_type(void) {
  ll_emit(bad_type, 1);
  ll_emit(bad_type, 2);
  ll_emit(number, 3);
  if (ll_flush(TEST_PATIENCE_MS) != 0 || stats().emitted != 3 || stats().dropped_no_ring != 2) exit(1);
}

static void an_illegal_declaration_is_one_line_and_its_events_are_counted(void **state) {
  (void)state;
  expect(emit_bad_type, "has an empty name");
}

static void only_counters_change(void) {
  static char longest[40000];
  memset(longest, 'x', sizeof longest - 1);
  ll_emit(number, 1);
  ll_flush(TEST_PATIENCE_MS);
  ll_emit(text, longest);
  ll_flush(TEST_PATIENCE_MS);
  usleep(100000);
}

static void counters_that_change_are_news_enough_for_a_batch(void **state) {
  (void)state;
  expect(only_counters_change, NULL);
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  assert_int_equal(batches.count, 3);
  assert_int_equal(batches.at[1]->event_count, 0);
  assert_int_equal(batches.at[1]->counters[4], 1);
  test_free_batches(&batches);
}

/* Events before the shutdown; bounded, so that a slow machine does not write millions to the file. */
enum { ENDING_THREADS = 4, EMITTED_BEFORE = 50000 };
static uint64_t emitted_by[ENDING_THREADS];
static uint32_t shutting_down, ended;
static bool started_before;
static pthread_barrier_t all_emit;

static void *emit_to_the_end(void *of) {
  uint64_t *count = of;
  pthread_barrier_wait(&all_emit);
  while (__atomic_load_n(&ended, __ATOMIC_RELAXED) == 0) {
    if (*count >= EMITTED_BEFORE && __atomic_load_n(&shutting_down, __ATOMIC_RELAXED) == 0) {
      sched_yield();
      continue;
    }
    ll_emit(number, *count);
    ++*count;
  }
  return NULL;
}

static void shut_down_under_load(void) {
  pthread_t threads[ENDING_THREADS];
  if (started_before && ll_init(NULL) != 0) exit(4); /* else the first emit races with the shutdown */
  pthread_barrier_init(&all_emit, NULL, ENDING_THREADS + 1);
  for (int i = 0; i < ENDING_THREADS; i++)
    pthread_create(&threads[i], NULL, emit_to_the_end, &emitted_by[i]);
  pthread_barrier_wait(&all_emit);
  usleep(1000); /* somewhere in the middle */
  __atomic_store_n(&shutting_down, 1, __ATOMIC_RELAXED);
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(2);
  for (int i = 0; i < LOOKS && stats().dropped_shutdown == 0; i++)
    usleep(LOOK_US); /* until a thread has run again */
  __atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
  uint64_t emitted = 0;
  for (int i = 0; i < ENDING_THREADS; i++) {
    pthread_join(threads[i], NULL);
    emitted += emitted_by[i];
  }
  test_batches batches = test_read_batches(directory.out);
  uint64_t accounted =
      test_events_in(&batches) + stats().dropped_ring_full + stats().dropped_no_ring + stats().dropped_shutdown;
  test_free_batches(&batches);
  ll_statistics now = stats();
  if (now.emitted == emitted && accounted == emitted && now.dropped_shutdown > 0) return;
  fprintf(stderr, "wrong books: emitted %llu, counted %llu, sent or dropped %llu, dropped after the shutdown %llu\n",
          (unsigned long long)emitted, (unsigned long long)now.emitted, (unsigned long long)accounted,
          (unsigned long long)now.dropped_shutdown);
  exit(3);
}

static void every_event_emitted_around_the_shutdown_is_sent_or_counted(void **state) {
  (void)state;
  for (int i = 0; i < 5; i++) {
    remove(directory.out);
    started_before = i > 0;
    expect(shut_down_under_load, NULL);
  }
}

/* A thread's first event gets a ring, which may race with any step of the shutdown. */
#ifdef __SANITIZE_THREAD__ /* reports a race also where it does no harm */
enum { FIRST_THREADS = 48, FIRST_ROUNDS = 20 };
#else
enum { FIRST_THREADS = 48, FIRST_ROUNDS = 100 };
#endif
static unsigned turn;

static void *emit_first(void *of) {
  pthread_barrier_wait(&all_emit);
  for (unsigned volatile spun = 0; spun < (turn * 37 + (unsigned)(uintptr_t)of * 101) % 3000; spun++) {
  }
  ll_emit(number, 1);
  return NULL;
}

static void shut_down_among_first_events(void) {
  pthread_t threads[FIRST_THREADS];
  if (ll_init(NULL) != 0) exit(4);
  pthread_barrier_init(&all_emit, NULL, FIRST_THREADS + 1);
  for (uintptr_t i = 0; i < FIRST_THREADS; i++)
    pthread_create(&threads[i], NULL, emit_first, (void *)i);
  pthread_barrier_wait(&all_emit);
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(2);
  for (int i = 0; i < FIRST_THREADS; i++)
    pthread_join(threads[i], NULL);
  test_batches batches = test_read_batches(directory.out);
  uint64_t sent = test_events_in(&batches);
  test_free_batches(&batches);
  ll_statistics now = stats();
  if (sent + now.dropped_no_ring + now.dropped_shutdown == FIRST_THREADS && now.emitted == FIRST_THREADS) return;
  fprintf(stderr, "wrong books: emitted %d, counted %llu, sent %llu, dropped %llu and %llu\n", FIRST_THREADS,
          (unsigned long long)now.emitted, (unsigned long long)sent, (unsigned long long)now.dropped_no_ring,
          (unsigned long long)now.dropped_shutdown);
  exit(3);
}

static void threads_whose_first_event_meets_the_shutdown_lose_none(void **state) {
  (void)state;
  for (turn = 0; turn < FIRST_ROUNDS; turn++) {
    remove(directory.out);
    expect(shut_down_among_first_events, NULL);
  }
}

static void emit_one(void) {
  ll_emit(number, 1);
  if (stats().crash_safe) exit(1);
}

static void without_a_ring_directory_events_still_arrive_and_a_line_warns(void **state) {
  (void)state;
  assert_int_equal(mkdir(directory.rings, 0777), 0);
  assert_int_equal(chmod(directory.rings, 0777), 0);
  expect(emit_one, "events do not survive a crash of this program");
  test_batches batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), 1);
  test_free_batches(&batches);
}

/* In the child: without /proc a file cannot be given a name later. Exits with SKIPPED if it may not be unmounted. */
static void emit_more_than_the_filesystem_holds(void) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      umount2("/proc", MNT_DETACH) != 0 || mount("none", directory.rings, "tmpfs", 0, "size=1m,mode=700") != 0)
    exit(SKIPPED);
  emit_many();
  if (stats().crash_safe) exit(2);
  ll_shutdown(TEST_PATIENCE_MS);
  leave_with(true);
}

static void a_ring_file_that_gets_no_name_is_no_sigbus(void **state) {
  (void)state;
#ifdef __SANITIZE_ADDRESS__
  print_message("skipped: LeakSanitizer itself needs /proc\n");
  skip();
#endif
  assert_int_equal(mkdir(directory.rings, 0700), 0);
  int status = test_in_child(emit_more_than_the_filesystem_holds, log_path);
  if (status == SKIPPED) {
    print_message("skipped: /proc cannot be unmounted\n");
    skip();
  }
  if (status != 0) fail_msg("status %d: %s", status, test_text_of(log_path));
  assert_non_null(strstr(test_text_of(log_path), "events do not survive a crash of this program"));
}

static void *emit_once(void *unused) {
  (void)unused;
  ll_emit(number, 1);
  return NULL;
}

enum { BURSTS = 20, LATE_THREADS = 40 };

/* More events than fit at the start, in bursts and from new threads. */
static void emit_in_need_of_room(void) {
  for (int burst = 0; burst < BURSTS; burst++) {
    for (uint64_t i = 0; i < MANY / BURSTS; i++)
      ll_emit(number, i);
    if (ll_flush(TEST_PATIENCE_MS) != 0) exit(2);
  }
  pthread_t threads[LATE_THREADS];
  for (int i = 0; i < LATE_THREADS; i++)
    if (pthread_create(&threads[i], NULL, emit_once, NULL) != 0) exit(3);
  for (int i = 0; i < LATE_THREADS; i++)
    pthread_join(threads[i], NULL);
  if (ll_flush(TEST_PATIENCE_MS) != 0) exit(4);
  ll_statistics now = stats();
  if (now.emitted == MANY + LATE_THREADS + 1 && now.dropped_ring_full == 0 && now.dropped_no_ring == 0) return;
  fprintf(stderr, "wrong books: emitted=%llu ring_full=%llu no_ring=%llu\n", (unsigned long long)now.emitted,
          (unsigned long long)now.dropped_ring_full, (unsigned long long)now.dropped_no_ring);
  exit(1);
}

static void emit_into_the_file(void) {
  ll_emit(number, 0);
  if (ll_flush(TEST_PATIENCE_MS) != 0 || !stats().crash_safe) exit(6);
}

/* Removes the file, like a cleaner of temporary files, or logind at the end of a user's last session. */
static void remove_the_ring_file(void) {
  emit_into_the_file();
  DIR *entries = opendir(directory.rings);
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
    unlinkat(dirfd(entries), entry->d_name, 0);
  closedir(entries);
  emit_in_need_of_room();
  for (int i = 0; i < LOOKS && stats().crash_safe; i++)
    usleep(LOOK_US);
  if (stats().crash_safe) exit(5);
}

static void a_ring_file_that_is_removed_costs_no_event_but_crash_safety_and_a_line(void **state) {
  (void)state;
  setenv("LIFELINE_POLICY", "block", 1);
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "60000", 1);
  setenv("LIFELINE_INTERVAL_MS", "100", 1);
  expect(remove_the_ring_file, "is gone; from now on events do not survive a crash of this program");
}

static void become_another_user(void) {
  emit_into_the_file();
  test_wait_for_recovery(); /* another user may not read the directory */
  if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0) exit(SKIPPED);
  emit_in_need_of_room();
  if (!stats().crash_safe) exit(5);
}

static void a_program_that_drops_its_privileges_loses_no_event(void **state) {
  (void)state;
  if (geteuid() != 0) skip();
  setenv("LIFELINE_URL", "null:", 1); /* a sink that needs no privileges */
  setenv("LIFELINE_POLICY", "block", 1);
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "60000", 1);
  expect(become_another_user, NULL);
}

static void emit_in_a_cluttered_directory(void) {
  char path[300];
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("none", directory.rings, "tmpfs", 0, "size=40m,mode=700") != 0)
    exit(SKIPPED);
  snprintf(path, sizeof path, "%s/dead-1-00000000000000000000000000000000.rings", directory.rings);
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (posix_fallocate(fd, 0, 17 << 20) != 0) exit(3);
  ll_emit(number, 1);
  bool safe = stats().crash_safe;
  exit(ll_shutdown(TEST_PATIENCE_MS) != 0 || safe ? 1 : 0);
}

static void remains_of_earlier_runs_do_not_fill_the_directory(void **state) {
  (void)state;
  assert_int_equal(mkdir(directory.rings, 0700), 0);
  int status = test_in_child(emit_in_a_cluttered_directory, log_path);
  if (status == SKIPPED) skip();
  if (status != 0) fail_msg("status %d: %s", status, test_text_of(log_path));
  assert_non_null(strstr(test_text_of(log_path), "earlier runs have left 17 MiB"));
  test_batches batches = test_read_batches(directory.out);
  BOOKS_EQUAL(test_events_in(&batches), 1);
  test_free_batches(&batches);
}

static void emit_and_leave(void) {
  ll_emit(number, 1);
}

static void what_is_left_takes_little_room(void **state) {
  (void)state;
  struct stat status = {.st_blocks = 0};
  test_use_sink(&directory, "never");
  setenv("LIFELINE_FLUSH_TIMEOUT_MS", "1", 1);
  assert_int_equal(test_in_child(emit_and_leave, log_path), 0);
  DIR *entries = opendir(directory.rings);
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
    if (strstr(entry->d_name, ".rings") != NULL) fstatat(dirfd(entries), entry->d_name, &status, 0);
  closedir(entries);
  assert_in_range(status.st_blocks * 512, 1, 256 << 10);
}

/* Another user has created this user's standard directory. */
static void emit_as_a_squatted_user(void) {
  char standard[64], session[300], file[400];
  snprintf(standard, sizeof standard, "/dev/shm/lifeline-%u", SQUATTED);
  snprintf(session, sizeof session, "%s/session", directory.path);
  if (chmod(directory.path, 0755) != 0 || mkdir(session, 0700) != 0 || chown(session, SQUATTED, SQUATTED) != 0 ||
      (mkdir(standard, 0700) != 0 && errno != EEXIST) || setgid(SQUATTED) != 0 || setuid(SQUATTED) != 0)
    exit(SKIPPED);
  unsetenv("LIFELINE_RING_DIR");
  setenv("LIFELINE_URL", "null:", 1);
  setenv("XDG_RUNTIME_DIR", session, 1);
  ll_emit(number, 1);
  snprintf(file, sizeof file, "%s/lifeline", session);
  exit(stats().crash_safe && access(file, F_OK) == 0 ? 0 : 1);
}

static void a_directory_that_another_user_has_taken_costs_no_crash_safety(void **state) {
  (void)state;
  char standard[64];
  if (geteuid() != 0) skip();
  int status = test_in_child(emit_as_a_squatted_user, log_path);
  snprintf(standard, sizeof standard, "/dev/shm/lifeline-%u", SQUATTED);
  rmdir(standard);
  if (status == SKIPPED) skip();
  if (status != 0) fail_msg("status %d: %s", status, test_text_of(log_path));
  assert_string_equal(test_text_of(log_path), "");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(a_url_that_is_none_costs_one_line_and_the_events_are_counted),
      TEST(a_sink_that_is_not_installed_is_named),
      TEST(a_bad_setting_is_one_clear_error),
      TEST(init_tells_what_is_wrong),
      TEST(options_that_do_not_say_their_size_are_refused),
      TEST(a_file_that_another_process_has_locked_is_a_line_and_no_standstill),
      TEST(without_a_url_nothing_happens_and_nothing_is_said),
      TEST(lifeline_off_wins_over_the_url),
      TEST(the_programs_own_log_gets_the_line_instead),
      TEST(a_folder_that_is_not_there_is_told_once_and_what_is_left_once),
      TEST(a_symbolic_link_is_not_followed),
      TEST(with_a_sink_that_takes_nothing_the_newest_are_dropped_and_counted),
      TEST(a_producer_that_begins_the_second_half_of_its_ring_wakes_the_harvester),
      TEST(blocking_is_bounded),
      TEST(blocking_loses_nothing_to_a_slow_sink),
      TEST(refused_events_are_counted_and_one_line_says_why),
      TEST(a_batch_that_can_never_be_sent_counts_as_refused),
      TEST(later_batches_tell_of_refused_ones_and_final_has_the_last_word),
      TEST(batches_that_have_to_be_sent_again_arrive_once),
      TEST(an_event_larger_than_a_record_may_be_is_dropped_and_counted),
      TEST(an_illegal_declaration_is_one_line_and_its_events_are_counted),
      TEST(counters_that_change_are_news_enough_for_a_batch),
      TEST(every_event_emitted_around_the_shutdown_is_sent_or_counted),
      TEST(threads_whose_first_event_meets_the_shutdown_lose_none),
      TEST(without_a_ring_directory_events_still_arrive_and_a_line_warns),
      TEST(a_ring_file_that_gets_no_name_is_no_sigbus),
      TEST(a_ring_file_that_is_removed_costs_no_event_but_crash_safety_and_a_line),
      TEST(a_program_that_drops_its_privileges_loses_no_event),
      TEST(remains_of_earlier_runs_do_not_fill_the_directory),
      TEST(what_is_left_takes_little_room),
      TEST(a_directory_that_another_user_has_taken_costs_no_crash_safety),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
