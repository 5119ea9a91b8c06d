/* Lifecycles: however a process ends, it ends as without the library, and its events arrive. */
#include "support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 2000, STATUS_MAX = 255 };

static test_directory directory;

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  test_directory_remove(&directory);
  return 0;
}

static const struct row {
  const char *way;
  int status;
  unsigned events;    /* that must arrive, from number 1 */
  const char *prints; /* on standard output */
} rows[] = {
    {"main-exits", 0, EVENTS, ""},
    {"main-exits-before-the-first-event", 0, EVENTS, ""},
    {"main-is-cancelled", 0, EVENTS, ""},
    {"main-exits-in-a-forked-child", 0, EVENTS, ""},
    {"main-exits-and-a-thread-terminates", 128 + SIGTERM, EVENTS / 2, ""},
    {"a-clone-returns-0", 0, EVENTS, "once\n"},
    {"a-clone-returns-7", 0, EVENTS, "once\n"},
    {"a-clone-loses-what-shows-its-end", 0, 0, ""},
    {"a-clone-waits-for-any-child", 0, EVENTS, ""},
    {"clones-are-killed-as-they-start", 0, 0, ""},
    {"clones-are-process-1", 0, 0, ""},
    {"main-exits-without-descriptors", 0, EVENTS / 2, ""},
    {"main-exits-without-proc", 0, EVENTS / 2, ""},
    {"the-user-changes", 0, EVENTS, ""},
    {"a-handler-forks", 0, EVENTS, ""},
    {"a-child-leaves-at-once", 0, EVENTS, ""},
    {"is-frozen-and-goes-on", 0, EVENTS, ""},
    {"two-threads-exit", 7, EVENTS, ""},
    {"standard-descriptors-are-closed", 0, EVENTS, ""},
    {"all-descriptors-are-closed-midway", 0, EVENTS, ""},
};

static uint8_t arrived[EVENTS + 1];

static void tick_off(const llb_event *event, void *ctx) {
  (void)ctx;
  uint64_t serial = event->values[0].u64;
  assert_in_range(serial, 1, EVENTS);
  BOOKS_EQUAL(arrived[serial]++, 0);
}

static void recover(void) {
  const char *const recovery[] = {"lifeline-recover", "--timeout-ms", "300000", NULL};
  assert_int_equal(test_wait(test_start(recovery, NULL)), 0);
}

/* A batch that was written and not acknowledged when its process ended comes again. */
static void leave_out_repeats(test_batches *batches) {
  size_t kept = 0;
  for (size_t i = 0; i < batches->count; i++) {
    llb_batch *batch = batches->at[i];
    bool again = false;
    for (size_t j = 0; j < kept; j++)
      again |= batches->at[j]->sequence == batch->sequence && batches->at[j]->route == batch->route &&
               memcmp(batches->at[j]->incarnation, batch->incarnation, sizeof batch->incarnation) == 0;
    if (again)
      llb_batch_free(batch);
    else
      batches->at[kept++] = batch;
  }
  batches->count = kept;
}

static void a_process_ends_as_without_the_library(void **state) {
  const struct row *row = *state;
  const char *const program[] = {"ends", row->way, NULL};
  char output[200];
  snprintf(output, sizeof output, "%s/said", directory.path);
  int signal = row->status > 128 ? row->status - 128 : 0;
  int status = test_wait_for(test_start(program, output), signal);
  if (status != row->status) fail_msg("%s: status %d, %s", row->way, status, test_text_of(output));
  assert_string_equal(test_text_of(output), row->prints);
  recover();
  memset(arrived, 0, sizeof arrived);
  test_batches batches = test_read_batches(directory.out);
  leave_out_repeats(&batches);
  test_each_event(&batches, tick_off, NULL);
  test_free_batches(&batches);
  for (unsigned i = 1; i <= EVENTS; i++)
    BOOKS_EQUAL(arrived[i], i <= row->events);
  assert_int_equal(test_ring_files(&directory), 0);
}

int main(void) {
  enum { ROWS = sizeof rows / sizeof rows[0] };
  struct CMUnitTest tests[ROWS];
  for (unsigned i = 0; i < ROWS; i++)
    tests[i] =
        (struct CMUnitTest){rows[i].way, a_process_ends_as_without_the_library, set_up, tear_down, (void *)&rows[i]};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
