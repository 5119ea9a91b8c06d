/* Kills programs while their batches are spooled, drained, or given up for lack of space: every event arrives once, or
 * is counted as dropped. `test-spool_kill N` kills N times at random instants instead of 24, or of 12 under a
 * sanitizer.
 *
 * A build with crash points (-DLIFELINE_CRASH_POINTS=ON) also kills exactly between two steps.
 */
#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 2, POINT_WITHIN_S = TEST_PATIENCE_MS / 1000, DROPPED_SPOOL_FULL = 6, SPOOLED = 11 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static unsigned rounds = 12;
#else
static unsigned rounds = 24;
#endif

/* Environment of one program. */
typedef struct scene {
  test_directory directory;
  char notes[200], log[200], spool[200], away[200];
} scene;

/* Counts over all rounds: a test that never reached the point would prove nothing. */
typedef struct tally {
  uint64_t spooled, given_up;
} tally;

static bool came_to_the_point(const tally *all) {
  return all->spooled > 0 && all->given_up > 0;
}

static void set(const char *variable, const char *value) {
  assert_int_equal(setenv(variable, value, 1), 0);
}

static void scene_make(scene *here, unsigned seed) {
  static const char *const full[] = {"drop-oldest", "drop-newest", "block"};
  static const char *const sync[] = {"interval", "never", "always"};
  test_directory_make(&here->directory);
  snprintf(here->notes, sizeof here->notes, "%s/notes", here->directory.path);
  snprintf(here->log, sizeof here->log, "%s/log", here->directory.path);
  snprintf(here->spool, sizeof here->spool, "%s/spool", here->directory.path);
  snprintf(here->away, sizeof here->away, "%s.away", here->directory.out);
  test_use_sink(&here->directory, seed % 4 == 3 ? "ebb" : "tide");
  set("LIFELINE_SPOOL", here->spool);
  set("LIFELINE_SPOOL_BYTES", seed % 2 == 0 ? "2097152" : "67108864");
  set("LIFELINE_SPOOL_FULL", full[seed / 2 % 3]);
  set("LIFELINE_SPOOL_SYNC", sync[seed % 3]);
  set("LIFELINE_BUDGET_BYTES", "2097152");
  set("LIFELINE_COMPRESSION", "none");
  set("LIFELINE_INTERVAL_MS", "5");
}

static void scene_remove(const scene *here) {
  static const char *const variables[] = {"LIFELINE_SPOOL",       "LIFELINE_SPOOL_BYTES",  "LIFELINE_SPOOL_FULL",
                                          "LIFELINE_SPOOL_SYNC",  "LIFELINE_BUDGET_BYTES", "LIFELINE_COMPRESSION",
                                          "LIFELINE_INTERVAL_MS", "LIFELINE_PLUGIN_DIR",   "LIFELINE_CRASH_POINT"};
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    unsetenv(variables[i]);
  test_directory_remove(&here->directory);
}

static void ebb(const scene *here) {
  int fd = open(here->away, O_WRONLY | O_CREAT, 0600);
  assert_true(fd >= 0);
  close(fd);
}

static void flood(const scene *here) {
  unlink(here->away);
}

static void read_notes(const scene *here, test_serials *kept) {
  uint64_t notes[TEST_THREADS_MAX] = {0};
  int fd = open(here->notes, O_RDONLY);
  if (fd >= 0) {
    assert_true(read(fd, notes, sizeof notes) >= 0);
    close(fd);
  }
  memcpy(kept->returned, notes, sizeof kept->returned);
}

static void recover(const scene *here, unsigned *seed, unsigned kills) {
  const char *const recovery[] = {"lifeline-recover", "--timeout-ms", "20000", NULL};
  for (unsigned i = 0; i < kills; i++) {
    pid_t pid = test_start(recovery, "/dev/null");
    usleep(500 + (unsigned)(rand_r(seed) % 6000));
    kill(pid, SIGKILL);
    test_wait(pid);
  }
  if (test_wait(test_start(recovery, here->log)) != 0) fail_msg("%s", test_text_of(here->log));
  assert_int_equal(test_ring_files(&here->directory), 0);
  assert_int_equal(rmdir(here->spool) == 0 || access(here->spool, F_OK) != 0, 1); /* it is empty */
}

static void check_books(const scene *here, tally *all) {
  test_serials kept = {.threads = THREADS};
  read_notes(here, &kept);
  test_batches batches = test_read_batches(here->directory.out);
  test_absorb_repeats(&batches);
  test_tick_off(&batches, &kept);
  uint64_t returned = kept.returned[0] + kept.returned[1];
  if (batches.count > 0) {
    const llb_batch *last = batches.at[batches.count - 1];
    uint64_t drops = test_drops_in(&batches) + last->counters[DROPPED_SPOOL_FULL];
    assert_true(last->flags & LLB_FINAL);
    BOOKS_EQUAL(last->counters[0], kept.archived + drops);
    BOOKS(returned - kept.archived_of_returned <= drops);
    all->spooled += last->counters[SPOOLED];
    all->given_up += last->counters[DROPPED_SPOOL_FULL];
  } else {
    BOOKS_EQUAL(returned, 0);
  }
  test_free_batches(&batches);
}

static void wait_for_events(const scene *here) {
  test_serials kept = {.threads = THREADS};
  for (int i = 0; i < TEST_PATIENCE_MS / 2 && kept.returned[0] == 0; i++) {
    usleep(2000);
    read_notes(here, &kept);
  }
}

static void wait_for_line(const scene *here, const char *line) {
  for (int i = 0; i < TEST_PATIENCE_MS / 2 && strstr(test_text_of(here->log), line) == NULL; i++)
    usleep(2000);
  assert_non_null(strstr(test_text_of(here->log), line));
}

/* Outages come and go while the program runs, until it is killed; each takes up to 65 ms. The first one lasts until the
 * spool is full, however slow the program is. */
static void kill_at_random(unsigned seed, tally *all) {
  scene here;
  scene_make(&here, seed);
  const char *const emitter[] = {"crash-emitter", here.notes, "2", "200", NULL};
  pid_t pid = test_start(emitter, here.log);
  if (seed % 3 != 0) wait_for_events(&here); /* else it may be killed while it starts */
  unsigned phases = 1 + seed % 4;
  for (unsigned i = 0; i < phases; i++) {
    if (i % 2 == 0)
      ebb(&here);
    else
      flood(&here);
    if (seed == 0) wait_for_line(&here, "are dropped and counted");
    usleep(5000 + (unsigned)(rand_r(&seed) % 60000));
  }
  kill(pid, SIGKILL);
  assert_int_equal(test_wait(pid), 128 + SIGKILL);
  flood(&here);
  recover(&here, &seed, seed % 3);
  check_books(&here, all);
  scene_remove(&here);
}

static void killed_at_any_instant_while_spooling_every_event_arrives_or_is_counted(void **state) {
  (void)state;
  tally all = {0, 0};
  for (unsigned i = 0; i < rounds; i++)
    kill_at_random(i, &all);
  assert_true(came_to_the_point(&all));
}

#ifdef LIFELINE_CRASH_POINTS
static void die_at(const char *point, unsigned pass, const char *full, tally *all) {
  scene here;
  char where[64];
  unsigned seed = pass;
  scene_make(&here, pass * 2);
  set("LIFELINE_SPOOL_FULL", full);
  snprintf(where, sizeof where, "%s:%u", point, pass);
  set("LIFELINE_CRASH_POINT", where);
  const char *const emitter[] = {"crash-emitter", here.notes, "2", "100", NULL};
  ebb(&here);
  alarm(POINT_WITHIN_S);
  pid_t pid = test_start(emitter, here.log);
  assert_int_equal(test_wait(pid), 128 + SIGKILL); /* it kills itself */
  alarm(0);
  unsetenv("LIFELINE_CRASH_POINT");
  flood(&here);
  recover(&here, &seed, pass % 2);
  check_books(&here, all);
  scene_remove(&here);
}

static void dying_between_two_steps_of_the_spool_costs_nothing_uncounted(void **state) {
  (void)state;
  static const char *const points[] = {"spooled-unfreed", "giving-up-announced", "given-up-uncounted",
                                       "given-up-unremoved"};
  static const char *const full[] = {"drop-oldest", "drop-newest"};
  tally all = {0, 0};
  for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
    for (unsigned pass = 1; pass <= rounds / 4; pass++)
      die_at(points[i], pass, i == 1 || i == 2 ? full[pass % 2] : full[0], &all);
  assert_true(came_to_the_point(&all));
}
#endif

int main(int argc, char **argv) {
  if (argc > 1) rounds = (unsigned)atoi(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(killed_at_any_instant_while_spooling_every_event_arrives_or_is_counted),
#ifdef LIFELINE_CRASH_POINTS
      cmocka_unit_test(dying_between_two_steps_of_the_spool_costs_nothing_uncounted),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
