#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
  (void)status, (void)kind, (void)place;
  return remove(path);
}

static int remove_all(const char *path) {
  return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* A failed test does not reach its end; atexit kills its programs and removes its directory, but only in the process
 * that made it. */
static char made[sizeof((test_directory *)NULL)->path];
static pid_t maker;

/* The latest programs, with their output files. */
enum { CHILDREN_KNOWN = 16 };
static struct {
  pid_t pid;
  char output[200];
} children[CHILDREN_KNOWN];
static unsigned child_count;

static void remove_what_is_left(void) {
  if (maker == getpid() && made[0] != '\0') remove_all(made);
  made[0] = '\0';
}

static void at_exit(void) {
  for (int i = 0; i < CHILDREN_KNOWN && maker == getpid(); i++)
    if (children[i].pid > 0 && waitpid(children[i].pid, NULL, WNOHANG) == 0) kill(children[i].pid, SIGKILL);
  remove_what_is_left();
}

void test_directory_make(test_directory *directory) {
  if (maker == 0) atexit(at_exit);
  maker = getpid();
  remove_what_is_left();
  const char *memory = getenv("LIFELINE_TEST_MEMORY"); /* scripts/lib/common.sh sets it where /dev/shm is small */
  snprintf(directory->path, sizeof directory->path, "%s/lifeline-test-XXXXXX", memory ? memory : "/dev/shm");
  assert_non_null(mkdtemp(directory->path));
  memcpy(made, directory->path, sizeof made);
  snprintf(directory->rings, sizeof directory->rings, "%s/rings", directory->path);
  snprintf(directory->out, sizeof directory->out, "%s/out.llb", directory->path);
  char url[200];
  snprintf(url, sizeof url, "file://%s", directory->out);
  setenv("LIFELINE_RING_DIR", directory->rings, 1);
  setenv("LIFELINE_URL", url, 1);
  setenv("LIFELINE_FLUSH_TIMEOUT_MS", "60000", 1); /* time for a busy machine to deliver at exit */
}

void test_directory_remove(const test_directory *directory) {
  assert_int_equal(remove_all(directory->path), 0);
}

unsigned test_ring_files(const test_directory *directory) {
  DIR *rings = opendir(directory->rings);
  unsigned count = 0;
  if (rings == NULL) return 0;
  for (struct dirent *entry; (entry = readdir(rings)) != NULL;)
    count += strstr(entry->d_name, ".rings") != NULL;
  closedir(rings);
  return count;
}

static pid_t remember(pid_t pid, const char *output) {
  unsigned slot = child_count++ % CHILDREN_KNOWN;
  children[slot].pid = pid;
  snprintf(children[slot].output, sizeof children[slot].output, "%s", output != NULL ? output : "");
  return pid;
}

pid_t test_start(const char *const *arguments, const char *output) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", TEST_BIN_DIR, arguments[0]);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid > 0) return remember(pid, output);
  if (output != NULL) {
    int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0) _exit(126);
  }
  execv(path, (char *const *)(uintptr_t)arguments);
  _exit(127);
}

int test_in_child(void (*body)(void), const char *output) {
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid > 0) return test_wait(remember(pid, output));
  if (output != NULL) {
    int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, STDERR_FILENO) < 0) _exit(126);
    close(fd);
  }
  body();
  exit(0);
}

void test_use_sink(const test_directory *directory, const char *mood) {
  char url[256];
  snprintf(url, sizeof url, "test://%s?%s", directory->out, mood);
  setenv("LIFELINE_URL", url, 1);
  setenv("LIFELINE_PLUGIN_DIR", TEST_PLUGIN_DIR, 1);
}

static bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGABRT;
}

/* Exit statuses of sanitizers' reports, see cmake/tests.cmake. */
static bool is_report(int status) {
  return WIFEXITED(status) && (WEXITSTATUS(status) == 66 || WEXITSTATUS(status) == 99);
}

int test_wait_for(pid_t pid, int expected_signal) {
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  bool crashed = WIFSIGNALED(status) && WTERMSIG(status) != expected_signal && is_crash(WTERMSIG(status));
  if (crashed) fprintf(stderr, "CRASHED: child process died: %s\n", strsignal(WTERMSIG(status)));
  for (unsigned i = 0; (crashed || is_report(status)) && i < CHILDREN_KNOWN; i++)
    if (children[i].pid == pid) fputs(test_text_of(children[i].output), stderr);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int test_wait(pid_t pid) {
  return test_wait_for(pid, 0);
}

void test_books(bool right, const char *what, const char *file, int line) {
  if (right) return;
  print_error("wrong books: %s\n", what);
  _fail(file, line);
}

void test_books_equal(uint64_t one, uint64_t other, const char *what, const char *file, int line) {
  if (one == other) return;
  print_error("wrong books: %s: %llu and %llu\n", what, (unsigned long long)one, (unsigned long long)other);
  _fail(file, line);
}

test_batches test_read_batches(const char *path) {
  test_batches batches = {NULL, 0, NULL};
  int fd = open(path, O_RDONLY);
  struct stat status;
  if (fd < 0) return batches;
  assert_int_equal(fstat(fd, &status), 0);
  size_t size = (size_t)status.st_size;
  batches.bytes = malloc(size + 1);
  for (size_t done = 0; done < size;) {
    ssize_t count = read(fd, batches.bytes + done, size - done);
    assert_true(count > 0);
    done += (size_t)count;
  }
  close(fd);
  for (size_t at = 0; at < size;) {
    size_t bytes = llb_frame_bytes(batches.bytes + at, size - at);
    if (bytes == 0 || bytes > size - at) break; /* a torn write at the end */
    llb_rejection rejection;
    llb_batch *batch = llb_read(batches.bytes + at, bytes, &rejection);
    if (batch == NULL) fail_msg("batch at %zu: %s: %s", at, llb_code_name(rejection.code), rejection.message);
    batches.at = realloc(batches.at, (batches.count + 1) * sizeof *batches.at);
    batches.at[batches.count++] = batch;
    at += bytes;
  }
  return batches;
}

void test_free_batches(test_batches *batches) {
  for (size_t i = 0; i < batches->count; i++)
    llb_batch_free(batches->at[i]);
  free(batches->at);
  free(batches->bytes);
  memset(batches, 0, sizeof *batches);
}

void test_each_event(const test_batches *batches, void (*visit)(const llb_event *event, void *ctx), void *ctx) {
  static llb_event event;
  for (size_t i = 0; i < batches->count; i++) {
    llb_cursor cursor = llb_events(batches->at[i]);
    while (llb_next(&cursor, &event))
      visit(&event, ctx);
  }
}

uint64_t test_events_in(const test_batches *batches) {
  uint64_t events = 0;
  for (size_t i = 0; i < batches->count; i++)
    events += batches->at[i]->event_count;
  return events;
}

uint64_t test_drops_in(const test_batches *batches) {
  return batches->count > 0 ? test_drops_of(batches->at[batches->count - 1]) : 0;
}

uint64_t test_drops_of(const llb_batch *batch) {
  uint64_t drops = 0;
  for (int i = 1; i <= 5; i++)
    drops += batch->counters[i];
  return drops;
}

static int by_sequence(const void *a, const void *b) {
  uint64_t x = (*(llb_batch *const *)a)->sequence, y = (*(llb_batch *const *)b)->sequence;
  return (x > y) - (x < y);
}

void test_absorb_repeats(test_batches *batches) {
  size_t kept = 0;
  if (batches->count > 0) qsort(batches->at, batches->count, sizeof batches->at[0], by_sequence);
  for (size_t i = 0; i < batches->count; i++) {
    llb_batch *batch = batches->at[i];
    if (kept > 0 && batches->at[kept - 1]->sequence == batch->sequence) {
      BOOKS_EQUAL(batches->at[kept - 1]->crc, batch->crc);
      llb_batch_free(batch);
    } else {
      batches->at[kept++] = batch;
    }
  }
  batches->count = kept;
}

static void tick_off(const llb_event *event, void *ctx) {
  test_serials *kept = ctx;
  uint64_t serial = event->values[0].u64;
  uint32_t thread = event->values[1].u32;
  assert_true(thread < kept->threads);
  /* One more event may have been published than emits returned. */
  BOOKS(serial >= 1 && serial <= kept->returned[thread] + 1);
  BOOKS_EQUAL(kept->seen[thread][serial], 0);
  kept->seen[thread][serial] = 1;
  kept->archived++;
  kept->archived_of_returned += serial <= kept->returned[thread];
}

void test_tick_off(const test_batches *batches, test_serials *kept) {
  for (uint32_t i = 0; i < kept->threads; i++)
    kept->seen[i] = calloc(kept->returned[i] + 2, 1);
  test_each_event(batches, tick_off, kept);
  for (uint32_t i = 0; i < kept->threads; i++)
    free(kept->seen[i]);
}

void test_check_sequences(const test_batches *batches) {
  for (size_t i = 0; i < batches->count; i++) {
    BOOKS_EQUAL(batches->at[i]->sequence, i + 1);
    assert_int_equal((batches->at[i]->flags & LLB_FINAL) != 0, i + 1 == batches->count);
  }
}

/* The recovery's thread starts before the first event is harvested, and has its creator's name until it sets its own,
 * as the one has that writes log lines. */
static unsigned lifeline_threads(void) {
  unsigned threads = 0;
  DIR *entries = opendir("/proc/self/task");
  for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    const char *name = test_text_of(path);
    threads += strncmp(name, "lifeline", strlen("lifeline")) == 0 && strcmp(name, "lifeline-log\n") != 0;
  }
  if (entries != NULL) closedir(entries);
  return threads;
}

void test_wait_for_recovery(void) {
  while (lifeline_threads() > 1) /* ctest's time limit ends a hanging test */
    usleep(1000);
}

unsigned test_lines(const char *text) {
  unsigned lines = 0;
  for (; *text != '\0'; text++)
    lines += *text == '\n';
  return lines;
}

unsigned test_other_lines(const char *text) {
  unsigned lines = test_lines(text);
  for (const char *at = text; (at = strstr(at, "events are dropped: ")) != NULL; at++)
    lines--;
  for (const char *at = text; (at = strstr(at, "events were dropped")) != NULL; at++)
    lines--;
  return lines;
}

const char *test_text_of(const char *path) {
  static char text[8192];
  int fd = open(path, O_RDONLY);
  ssize_t count = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
  if (fd >= 0) close(fd);
  text[count > 0 ? count : 0] = '\0';
  return text;
}
