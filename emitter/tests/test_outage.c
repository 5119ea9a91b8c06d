/* A long outage of the sink: capacity of the budget, and reports of dropped events. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <lifeline/lifeline.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

LL_EVENT(number, "test.number", LL_INFO, (u64, value, ""));
LL_EVENT(odd, "test.odd", LL_INFO, (u64, value, ""), (u64, more, ""));

enum { MANY = 300000, SKIPPED = 77, LOOKS = 6000, LOOK_US = 10000 /* for a minute in all */ };

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
  unsetenv("LIFELINE_POLICY");
  unsetenv("LIFELINE_BLOCK_TIMEOUT_MS");
  unsetenv("LIFELINE_COMPRESSION");
  unsetenv("LIFELINE_INTERVAL_MS");
  test_directory_remove(&directory);
  return 0;
}

static ll_statistics stats(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now;
}

static void emit_many(void) {
  for (uint64_t i = 0; i < MANY; i++)
    ll_emit(number, i);
}

static void expect_success(void (*body)(void)) {
  int status = test_in_child(body, log_path);
  if (status == SKIPPED) skip();
  if (status != 0) fail_msg("status %d: %s", status, test_text_of(log_path));
}

/* Makes the sink unavailable or available. */
static void set_away(bool away) {
  char path[200];
  snprintf(path, sizeof path, "%s.away", directory.out);
  if (!away && unlink(path) != 0) exit(5);
  if (away) close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* Each portion exceeds half a ring a little, and so becomes a batch, as at a moderate rate. */
enum {
  PORTIONS = 600,
  PORTION = (32 << 10) / 24 + 10,
  OUTAGE_EVENTS = PORTIONS * PORTION,
  SHORT_LOOK_US = 200,
  SHORT_LOOKS = 100
};

static void emit_into_an_outage(void) {
  for (uint64_t portion = 0; portion < PORTIONS; portion++) {
    uint64_t sealed = stats().batches_sealed;
    for (uint64_t i = 0; i < PORTION; i++)
      ll_emit(odd, portion, i * i);
    for (int i = 0; i < SHORT_LOOKS && stats().batches_sealed == sealed; i++) /* a ring that grew takes two */
      usleep(SHORT_LOOK_US);
  }
  set_away(false);
  ll_statistics before = stats();
  if (ll_shutdown(TEST_PATIENCE_MS) == 0 && before.dropped_ring_full == 0 && stats().emitted == OUTAGE_EVENTS) return;
  fprintf(stderr, "wrong books: emitted=%llu ring_full=%llu\n", (unsigned long long)stats().emitted,
          (unsigned long long)before.dropped_ring_full);
  exit(1);
}

static void an_outage_costs_no_event_while_the_budget_has_room(void **state) {
  (void)state;
  test_use_sink(&directory, "tide");
  set_away(true);
  setenv("LIFELINE_POLICY", "block", 1); /* lose nothing if the harvester is not scheduled */
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "20000", 1);
  expect_success(emit_into_an_outage);
  assert_string_equal(test_text_of(log_path), "");
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  BOOKS_EQUAL(test_events_in(&batches), OUTAGE_EVENTS);
  test_free_batches(&batches);
}

/* A batch per interval, however small, would use up the room. */
static void emit_little_for_long(void) {
  for (uint64_t i = 0; i < 500; i++) {
    ll_emit(number, i);
    usleep(2000);
  }
  if (stats().batches_sealed > 1) exit(1);
  set_away(false);
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(2);
}

static void while_the_sink_is_away_no_batch_is_sealed_before_it_is_full(void **state) {
  (void)state;
  test_use_sink(&directory, "tide");
  set_away(true);
  setenv("LIFELINE_INTERVAL_MS", "1", 1);
  expect_success(emit_little_for_long);
}

/* Each thread emits less than half a ring. */
enum { CROWD = 24, EVENTS_EACH = 1150, CROWD_EVENTS = CROWD * EVENTS_EACH };

/* Numbers that do not compress: SplitMix64. */
static uint64_t noise(void) {
  static uint64_t state;
  uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static void *emit_some(void *unused) {
  (void)unused;
  for (uint64_t i = 0; i < EVENTS_EACH; i++)
    ll_emit(odd, noise(), noise());
  return NULL;
}

/* A batch is sealed, and about 650 KB are in the rings. */
static void emit_from_a_crowd(void) {
  ll_emit(number, 1);
  while (stats().batches_sealed == 0)
    ll_flush(10);
  for (int i = 0; i < CROWD; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, emit_some, NULL) != 0 || pthread_join(thread, NULL) != 0) exit(2);
  }
}

static void emit_from_a_crowd_and_end(void) {
  emit_from_a_crowd();
  set_away(false);
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(3);
}

static void while_a_batch_waits_for_its_acknowledgement_the_next_one_grows(void **state) {
  (void)state;
  test_use_sink(&directory, "tide");
  set_away(true);
  expect_success(emit_from_a_crowd_and_end);
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  BOOKS_EQUAL(test_events_in(&batches), 1 + CROWD_EVENTS);
  assert_int_equal(batches.at[1]->event_count, CROWD_EVENTS);
  test_free_batches(&batches);
}

static void expect_all_of_the_crowd(void) {
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  BOOKS_EQUAL(test_events_in(&batches), 1 + CROWD_EVENTS);
  test_free_batches(&batches);
}

static void what_is_sealed_before_the_sinks_limit_is_known_fits(void **state) {
  (void)state;
  test_use_sink(&directory, "shy");
  set_away(true);
  setenv("LIFELINE_COMPRESSION", "none", 1);
  expect_success(emit_from_a_crowd_and_end);
  expect_all_of_the_crowd();
}

static void emit_from_a_crowd_and_die(void) {
  emit_from_a_crowd();
  _exit(0);
}

/* It seals what is in the rings before it waits for the sink. */
static void what_a_recovery_seals_before_the_sinks_limit_is_known_fits(void **state) {
  (void)state;
  const char *const recovery[] = {"lifeline-recover", "--timeout-ms", "60000", NULL};
  test_use_sink(&directory, "never");
  setenv("LIFELINE_INTERVAL_MS", "3600000", 1);
  expect_success(emit_from_a_crowd_and_die);
  assert_int_equal(test_ring_files(&directory), 1);
  test_use_sink(&directory, "shy");
  if (test_wait(test_start(recovery, log_path)) != 0) fail_msg("%s", test_text_of(log_path));
  expect_all_of_the_crowd();
}

/* A broker's limit is not always known: during an outage many batches are sealed before the first one is refused. */
static void emit_from_crowds_and_end(void) {
  for (int i = 0; i < 4; i++)
    emit_from_a_crowd();
  set_away(false);
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(3);
  ll_statistics now = stats();
  uint64_t most = (896 << 10) / 24 + 4; /* events in the largest batch; four of them are shorter than 24 bytes */
  if (now.dropped_ring_full + now.dropped_no_ring != 0 || now.emitted != 4 * (1 + CROWD_EVENTS)) exit(4);
  if (now.dropped_sink == 0 || now.dropped_sink > most) exit(6);
}

static void no_more_than_one_batch_tries_the_sinks_limit(void **state) {
  (void)state;
  test_use_sink(&directory, "sly");
  set_away(true);
  setenv("LIFELINE_COMPRESSION", "none", 1);
  expect_success(emit_from_crowds_and_end);
}

static char heard[8192];
static pthread_mutex_t hearing = PTHREAD_MUTEX_INITIALIZER;

static void hear(void *ctx, ll_log_level level, const char *message) {
  (void)ctx, (void)level;
  pthread_mutex_lock(&hearing);
  size_t used = strlen(heard);
  snprintf(heard + used, sizeof heard - used, "%s\n", message);
  pthread_mutex_unlock(&hearing);
}

static bool was_heard(const char *text) {
  pthread_mutex_lock(&hearing);
  bool found = strstr(heard, text) != NULL;
  pthread_mutex_unlock(&hearing);
  return found;
}

static void until_heard(const char *text) {
  for (int i = 0; i < LOOKS && !was_heard(text); i++)
    usleep(LOOK_US);
  if (was_heard(text)) return;
  fprintf(stderr, "not heard: %s; but: %s\n", text, heard);
  exit(3);
}

/* At a rate that the harvester can follow, until the room is used up. Where a busy machine does not run it in time,
 * events are lost to a full ring before; that is reported too, and less severe. */
static void emit_until_heard(const char *text) {
  for (int i = 0; i < LOOKS && !was_heard(text); i++, usleep(LOOK_US))
    for (uint64_t value = 0; value < 1000; value++)
      ll_emit(number, value);
  until_heard(text);
}

static void lose_events_in_an_outage(void) {
  char text[100];
  ll_options options = LL_OPTIONS_INIT;
  options.log = hear;
  if (ll_init(&options) != 0) exit(2);
  emit_until_heard(
      "and the 1 MiB for batches (half of LIFELINE_BUDGET_BYTES, at most 40) are full; set LIFELINE_SPOOL");
  if (was_heard("were dropped")) exit(4);
  set_away(false);
  until_heard("were dropped");
  snprintf(text, sizeof text, "%llu events were dropped (ring_full or no_ring); the sink accepts batches again",
           (unsigned long long)(stats().dropped_ring_full));
  until_heard(text);
  if (ll_shutdown(TEST_PATIENCE_MS) != 0 || test_lines(heard) > 3)
    exit(6); /* one more if the harvester was not scheduled */
}

static void a_loss_is_reported_when_it_begins_and_when_it_is_over(void **state) {
  (void)state;
  test_use_sink(&directory, "tide");
  set_away(true);
  setenv("LIFELINE_BUDGET_BYTES", "2097152", 1);
  setenv("LIFELINE_COMPRESSION", "none", 1);
  expect_success(lose_events_in_an_outage);
}

static void start_on_a_small_filesystem(const char *size) {
  ll_options options = LL_OPTIONS_INIT;
  options.log = hear;
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("none", directory.rings, "tmpfs", 0, size) != 0)
    exit(SKIPPED);
  if (ll_init(&options) != 0) exit(2);
}

static void lose_events_to_a_full_filesystem(void) {
  start_on_a_small_filesystem("size=1m,mode=700");
  emit_until_heard("events are dropped: the filesystem of ");
  if (was_heard("is too slow")) exit(4);
  if (mount("none", directory.rings, "tmpfs", MS_REMOUNT, "size=16m,mode=700") != 0) exit(5);
  set_away(false);
  until_heard("events were dropped (ring_full or no_ring)\n");
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(6);
}

static void a_loss_on_a_full_filesystem_is_not_blamed_on_the_sink(void **state) {
  (void)state;
  assert_int_equal(mkdir(directory.rings, 0700), 0);
  test_use_sink(&directory, "tide");
  set_away(true);
  setenv("LIFELINE_COMPRESSION", "none", 1);
  expect_success(lose_events_to_a_full_filesystem);
}

/* No slot for a batch can be had, so none is in flight. */
static void end_on_a_full_filesystem(void) {
  start_on_a_small_filesystem("size=4m,mode=700");
  ll_emit(number, 1);
  char path[200], zeros[4096] = "";
  snprintf(path, sizeof path, "%s/full", directory.rings);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  while (write(fd, zeros, sizeof zeros) > 0) {
  }
  close(fd);
  ll_emit(number, 2);
  if (ll_shutdown(100) != ETIMEDOUT) exit(3);
  if (!was_heard("are kept in ")) exit(4);
}

static void what_a_full_filesystem_keeps_in_the_rings_is_told(void **state) {
  (void)state;
  assert_int_equal(mkdir(directory.rings, 0700), 0);
  test_use_sink(&directory, "tide");
  expect_success(end_on_a_full_filesystem);
}

static void see_all_refused(void) {
  emit_many();
  set_away(false);
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(2);
  ll_statistics now = stats();
  if (now.emitted == MANY && now.dropped_ring_full > 0 && now.dropped_sink + now.dropped_ring_full == MANY) exit(0);
  fprintf(stderr, "wrong books: emitted=%llu ring_full=%llu sink=%llu\n", (unsigned long long)now.emitted,
          (unsigned long long)now.dropped_ring_full, (unsigned long long)now.dropped_sink);
  exit(1);
}

/* Then no slot is left for a batch that would count them. */
static void a_sink_that_refuses_all_of_an_outage_does_not_stop_the_emitter(void **state) {
  (void)state;
  test_use_sink(&directory, "wreck");
  set_away(true);
  setenv("LIFELINE_BUDGET_BYTES", "2097152", 1);
  setenv("LIFELINE_COMPRESSION", "none", 1);
  setenv("LIFELINE_POLICY", "block", 1); /* until it is the slots that are full */
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "1000", 1);
  expect_success(see_all_refused);
  assert_int_equal(test_ring_files(&directory), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(an_outage_costs_no_event_while_the_budget_has_room),
      TEST(while_the_sink_is_away_no_batch_is_sealed_before_it_is_full),
      TEST(while_a_batch_waits_for_its_acknowledgement_the_next_one_grows),
      TEST(what_is_sealed_before_the_sinks_limit_is_known_fits),
      TEST(what_a_recovery_seals_before_the_sinks_limit_is_known_fits),
      TEST(no_more_than_one_batch_tries_the_sinks_limit),
      TEST(a_loss_is_reported_when_it_begins_and_when_it_is_over),
      TEST(a_loss_on_a_full_filesystem_is_not_blamed_on_the_sink),
      TEST(what_a_full_filesystem_keeps_in_the_rings_is_told),
      TEST(a_sink_that_refuses_all_of_an_outage_does_not_stop_the_emitter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
