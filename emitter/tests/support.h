/* Helpers of several tests: a temporary directory, programs to start and kill, and batches read back. */
#ifndef LIFELINE_TEST_SUPPORT_H
#define LIFELINE_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <lifeline/batch.h>
#include <stdbool.h>
#include <sys/types.h>

/* Timeout of operations that take milliseconds on an idle machine, so that no test fails on a busy one. */
enum { TEST_PATIENCE_MS = 300000 };

/* A new directory on tmpfs, with `rings` as LIFELINE_RING_DIR and `out.llb` as the file: sink of LIFELINE_URL. Programs
 * get a long flush timeout at exit. test_directory_remove removes it. */
typedef struct test_directory {
  char path[128];
  char rings[160];
  char out[160];
} test_directory;

void test_directory_make(test_directory *directory);
void test_directory_remove(const test_directory *directory);

/* Number of ring files. */
unsigned test_ring_files(const test_directory *directory);

/* Starts a program of the build. Its output goes to the file `output`, if given. */
pid_t test_start(const char *const *arguments, const char *output);

/* Runs `body` in a child, which then exits like a program. Its output goes to the file `output`, if given. Returns its
 * exit status. Each test needs its own child, since a process starts the emitter only once. */
int test_in_child(void (*body)(void), const char *output);

/* Sets LIFELINE_URL to the test sink in that mood, with the file sink's path. */
void test_use_sink(const test_directory *directory, const char *mood);

/* Returns the exit status, or 128 + the signal. Prints a crash or a sanitizer's report with the child's output. */
int test_wait(pid_t pid);

/* The same for a child that this signal must kill. */
int test_wait_for(pid_t pid, int expected_signal);

/* Checks for missing, duplicate or conflicting events or batches: they fail with "wrong books", and the test runner
 * never repeats such a test. */
#define BOOKS(right) test_books((right), #right, __FILE__, __LINE__)
#define BOOKS_EQUAL(one, other) test_books_equal((one), (other), #one " is not " #other, __FILE__, __LINE__)
void test_books(bool right, const char *what, const char *file, int line);
void test_books_equal(uint64_t one, uint64_t other, const char *what, const char *file, int line);

/* All batches of a file. Fails the test if one is illegal. */
typedef struct test_batches {
  uint8_t *bytes;
  size_t count;
  llb_batch **at;
} test_batches;

test_batches test_read_batches(const char *path);
void test_free_batches(test_batches *batches);

/* Events in the batches, and drops counted by the last one (reasons 1 to 5). */
uint64_t test_events_in(const test_batches *batches);
uint64_t test_drops_in(const test_batches *batches);

/* Drops (reasons 1 to 5) that this batch counts. */
uint64_t test_drops_of(const llb_batch *batch);

/* Sorts the batches of one (incarnation, route), and removes duplicates as a consumer does. Duplicates must be
 * identical. */
void test_absorb_repeats(test_batches *batches);

/* Account of events (serial number from 1, thread): for each thread the number of emits that returned before the kill,
 * and which of those and of the next one arrived. */
enum { TEST_THREADS_MAX = 8 };
typedef struct test_serials {
  uint32_t threads;
  uint64_t returned[TEST_THREADS_MAX];
  uint8_t *seen[TEST_THREADS_MAX];
  uint64_t archived;
  uint64_t archived_of_returned;
} test_serials;

/* Fails if an event is there twice, or was never emitted. */
void test_tick_off(const test_batches *batches, test_serials *kept);

/* Fails unless the sequences are 1, 2, 3 ... without gaps, and only the last batch is FINAL. */
void test_check_sequences(const test_batches *batches);

/* Waits for the end of the thread that recovers earlier runs' files; call it after an event of this process was
 * harvested. For tests that then change files which that thread reads. */
void test_wait_for_recovery(void);

/* Number of lines of the text. */
unsigned test_lines(const char *text);

/* The same, without lines about dropped events. */
unsigned test_other_lines(const char *text);

/* Calls `visit` for each event, batch by batch. */
void test_each_event(const test_batches *batches, void (*visit)(const llb_event *event, void *ctx), void *ctx);

/* The text of a small file. Static memory. */
const char *test_text_of(const char *path);

#endif
