/* Threads come and go: cost of their first event, and resources that they leave. */
#include "support.h"

#include <dirent.h>
#include <lifeline/lifeline.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

LL_EVENT(number, "test.number", LL_INFO, (u32, value, ""));

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

static ll_statistics stats(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Space that the only ring file takes, or SIZE_MAX. */
static size_t ring_file_bytes(void) {
  DIR *rings = opendir(directory.rings);
  if (rings == NULL) return SIZE_MAX;
  size_t bytes = SIZE_MAX;
  for (struct dirent *entry; (entry = readdir(rings)) != NULL;) {
    struct stat status;
    if (strstr(entry->d_name, ".rings") != NULL && fstatat(dirfd(rings), entry->d_name, &status, 0) == 0)
      bytes = (size_t)status.st_blocks * 512;
  }
  closedir(rings);
  return bytes;
}

static size_t resident_bytes(void) {
  unsigned long size = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%lu %lu", &size, &resident) != 2) exit(4);
  fclose(file);
  return resident * (size_t)sysconf(_SC_PAGESIZE);
}

enum { SHORT_THREADS = 10000, SHORT_BUDGET = 8 << 20, SHORT_LEAST = 1000 };

static void *emit_once(void *value) {
  ll_emit(number, (uint32_t)(uintptr_t)value);
  return NULL;
}

static void *emit_once_and_time_it(void *took_ns) {
  uint64_t begin = now_ns();
  ll_emit(number, 0);
  *(uint64_t *)took_ns = now_ns() - begin;
  return NULL;
}

static void run_thread(void *(*body)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, argument) != 0) exit(2);
  pthread_join(thread, NULL);
}

static void start_and_end_many_threads(void) {
  if (ll_init(NULL) != 0) exit(3);
  run_thread(emit_once, NULL);
  size_t resident = resident_bytes();
  for (uintptr_t i = 1; i < SHORT_THREADS; i++)
    run_thread(emit_once, (void *)i);
  size_t file = ring_file_bytes();
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) /* their own memory grows with each thread */
  size_t more = resident_bytes() - resident;
  if (more > SHORT_BUDGET + (4u << 20)) fprintf(stderr, "the program grew by %zu bytes\n", more), exit(5);
#else
  (void)resident;
#endif
  if (file > SHORT_BUDGET + (1u << 20)) fprintf(stderr, "the ring file takes %zu bytes\n", file), exit(6);
  if (ll_shutdown(TEST_PATIENCE_MS) != 0) exit(7);
}

static void tick_off(const llb_event *event, void *ctx) {
  uint8_t *seen = ctx;
  uint32_t value = event->values[0].u32;
  assert_true(value < SHORT_THREADS);
  BOOKS_EQUAL(seen[value]++, 0);
}

/* There is room for 64 rings. If a busy machine delays the draining of ended threads' rings, events of later threads
 * are counted as dropped; if those rings were drained only after a second, only a few hundred would arrive. */
static void ten_thousand_short_threads_are_sent_or_counted_in_bounded_memory(void **state) {
  (void)state;
  static uint8_t seen[SHORT_THREADS];
  setenv("LIFELINE_BUDGET_BYTES", "8388608", 1);
  assert_int_equal(test_in_child(start_and_end_many_threads, NULL), 0);
  unsetenv("LIFELINE_BUDGET_BYTES");
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  test_each_event(&batches, tick_off, seen);
  BOOKS_EQUAL(test_events_in(&batches) + test_drops_in(&batches), SHORT_THREADS);
  assert_true(test_events_in(&batches) >= SHORT_LEAST);
  test_free_batches(&batches);
}

/* With a sink that takes nothing, the rings of ended threads cannot be drained, and the budget is exhausted. */
static void start_and_end_threads_without_a_sink(void) {
  for (uintptr_t i = 0; i < 500; i++)
    run_thread(emit_once, (void *)i);
  if (ring_file_bytes() > 3u << 20) exit(5);
  ll_shutdown(0);
  for (int i = 0; i < TEST_PATIENCE_MS && stats().emitted != 500; i++)
    usleep(1000); /* the harvester may take longer than the shutdown waits */
  if (stats().dropped_no_ring == 0 || stats().emitted != 500) exit(6);
}

static void the_budget_bounds_the_rings_of_ended_threads(void **state) {
  (void)state;
  test_use_sink(&directory, "busy");
  setenv("LIFELINE_BUDGET_BYTES", "2097152", 1);
  assert_int_equal(test_in_child(start_and_end_threads_without_a_sink, "/dev/null"), 0);
  unsetenv("LIFELINE_BUDGET_BYTES");
}

enum { FIRSTS = 50, FIRST_EVENT_NS = 20000, LEAST_RING_BYTES = 64 << 10 };

static int by_size(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

/* The benchmark measures the time; this checks that rings are made in advance. A busy machine may delay some threads,
 * but not all of them. */
static void time_first_events(void) {
  uint64_t took_ns[FIRSTS];
  if (ll_init(NULL) != 0) exit(3);
  size_t none = ring_file_bytes();
  ll_emit(number, 0);
  /* The harvester makes the next ring when it wakes. */
  for (int i = 0; i < TEST_PATIENCE_MS && ring_file_bytes() < none + 2 * LEAST_RING_BYTES; i++)
    usleep(1000);
  if (ring_file_bytes() < none + 2 * LEAST_RING_BYTES) fprintf(stderr, "no ring is ready for a thread\n"), exit(4);
  for (int i = 0; i < FIRSTS; i++) {
    run_thread(emit_once_and_time_it, &took_ns[i]);
    usleep(1000);
  }
  qsort(took_ns, FIRSTS, sizeof took_ns[0], by_size);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  if (took_ns[0] > FIRST_EVENT_NS) fprintf(stderr, "%llu ns\n", (unsigned long long)took_ns[0]), exit(5);
#endif
}

static void a_threads_first_event_finds_a_ring_ready(void **state) {
  (void)state;
  assert_int_equal(test_in_child(time_first_events, NULL), 0);
}

/* More threads in sequence than the budget has rings for. */
static void start_and_end_threads(void) {
  setenv("LIFELINE_BUDGET_BYTES", "2097152", 1);
  for (uintptr_t i = 0; i < 300; i++) {
    run_thread(emit_once, (void *)i);
    if (i % 8 == 0 && ll_flush(TEST_PATIENCE_MS) != 0) exit(3);
  }
  if (ll_shutdown(TEST_PATIENCE_MS) != 0 || stats().emitted != 300 || stats().dropped_no_ring != 0) exit(1);
}

static void rings_of_threads_that_ended_are_used_again(void **state) {
  (void)state;
  char log[200];
  snprintf(log, sizeof log, "%s/log", directory.path);
  assert_int_equal(test_in_child(start_and_end_threads, log), 0);
  assert_int_equal(test_other_lines(test_text_of(log)), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(ten_thousand_short_threads_are_sent_or_counted_in_bounded_memory),
      TEST(rings_of_threads_that_ended_are_used_again),
      TEST(the_budget_bounds_the_rings_of_ended_threads),
      TEST(a_threads_first_event_finds_a_ring_ready),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
