/* Code that blocks the emitter, or is blocked by it, waits for a bounded time and loses nothing. Nor does a log line
 * wait. */
#include "support.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <lifeline/lifeline.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

LL_EVENT(number, "test.number", LL_INFO, (u64, value, ""));

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
  test_directory_remove(&directory);
  return 0;
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void load_what_emits_when_loaded(void) {
  uint64_t began = now_ms();
  if (dlopen(TEST_BIN_DIR "/init-in-constructor.so", RTLD_NOW) == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  if (now_ms() - began > 30000) exit(2); /* a thread that waits for the loader's lock here would deadlock */
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(3);
}

static void a_library_may_start_the_emitter_while_it_is_loaded(void **state) {
  (void)state;
  test_use_sink(&directory, "later");
  int status = test_in_child(load_what_emits_when_loaded, log_path);
  if (status != 0) fail_msg("status %d: %s", status, test_text_of(log_path));
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  assert_int_equal(test_events_in(&batches), 1);
  test_free_batches(&batches);
}

static void *shut_down(void *status) {
  *(int *)status = ll_shutdown(TEST_PATIENCE_MS);
  return NULL;
}

/* Like ll_emit, with a long wait before the record is published. */
static void emit_slower_than_the_shutdown(void) {
  pthread_t thread;
  int status = -1;
  ll_emit(number, 1);
  ll_reservation taken = ll_reserve(ll_type_number.state, 16);
  if (taken.producer == NULL) exit(1);
  memcpy(taken.at + 8, &(uint64_t){2}, 8);
  pthread_create(&thread, NULL, shut_down, &status);
  pthread_join(thread, NULL);
  ll_publish(taken);
  if (status != 0) exit(2);
}

static void an_event_that_is_published_after_the_shutdown_is_recovered(void **state) {
  (void)state;
  int status = test_in_child(emit_slower_than_the_shutdown, log_path);
  if (status != 0) fail_msg("status %d: %s", status, test_text_of(log_path));
  assert_int_equal(test_lines(test_text_of(log_path)), 1);
  assert_non_null(strstr(test_text_of(log_path), "inside an emit during the shutdown"));
  assert_int_equal(test_ring_files(&directory), 1);
  const char *const recover[] = {"lifeline-recover", NULL};
  assert_int_equal(test_wait(test_start(recover, log_path)), 0);
  assert_int_equal(test_ring_files(&directory), 0);
  test_batches batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), 2);
  const llb_batch *last = batches.at[batches.count - 1];
  assert_int_equal(last->flags & (LLB_FINAL | LLB_RECOVERED), LLB_FINAL | LLB_RECOVERED);
  assert_int_equal(last->counters[0], 2);
  assert_int_equal(last->sequence, batches.count);
  test_free_batches(&batches);
}

static void complain_to_nobody(void) {
  int ends[2];
  if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0) exit(2);
  close(ends[0]);
  close(ends[1]);
  signal(SIGPIPE, SIG_DFL);
  ll_emit(number, 1);
  sigset_t pending;
  sigpending(&pending);
  if (sigismember(&pending, SIGPIPE)) exit(3);
}

static void a_line_that_nobody_reads_does_not_end_the_program(void **state) {
  (void)state;
  setenv("LIFELINE_URL", "garbage", 1);
  assert_int_equal(test_in_child(complain_to_nobody, NULL), 0);
}

/* A pipe that is full, whose reader is alive and reads nothing. */
static void complain_into_a_full_pipe(void) {
  int ends[2];
  char some[4096] = "";
  if (pipe2(ends, O_NONBLOCK) != 0) exit(2);
  while (write(ends[1], some, sizeof some) > 0) {
  }
  if (fcntl(ends[1], F_SETFL, 0) != 0 || dup2(ends[1], STDERR_FILENO) < 0) exit(3);
  alarm(60); /* a write would wait for ever */
  ll_emit(number, 1);
  ll_shutdown(0);
}

static void a_line_for_which_there_is_no_room_does_not_hold_up_the_program(void **state) {
  (void)state;
  setenv("LIFELINE_URL", "garbage", 1);
  assert_int_equal(test_in_child(complain_into_a_full_pipe, NULL), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(a_library_may_start_the_emitter_while_it_is_loaded),
      TEST(an_event_that_is_published_after_the_shutdown_is_recovered),
      TEST(a_line_that_nobody_reads_does_not_end_the_program),
      TEST(a_line_for_which_there_is_no_room_does_not_hold_up_the_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
