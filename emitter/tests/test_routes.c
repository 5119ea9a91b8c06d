/* Routes in addition to the default one: separate sinks, sequences and counters; no route blocks another. */
#include "support.h"

#include "sink/routes.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUTES = 3, THREADS = 2 };

static const char *const names[ROUTES] = {"default", "audit", "debug-2"};
static unsigned rounds = 5;

/* A directory with a file for each route. */
typedef struct place {
  test_directory directory;
  char file[ROUTES][200];
  char notes[200], log[200];
} place;

static void make_place(place *here) {
  test_directory_make(&here->directory);
  snprintf(here->notes, sizeof here->notes, "%s/notes", here->directory.path);
  snprintf(here->log, sizeof here->log, "%s/log", here->directory.path);
  for (int i = 0; i < ROUTES; i++)
    snprintf(here->file[i], sizeof here->file[i], "%s/%s.llb", here->directory.path, names[i]);
}

/* Sets LIFELINE_URL and LIFELINE_ROUTES, with a mood of the test sink for each route; NULL: the file sink. */
static void use_sinks(const place *here, const char *const moods[ROUTES]) {
  char urls[ROUTES][256], routes[600];
  for (int i = 0; i < ROUTES; i++)
    snprintf(urls[i], sizeof urls[i], moods[i] != NULL ? "test://%s?%s" : "file://%s", here->file[i], moods[i]);
  snprintf(routes, sizeof routes, "%s=%s,%s=%s", names[1], urls[1], names[2], urls[2]);
  setenv("LIFELINE_URL", urls[0], 1);
  setenv("LIFELINE_ROUTES", routes, 1);
  setenv("LIFELINE_PLUGIN_DIR", TEST_PLUGIN_DIR, 1);
  setenv("LIFELINE_INTERVAL_MS", "5", 1);
}

static const char *const healthy[ROUTES] = {NULL, NULL, NULL};

/* Checks one route's ledger: every event whose emit returned is archived once, or counted as dropped. */
static void check_route(const place *here, int route, uint8_t incarnation[16]) {
  uint64_t notes[THREADS * ROUTES] = {0};
  test_serials kept = {.threads = THREADS};
  int fd = open(here->notes, O_RDONLY);
  assert_true(fd >= 0 && read(fd, notes, sizeof notes) == (ssize_t)sizeof notes);
  close(fd);
  uint64_t returned = 0;
  for (int i = 0; i < THREADS; i++) {
    kept.returned[i] = notes[i * ROUTES + route];
    returned += kept.returned[i];
  }
  test_batches batches = test_read_batches(here->file[route]);
  test_absorb_repeats(&batches);
  assert_true(batches.count > 0);
  test_check_sequences(&batches);
  if (route == 0) memcpy(incarnation, batches.at[0]->incarnation, 16);
  for (size_t i = 0; i < batches.count; i++) {
    assert_int_equal(batches.at[i]->route, route);
    assert_int_equal(batches.at[i]->route_name.size, strlen(names[route]));
    assert_memory_equal(batches.at[i]->route_name.data, names[route], strlen(names[route]));
    assert_memory_equal(batches.at[i]->incarnation, incarnation, 16);
  }
  test_tick_off(&batches, &kept);
  const llb_batch *last = batches.at[batches.count - 1];
  BOOKS_EQUAL(last->counters[0], kept.archived + test_drops_of(last));
  BOOKS(returned - kept.archived_of_returned <= test_drops_of(last));
  test_free_batches(&batches);
}

static void check_all_routes(const place *here) {
  uint8_t incarnation[16];
  for (int route = 0; route < ROUTES; route++)
    check_route(here, route, incarnation);
}

/* Kills it after it has emitted on each route, and a while later. */
static void kill_in_the_middle(pid_t pid, const place *here, useconds_t later) {
  uint64_t notes[ROUTES] = {0};
  for (int i = 0; i < 12000 && notes[ROUTES - 1] == 0; i++) {
    usleep(5000);
    int fd = open(here->notes, O_RDONLY);
    if (fd < 0) continue;
    assert_true(read(fd, notes, sizeof notes) >= 0);
    close(fd);
  }
  usleep(later);
  kill(pid, SIGKILL);
  assert_int_equal(test_wait(pid), 128 + SIGKILL);
}

static void each_route_has_its_sink_its_sequence_and_its_end(void **state) {
  (void)state;
  place here;
  make_place(&here);
  use_sinks(&here, healthy);
  const char *const emitter[] = {"route-emitter", here.notes, "2", "500", "20000", NULL};
  assert_int_equal(test_wait(test_start(emitter, here.log)), 0);
  assert_string_equal(test_text_of(here.log), "");
  assert_int_equal(test_ring_files(&here.directory), 0);
  check_all_routes(&here);
  test_directory_remove(&here.directory);
}

static int recover(const place *here, const char *const arguments[]) {
  return test_wait(test_start(arguments, here->log));
}

/* Whichever route is dead, the others deliver all their events, drop none, and end in time. */
static void a_route_whose_sink_is_dead_holds_nobody_back(void **state) {
  (void)state;
  for (int dead = 0; dead < ROUTES; dead++) {
    place here;
    const char *moods[ROUTES] = {NULL, NULL, NULL};
    make_place(&here);
    moods[dead] = dead == 1 ? "never" : "busy";
    use_sinks(&here, moods);
    setenv("LIFELINE_FLUSH_TIMEOUT_MS", "300", 1);
    setenv("LIFELINE_BUDGET_BYTES", "16777216", 1);
    const char *const emitter[] = {"route-emitter", here.notes, "2", "500", "30000", NULL};
    assert_int_equal(test_wait(test_start(emitter, here.log)), 0);
    assert_non_null(strstr(test_text_of(here.log), "not acknowledged yet"));
    unsetenv("LIFELINE_FLUSH_TIMEOUT_MS");
    unsetenv("LIFELINE_BUDGET_BYTES");
    for (int route = 0; route < ROUTES; route++) {
      test_batches batches = test_read_batches(here.file[route]);
      if (route == dead) {
        assert_int_equal(batches.count, 0);
      } else {
        BOOKS_EQUAL(test_drops_in(&batches), 0);
        test_check_sequences(&batches);
        BOOKS_EQUAL(test_events_in(&batches), 2 * 30000);
      }
      test_free_batches(&batches);
    }
    const char *const recovery[] = {"lifeline-recover", NULL};
    use_sinks(&here, healthy);
    if (recover(&here, recovery) != 0) fail_msg("%s", test_text_of(here.log));
    assert_int_equal(test_ring_files(&here.directory), 0);
    check_all_routes(&here);
    test_directory_remove(&here.directory);
  }
}

static void a_killed_emitters_routes_all_arrive_exactly_once(void **state) {
  (void)state;
  static const char *const moods[][ROUTES] = {{NULL, NULL, NULL}, {"later", NULL, "later"}, {NULL, "later", "never"}};
  for (unsigned i = 0; i < rounds; i++) {
    unsigned seed = i;
    place here;
    make_place(&here);
    use_sinks(&here, moods[i % 3]);
    const char *const emitter[] = {"route-emitter", here.notes, "2", "300", NULL};
    pid_t pid = test_start(emitter, NULL);
    kill_in_the_middle(pid, &here, (useconds_t)(rand_r(&seed) % 60000));
    for (int killed = 0; killed < 2 && i % 2 == 1; killed++) {
      const char *const doomed[] = {"lifeline-recover", NULL};
      pid = test_start(doomed, "/dev/null");
      usleep(1000 + (unsigned)(rand_r(&seed) % 6000));
      kill(pid, SIGKILL);
      test_wait(pid);
    }
    const char *const recovery[] = {"lifeline-recover", "--timeout-ms", "20000", NULL};
    use_sinks(&here, healthy);
    if (recover(&here, recovery) != 0) fail_msg("%s", test_text_of(here.log));
    assert_int_equal(test_ring_files(&here.directory), 0);
    check_all_routes(&here);
    test_directory_remove(&here.directory);
  }
}

static void events_of_a_route_that_nobody_declares_stay_and_the_others_go(void **state) {
  (void)state;
  static const char *const stuck[ROUTES] = {"never", "never", "never"};
  place here;
  make_place(&here);
  use_sinks(&here, stuck);
  const char *const emitter[] = {"route-emitter", here.notes, "2", "300", NULL};
  pid_t pid = test_start(emitter, NULL);
  kill_in_the_middle(pid, &here, 50000);
  unsetenv("LIFELINE_ROUTES");
  char url[256], audit[256], debug[256];
  snprintf(url, sizeof url, "file://%s", here.file[0]);
  snprintf(audit, sizeof audit, "%s=file://%s", names[1], here.file[1]);
  snprintf(debug, sizeof debug, "%s=file://%s", names[2], here.file[2]);
  const char *const without[] = {"lifeline-recover", "--url", url, "--route", audit, NULL};
  assert_int_equal(recover(&here, without), 1);
  assert_non_null(strstr(test_text_of(here.log), "route \"debug-2\", which is not declared here"));
  assert_int_equal(test_ring_files(&here.directory), 1);
  uint8_t incarnation[16];
  check_route(&here, 0, incarnation);
  check_route(&here, 1, incarnation);
  assert_int_not_equal(access(here.file[2], F_OK), 0);
  const char *const with[] = {"lifeline-recover", "--url", url, "--route", audit, "--route", debug, NULL};
  if (recover(&here, with) != 0) fail_msg("%s", test_text_of(here.log));
  assert_int_equal(test_ring_files(&here.directory), 0);
  check_all_routes(&here);
  test_directory_remove(&here.directory);
}

/* A program that keeps running must release undelivered files, so that others can deliver them. */
static void a_failed_recovery_gives_the_file_back(void **state) {
  (void)state;
  static const char *const stuck[ROUTES] = {"never", "never", "never"};
  place here;
  make_place(&here);
  use_sinks(&here, stuck);
  const char *const emitter[] = {"route-emitter", here.notes, "2", "300", NULL};
  kill_in_the_middle(test_start(emitter, NULL), &here, 0);
  use_sinks(&here, healthy);
  unsetenv("LIFELINE_ROUTES");
  char others[200];
  snprintf(others, sizeof others, "%s/others", here.directory.path);
  setenv("LIFELINE_PROGRAM", "route-emitter", 1); /* it recovers the files of this program */
  const char *const host[] = {"crash-emitter", others, "1", "1000", NULL};
  pid_t pid = test_start(host, here.log);
  for (int i = 0; i < 6000 && strstr(test_text_of(here.log), "is not recovered") == NULL; i++)
    usleep(10000);
  unsetenv("LIFELINE_PROGRAM");
  use_sinks(&here, healthy);
  const char *const recovery[] = {"lifeline-recover", "--program", "route-emitter", NULL};
  char log[200];
  snprintf(log, sizeof log, "%s/log-2", here.directory.path);
  int status = test_wait(test_start(recovery, log));
  kill(pid, SIGKILL);
  test_wait(pid);
  if (status != 0) fail_msg("%s", test_text_of(log));
  assert_non_null(strstr(test_text_of(log), "files=1"));
  test_directory_remove(&here.directory);
}

static void declarations_are_read_or_refused_with_a_reason(void **state) {
  (void)state;
  static ll_routes routes;
  char why[256];
  assert_true(ll_routes_parse(&routes, NULL, why, sizeof why));
  assert_int_equal(routes.count, 0);
  assert_true(ll_routes_parse(&routes, "audit=nats://a:1,b:2/x?p=1,2,debug=kafka://c,d", why, sizeof why));
  assert_int_equal(routes.count, 2);
  assert_string_equal(routes.urls[0], "nats://a:1,b:2/x?p=1,2");
  assert_string_equal(routes.urls[1], "kafka://c,d");
  assert_int_equal(ll_routes_number(&routes, "default"), 0);
  assert_int_equal(ll_routes_number(&routes, "debug"), 2);
  assert_int_equal(ll_routes_number(&routes, "other"), -1);
  static const struct {
    const char *text, *reason;
  } refused[] = {
      {"Audit=null:", "name=url"},
      {"audit", "name=url"},
      {"audit=", "name=url"},
      {"=null:", "name=url"},
      {"nats://user:secret@host", "name=url"},
      {"a=null:,a=null:", "\"a\" is declared already"},
      {"default=null:", "\"default\" is declared already"},
      {"a234567890123456789012345678901x=null:", "name=url"},
      {"a=null:,b=null:,c=null:,d=null:,e=null:,f=null:,g=null:,h=null:,i=null:,j=null:,k=null:,l=null:,m=null:,"
       "n=null:,o=null:,p=null:",
       "at most 15 routes"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    assert_false(ll_routes_parse(&routes, refused[i].text, why, sizeof why));
    if (strstr(why, refused[i].reason) == NULL) fail_msg("%s: %s", refused[i].text, why);
    assert_null(strstr(why, "secret"));
  }
}

static void a_bad_declaration_is_one_line_and_the_program_runs_on(void **state) {
  (void)state;
  static const struct {
    const char *variable, *value, *line;
  } cases[] = {
      {"LIFELINE_ROUTES", "Audit=null:,debug-2=null:", "LIFELINE_ROUTES: a route must be name=url"},
      {"LIFELINE_ROUTES", "audit=null:,debug-2=gopher://x/", "route \"debug-2\": "},
      {"LIFELINE_BUDGET_BYTES", "2097152", "LIFELINE_BUDGET_BYTES must be a number from 8388608"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    place here;
    make_place(&here);
    use_sinks(&here, healthy);
    setenv(cases[i].variable, cases[i].value, 1);
    const char *const emitter[] = {"route-emitter", here.notes, "1", "0", "10", NULL};
    assert_int_equal(test_wait(test_start(emitter, here.log)), 2); /* ll_init fails */
    unsetenv(cases[i].variable);
    assert_int_equal(test_lines(test_text_of(here.log)), 1);
    if (strstr(test_text_of(here.log), cases[i].line) == NULL) fail_msg("%s", test_text_of(here.log));
    test_directory_remove(&here.directory);
  }
}

/* Only the sink can detect that the URL is wrong. */
static void a_route_that_cannot_be_opened_costs_its_own_events_alone(void **state) {
  (void)state;
  place here;
  make_place(&here);
  use_sinks(&here, healthy);
  char routes[600];
  snprintf(routes, sizeof routes, "%s=file://%s,%s=test://no-mood", names[1], here.file[1], names[2]);
  setenv("LIFELINE_ROUTES", routes, 1);
  const char *const emitter[] = {"route-emitter", here.notes, "2", "500", "5000", NULL};
  assert_int_equal(test_wait(test_start(emitter, here.log)), 0);
  assert_int_equal(test_lines(test_text_of(here.log)), 1);
  assert_non_null(strstr(test_text_of(here.log), "route \"debug-2\": the test sink has no mood"));
  uint8_t incarnation[16];
  check_route(&here, 0, incarnation);
  check_route(&here, 1, incarnation);
  assert_int_equal(test_ring_files(&here.directory), 0);
  test_directory_remove(&here.directory);
}

int main(int argc, char **argv) {
  if (argc > 1) rounds = (unsigned)atoi(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(declarations_are_read_or_refused_with_a_reason),
      cmocka_unit_test(a_bad_declaration_is_one_line_and_the_program_runs_on),
      cmocka_unit_test(each_route_has_its_sink_its_sequence_and_its_end),
      cmocka_unit_test(a_route_whose_sink_is_dead_holds_nobody_back),
      cmocka_unit_test(a_killed_emitters_routes_all_arrive_exactly_once),
      cmocka_unit_test(events_of_a_route_that_nobody_declares_stay_and_the_others_go),
      cmocka_unit_test(a_failed_recovery_gives_the_file_back),
      cmocka_unit_test(a_route_that_cannot_be_opened_costs_its_own_events_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
