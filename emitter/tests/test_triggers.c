/* The trigger file: a running program follows its file, and ignores a broken one. */
#include "following.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

LL_EVENT(number, "test.number", LL_INFO, (u64, value, ""));

static test_directory directory;
static char file[200], output[200];

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  snprintf(file, sizeof file, "%s/triggers", directory.path);
  snprintf(output, sizeof output, "%s/output", directory.path);
  setenv("LIFELINE_TRIGGERS", file, 1);
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

static void replace_file(const char *text) {
  char fresh[220];
  snprintf(fresh, sizeof fresh, "%s.new", file);
  test_write(fresh, text);
  REQUIRE(rename(fresh, file) == 0);
}

static void follow_the_file(void) {
  REQUIRE(ll_init(NULL) == 0);
  REQUIRE(!test_emits_numbers()); /* the file's initial lines apply from the first event on */
  test_write(file, "# all of it\n* full\nend\n");
  BECOMES(test_emits_numbers, true);
  replace_file("test.* off\nend\n");
  BECOMES(test_emits_numbers, false);
  REQUIRE(unlink(file) == 0);
  BECOMES(test_emits_numbers, true);
  test_write(file, "test.* off\nend\n");
  BECOMES(test_emits_numbers, false);
}

static void a_running_program_follows_its_trigger_file(void **state) {
  (void)state;
  test_write(file, "* off\nend\n");
  run(follow_the_file);
  assert_int_equal(test_lines(test_text_of(output)), 0);
}

static void wait_for_the_end(void) {
  REQUIRE(ll_init(NULL) == 0);
  REQUIRE(!test_emits_numbers());
  BECOMES(test_emits_numbers, true);
  sleep(2); /* it stays over although the line is still there */
  REQUIRE(test_emits_numbers());
}

static void what_a_file_asks_for_ends_by_itself(void **state) {
  (void)state;
  test_write(file, "* off for=3s\nend\n"); /* time enough to start */
  run(wait_for_the_end);
}

static void wait_for_the_cap(void) {
  REQUIRE(ll_init(NULL) == 0);
  REQUIRE(!test_emits_numbers());
  BECOMES(test_emits_numbers, true);
}

static void no_file_asks_for_longer_than_the_user_allows(void **state) {
  (void)state;
  setenv("LIFELINE_MAX_FOR", "3s", 1);
  test_write(file, "* off for=1h\nend\n");
  run(wait_for_the_cap);
}

/* --- faults: each leaves `* off` in force, is logged once, and ends with its cause --- */

typedef struct fault {
  const char *text; /* contents; NULL: no regular file */
  int (*make)(const char *path);
  mode_t mode;
  const char *told;
} fault;

static int make_link(const char *path) {
  char target[256];
  snprintf(target, sizeof target, "%s.target", path);
  test_write(target, "* full\nend\n");
  return symlink(target, path);
}

static int make_pipe(const char *path) {
  return mkfifo(path, 0600);
}

static int make_directory(const char *path) {
  return mkdir(path, 0700);
}

static const fault faults[] = {
    {"", NULL, 0600, "its last line is not \"end\", so it is considered incomplete"},
    {"* full\n", NULL, 0600, "its last line is not \"end\", so it is considered incomplete"},
    {"* full\nend", NULL, 0600, "its last line is not \"end\", so it is considered incomplete"},
    {"end\n* full\n", NULL, 0600, "its last line is not \"end\", so it is considered incomplete"},
    {"* full\n* ful\nend\n", NULL, 0600,
     "line 2, column 3: \"ful\" is not a resolution: off, summary, sample:N or full"},
    {"* full\nend\nend\n", NULL, 0600, "line 2, column 4: the resolution is missing"},
    {"* full\nend\n", NULL, 0620, "other users can write to it (run chmod go-w)"},
    {"* full\nend\n", NULL, 0602, "other users can write to it (run chmod go-w)"},
    {NULL, make_link, 0, "it is a link"},
    {NULL, make_pipe, 0, "it is not a regular file"},
    {NULL, make_directory, 0, "it is not a regular file"},
};

enum { FAULTS = sizeof faults / sizeof *faults };

static char said[FAULTS * 1024];
static unsigned lines; /* lines in said, written by the emitter's thread */

static void collect(void *unused, ll_log_level level, const char *line) {
  (void)unused;
  if (level == LL_LOG_INFO) return;
  strncat(said, line, sizeof said - strlen(said) - 2);
  strcat(said, "\n");
  __atomic_add_fetch(&lines, 1, __ATOMIC_RELEASE);
}

static void put(const fault *wrong) {
  REQUIRE(unlink(file) == 0);
  if (wrong->text == NULL) {
    REQUIRE(wrong->make(file) == 0);
    return;
  }
  test_write(file, wrong->text);
  REQUIRE(chmod(file, wrong->mode) == 0);
}

static bool is_told(void) {
  return __atomic_load_n(&lines, __ATOMIC_ACQUIRE) > 0;
}

static void live_with(const fault *wrong) {
  ll_options options = LL_OPTIONS_INIT;
  options.url = "null:";
  options.log = collect;
  options.triggers = file;
  test_write(file, "* off\nend\n");
  REQUIRE(ll_init(&options) == 0 && !test_emits_numbers());
  put(wrong);
  BECOMES(is_told, true);
  usleep(2200000); /* two more checks */
  REQUIRE(!test_emits_numbers());
  if (test_lines(said) != 1 || strstr(said, wrong->told) == NULL) fputs(said, stderr);
  REQUIRE(test_lines(said) == 1 && strstr(said, wrong->told) != NULL);
  REQUIRE(remove(file) == 0);
  BECOMES(test_emits_numbers, true);
}

static void a_file_with_a_fault_changes_nothing_and_is_told_of_once(void **state) {
  (void)state;
  pid_t children[FAULTS];
  for (size_t i = 0; i < FAULTS; i++) {
    children[i] = fork();
    assert_true(children[i] >= 0);
    if (children[i] != 0) continue;
    snprintf(file, sizeof file, "%s/triggers-%zu", directory.path, i);
    live_with(&faults[i]);
    exit(0);
  }
  for (size_t i = 0; i < FAULTS; i++)
    if (test_wait(children[i]) != 0) fail_msg("fault %zu", i);
}

enum { RATE = 10, BURST = 1000 };

/* A burst takes a moment, and seconds on a busy machine: each second may bring a new allowance. */
static void stay_within_the_rate(void) {
  REQUIRE(ll_init(NULL) == 0);
  uint64_t before = 0;
  for (uint64_t burst = 1; burst <= 2; burst++) {
    time_t began = time(NULL);
    for (int i = 0; i < BURST; i++)
      ll_emit(number, 0);
    uint64_t seconds = (uint64_t)(time(NULL) - began) + 1;
    ll_statistics now = test_statistics();
    REQUIRE(now.emitted >= before + RATE && now.emitted <= before + RATE * (1 + seconds));
    REQUIRE(now.emitted + now.sampled_out == burst * BURST);
    usleep(2100000);
    before = test_statistics().emitted; /* after that flush the allowance is a new one */
  }
}

static void a_request_causes_no_more_events_than_the_user_allows(void **state) {
  (void)state;
  setenv("LIFELINE_MAX_RATE", "10", 1);
  test_write(file, "* full\nend\n");
  run(stay_within_the_rate);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(a_running_program_follows_its_trigger_file),
      TEST(what_a_file_asks_for_ends_by_itself),
      TEST(no_file_asks_for_longer_than_the_user_allows),
      TEST(a_file_with_a_fault_changes_nothing_and_is_told_of_once),
      TEST(a_request_causes_no_more_events_than_the_user_allows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
