/* The spool, from outside: programs whose sink is away, and what becomes of their events. `test-spool N` kills N times
 * where each kind of death is tried 12 times. */
#include "support.h"

#include <lifeline/lifeline.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

LL_EVENT(number, "test.number", LL_INFO, (u64, value, ""));

enum { EVENTS = 400000, ROUND = 20000 };

/* Numbers of counters, FORMAT.md 3.2. */
enum { NO_DROP = 0, RING_FULL = 1, SPOOL_FULL = 6 };

static unsigned rounds = 12;
static test_directory directory;
static char log_path[200], spool_path[200], away_path[200];

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  snprintf(log_path, sizeof log_path, "%s/log", directory.path);
  snprintf(spool_path, sizeof spool_path, "%s/spool", directory.path);
  snprintf(away_path, sizeof away_path, "%s.away", directory.out);
  test_use_sink(&directory, "tide");
  setenv("LIFELINE_SPOOL", spool_path, 1);
  setenv("LIFELINE_BUDGET_BYTES", "4194304", 1);
  setenv("LIFELINE_POLICY", "block", 1);
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "20000", 1);
  setenv("LIFELINE_COMPRESSION", "none", 1);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  static const char *const variables[] = {
      "SPOOL",       "SPOOL_BYTES", "SPOOL_FULL",       "SPOOL_SYNC",       "BUDGET_BYTES", "POLICY",
      "COMPRESSION", "INTERVAL_MS", "FLUSH_TIMEOUT_MS", "BLOCK_TIMEOUT_MS", "PLUGIN_DIR"};
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
    char name[64];
    snprintf(name, sizeof name, "LIFELINE_%s", variables[i]);
    unsetenv(name);
  }
  test_directory_remove(&directory);
  return 0;
}

static void ebb(void) {
  int fd = open(away_path, O_WRONLY | O_CREAT, 0600);
  assert_true(fd >= 0);
  close(fd);
}

static void flood(void) {
  assert_int_equal(unlink(away_path), 0);
}

static unsigned files_in(const char *path, const char *suffix) {
  DIR *entries = opendir(path);
  unsigned count = 0;
  if (entries == NULL) return 0;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
    count += strstr(entry->d_name, suffix) != NULL;
  closedir(entries);
  return count;
}

static uint64_t bytes_in(const char *path) {
  DIR *entries = opendir(path);
  uint64_t bytes = 0;
  if (entries == NULL) return 0;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    struct stat status;
    if (fstatat(dirfd(entries), entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode))
      bytes += (uint64_t)status.st_size;
  }
  closedir(entries);
  return bytes;
}

static ll_statistics stats(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now;
}

static uint64_t dropped(const ll_statistics *now) {
  return now->dropped_ring_full + now->dropped_no_ring + now->dropped_spool_full + now->dropped_sink;
}

/* Fails the test with what the program said. */
static void expect_child(void (*body)(void)) {
  int status = test_in_child(body, log_path);
  if (status != 0) fail_msg("status %d: %s", status, test_text_of(log_path));
}

static void run_tool(const char *const *arguments, int wanted, const char *said) {
  char out[200];
  snprintf(out, sizeof out, "%s/tool", directory.path);
  int status = test_wait(test_start(arguments, out));
  if (status != wanted) fail_msg("%s: status %d: %s", arguments[0], status, test_text_of(out));
  if (said != NULL && strstr(test_text_of(out), said) == NULL) fail_msg("%s: %s", arguments[0], test_text_of(out));
}

static void drain(int wanted, const char *said) {
  const char *const arguments[] = {"lifeline-spool", "drain", "--timeout-ms", "20000", NULL};
  run_tool(arguments, wanted, said);
}

/* --- What arrived ------------------------------------------------------------------------------------------------- */

static int by_sequence(const void *a, const void *b) {
  const llb_batch *x = *(llb_batch *const *)a, *y = *(llb_batch *const *)b;
  int by_incarnation = memcmp(x->incarnation, y->incarnation, 16);
  return by_incarnation != 0 ? by_incarnation : (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* In order, as a consumer sees them: repeats, which must be the same to the byte, are absorbed. */
static test_batches arrived(void) {
  test_batches batches = test_read_batches(directory.out);
  if (batches.count > 0) qsort(batches.at, batches.count, sizeof batches.at[0], by_sequence);
  size_t kept = 0;
  for (size_t i = 0; i < batches.count; i++) {
    llb_batch *batch = batches.at[i];
    if (kept > 0 && batches.at[kept - 1]->sequence == batch->sequence &&
        memcmp(batches.at[kept - 1]->incarnation, batch->incarnation, 16) == 0) {
      assert_int_equal(batches.at[kept - 1]->crc, batch->crc);
      llb_batch_free(batch);
    } else {
      batches.at[kept++] = batch;
    }
  }
  batches.count = kept;
  return batches;
}

typedef struct values {
  uint8_t seen[EVENTS + 1];
  uint64_t count, doubled;
} values;

static void note_value(const llb_event *event, void *ctx) {
  values *all = ctx;
  uint64_t value = event->values[0].u64;
  assert_true(value >= 1 && value <= EVENTS);
  all->doubled += all->seen[value];
  all->seen[value] = 1;
  all->count++;
}

/* Every event that was not counted as dropped is there, once; FINAL's counters are what is compared with. */
static void check_books(uint64_t emitted, int drop_expected) {
  static values all;
  memset(&all, 0, sizeof all);
  test_batches batches = arrived();
  assert_true(batches.count > 0);
  test_each_event(&batches, note_value, &all);
  const llb_batch *last = batches.at[batches.count - 1];
  uint64_t drops = test_drops_in(&batches) + last->counters[6] + last->counters[7];
  assert_true(last->flags & LLB_FINAL);
  assert_int_equal(all.doubled, 0);
  assert_int_equal(last->counters[0], emitted);
  assert_int_equal(all.count + drops, emitted);
  if (drop_expected == NO_DROP)
    assert_int_equal(drops, 0);
  else
    assert_true(last->counters[drop_expected] > 0);
  test_free_batches(&batches);
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */

static void emit(uint64_t from, uint64_t to) {
  for (uint64_t i = from; i <= to; i++)
    ll_emit(number, i);
}

static void emit_all(void) {
  emit(1, EVENTS);
  if (ll_shutdown(100) != ETIMEDOUT) exit(2);
  ll_statistics now = stats();
  if (now.emitted != EVENTS || now.spooled == 0) exit(3);
}

static void what_a_broker_that_is_away_does_not_take_waits_in_the_spool(void **state) {
  (void)state;
  ebb();
  expect_child(emit_all);
  assert_int_equal(test_lines(test_text_of(log_path)), 1);
  assert_non_null(strstr(test_text_of(log_path), "they wait in the spool"));
  assert_int_equal(test_ring_files(&directory), 0);
  assert_true(files_in(spool_path, ".spool") > 0);
  flood();
  const char *const list[] = {"lifeline-spool", "list", "--json", NULL};
  run_tool(list, 0, "\"owner\":\"dead\"");
  const char *const verify[] = {"lifeline-spool", "verify", NULL};
  run_tool(verify, 0, "damaged=0");
  drain(0, "left=0");
  assert_int_equal(files_in(spool_path, "."), 2); /* itself and its parent */
  check_books(EVENTS, NO_DROP);
}

static void lifeline_recover_delivers_the_spool_as_well(void **state) {
  (void)state;
  ebb();
  expect_child(emit_all);
  flood();
  const char *const recover[] = {"lifeline-recover", NULL};
  run_tool(recover, 0, "skipped_live=0");
  assert_int_equal(files_in(spool_path, ".spool"), 0);
  check_books(EVENTS, NO_DROP);
}

static void emit_nothing_much(void) {
  ll_emit(number, 1);
  for (int i = 0; i < 500 && files_in(spool_path, ".spool") > 0; i++)
    usleep(10000);
  if (ll_shutdown(10000) != 0) exit(2);
}

static void the_next_start_delivers_what_the_last_run_left_in_the_spool(void **state) {
  (void)state;
  ebb();
  expect_child(emit_all);
  flood();
  expect_child(emit_nothing_much);
  assert_int_equal(files_in(spool_path, ".spool"), 0);
  test_batches batches = arrived();
  assert_int_equal(test_events_in(&batches), EVENTS + 1);
  test_free_batches(&batches);
}

static void emit_through_an_outage(void) {
  emit(1, 3 * ROUND);
  ebb();
  emit(3 * ROUND + 1, EVENTS - ROUND);
  if (stats().spooled == 0) exit(2);
  flood();
  emit(EVENTS - ROUND + 1, EVENTS);
  if (ll_flush(20000) != 0) exit(3);
  ll_statistics now = stats();
  if (now.emitted != EVENTS || dropped(&now) != 0 || now.batches_in_flight != 0) exit(4);
  if (files_in(spool_path, ".spool") != 0) exit(5); /* a flush waits for the spool, too */
  if (ll_shutdown(5000) != 0) exit(6);
}

static void an_outage_costs_nothing_and_the_spool_drains_beside_live_events(void **state) {
  (void)state;
  expect_child(emit_through_an_outage);
  assert_string_equal(test_text_of(log_path), "");
  check_books(EVENTS, NO_DROP);
}

/* A broker that stores some batches and acknowledges none: what may have arrived is never given up. */
static void what_may_have_arrived_is_not_counted_as_dropped(void **state) {
  (void)state;
  test_use_sink(&directory, "ebb");
  setenv("LIFELINE_SPOOL_BYTES", "2097152", 1);
  ebb();
  expect_child(emit_all);
  flood();
  const char *const recover[] = {"lifeline-recover", NULL};
  run_tool(recover, 0, NULL);
  check_books(EVENTS, SPOOL_FULL);
}

/* --- Full --------------------------------------------------------------------------------------------------------- */

static void emit_into_a_full_spool(void) {
  emit(1, EVENTS);
  ll_shutdown(100);
  ll_statistics now = stats();
  if (now.emitted != EVENTS || now.dropped_spool_full == 0) exit(2);
  if (bytes_in(spool_path) > 2097152) exit(3);
}

static void fill_with(const char *policy) {
  setenv("LIFELINE_SPOOL_BYTES", "2097152", 1);
  setenv("LIFELINE_SPOOL_FULL", policy, 1);
  ebb();
  expect_child(emit_into_a_full_spool);
  flood();
  const char *const recover[] = {"lifeline-recover", NULL};
  run_tool(recover, 0, NULL);
  check_books(EVENTS, SPOOL_FULL);
}

static uint64_t first_gap(void) {
  static values all;
  memset(&all, 0, sizeof all);
  test_batches batches = arrived();
  test_each_event(&batches, note_value, &all);
  test_free_batches(&batches);
  for (uint64_t i = 1; i <= EVENTS; i++)
    if (!all.seen[i]) return i;
  return 0;
}

static void a_full_spool_gives_up_the_oldest_and_counts_them(void **state) {
  (void)state;
  fill_with("drop-oldest");
  assert_true(first_gap() < EVENTS / 8);
  assert_non_null(strstr(test_text_of(log_path), "the oldest batches are dropped and counted"));
}

static void a_full_spool_gives_up_the_newest_if_told_so(void **state) {
  (void)state;
  fill_with("drop-newest");
  assert_true(first_gap() > EVENTS / 8);
  assert_non_null(strstr(test_text_of(log_path), "the newest batches are dropped and counted"));
}

static void emit_until_blocked(void) {
  emit(1, EVENTS);
  ll_statistics now = stats();
  if (now.dropped_spool_full != 0 || now.dropped_ring_full == 0) exit(2);
  ll_shutdown(100);
}

static void a_full_spool_that_blocks_leaves_it_to_the_rings(void **state) {
  (void)state;
  setenv("LIFELINE_SPOOL_BYTES", "2097152", 1);
  setenv("LIFELINE_SPOOL_FULL", "block", 1);
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "100", 1);
  ebb();
  expect_child(emit_until_blocked);
  assert_non_null(strstr(test_text_of(log_path), "batches stay in memory"));
  flood();
  const char *const recover[] = {"lifeline-recover", NULL};
  run_tool(recover, 0, NULL);
  check_books(EVENTS, RING_FULL);
}

int main(int argc, char **argv) {
  if (argc > 1) rounds = (unsigned)atoi(argv[1]);
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(what_a_broker_that_is_away_does_not_take_waits_in_the_spool),
      TEST(lifeline_recover_delivers_the_spool_as_well),
      TEST(the_next_start_delivers_what_the_last_run_left_in_the_spool),
      TEST(an_outage_costs_nothing_and_the_spool_drains_beside_live_events),
      TEST(what_may_have_arrived_is_not_counted_as_dropped),
      TEST(a_full_spool_gives_up_the_oldest_and_counts_them),
      TEST(a_full_spool_gives_up_the_newest_if_told_so),
      TEST(a_full_spool_that_blocks_leaves_it_to_the_rings),
  };
  if (argc > 2) cmocka_set_test_filter(argv[2]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
