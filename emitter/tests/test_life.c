/* Fate of a process' events when something happens to it, as lifeline.h promises. Real processes live and end in each
 * of these ways. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EACH = 1000, SERIALS = 3 * EACH + 1, SKIPPED = 77, SMALL_USER = 12345 };

static test_directory directory;
static char output[200];

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  snprintf(output, sizeof output, "%s/said", directory.path);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  unsetenv("LIFELINE_INTERVAL_MS");
  test_directory_remove(&directory);
  return 0;
}

/* Runs life WHAT ARGUMENT to its end. */
static int live(const char *what, const char *argument) {
  const char *const program[] = {"life", what, argument, NULL};
  return test_wait_for(test_start(program, output), strcmp(what, "be-aborted") == 0 ? SIGABRT : 0);
}

static void recover(void) {
  const char *const recovery[] = {"lifeline-recover", "--timeout-ms", "300000", NULL};
  if (test_wait(test_start(recovery, output)) != 0) fail_msg("%s", test_text_of(output));
}

typedef struct arrived {
  uint8_t serials[SERIALS];
  uint64_t events;
  uint32_t pids[2];
} arrived;

static void tick_off(const llb_event *event, void *ctx) {
  arrived *all = ctx;
  uint64_t number = event->values[0].u64;
  uint32_t pid = event->values[1].u32;
  assert_in_range(number, 1, SERIALS - 1);
  BOOKS_EQUAL(all->serials[number]++, 0);
  all->events++;
  if (all->pids[0] == 0 || all->pids[0] == pid)
    all->pids[0] = pid;
  else
    all->pids[1] = pid;
}

/* The events that arrived, without duplicates. */
static arrived look(void) {
  arrived all = {.events = 0};
  test_batches batches = test_read_batches(directory.out);
  test_each_event(&batches, tick_off, &all);
  test_free_batches(&batches);
  return all;
}

static void check_came(const arrived *all, uint64_t from, uint64_t to) {
  for (uint64_t i = from; i <= to; i++)
    BOOKS_EQUAL(all->serials[i], 1);
}

/* --- other programs --- */

static void both_programs_events_arrive(const char *what) {
  assert_int_equal(live(what, NULL), 0);
  arrived all = look();
  check_came(&all, 1, 2 * EACH);
  assert_true(all.pids[1] != 0);
  assert_int_equal(test_ring_files(&directory), 0);
}

static void after_fork_and_exec_there_are_two_emitters(void **state) {
  (void)state;
  both_programs_events_arrive("fork-and-exec");
}

static void after_vfork_and_exec_there_are_two_emitters(void **state) {
  (void)state;
  both_programs_events_arrive("vfork-and-exec");
}

static void after_posix_spawn_there_are_two_emitters(void **state) {
  (void)state;
  both_programs_events_arrive("spawn");
}

static void a_vfork_that_ends_changes_nothing(void **state) {
  (void)state;
  assert_int_equal(live("vfork-and-leave", NULL), 0);
  arrived all = look();
  check_came(&all, 1, 2 * EACH);
  assert_int_equal(all.pids[1], 0);
  assert_int_equal(test_ring_files(&directory), 0);
}

/* Nothing is sent before the end: a batch that is sent and not yet acknowledged would arrive twice. */
static void send_at_the_end_only(void) {
  setenv("LIFELINE_INTERVAL_MS", "3600000", 1);
}

/* A process is not notified of exec: the program's next start, here in the same process, finds the unsent events. */
static void a_process_that_executes_another_program_leaves_its_events_to_the_next_start(void **state) {
  (void)state;
  send_at_the_end_only();
  assert_int_equal(live("exec-again", NULL), 0);
  arrived all = look();
  check_came(&all, 1, 2 * EACH);
  assert_int_equal(test_ring_files(&directory), 0);
}

/* The parent calls _exit, like daemon(3); the child's start may precede the parent's end, or follow its recovery. */
static void a_daemon_goes_on_and_what_its_parent_left_is_recovered(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  print_message("skipped: the sanitizer does not hold its locks over a fork, or starts no threads behind one\n");
  skip();
#endif
  send_at_the_end_only();
  assert_int_equal(live("become-a-daemon", NULL), 0);
  for (int waited_ms = 0; waited_ms < TEST_PATIENCE_MS; waited_ms += 50) {
    recover();
    if (look().events >= 2 * EACH && test_ring_files(&directory) == 0) break;
    usleep(50000);
  }
  assert_int_equal(test_ring_files(&directory), 0);
  arrived all = look();
  check_came(&all, 1, 2 * EACH);
  assert_true(all.pids[1] != 0);
}

/* --- ends --- */

static void a_recovery_delivers_all(const char *what, int status) {
  send_at_the_end_only();
  assert_int_equal(live(what, NULL), status);
  assert_int_equal(test_ring_files(&directory), 1);
  assert_int_equal(look().events, 0);
  recover();
  arrived all = look();
  check_came(&all, 1, EACH);
  assert_int_equal(all.events, EACH);
  assert_int_equal(test_ring_files(&directory), 0);
}

static void what__exit_leaves_behind_is_recovered(void **state) {
  (void)state;
  a_recovery_delivers_all("leave-at-once", 0);
}

static void what_quick_exit_leaves_behind_is_recovered(void **state) {
  (void)state;
  a_recovery_delivers_all("leave-quickly", 0);
}

static void what_abort_leaves_behind_is_recovered(void **state) {
  (void)state;
  a_recovery_delivers_all("be-aborted", 128 + SIGABRT);
}

static void events_of_exit_handlers_arrive_when_they_were_registered_after_init(void **state) {
  (void)state;
  assert_int_equal(live("emit-at-exit", NULL), 0);
  arrived all = look();
  check_came(&all, 1, 2 * EACH);
  assert_int_equal(test_ring_files(&directory), 0);
}

static void events_of_earlier_exit_handlers_are_counted_as_after_shutdown(void **state) {
  (void)state;
  assert_int_equal(live("emit-at-exit-too-late", NULL), 0);
  arrived all = look();
  check_came(&all, 1, EACH);
  assert_int_equal(all.events, EACH);
}

static void events_after_shutdown_are_counted_and_harm_nobody(void **state) {
  (void)state;
  assert_int_equal(live("emit-after-shutdown", NULL), 0);
  assert_int_equal(look().events, EACH);
  assert_int_equal(test_ring_files(&directory), 0);
}

/* Ctrl-C also works while the program waits for an unreachable broker. */
static void a_signal_ends_the_wait(const char *where) {
  char url[256];
  snprintf(url, sizeof url, "%s", getenv("LIFELINE_URL"));
  test_use_sink(&directory, "never");
  time_t began = time(NULL);
  int status = live("wait-in-vain", where);
  time_t took_s = time(NULL) - began;
  setenv("LIFELINE_URL", url, 1);
  unsetenv("LIFELINE_PLUGIN_DIR");
  assert_int_equal(status, 128 + SIGALRM);
  assert_in_range(took_s, 0, 30); /* it would wait for a minute */
  recover();
  arrived all = look();
  check_came(&all, 1, EACH);
}

static void a_signal_ends_a_program_that_waits_in_a_flush(void **state) {
  (void)state;
  a_signal_ends_the_wait("flush");
}

static void a_signal_ends_a_program_that_waits_in_a_shutdown(void **state) {
  (void)state;
  a_signal_ends_the_wait("shutdown");
}

static void a_signal_ends_a_program_that_waits_at_its_exit(void **state) {
  (void)state;
  a_signal_ends_the_wait("exit");
}

/* --- threads and C++ --- */

enum { KEYED_THREADS = 300 };

static void events_of_key_destructors_arrive_and_their_rings_come_back(void **state) {
  (void)state;
  setenv("LIFELINE_BUDGET_BYTES", "4194304", 1); /* 32 rings */
  assert_int_equal(live("emit-in-key-destructors", NULL), 0);
  unsetenv("LIFELINE_BUDGET_BYTES");
  arrived all = look();
  check_came(&all, 1, KEYED_THREADS);
  check_came(&all, EACH + 1, EACH + 2 * KEYED_THREADS);
}

static void events_before_main_and_of_a_threads_objects_arrive(void **state) {
  (void)state;
  const char *const program[] = {"life-in-cxx", NULL};
  assert_int_equal(test_wait(test_start(program, output)), 0);
  assert_string_equal(test_text_of(output), "");
  arrived all = look();
  check_came(&all, 1, 4); /* 5, emitted after main, may be sent or counted */
  assert_int_equal(test_ring_files(&directory), 0);
}

/* --- shared objects --- */

static void a_shared_object_may_emit_be_unloaded_and_come_again(void **state) {
  (void)state;
  char triggers[200];
  snprintf(triggers, sizeof triggers, "%s/triggers", directory.path);
  setenv("LIFELINE_TRIGGERS", triggers, 1);
  int status = live("load-and-unload", TEST_PLUGIN_DIR "/life-plugin.so");
  unsetenv("LIFELINE_TRIGGERS");
  assert_int_equal(status, 0);
  assert_string_equal(test_text_of(output), "");
  arrived all = look();
  check_came(&all, 1, EACH);
  assert_int_equal(all.events, EACH);
}

/* --- restricted environments --- */

static void a_program_that_closes_all_descriptors_finds_nothing_of_ours_in_its_files(void **state) {
  (void)state;
  assert_int_equal(live("close-all-descriptors", directory.path), 0);
  arrived all = look();
  check_came(&all, 1, 2 * EACH);
  assert_int_equal(test_ring_files(&directory), 0);
}

static void skip_unless_root(const char *why) {
  if (geteuid() == 0) return;
  print_message("skipped: %s needs root\n", why);
  skip();
}

static void without_proc_and_dev_shm_events_arrive_and_a_line_warns(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  print_message("skipped: the sanitizer itself needs /proc\n");
  skip();
#endif
  skip_unless_root("chroot");
  unsetenv("LIFELINE_RING_DIR");
  setenv("LIFELINE_URL", "file:///out.llb", 1);
  assert_int_equal(live("without-proc-and-shm", directory.path), 0);
  assert_non_null(strstr(test_text_of(output), "events do not survive a crash of this program"));
  assert_int_equal(test_lines(test_text_of(output)), 1);
  arrived all = look();
  check_came(&all, 1, EACH);
}

static void without_address_space_the_program_runs_on_and_events_are_counted(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  print_message("skipped: a sanitizer maps terabytes\n");
  skip();
#endif
  assert_int_equal(live("without-address-space", NULL), 0);
  assert_non_null(strstr(test_text_of(output), "out of memory at the start; the program continues"));
  assert_int_equal(test_lines(test_text_of(output)), 1);
}

/* Mounts a tmpfs of this size as ring directory. */
static void mount_rings(const char *size) {
  skip_unless_root("a small tmpfs");
  assert_int_equal(mkdir(directory.rings, 0700), 0);
  if (mount("tmpfs", directory.rings, "tmpfs", 0, size) == 0) {
    assert_int_equal(chmod(directory.rings, 0700), 0);
    return;
  }
  print_message("skipped: this root may not mount a tmpfs\n");
  rmdir(directory.rings);
  skip();
}

static void unmount_rings(void) {
  assert_int_equal(umount2(directory.rings, MNT_DETACH), 0);
}

static void a_filesystem_that_is_full_at_the_start_costs_crash_safety_and_a_line(void **state) {
  (void)state;
  mount_rings("size=256k");
  char file[200];
  snprintf(file, sizeof file, "%s/full", directory.rings);
  int filled = live("fill", file), status = live("plainly", NULL);
  unmount_rings();
  assert_int_equal(filled, 0);
  assert_int_equal(status, 0);
  assert_non_null(strstr(test_text_of(output), "events do not survive a crash of this program"));
  assert_int_equal(test_lines(test_text_of(output)), 1);
  arrived all = look();
  check_came(&all, 1, EACH);
}

static void a_filesystem_that_fills_up_midway_costs_counted_events_and_no_sigbus(void **state) {
  (void)state;
  mount_rings("size=8m");
  char file[200];
  snprintf(file, sizeof file, "%s/full", directory.rings);
  int status = live("fill-midway", file);
  unmount_rings();
  assert_int_equal(status, 0);
  arrived all = look();
  check_came(&all, 1, EACH);
  check_came(&all, 2 * EACH + 1, 3 * EACH);
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  BOOKS_EQUAL(test_events_in(&batches) + test_drops_in(&batches), 2 * EACH + 40);
  test_free_batches(&batches);
}

/* --- untrusted environments --- */

static bool copy_program(const char *to) {
  char command[1200];
  snprintf(command, sizeof command, "cp '%s/life' %s && chown %d %s && chmod u+s,a+rx %s", TEST_BIN_DIR, to, SMALL_USER,
           to, to);
  return system(command) == 0;
}

/* Another user's environment must not tell a privileged program where to write. */
static void a_program_that_runs_as_another_user_ignores_the_environment(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  print_message("skipped: a sanitizer's runtime gives up in such a program\n");
  skip();
#endif
  skip_unless_root("a set-user-id program");
  char folder[] = "/tmp/lifeline-test-XXXXXX", path[100], plainly[] = "plainly", *given[] = {path, plainly, NULL};
  struct statvfs filesystem;
  if (statvfs("/tmp", &filesystem) != 0 || (filesystem.f_flag & ST_NOSUID) != 0) {
    print_message("skipped: /tmp is mounted nosuid\n");
    skip();
  }
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chmod(folder, 0755), 0);
  assert_int_equal(chmod(directory.path, 0777), 0);
  snprintf(path, sizeof path, "%s/life", folder);
  assert_true(copy_program(path));
  pid_t pid = fork();
  if (pid == 0) {
    if (setgid(SMALL_USER + 1) != 0 || setuid(SMALL_USER + 1) != 0) _exit(1);
    execv(path, given);
    _exit(errno == EACCES || errno == EPERM ? SKIPPED : 2);
  }
  int status = test_wait(pid);
  struct stat found;
  bool wrote = stat(directory.out, &found) == 0;
  unlink(path);
  rmdir(folder);
  if (status == SKIPPED || status == 127) {
    print_message("skipped: another user cannot execute from %s\n", TEST_BIN_DIR);
    skip();
  }
  assert_int_equal(status, 0);
  assert_false(wrote);
}

/* A program without Lifeline, with and without space for the library. */
static void preloaded_into_a_stranger_the_library_does_nothing(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  print_message("skipped: a sanitized library cannot be preloaded into a program that is not\n");
  skip();
#endif
  char command[1200];
  for (int limited = 0; limited < 2; limited++) {
    snprintf(command, sizeof command,
             "%s LD_LIBRARY_PATH='%s/../lib' LD_PRELOAD=liblifeline.so /bin/echo unharmed >%s 2>&1",
             limited ? "ulimit -v 30000 &&" : "", TEST_BIN_DIR, output);
    assert_int_equal(system(command), 0);
    assert_string_equal(test_text_of(output), "unharmed\n");
  }
  assert_int_equal(test_ring_files(&directory), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(after_fork_and_exec_there_are_two_emitters),
      TEST(after_vfork_and_exec_there_are_two_emitters),
      TEST(after_posix_spawn_there_are_two_emitters),
      TEST(a_vfork_that_ends_changes_nothing),
      TEST(a_process_that_executes_another_program_leaves_its_events_to_the_next_start),
      TEST(a_daemon_goes_on_and_what_its_parent_left_is_recovered),
      TEST(what__exit_leaves_behind_is_recovered),
      TEST(what_quick_exit_leaves_behind_is_recovered),
      TEST(what_abort_leaves_behind_is_recovered),
      TEST(events_of_exit_handlers_arrive_when_they_were_registered_after_init),
      TEST(events_of_earlier_exit_handlers_are_counted_as_after_shutdown),
      TEST(events_after_shutdown_are_counted_and_harm_nobody),
      TEST(a_signal_ends_a_program_that_waits_in_a_flush),
      TEST(a_signal_ends_a_program_that_waits_in_a_shutdown),
      TEST(a_signal_ends_a_program_that_waits_at_its_exit),
      TEST(events_of_key_destructors_arrive_and_their_rings_come_back),
      TEST(events_before_main_and_of_a_threads_objects_arrive),
      TEST(a_shared_object_may_emit_be_unloaded_and_come_again),
      TEST(a_program_that_closes_all_descriptors_finds_nothing_of_ours_in_its_files),
      TEST(without_proc_and_dev_shm_events_arrive_and_a_line_warns),
      TEST(without_address_space_the_program_runs_on_and_events_are_counted),
      TEST(a_filesystem_that_is_full_at_the_start_costs_crash_safety_and_a_line),
      TEST(a_filesystem_that_fills_up_midway_costs_counted_events_and_no_sigbus),
      TEST(a_program_that_runs_as_another_user_ignores_the_environment),
      TEST(preloaded_into_a_stranger_the_library_does_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
