/* What several tests need: a directory of their own, programs to start and kill, and batches read back. */
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

/* For what takes milliseconds on an idle machine: no test fails because the machine is busy. */
enum { TEST_PATIENCE_MS = 300000 };

/* A fresh directory on tmpfs, with `rings` as LIFELINE_RING_DIR and `out.llb` as the file: sink of LIFELINE_URL, for
 * which programs wait patiently at their end. It is removed by test_directory_remove. */
typedef struct test_directory {
  char path[128];
  char rings[160];
  char out[160];
} test_directory;

void test_directory_make(test_directory *directory);
void test_directory_remove(const test_directory *directory);

/* How many ring files are there. */
unsigned test_ring_files(const test_directory *directory);

/* Starts a program of the build. What it prints goes to the file `output`, when that is given. */
pid_t test_start(const char *const *arguments, const char *output);

/* Runs `body` in a child, which then exits as a program does. What it prints goes to the file `output` when that is
 * given. Returns its exit status: the emitter is started once in a process, so each test has its own. */
int test_in_child(void (*body)(void), const char *output);

/* LIFELINE_URL of the test sink in that mood, writing where the file sink would. */
void test_use_sink(const test_directory *directory, const char *mood);

/* The exit status, or 128 + the signal. A crash, or a sanitizer's report, is printed with what the child said. */
int test_wait(pid_t pid);

/* The same for a child that is to die of this signal. */
int test_wait_for(pid_t pid, int expected_signal);

/* For what says that events or batches are missing, doubled or in conflict: fails with "wrong books", which the test
 * runner never repeats. */
#define BOOKS(right) test_books((right), #right, __FILE__, __LINE__)
#define BOOKS_EQUAL(one, other) test_books_equal((one), (other), #one " is not " #other, __FILE__, __LINE__)
void test_books(bool right, const char *what, const char *file, int line);
void test_books_equal(uint64_t one, uint64_t other, const char *what, const char *file, int line);

/* All batches of a file. Fails the test when one is not legal. */
typedef struct test_batches {
  uint8_t *bytes;
  size_t count;
  llb_batch **at;
} test_batches;

test_batches test_read_batches(const char *path);
void test_free_batches(test_batches *batches);

/* Events of the batches, and drops that the last one counts (reasons 1 to 5). */
uint64_t test_events_in(const test_batches *batches);
uint64_t test_drops_in(const test_batches *batches);

/* Drops (reasons 1 to 5) that this batch counts. */
uint64_t test_drops_of(const llb_batch *batch);

/* Brings the batches of one (incarnation, route) into order and drops what a consumer would absorb: repeats, which must
 * be the same to the byte. */
void test_absorb_repeats(test_batches *batches);

/* The books of events (serial number from 1, thread): how many emits had returned in each thread when it was killed,
 * and which of those and of the one after are there. */
enum { TEST_THREADS_MAX = 8 };
typedef struct test_serials {
  uint32_t threads;
  uint64_t returned[TEST_THREADS_MAX];
  uint8_t *seen[TEST_THREADS_MAX];
  uint64_t archived;
  uint64_t archived_of_returned;
} test_serials;

/* Fails when an event is there twice, or was never emitted. */
void test_tick_off(const test_batches *batches, test_serials *kept);

/* Fails unless sequences run from 1 without gap, and the last batch and only that is FINAL. */
void test_check_sequences(const test_batches *batches);

/* Until the thread is gone that looks for what earlier runs left, once an event of this process has been harvested. For
 * a test that then changes what that thread would see. */
void test_wait_for_recovery(void);

/* How many lines the text has. */
unsigned test_lines(const char *text);

/* The same, but for lines that say that events are or were dropped. */
unsigned test_other_lines(const char *text);

/* Calls `visit` for each event, batch by batch. */
void test_each_event(const test_batches *batches, void (*visit)(const llb_event *event, void *ctx), void *ctx);

/* The text of a small file. Static memory. */
const char *test_text_of(const char *path);

#endif
