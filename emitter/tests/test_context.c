/* Changes of the context that the harvester has not applied: what a recovery makes of them. The harvester is held by
 * the lock, so that the ring holds events of several sessions when the process is killed. */
#include "support.h"

#include "base/lock.h"
#include "ring/context.h"
#include "ring/emitter.h"

#include <fcntl.h>
#include <lifeline/lifeline.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

LL_EVENT(step, "test.step", LL_INFO, (u64, number, ""), (string, expected, ""));

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

static ll_context context_named(const char *session) {
  static const char key[] = "session";
  uint16_t key_bytes = sizeof key - 1, bytes = (uint16_t)strlen(session);
  ll_context context = {.count = 1, .bytes = 4u + key_bytes + bytes};
  memcpy(context.at, &key_bytes, 2);
  memcpy(context.at + 2, key, key_bytes);
  memcpy(context.at + 2 + key_bytes, &bytes, 2);
  memcpy(context.at + 4 + key_bytes, session, bytes);
  return context;
}

/* As many changes as there are places: the last one must be refused, and end the session before. */
static void change_and_die(void) {
  ll_saved_state before;
  char session[16];
  ll_emit(step, 0, "");
  if (ll_flush(TEST_PATIENCE_MS) != 0) _exit(1);
  ll_lock(&before);
  ll_emit(step, 1, "");
  for (int change = 1; change <= LL_CONTEXTS; change++) {
    snprintf(session, sizeof session, "s%d", change);
    ll_context context = context_named(session);
    bool published = ll_context_change(&ll_the_emitter.store, &context);
    if (published != (change < LL_CONTEXTS - 1)) _exit(2);
    for (int i = 0; i < 3; i++)
      ll_emit(step, 2, published ? session : "");
  }
  raise(SIGKILL);
}

static void kill_with_changes(void) {
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) change_and_die();
  test_wait_for(pid, SIGKILL);
  assert_int_equal(test_ring_files(&directory), 1);
}

static int recover(const char *log) {
  const char *const recovery[] = {"lifeline-recover", "--timeout-ms", "60000", NULL};
  return test_wait(test_start(recovery, log));
}

typedef struct found {
  const llb_batch *batch;
  unsigned steps;
} found;

static void look_at(const llb_event *event, void *ctx) {
  found *all = ctx;
  llb_bytes session = {NULL, 0}, expected = event->values[1].bytes;
  if (all->batch->context_count > 0) session = all->batch->context[all->batch->context_count - 1].value;
  BOOKS(session.size == expected.size && (session.size == 0 || memcmp(session.data, expected.data, session.size) == 0));
  all->steps++;
}

static void a_recovery_gives_each_event_the_context_of_its_moment(void **state) {
  (void)state;
  kill_with_changes();
  assert_int_equal(recover(NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  test_absorb_repeats(&batches);
  test_check_sequences(&batches);
  found all = {0};
  for (size_t i = 0; i < batches.count; i++) {
    test_batches one = {.count = 1, .at = &batches.at[i]};
    all.batch = batches.at[i];
    test_each_event(&one, look_at, &all);
  }
  BOOKS_EQUAL(all.steps, 2 + 3 * LL_CONTEXTS);
  test_free_batches(&batches);
}

/* Overwrites one number in the ring file's header, or in its first ring. */
static void damage(long offset, uint64_t value, size_t bytes) {
  char command[300], path[300] = "";
  snprintf(command, sizeof command, "ls %s/*.rings", directory.rings);
  FILE *list = popen(command, "r");
  assert_non_null(list);
  assert_non_null(fgets(path, sizeof path, list));
  pclose(list);
  path[strcspn(path, "\n")] = '\0';
  int fd = open(path, O_RDWR);
  assert_true(fd >= 0);
  assert_int_equal(pwrite(fd, &value, bytes, offset), (ssize_t)bytes);
  close(fd);
}

static void impossible_changes_are_refused_and_the_file_is_kept(void **state) {
  (void)state;
  static const struct {
    long offset;
    uint64_t value;
    size_t bytes;
    const char *says;
  } cases[] = {
      {offsetof(ll_file_header, contexts[1].bytes), 185, 4, "impossible context"},
      {offsetof(ll_file_header, contexts[4].count), 4, 4, "impossible context"},
      {offsetof(ll_file_header, context_changes), UINT64_MAX, 8, "impossible changes of the context"},
      {offsetof(ll_file_header, routes[0].context), 1000, 8, "impossible changes of the context"},
  };
  char log[200];
  snprintf(log, sizeof log, "%s/log", directory.path);
  kill_with_changes();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    damage(cases[i].offset, cases[i].value, cases[i].bytes);
    assert_int_equal(recover(log), 1);
    if (strstr(test_text_of(log), cases[i].says) == NULL) fail_msg("%s", test_text_of(log));
    assert_int_equal(test_ring_files(&directory), 1);
    damage(cases[i].offset, i == 0 ? 13 : i == 1 ? 1 : i == 2 ? LL_CONTEXTS - 1 : 0, cases[i].bytes);
  }
  assert_int_equal(recover(log), 0); /* what was repaired is delivered */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_recovery_gives_each_event_the_context_of_its_moment, set_up, tear_down),
      cmocka_unit_test_setup_teardown(impossible_changes_are_refused_and_the_file_is_kept, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
