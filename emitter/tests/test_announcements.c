/* Announcements: the files by which a probe finds sessions that are open. */
#include "support.h"

#include <lifeline/session.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

LL_EVENT(step, "test.step", LL_INFO, (u64, number, ""));

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN "b7ad6b7169203331"

static test_directory directory;
static char announcements[200];

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  snprintf(announcements, sizeof announcements, "%s/sessions", directory.path);
  setenv("LIFELINE_SESSION_DIR", announcements, 1);
  unsetenv("TRACEPARENT");
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  test_directory_remove(&directory);
  return 0;
}

static void fail_unless(bool right, int status) {
  if (!right) _exit(status);
}

static void run(void (*body)(void)) {
  assert_int_equal(test_in_child(body, NULL), 0);
}

static unsigned announced(void) {
  char command[300];
  snprintf(command, sizeof command, "test \"$(ls -A %s 2>/dev/null | wc -l)\" = 0", announcements);
  return system(command) == 0 ? 0 : 1;
}

static void hex_of(const uint8_t *id, char text[33]) {
  for (int i = 0; i < 16; i++)
    snprintf(text + 2 * i, 3, "%02x", id[i]);
}

static void look_at_the_announcement(void) {
  ll_session session;
  char path[300], id[33], expected[200];
  struct stat status;
  fail_unless(ll_session_begin(&session, "two\nlines\xff", NULL) == 0, 11);
  hex_of(session.id, id);
  snprintf(path, sizeof path, "%s/%s", announcements, id);
  fail_unless(stat(path, &status) == 0 && S_ISREG(status.st_mode), 12);
  fail_unless((status.st_mode & 0777) == (geteuid() == 0 ? 0644 : 0600), 13);
  fail_unless(stat(announcements, &status) == 0, 14);
  fail_unless((status.st_mode & 0777) == (geteuid() == 0 ? 0755 : 0700), 15);
  snprintf(expected, sizeof expected, "name=two?lines?\npid=%d\nbegan=1", (int)getpid());
  fail_unless(strncmp(test_text_of(path), expected, strlen(expected)) == 0, 16);
}

static void a_session_is_announced_until_the_program_ends(void **state) {
  (void)state;
  run(look_at_the_announcement);
  assert_int_equal(announced(), 0);
}

static void write_announcement(const char *id, pid_t pid, unsigned long long namespace) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", announcements, id);
  FILE *file = fopen(path, "w");
  fail_unless(file != NULL, 11);
  fail_unless(fprintf(file, "name=x\npid=%d\nbegan=1\nnamespace=%llu\n", (int)pid, namespace) > 0, 12);
  fail_unless(fclose(file) == 0, 13);
}

static bool is_there(const char *id) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", announcements, id);
  return access(path, F_OK) == 0;
}

static void begin_beside_what_others_left(void) {
  static const char dead[] = "11111111111111111111111111111111", alive[] = "22222222222222222222222222222222",
                    elsewhere[] = "33333333333333333333333333333333", other[] = "not-an-id";
  ll_session session;
  struct stat space;
  pid_t killed = fork();
  if (killed == 0) _exit(0);
  fail_unless(waitpid(killed, NULL, 0) == killed && stat("/proc/self/ns/pid", &space) == 0, 14);
  fail_unless(mkdir(announcements, 0700) == 0, 15);
  write_announcement(dead, killed, space.st_ino);
  write_announcement(alive, getppid(), space.st_ino);
  write_announcement(elsewhere, killed, space.st_ino + 1);
  write_announcement(other, killed, space.st_ino);
  fail_unless(ll_session_begin(&session, "s", NULL) == 0, 16);
  fail_unless(!is_there(dead) && is_there(alive) && is_there(elsewhere) && is_there(other), 17);
}

static void an_announcement_of_a_dead_process_is_removed_by_the_next_one(void **state) {
  (void)state;
  run(begin_beside_what_others_left);
}

static void join_a_trace_twice(void) {
  ll_session one, other;
  char path[300];
  snprintf(path, sizeof path, "%s/" TRACE, announcements);
  fail_unless(ll_session_begin(&one, "one", "00-" TRACE "-" SPAN "-01") == 0, 11);
  fail_unless(ll_session_begin(&other, "other", "00-" TRACE "-" SPAN "-01") == 0, 12);
  fail_unless(ll_session_end(&one, 1) == 0, 13);
  fail_unless(access(path, F_OK) == 0, 14);
  fail_unless(ll_session_end(&other, 1) == 0, 15);
  fail_unless(access(path, F_OK) != 0, 16);
}

static void sessions_of_one_trace_are_announced_until_the_last_one_ends(void **state) {
  (void)state;
  run(join_a_trace_twice);
}

static void join_a_trace_of_another_process(void) {
  ll_session one, other;
  char path[300], go;
  int gate[2];
  snprintf(path, sizeof path, "%s/" TRACE, announcements);
  fail_unless(pipe(gate) == 0, 10);
  pid_t second = fork(); /* before there is a second thread, which ThreadSanitizer wants */
  if (second == 0) {
    close(gate[1]);
    _exit(read(gate[0], &go, 1) != 1 || ll_session_begin(&other, "other", "00-" TRACE "-" SPAN "-01") != 0 ||
          ll_session_end(&other, 1) != 0);
  }
  fail_unless(ll_session_begin(&one, "one", "00-" TRACE "-" SPAN "-01") == 0, 11);
  fail_unless(write(gate[1], "g", 1) == 1, 16);
  int status;
  fail_unless(waitpid(second, &status, 0) == second && status == 0, 12);
  fail_unless(strncmp(test_text_of(path), "name=one\n", 9) == 0, 13);
  fail_unless(ll_session_end(&one, 1) == 0, 14);
  fail_unless(access(path, F_OK) != 0, 15);
}

static void the_first_process_of_a_trace_announces_it(void **state) {
  (void)state;
  run(join_a_trace_of_another_process);
}

static void begin_one(void) {
  ll_session session;
  fail_unless(ll_session_begin(&session, "s", NULL) == 0, 11);
  ll_emit(step, 1);
  fail_unless(ll_session_end(&session, 1) == 0, 12);
}

static void a_directory_of_others_costs_only_the_announcement(void **state) {
  (void)state;
  char log[200];
  snprintf(log, sizeof log, "%s/log", directory.path);
  assert_int_equal(mkdir(announcements, 0700), 0);
  assert_int_equal(chmod(announcements, 0777), 0);
  assert_int_equal(test_in_child(begin_one, log), 0);
  assert_non_null(strstr(test_text_of(log), "must belong to this user and not be writable by others"));
  assert_int_equal(test_lines(test_text_of(log)), 1);
  assert_int_equal(announced(), 0);
  test_batches batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), 3); /* start, step, end */
  test_free_batches(&batches);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_session_is_announced_until_the_program_ends, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_announcement_of_a_dead_process_is_removed_by_the_next_one, set_up, tear_down),
      cmocka_unit_test_setup_teardown(sessions_of_one_trace_are_announced_until_the_last_one_ends, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_first_process_of_a_trace_announces_it, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_directory_of_others_costs_only_the_announcement, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
