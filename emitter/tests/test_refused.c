/* What the kernel refuses to a program by a seccomp filter or a limit harms only events: the program has its own
 * result, and each event is archived, counted with a reason, or its loss is a line. */
#include "support.h"

#include <errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { EVENTS = 1000, RESULT = 5, SKIPPED = 77, LINES_MOST = 3, IS_LIMIT = -1 };

static test_directory directory;

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  setenv("LIFELINE_FLUSH_TIMEOUT_MS", "300", 1); /* many wait for nothing; a recovery delivers what came too late */
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  test_directory_remove(&directory);
  return 0;
}

static const struct row {
  const char *name;
  long what;           /* number of a call or of a limit */
  int error;           /* of the call; IS_LIMIT */
  unsigned long value; /* flags that the call must have; the limit */
  bool mute;           /* no line can be written either */
  long also;           /* number of another refused call, or 0 */
} rows[] = {
#define ROW(name, what, error, value)                                                                                  \
  { name, what, error, value, false, 0 }
#define CALL(name) ROW(#name, SYS_##name, EPERM, 0), ROW(#name " as on an older kernel", SYS_##name, ENOSYS, 0)
#define LIMIT(name, value) ROW(#name " " #value, name, IS_LIMIT, value)
    CALL(memfd_create),
    CALL(clone3),
    CALL(close_range),
    {"a table of descriptors", SYS_close_range, EPERM, 0, false, SYS_unshare},
    CALL(membarrier),
    CALL(madvise),
    CALL(fallocate),
    CALL(ftruncate),
    CALL(flock),
    CALL(fcntl),
    CALL(prctl),
    CALL(socket),
    CALL(mprotect),
    CALL(linkat),
    CALL(renameat2),
    CALL(unlinkat),
    CALL(pwrite64),
    CALL(getdents64),
    CALL(newfstatat),
    CALL(fstat),
    ROW("openat", SYS_openat, EACCES, 0),
    ROW("openat of a process without descriptors", SYS_openat, EMFILE, 0),
    ROW("clone", SYS_clone, EAGAIN, 0),
    ROW("clone3 at the limit of processes", SYS_clone3, EAGAIN, 0),
    ROW("mmap", SYS_mmap, ENOMEM, 0),
    ROW("mmap of shared memory", SYS_mmap, EPERM, MAP_SHARED),
    ROW("mmap of private memory", SYS_mmap, ENOMEM, MAP_PRIVATE),
    ROW("a full disk", SYS_pwrite64, ENOSPC, 0),
    ROW("a full disk for the rings", SYS_fallocate, ENOSPC, 0),
    LIMIT(RLIMIT_AS, 4096),
    LIMIT(RLIMIT_AS, 32 << 20),
    LIMIT(RLIMIT_AS, 80 << 20),
    LIMIT(RLIMIT_DATA, 0),
    LIMIT(RLIMIT_NOFILE, 0),
    LIMIT(RLIMIT_NOFILE, 3),
    LIMIT(RLIMIT_NOFILE, 4),
    LIMIT(RLIMIT_NOFILE, 5),
    {"RLIMIT_FSIZE as large as the output", RLIMIT_FSIZE, IS_LIMIT, sizeof "the result is 42", true, 0},
    LIMIT(RLIMIT_FSIZE, 4096),
    LIMIT(RLIMIT_FSIZE, 1 << 20),
    LIMIT(RLIMIT_MEMLOCK, 0),
    LIMIT(RLIMIT_SIGPENDING, 0),
    LIMIT(RLIMIT_STACK, 65536),
    LIMIT(RLIMIT_NPROC, 0),
};

static void recover(void) {
  const char *const recovery[] = {"lifeline-recover", "--timeout-ms", "300000", NULL};
  char output[200];
  snprintf(output, sizeof output, "%s/recovered", directory.path);
  if (test_wait(test_start(recovery, output)) != 0) fail_msg("%s", test_text_of(output));
}

static uint8_t arrived[EVENTS + 1];

static void tick_off(const llb_event *event, void *ctx) {
  (void)ctx;
  assert_in_range(event->values[0].u64, 1, EVENTS);
  BOOKS_EQUAL(arrived[event->values[0].u64]++, 0);
}

static void a_program_has_its_result_and_its_events_an_account(void **state) {
  const struct row *row = *state;
  char what[16], first[16], second[32], also[16], output[200];
  snprintf(what, sizeof what, "%ld", row->what);
  snprintf(first, sizeof first, "%d", row->error);
  snprintf(second, sizeof second, "%lu", row->value);
  snprintf(also, sizeof also, "%ld", row->also);
  bool limit = row->error == IS_LIMIT;
  const char *const program[] = {"refused", limit ? "limit" : "call", what, limit ? second : first, second, also, NULL};
  snprintf(output, sizeof output, "%s/said", directory.path);
  int status = test_wait(test_start(program, output));
  const char *said = test_text_of(output);
  if (status == SKIPPED) skip();
  if (status != RESULT || strstr(said, "the result is 42\n") == NULL)
    fail_msg("%s: status %d, %s", row->name, status, said);
  unsigned lines = test_lines(said) - 1;
  if (lines > LINES_MOST) fail_msg("%s: too much is said: %s", row->name, said);
  said = strdup(said);
  recover();

  memset(arrived, 0, sizeof arrived);
  test_batches batches = test_read_batches(directory.out);
  test_absorb_repeats(&batches); /* one may have been written and not acknowledged */
  test_each_event(&batches, tick_off, NULL);
  uint64_t known = test_events_in(&batches) + (batches.count > 0 ? test_drops_in(&batches) : 0);
  if (known != EVENTS && lines == 0 && !row->mute)
    fail_msg("wrong books: %s: of %d events %lu", row->name, EVENTS, known);
  if (getenv("TEST_SHOW") != NULL)
    print_message("%s: %lu archived, %lu known, said: %s", row->name, test_events_in(&batches), known, said);
  test_free_batches(&batches);
  free((void *)said);
}

int main(void) {
  enum { ROWS = sizeof rows / sizeof rows[0] };
  struct CMUnitTest tests[ROWS];
  for (unsigned i = 0; i < ROWS; i++)
    tests[i] = (struct CMUnitTest){rows[i].name, a_program_has_its_result_and_its_events_an_account, set_up, tear_down,
                                   (void *)&rows[i]};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
