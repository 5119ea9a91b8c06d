/* The spool, from outside: programs whose sink is unreachable, and the fate of their events. `test-spool PATTERN` runs
 * the tests of that name. */
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

enum { EVENTS = 400000, ROUND = 20000, LOOKS = 6000, LOOK_US = 10000 /* for a minute in all */ };

/* Numbers of counters, FORMAT.md 3.2. */
enum { ANY_DROP = -1, NO_DROP = 0, RING_FULL = 1, SPOOL_FULL = 6, SINK = 7 };

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
      "SPOOL",       "SPOOL_BYTES",      "SPOOL_FULL",       "SPOOL_SYNC", "BUDGET_BYTES", "POLICY",     "COMPRESSION",
      "INTERVAL_MS", "FLUSH_TIMEOUT_MS", "BLOCK_TIMEOUT_MS", "PLUGIN_DIR", "ROUTES",       "RESOLUTION", "PROGRAM"};
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

/* Fails the test with the program's output. */
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

/* The batches in order, without duplicates, which must be identical, as a consumer sees them. */
static test_batches arrived(void) {
  test_batches batches = test_read_batches(directory.out);
  if (batches.count > 0) qsort(batches.at, batches.count, sizeof batches.at[0], by_sequence);
  size_t kept = 0;
  for (size_t i = 0; i < batches.count; i++) {
    llb_batch *batch = batches.at[i];
    if (kept > 0 && batches.at[kept - 1]->sequence == batch->sequence &&
        memcmp(batches.at[kept - 1]->incarnation, batch->incarnation, 16) == 0) {
      BOOKS_EQUAL(batches.at[kept - 1]->crc, batch->crc);
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
  BOOKS(value >= 1 && value <= EVENTS);
  all->doubled += all->seen[value];
  all->seen[value] = 1;
  all->count++;
}

/* Every event that was not counted as dropped is there once, according to the counters of the FINAL batch. */
static void check_books(uint64_t emitted, int drop_expected) {
  static values all;
  memset(&all, 0, sizeof all);
  test_batches batches = arrived();
  assert_true(batches.count > 0);
  test_each_event(&batches, note_value, &all);
  const llb_batch *last = batches.at[batches.count - 1];
  uint64_t drops = test_drops_in(&batches) + last->counters[6] + last->counters[7];
  assert_true(last->flags & LLB_FINAL);
  BOOKS_EQUAL(all.doubled, 0);
  BOOKS_EQUAL(last->counters[0], emitted);
  BOOKS_EQUAL(all.count + drops, emitted);
  if (drop_expected == NO_DROP) BOOKS_EQUAL(drops, 0);
  if (drop_expected > NO_DROP) assert_true(last->counters[drop_expected] > 0);
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
  if (stats().spooled == 0) exit(3);
}

static void what_a_broker_that_is_away_does_not_take_waits_in_the_spool(void **state) {
  (void)state;
  ebb();
  expect_child(emit_all);
  assert_int_equal(test_other_lines(test_text_of(log_path)), 1);
  assert_non_null(strstr(test_text_of(log_path), "they are kept in the spool"));
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

/* Sends all events to a second route with a "tide" sink. The default route's sink is available, and gets nothing. */
static void use_a_second_route(void) {
  char url[300], routes[300];
  snprintf(url, sizeof url, "file://%s/quiet.llb", directory.path);
  snprintf(routes, sizeof routes, "audit=test://%s?tide", directory.out);
  setenv("LIFELINE_URL", url, 1);
  setenv("LIFELINE_ROUTES", routes, 1);
  setenv("LIFELINE_RESOLUTION", "test.number full route=audit", 1);
  setenv("LIFELINE_BUDGET_BYTES", "8388608", 1);
}

static void a_route_that_never_had_an_event_does_not_keep_the_ring_file(void **state) {
  (void)state;
  use_a_second_route();
  ebb();
  expect_child(emit_all);
  assert_non_null(strstr(test_text_of(log_path), "they are kept in the spool"));
  assert_int_equal(test_ring_files(&directory), 0);
  flood();
  drain(0, "left=0");
  check_books(EVENTS, NO_DROP);
}

/* A program that keeps running must release undelivered segments, so that others can deliver them. */
static void a_failed_drain_gives_the_segments_back(void **state) {
  (void)state;
  use_a_second_route();
  ebb();
  expect_child(emit_all);
  flood();
  char notes[200], routes[300];
  snprintf(notes, sizeof notes, "%s/notes", directory.path);
  snprintf(routes, sizeof routes, "%s", getenv("LIFELINE_ROUTES"));
  unsigned segments = files_in(spool_path, ".spool");
  unsetenv("LIFELINE_ROUTES");
  unsetenv("LIFELINE_RESOLUTION");
  setenv("LIFELINE_PROGRAM", "test-spool", 1); /* it drains the segments of this program */
  const char *const host[] = {"crash-emitter", notes, "1", "1000", NULL};
  pid_t pid = test_start(host, log_path);
  for (int i = 0; i < LOOKS && test_lines(test_text_of(log_path)) < segments; i++)
    usleep(LOOK_US);
  unsetenv("LIFELINE_PROGRAM");
  const char *const arguments[] = {"lifeline-spool", "drain", "--timeout-ms", "20000", "--route", routes, NULL};
  run_tool(arguments, 0, "left=0");
  unsigned left = files_in(spool_path, ".spool");
  kill(pid, SIGKILL);
  assert_int_equal(test_wait(pid), 128 + SIGKILL);
  assert_non_null(strstr(test_text_of(log_path), "route \"audit\", which is not declared here"));
  assert_int_equal(left, 0);
  check_books(EVENTS, NO_DROP);
}

static void emit_nothing_much(void) {
  ll_emit(number, 1);
  for (int i = 0; i < LOOKS && files_in(spool_path, ".spool") > 0; i++)
    usleep(LOOK_US);
  if (ll_shutdown(20000) != 0) exit(2);
}

static void the_next_start_delivers_what_the_last_run_left_in_the_spool(void **state) {
  (void)state;
  ebb();
  expect_child(emit_all);
  flood();
  expect_child(emit_nothing_much);
  assert_int_equal(files_in(spool_path, ".spool"), 0);
  test_batches batches = arrived();
  BOOKS_EQUAL(test_events_in(&batches), EVENTS + 1);
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
  if (ll_shutdown(20000) != 0) exit(6);
}

static void an_outage_costs_nothing_and_the_spool_drains_beside_live_events(void **state) {
  (void)state;
  expect_child(emit_through_an_outage);
  assert_string_equal(test_text_of(log_path), "");
  check_books(EVENTS, NO_DROP);
}

/* A broker stores some batches and acknowledges none: batches that may have arrived are never given up. */
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

/* True if the harvester has logged its error. Needs no descriptor. */
static bool trouble_is_told(void) {
  struct stat status;
  return stat(log_path, &status) == 0 && status.st_size > 0;
}

/* The events that may rest in the rings while earlier batches wait: less than half of the largest ring that the budget
 * has room for, a quarter of the rings. */
static uint64_t resting(void) {
  enum { EVENT_BYTES = 16 };
  return strtoull(getenv("LIFELINE_BUDGET_BYTES"), NULL, 10) / 2 / 4 / 2 / EVENT_BYTES;
}

/* Emits no faster than the harvester takes events, until it has logged its error: otherwise on a busy machine the rings
 * would drop events, and the spool would not fill. */
static void emit_at_its_pace(uint64_t from, uint64_t to) {
  enum { STEP = EVENTS / 80 };
  for (uint64_t next; from <= to; from = next) {
    next = from + STEP <= to ? from + STEP : to + 1;
    emit(from, next - 1);
    for (int i = 0; i < LOOKS && !trouble_is_told() && stats().emitted + resting() < next - 1; i++)
      usleep(LOOK_US / 10);
  }
}

static bool is_told(void) {
  for (int i = 0; i < LOOKS && !trouble_is_told(); i++)
    usleep(LOOK_US);
  return trouble_is_told();
}

static void emit_into_a_full_spool(void) {
  emit(1, EVENTS);
  ll_shutdown(100);
  ll_statistics now = stats();
  if (now.dropped_spool_full == 0) exit(2);
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
  emit_at_its_pace(1, EVENTS);
  if (!is_told()) exit(3);
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

/* --- Errors ------------------------------------------------------------------------------------------------------- */

/* Waits for the harvester to spool more. */
static bool spools_on_from(uint64_t spooled) {
  for (int i = 0; i < LOOKS && stats().spooled <= spooled; i++)
    usleep(LOOK_US);
  return stats().spooled > spooled;
}

/* Mounts a small filesystem for the spool. */
static bool mount_small(const char *bytes) {
  char options[64];
  snprintf(options, sizeof options, "mode=0700,size=%s", bytes);
  assert_true(mkdir(spool_path, 0700) == 0 || errno == EEXIST);
  return mount("none", spool_path, "tmpfs", MS_NODEV | MS_NOSUID, options) == 0;
}

static void emit_until_recovery_is_over(uint64_t from, uint64_t to) {
  emit_at_its_pace(from, to);
  test_wait_for_recovery(); /* the recovery's thread reads the spool, too, and logs its errors */
}

static void emit_until_the_disk_is_full(void) {
  emit_at_its_pace(1, EVENTS / 2);
  if (!is_told()) exit(6);
  ll_statistics full = stats();
  if (full.dropped_spool_full != 0 || full.spooled == 0 || full.dropped_ring_full == 0) exit(2);
  if (mount("none", spool_path, "tmpfs", MS_REMOUNT | MS_NODEV | MS_NOSUID, "size=64M") != 0) exit(3);
  usleep(1200000); /* it checks once a second */
  emit(EVENTS / 2 + 1, EVENTS);
  if (!spools_on_from(full.spooled)) exit(4);
  flood();
  if (ll_shutdown(20000) != 0) exit(5);
}

static void a_full_disk_costs_one_line_and_the_spool_goes_on_when_there_is_room(void **state) {
  (void)state;
  if (geteuid() != 0 || !mount_small("1M")) {
    fprintf(stderr, "skipped: only root can mount a small filesystem\n");
    skip();
  }
  setenv("LIFELINE_INTERVAL_MS", "5", 1);
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "50", 1);
  setenv("LIFELINE_SPOOL_BYTES", "8388608", 1);  /* makes a segment 512 KiB */
  setenv("LIFELINE_BUDGET_BYTES", "2097152", 1); /* together with the disk, takes less than half of the events */
  ebb();
  int status = test_in_child(emit_until_the_disk_is_full, log_path);
  assert_int_equal(umount(spool_path), 0);
  if (status != 0) fail_msg("status %d: %s", status, test_text_of(log_path));
  assert_int_equal(test_other_lines(test_text_of(log_path)), 1);
  assert_non_null(strstr(test_text_of(log_path), "No space left on device"));
  check_books(EVENTS, RING_FULL);
}

/* Exchanges the directory and a file in one step: if the path were missing even for a moment, the emitter would create
 * a directory. */
static bool swap_spool_with(const char *aside) {
  return renameat2(AT_FDCWD, spool_path, AT_FDCWD, aside, RENAME_EXCHANGE) == 0;
}

static void emit_while_the_directory_cannot_be_used(void) {
  emit_until_recovery_is_over(1, EVENTS / 2);
  char aside[256];
  snprintf(aside, sizeof aside, "%s.aside", spool_path);
  int fd = open(aside, O_WRONLY | O_CREAT, 0600);
  if (fd < 0 || close(fd) != 0) exit(3);
  if (!swap_spool_with(aside)) exit(4);
  emit_at_its_pace(EVENTS / 2 + 1, EVENTS / 4 * 3);
  if (!is_told()) exit(8);
  if (!swap_spool_with(aside)) exit(5);
  usleep(1200000);
  uint64_t before = stats().spooled;
  emit(EVENTS / 4 * 3 + 1, EVENTS);
  if (!spools_on_from(before)) exit(6);
  flood();
  if (ll_shutdown(20000) != 0) exit(7);
}

static void a_directory_that_goes_and_comes_back_is_used_again(void **state) {
  (void)state;
  setenv("LIFELINE_INTERVAL_MS", "5", 1);
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "50", 1);
  ebb();
  expect_child(emit_while_the_directory_cannot_be_used);
  assert_int_equal(test_other_lines(test_text_of(log_path)), 1);
  assert_non_null(strstr(test_text_of(log_path), "the spool cannot be used ("));
  check_books(EVENTS, ANY_DROP);
}

static void emit_over_a_deleted_spool(void) {
  char aside[256], command[300];
  emit(1, EVENTS / 2);
  snprintf(aside, sizeof aside, "%s.aside", spool_path);
  snprintf(command, sizeof command, "rm -rf %s", aside);
  if (rename(spool_path, aside) != 0 || system(command) != 0) exit(2);
  emit(EVENTS / 2 + 1, EVENTS);
  flood();
  if (ll_shutdown(20000) != 0) exit(3);
  if (stats().spooled == 0) exit(4);
}

/* Deleted segments are lost and show as missing; the rest arrives. */
static void what_is_deleted_from_the_spool_is_told_and_the_rest_arrives(void **state) {
  (void)state;
  ebb();
  expect_child(emit_over_a_deleted_spool);
  assert_non_null(strstr(test_text_of(log_path), "was removed from"));
  static values all;
  memset(&all, 0, sizeof all);
  test_batches batches = arrived();
  test_each_event(&batches, note_value, &all);
  assert_true(all.seen[EVENTS]);
  assert_true(all.count < EVENTS);
  BOOKS_EQUAL(all.doubled, 0);
  test_free_batches(&batches);
}

static void emit_without_descriptors(void) {
  struct rlimit before, none;
  emit_until_recovery_is_over(1, EVENTS / 2);
  if (getrlimit(RLIMIT_NOFILE, &before) != 0) exit(2);
  none = before;
  none.rlim_cur = 3;
  setrlimit(RLIMIT_NOFILE, &none);
  emit_at_its_pace(EVENTS / 2 + 1, EVENTS / 4 * 3);
  if (!is_told()) exit(5);
  setrlimit(RLIMIT_NOFILE, &before);
  usleep(1200000);
  uint64_t spooled = stats().spooled;
  emit(EVENTS / 4 * 3 + 1, EVENTS);
  if (!spools_on_from(spooled)) exit(3);
  flood();
  if (ll_shutdown(20000) != 0) exit(4);
}

static void without_a_descriptor_to_be_had_batches_wait_in_memory(void **state) {
  (void)state;
  setenv("LIFELINE_INTERVAL_MS", "5", 1);
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "50", 1);
  ebb();
  expect_child(emit_without_descriptors);
  assert_int_equal(test_other_lines(test_text_of(log_path)), 1);
  assert_non_null(strstr(test_text_of(log_path), "Too many open files"));
  check_books(EVENTS, ANY_DROP);
}

/* Closes all descriptors, repeatedly, like a daemon, and reuses their numbers at once. */
static void close_everything_and_go_on(void) {
  if (ll_init(NULL) != 0) exit(5); /* the dynamic linker needs the sink's file while it loads it */
  for (uint64_t part = 0; part < 20; part++) {
    emit(part * (EVENTS / 20) + 1, (part + 1) * (EVENTS / 20));
    closefrom(3);
  }
  usleep(200000); /* a write that has already checked its descriptor may be in progress; it cannot be stopped */
  char path[300];
  snprintf(path, sizeof path, "%s/mine", directory.path);
  int mine[32];
  for (int i = 0; i < 32; i++)
    mine[i] = open(path, O_RDWR | O_CREAT, 0600);
  usleep(100000);
  struct stat status;
  if (stat(path, &status) != 0 || status.st_size != 0) exit(2);
  for (int i = 0; i < 32; i++)
    close(mine[i]);
  if (ll_shutdown(100) != ETIMEDOUT) exit(3);
  if (stats().spooled == 0) exit(4);
}

static void a_program_may_close_all_its_descriptors(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip(); /* it reports closing other threads' descriptors as a race, which is what this test does */
#endif
  ebb();
  expect_child(close_everything_and_go_on);
  flood();
  const char *const recover[] = {"lifeline-recover", NULL};
  run_tool(recover, 0, NULL);
  check_books(EVENTS, NO_DROP);
}

static void a_damaged_segment_costs_its_damaged_batch_alone(void **state) {
  (void)state;
  ebb();
  expect_child(emit_all);
  flood();
  DIR *entries = opendir(spool_path);
  assert_non_null(entries);
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    if (strstr(entry->d_name, "-00000001.spool") == NULL) continue;
    int fd = openat(dirfd(entries), entry->d_name, O_RDWR);
    assert_int_equal(pwrite(fd, "damage", 6, 4096 + 5000), 6);
    close(fd);
  }
  closedir(entries);
  const char *const verify[] = {"lifeline-spool", "verify", "--json", NULL};
  run_tool(verify, 1, "\"damaged\":1");
  drain(1, "kept as .damaged");
  assert_int_equal(files_in(spool_path, ".spool"), 0);
  assert_int_equal(files_in(spool_path, ".damaged"), 1);
  test_batches batches = arrived();
  uint64_t highest = batches.at[batches.count - 1]->sequence;
  assert_int_equal(batches.count, highest - 1);
  test_free_batches(&batches);
}

static void what_the_sink_refuses_when_drained_is_kept(void **state) {
  (void)state;
  ebb();
  expect_child(emit_all);
  flood();
  test_use_sink(&directory, "refuse");
  drain(1, "kept as .refused");
  assert_int_equal(files_in(spool_path, ".spool"), 0);
  test_use_sink(&directory, "tide");
  const char *const again[] = {"lifeline-spool", "drain", "--kept", NULL};
  run_tool(again, 0, "left=0");
  check_books(EVENTS, NO_DROP);
}

static void emit_to_a_sink_that_refuses_later(void) {
  emit(1, EVENTS - 1);
  flood();
  ll_flush(20000);
  ll_emit(number, EVENTS);
  if (ll_shutdown(20000) != 0) exit(2);
  ll_statistics now = stats();
  if (now.spooled == 0 || now.dropped_sink == 0 || now.dropped_sink >= EVENTS) exit(3);
}

static void what_the_sink_refuses_while_the_program_lives_is_counted(void **state) {
  (void)state;
  test_use_sink(&directory, "neap");
  ebb();
  expect_child(emit_to_a_sink_that_refuses_later);
  check_books(EVENTS, SINK);
  assert_int_equal(files_in(spool_path, ".spool"), 0);
}

/* Two programs at once, and a drain that must not touch their segments. */
static void two_programs_share_a_spool_and_a_drain_touches_neither(void **state) {
  (void)state;
  ebb();
  char notes[2][200];
  pid_t pids[2];
  for (int i = 0; i < 2; i++) {
    snprintf(notes[i], sizeof notes[i], "%s/notes%d", directory.path, i);
    const char *const arguments[] = {"crash-emitter", notes[i], "1", "1000", NULL};
    pids[i] = test_start(arguments, log_path);
  }
  for (int i = 0; i < LOOKS && files_in(spool_path, ".spool") < 6; i++)
    usleep(LOOK_US);
  unsigned before = files_in(spool_path, ".spool");
  assert_true(before >= 6);
  drain(0, "segments=0");
  assert_true(files_in(spool_path, ".spool") >= before);
  for (int i = 0; i < 2; i++) {
    kill(pids[i], SIGKILL);
    assert_int_equal(test_wait(pids[i]), 128 + SIGKILL);
  }
  flood();
  /* Now two drains at once: each segment is delivered by one of them. */
  const char *const arguments[] = {"lifeline-spool", "drain", NULL};
  pid_t drains[2] = {test_start(arguments, "/dev/null"), test_start(arguments, "/dev/null")};
  assert_int_equal(test_wait(drains[0]), 0);
  assert_int_equal(test_wait(drains[1]), 0);
  assert_int_equal(files_in(spool_path, ".spool"), 0);
  const char *const recover[] = {"lifeline-recover", NULL};
  run_tool(recover, 0, NULL);
}

static void the_tool_says_what_is_wrong_with_its_arguments(void **state) {
  (void)state;
  const char *const none[] = {"lifeline-spool", NULL};
  run_tool(none, 2, "give one command");
  const char *const other[] = {"lifeline-spool", "mend", NULL};
  run_tool(other, 2, "the commands are");
  const char *const help[] = {"lifeline-spool", "--help", NULL};
  run_tool(help, 0, "Usage: lifeline-spool list");
  unsetenv("LIFELINE_SPOOL");
  const char *const where[] = {"lifeline-spool", "list", NULL};
  run_tool(where, 2, "no spool:");
  const char *const nowhere[] = {"lifeline-spool", "list", "--spool", "/nonexistent/spool", NULL};
  run_tool(nowhere, 0, "the spool is empty");
}

int main(int argc, char **argv) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(what_a_broker_that_is_away_does_not_take_waits_in_the_spool),
      TEST(lifeline_recover_delivers_the_spool_as_well),
      TEST(the_next_start_delivers_what_the_last_run_left_in_the_spool),
      TEST(a_route_that_never_had_an_event_does_not_keep_the_ring_file),
      TEST(a_failed_drain_gives_the_segments_back),
      TEST(an_outage_costs_nothing_and_the_spool_drains_beside_live_events),
      TEST(what_may_have_arrived_is_not_counted_as_dropped),
      TEST(a_full_spool_gives_up_the_oldest_and_counts_them),
      TEST(a_full_spool_gives_up_the_newest_if_told_so),
      TEST(a_full_spool_that_blocks_leaves_it_to_the_rings),
      TEST(a_full_disk_costs_one_line_and_the_spool_goes_on_when_there_is_room),
      TEST(a_directory_that_goes_and_comes_back_is_used_again),
      TEST(what_is_deleted_from_the_spool_is_told_and_the_rest_arrives),
      TEST(without_a_descriptor_to_be_had_batches_wait_in_memory),
      TEST(a_program_may_close_all_its_descriptors),
      TEST(a_damaged_segment_costs_its_damaged_batch_alone),
      TEST(what_the_sink_refuses_when_drained_is_kept),
      TEST(what_the_sink_refuses_while_the_program_lives_is_counted),
      TEST(two_programs_share_a_spool_and_a_drain_touches_neither),
      TEST(the_tool_says_what_is_wrong_with_its_arguments),
  };
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
