/* Recovery, with real SIGKILLs. `test-recovery N` kills N times instead of 30. */
#include "support.h"

#include "base/format.h"
#include "ring/descriptor.h"
#include "ring/layout.h"
#include "ring/slots.h"

#include <lifeline/lifeline.h>

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3 };

static unsigned rounds = 30;

static void read_notes(const char *path, test_serials *kept) {
  uint64_t notes[8] = {0};
  int fd = open(path, O_RDONLY);
  if (fd >= 0) {
    assert_true(read(fd, notes, sizeof notes) >= 0);
    close(fd);
  }
  memcpy(kept->returned, notes, sizeof kept->returned);
}

static void check_books(const test_directory *directory, const char *notes) {
  test_serials kept = {.threads = TEST_THREADS_MAX};
  read_notes(notes, &kept);
  test_batches batches = test_read_batches(directory->out);
  test_absorb_repeats(&batches);
  uint64_t returned = 0;
  for (int i = 0; i < TEST_THREADS_MAX; i++)
    returned += kept.returned[i];
  if (batches.count > 0) {
    for (size_t i = 0; i < batches.count; i++) {
      BOOKS_EQUAL(batches.at[i]->sequence, i + 1);
      assert_memory_equal(batches.at[i]->incarnation, batches.at[0]->incarnation, 16);
      assert_int_equal((batches.at[i]->flags & LLB_FINAL) != 0, i + 1 == batches.count);
    }
    test_tick_off(&batches, &kept);
    const llb_batch *last = batches.at[batches.count - 1];
    BOOKS_EQUAL(last->counters[0], kept.archived + test_drops_of(last));
    BOOKS(returned - kept.archived_of_returned <= test_drops_of(last));
  } else {
    BOOKS_EQUAL(returned, 0);
  }
  test_free_batches(&batches);
}

/* Every other time the sink acknowledges late, so that the kill finds batches in flight. Every third time they are
 * large, and the free space is fragmented. */
static void kill_and_recover(unsigned seed, bool kill_recovery) {
  test_directory directory;
  test_directory_make(&directory);
  if (seed % 2 == 1) test_use_sink(&directory, "later");
  setenv("LIFELINE_COMPRESSION", seed % 3 == 0 ? "none" : "auto", 1);
  setenv("LIFELINE_BUDGET_BYTES", seed % 3 == 0 ? "3000000" : "67108864", 1);
  setenv("LIFELINE_INTERVAL_MS", "5", 1);
  char notes[200], pause[16];
  snprintf(notes, sizeof notes, "%s/notes", directory.path);
  snprintf(pause, sizeof pause, "%u", seed % 4 * 400);
  const char *const emitter[] = {"crash-emitter", notes, "3", pause, NULL};
  pid_t pid = test_start(emitter, NULL);
  usleep(4000 + (unsigned)(rand_r(&seed) % 40000));
  kill(pid, SIGKILL);
  assert_int_equal(test_wait(pid), 128 + SIGKILL);

  for (int i = 0; kill_recovery && i < 3; i++) {
    const char *const doomed[] = {"lifeline-recover", NULL};
    pid = test_start(doomed, "/dev/null");
    usleep(1000 + (unsigned)(rand_r(&seed) % 6000));
    kill(pid, SIGKILL);
    test_wait(pid);
  }
  char log[200];
  snprintf(log, sizeof log, "%s/log", directory.path);
  const char *const recovery[] = {"lifeline-recover", "--timeout-ms", "20000", NULL};
  if (test_wait(test_start(recovery, log)) != 0) fail_msg("%s", test_text_of(log));
  unsetenv("LIFELINE_COMPRESSION");
  unsetenv("LIFELINE_BUDGET_BYTES");
  assert_int_equal(test_ring_files(&directory), 0);
  check_books(&directory, notes);
  test_directory_remove(&directory);
}

static void a_killed_emitters_events_arrive_exactly_once(void **state) {
  (void)state;
  for (unsigned i = 0; i < rounds; i++)
    kill_and_recover(i, false);
}

/* Until the program has emitted something. */
static void wait_for_notes(const char *path) {
  test_serials kept = {.threads = THREADS};
  for (int i = 0; i < 12000 && kept.returned[0] == 0; i++) {
    usleep(5000);
    read_notes(path, &kept);
  }
  assert_true(kept.returned[0] > 0);
}

/* The next start of the program recovers them, in addition to its own events. */
static void the_next_start_delivers_what_the_last_run_left(void **state) {
  (void)state;
  test_directory directory;
  test_directory_make(&directory);
  char notes[200];
  snprintf(notes, sizeof notes, "%s/notes", directory.path);
  const char *const endless[] = {"crash-emitter", notes, "1", "500", NULL};
  const char *const brief[] = {"crash-emitter", notes, "1", "20000", "20000", NULL};
  pid_t pid = test_start(endless, NULL);
  wait_for_notes(notes);
  kill(pid, SIGKILL);
  assert_int_equal(test_wait(pid), 128 + SIGKILL);
  assert_int_equal(test_ring_files(&directory), 1);
  assert_int_equal(test_wait(test_start(brief, NULL)), 0);
  assert_int_equal(test_ring_files(&directory), 0);
  test_batches batches = test_read_batches(directory.out);
  unsigned finals = 0, recovered = 0;
  for (size_t i = 0; i < batches.count; i++) {
    finals += (batches.at[i]->flags & LLB_FINAL) != 0;
    recovered += (batches.at[i]->flags & LLB_RECOVERED) != 0;
  }
  assert_int_equal(finals, 2);
  assert_true(recovered >= 1);
  test_free_batches(&batches);
  test_directory_remove(&directory);
}

/* A test event must not reach another broker because that is where the next start sends its own. */
static void the_next_start_leaves_what_is_meant_for_another_sink(void **state) {
  (void)state;
  test_directory directory;
  test_directory_make(&directory);
  char notes[200], others[200], output[200], elsewhere[200], url[220], there[200];
  snprintf(notes, sizeof notes, "%s/notes", directory.path);
  snprintf(others, sizeof others, "%s/others", directory.path);
  snprintf(output, sizeof output, "%s/said", directory.path);
  snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere.llb", directory.path);
  snprintf(url, sizeof url, "file://%s", elsewhere);
  snprintf(there, sizeof there, "its events are for file://%s,", directory.out);
  const char *const endless[] = {"crash-emitter", notes, "1", "500", NULL};
  const char *const another[] = {"crash-emitter", others, "1", "500", NULL};
  char pause_us[16] = "0";
  const char *const brief[] = {"crash-emitter", notes, "1", pause_us, "1001", NULL};
  pid_t pids[] = {test_start(endless, NULL), test_start(another, NULL)};
  wait_for_notes(notes);
  wait_for_notes(others);
  int stopped; /* or it recovers the file of the first, which is meant for the same sink */
  assert_int_equal(kill(pids[1], SIGSTOP), 0);
  assert_int_equal(waitpid(pids[1], &stopped, WUNTRACED), pids[1]);
  for (int i = 0; i < 2; i++) {
    kill(pids[i], SIGKILL);
    assert_int_equal(test_wait(pids[i]), 128 + SIGKILL);
  }
  char *own = strdup(getenv("LIFELINE_URL"));
  setenv("LIFELINE_URL", url, 1);
  unsigned starts = 0;
  do { /* on a busy machine a brief program may end before it has looked: the next one pauses for longer */
    snprintf(pause_us, sizeof pause_us, "%u", 20000 * starts);
    assert_int_equal(test_wait(test_start(brief, output)), 0);
  } while (++starts < 100 && strstr(test_text_of(output), "1 more of them") == NULL);
  setenv("LIFELINE_URL", own, 1);
  free(own);
  assert_int_equal(test_ring_files(&directory), 2);
  assert_non_null(strstr(test_text_of(output), there));
  assert_int_equal(test_lines(test_text_of(output)), 2);
  test_batches batches = test_read_batches(elsewhere);
  for (size_t i = 0; i < batches.count; i++)
    assert_int_equal(batches.at[i]->flags & LLB_RECOVERED, 0);
  BOOKS_EQUAL(test_events_in(&batches), 1001 * starts);
  test_free_batches(&batches);
  assert_int_equal(test_wait(test_start(brief, NULL)), 0);
  assert_int_equal(test_ring_files(&directory), 0);
  test_directory_remove(&directory);
}

static void a_living_programs_file_is_left_alone(void **state) {
  (void)state;
  test_directory directory;
  test_directory_make(&directory);
  char notes[200], log[200];
  snprintf(notes, sizeof notes, "%s/notes", directory.path);
  snprintf(log, sizeof log, "%s/log", directory.path);
  const char *const endless[] = {"crash-emitter", notes, "1", "500", NULL};
  const char *const recover[] = {"lifeline-recover", NULL};
  pid_t pid = test_start(endless, NULL);
  wait_for_notes(notes);
  assert_int_equal(test_wait(test_start(recover, log)), 0);
  assert_non_null(strstr(test_text_of(log), "recover: files=0"));
  assert_non_null(strstr(test_text_of(log), "skipped_live=1"));
  assert_int_equal(test_ring_files(&directory), 1);
  kill(pid, SIGKILL);
  test_wait(pid);
  test_directory_remove(&directory);
}

/* As if the standard directory had belonged to another user while the program ran. */
static void files_below_the_sessions_directory_are_found_as_well(void **state) {
  (void)state;
  test_directory directory;
  test_directory_make(&directory);
  char notes[200], session[200];
  snprintf(notes, sizeof notes, "%s/notes", directory.path);
  snprintf(session, sizeof session, "%s/lifeline", directory.path);
  setenv("LIFELINE_RING_DIR", session, 1);
  const char *const endless[] = {"crash-emitter", notes, "1", "500", NULL};
  const char *const recover[] = {"lifeline-recover", "--program", "crash-emitter", NULL};
  pid_t pid = test_start(endless, NULL);
  wait_for_notes(notes);
  kill(pid, SIGKILL);
  test_wait(pid);
  unsetenv("LIFELINE_RING_DIR");
  setenv("XDG_RUNTIME_DIR", directory.path, 1);
  assert_int_equal(test_wait(test_start(recover, "/dev/null")), 0);
  unsetenv("XDG_RUNTIME_DIR");
  assert_int_equal(rmdir(session), 0); /* it is empty */
  check_books(&directory, notes);
  test_directory_remove(&directory);
}

static void a_file_that_makes_no_sense_is_left_and_named(void **state) {
  (void)state;
  test_directory directory;
  test_directory_make(&directory);
  char notes[200], log[200], path[400];
  snprintf(notes, sizeof notes, "%s/notes", directory.path);
  snprintf(log, sizeof log, "%s/log", directory.path);
  const char *const recover[] = {"lifeline-recover", "--json", NULL};
  assert_int_equal(mkdir(directory.rings, 0700), 0);
  snprintf(path, sizeof path, "%s/nonsense-1-0123456789abcdef0123456789abcdef.rings", directory.rings);
  int fd = open(path, O_WRONLY | O_CREAT, 0600);
  assert_int_equal(ftruncate(fd, 8 << 20), 0);
  close(fd);
  assert_int_equal(test_wait(test_start(recover, log)), 1);
  assert_non_null(strstr(test_text_of(log), "\"trouble\":\"not a ring file\""));
  assert_int_equal(test_ring_files(&directory), 1);
  test_directory_remove(&directory);
}

/* The only ring file there is. */
static int open_ring_file(const test_directory *directory) {
  char pattern[400];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/*.rings", directory->rings);
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  assert_int_equal(found.gl_pathc, 1);
  int fd = open(found.gl_pathv[0], O_RDWR);
  globfree(&found);
  assert_true(fd >= 0);
  return fd;
}

enum { VERSION_AT = 8, VERSION_LARGE = 5 };

static void set_version(int fd, uint32_t version) {
  assert_int_equal(pwrite(fd, &version, sizeof version, VERSION_AT), sizeof version);
}

static void a_file_of_another_version_is_left_and_a_line_says_what_delivers_it(void **state) {
  (void)state;
  test_directory directory;
  test_directory_make(&directory);
  char notes[200], log[200];
  snprintf(notes, sizeof notes, "%s/notes", directory.path);
  snprintf(log, sizeof log, "%s/log", directory.path);
  const char *const endless[] = {"crash-emitter", notes, "1", "500", NULL};
  pid_t pid = test_start(endless, NULL);
  wait_for_notes(notes);
  kill(pid, SIGKILL);
  test_wait(pid);
  int fd = open_ring_file(&directory);
  uint32_t version;
  assert_int_equal(pread(fd, &version, sizeof version, VERSION_AT), sizeof version);
  set_version(fd, 3);
  static const char line[] =
      "a ring file of another version of Lifeline; deliver its events with the lifeline-recover of that version";
  pid = test_start(endless, log);
  for (int i = 0; i < 12000 && strstr(test_text_of(log), line) == NULL; i++)
    usleep(5000);
  assert_non_null(strstr(test_text_of(log), line));
  kill(pid, SIGKILL);
  test_wait(pid);
  const char *const recover[] = {"lifeline-recover", NULL};
  for (uint32_t other = 3; other <= 6; other += 3) {
    set_version(fd, other);
    assert_int_equal(test_wait(test_start(recover, log)), 1);
    assert_non_null(strstr(test_text_of(log), line));
    assert_int_equal(test_ring_files(&directory), 1);
  }
  set_version(fd, version);
  close(fd);
  assert_int_equal(test_wait(test_start(recover, log)), 0);
  assert_int_equal(test_ring_files(&directory), 0);
  test_directory_remove(&directory);
}

/* The header refers to a slot and a ring without allocated pages: reading them allocates pages. */
static void a_file_with_holes_on_a_full_filesystem_is_no_sigbus(void **state) {
  (void)state;
  test_directory directory;
  test_directory_make(&directory);
  char notes[200], log[200], full[400];
  snprintf(notes, sizeof notes, "%s/notes", directory.path);
  snprintf(log, sizeof log, "%s/log", directory.path);
  assert_int_equal(mkdir(directory.rings, 0700), 0);
  if (mount("tmpfs", directory.rings, "tmpfs", 0, "size=4m,mode=700") != 0) {
    test_directory_remove(&directory);
    print_message("skipped: a small tmpfs cannot be mounted\n");
    skip();
  }
  const char *const endless[] = {"crash-emitter", notes, "1", "500", NULL};
  pid_t pid = test_start(endless, NULL);
  wait_for_notes(notes);
  kill(pid, SIGKILL);
  test_wait(pid);
  /* Turns all but the first page into a hole, then fills the filesystem. */
  struct stat status;
  int fd = open_ring_file(&directory);
  assert_int_equal(fstat(fd, &status), 0);
  int punched = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 16384, status.st_size - 16384);
  close(fd);
  snprintf(full, sizeof full, "%s/full", directory.rings);
  fd = open(full, O_WRONLY | O_CREAT, 0600);
  while (write(fd, log, sizeof log) > 0) {
  }
  close(fd);
  const char *const recover[] = {"lifeline-recover", "--timeout-ms", "500", NULL};
  int recovered = test_wait(test_start(recover, log));
  assert_int_equal(umount2(directory.rings, MNT_DETACH), 0);
  assert_int_equal(punched, 0);
  assert_int_equal(recovered, 1);
  assert_non_null(strstr(test_text_of(log), "No space left on device"));
  test_directory_remove(&directory);
}

/* --- damaged files --- */

LL_EVENT(one, "damage.one", LL_INFO, (u32, number, ""), (string, text, ""));
LL_EVENT(two, "damage.two", LL_INFO, (u32, number, ""));

enum { EVENTS = 500 };

static void emit_both_and_die(void) {
  for (uint32_t i = 0; i < EVENTS; i++) {
    ll_emit(one, i, "some text");
    ll_emit(two, i);
  }
  kill(getpid(), SIGKILL);
}

/* The only ring file, of a process that died with all of its events in a ring. */
static ll_store die_with_events(test_directory *directory) {
  test_directory_make(directory);
  setenv("LIFELINE_INTERVAL_MS", "60000", 1);
  assert_int_equal(test_in_child(emit_both_and_die, NULL), 128 + SIGKILL);
  setenv("LIFELINE_INTERVAL_MS", "5", 1);
  struct stat status;
  int fd = open_ring_file(directory);
  assert_int_equal(fstat(fd, &status), 0);
  ll_store store = {.bytes = (size_t)status.st_size};
  store.map = mmap(NULL, store.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  assert_ptr_not_equal(store.map, MAP_FAILED);
  ll_layout_point(&store);
  return store;
}

static unsigned files_like(const test_directory *directory, const char *suffix) {
  char pattern[400];
  glob_t found = {0};
  snprintf(pattern, sizeof pattern, "%s/*%s", directory->rings, suffix);
  unsigned count = glob(pattern, 0, NULL, &found) == 0 ? (unsigned)found.gl_pathc : 0;
  globfree(&found);
  return count;
}

/* A recovery reports the damage and leaves the original, and another one has nothing to do. */
static void recover_damaged(test_directory *directory, ll_store *store, const char *line) {
  char log[200];
  snprintf(log, sizeof log, "%s/log", directory->path);
  munmap(store->map, store->bytes);
  const char *const recovery[] = {"lifeline-recover", "--timeout-ms", "20000", NULL};
  assert_int_equal(test_wait(test_start(recovery, log)), 1);
  if (strstr(test_text_of(log), line) == NULL) fail_msg("%s", test_text_of(log));
  assert_null(strstr(test_text_of(log), "complete"));
  assert_int_equal(files_like(directory, ".rings.damaged"), 1);
  assert_int_equal(test_ring_files(directory), 1); /* no other */
  assert_int_equal(test_wait(test_start(recovery, log)), 0);
  assert_int_equal(files_like(directory, ".rings.damaged"), 1);
}

/* The last batch counts everything that was emitted. */
static void check_left(const test_directory *directory, uint64_t arrived, uint64_t counter, uint64_t left) {
  test_batches batches = test_read_batches(directory->out);
  assert_true(batches.count > 0);
  const llb_batch *last = batches.at[batches.count - 1];
  assert_true((last->flags & LLB_FINAL) != 0);
  BOOKS_EQUAL(test_events_in(&batches), arrived);
  BOOKS_EQUAL(last->counters[counter], left);
  BOOKS_EQUAL(last->counters[LL_COUNT_EMITTED], 2 * EVENTS);
  test_free_batches(&batches);
}

static void a_damaged_type_takes_no_other_along(void **state) {
  (void)state;
  test_directory directory;
  ll_store store = die_with_events(&directory);
  uint8_t *name = memmem(store.descriptors, store.header->descriptors_used, "damage.one", 10);
  assert_non_null(name);
  *name ^= 1;
  recover_damaged(&directory, &store, "0 batches, 500 events and 0 bytes of rings cannot be read");
  check_left(&directory, EVENTS, LL_COUNT_SHUTDOWN, EVENTS);
  test_directory_remove(&directory);
}

/* The place of an entry says its number. */
static void a_damaged_number_of_a_type_costs_nothing(void **state) {
  (void)state;
  test_directory directory;
  char log[200];
  ll_store store = die_with_events(&directory);
  snprintf(log, sizeof log, "%s/log", directory.path);
  store.descriptors[LL_DESCRIPTOR_NUMBER] ^= 2;
  munmap(store.map, store.bytes);
  const char *const recovery[] = {"lifeline-recover", "--timeout-ms", "20000", NULL};
  assert_int_equal(test_wait(test_start(recovery, log)), 0);
  check_left(&directory, 2 * EVENTS, LL_COUNT_SHUTDOWN, 0);
  test_directory_remove(&directory);
}

static void a_ring_that_was_overwritten_keeps_what_is_before(void **state) {
  (void)state;
  test_directory directory;
  ll_store store = die_with_events(&directory);
  char line[200];
  ll_ring *ring = store.rings;
  while (ring->head == ring->tail)
    ring++;
  uint64_t each = (ring->head - ring->tail) / EVENTS, at = 300 * each;
  memset(store.map + ring->offset + at, 0xff, 8);
  snprintf(line, sizeof line, "0 events and %llu bytes of rings cannot be read",
           (unsigned long long)(ring->head - ring->tail - at));
  recover_damaged(&directory, &store, line);
  test_batches batches = test_read_batches(directory.out);
  BOOKS_EQUAL(test_events_in(&batches), 600);
  test_free_batches(&batches);
  test_directory_remove(&directory);
}

static void a_descriptor_larger_than_any_overruns_nothing(void **state) {
  (void)state;
  for (uint32_t bytes = 8 + LL_DESCRIPTOR_MAX; bytes <= LL_DESCRIPTORS_BYTES; bytes *= 11) {
    test_directory directory;
    ll_store store = die_with_events(&directory);
    char text[24];
    store.header->descriptors_used = LL_DESCRIPTORS_BYTES;
    memcpy(store.descriptors, &bytes, sizeof bytes);
    snprintf(text, sizeof text, "%s", "cannot be read");
    recover_damaged(&directory, &store, text);
    test_directory_remove(&directory);
  }
}

static ll_slot *sealed_slot(const ll_store *store) {
  for (uint32_t i = 0; i < store->header->routes[0].slots_used; i++)
    if (ll_slot_state_of(load_acquire(&store->header->slot_words[i])) == LL_SLOT_SEALED) return ll_slot_at(store, i);
  return NULL;
}

/* What was sealed and waits for a sink that takes nothing. */
static void a_damaged_batch_is_refused_and_the_others_arrive(void **state) {
  (void)state;
  test_directory directory;
  test_directory_make(&directory);
  char notes[200], url[200];
  snprintf(notes, sizeof notes, "%s/notes", directory.path);
  snprintf(url, sizeof url, "%s", getenv("LIFELINE_URL"));
  test_use_sink(&directory, "busy");
  const char *const endless[] = {"crash-emitter", notes, "1", "500", NULL};
  pid_t pid = test_start(endless, NULL);
  wait_for_notes(notes);
  struct stat status;
  int fd = open_ring_file(&directory);
  assert_int_equal(fstat(fd, &status), 0);
  ll_store store = {.bytes = (size_t)status.st_size};
  store.map = mmap(NULL, store.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  assert_ptr_not_equal(store.map, MAP_FAILED);
  ll_layout_point(&store);
  for (int i = 0; i < 60000 && sealed_slot(&store) == NULL; i++)
    usleep(1000);
  kill(pid, SIGKILL);
  test_wait(pid);
  ll_slot *slot = sealed_slot(&store);
  assert_non_null(slot);
  uint32_t lost = slot->event_count;
  slot->batch[slot->bytes / 2] ^= 16;
  setenv("LIFELINE_URL", url, 1);
  recover_damaged(&directory, &store, "1 batches, 0 events and 0 bytes of rings cannot be read");
  test_batches batches = test_read_batches(directory.out);
  const llb_batch *last = batches.at[batches.count - 1];
  BOOKS_EQUAL(last->counters[LL_COUNT_SINK], lost);
  BOOKS_EQUAL(last->counters[LL_COUNT_EMITTED] - test_drops_of(last), test_events_in(&batches) + lost);
  test_free_batches(&batches);
  test_directory_remove(&directory);
}

static void a_recovery_may_be_killed_and_run_again(void **state) {
  (void)state;
  for (unsigned i = 0; i < rounds / 2; i++)
    kill_and_recover(1000 + i, true);
}

#ifdef LIFELINE_CRASH_POINTS
static uint32_t version_of(const test_directory *directory) {
  uint32_t version;
  int fd = open_ring_file(directory);
  assert_int_equal(pread(fd, &version, sizeof version, VERSION_AT), sizeof version);
  close(fd);
  return version;
}

static void dying_before_the_first_large_batch_is_sealed_costs_nothing(void **state) {
  (void)state;
  test_directory directory;
  char notes[200], log[200];
  test_directory_make(&directory);
  snprintf(notes, sizeof notes, "%s/notes", directory.path);
  snprintf(log, sizeof log, "%s/log", directory.path);
  test_use_sink(&directory, "later");
  setenv("LIFELINE_COMPRESSION", "none", 1);
  setenv("LIFELINE_CRASH_POINT", "stamped-unsealed:1", 1);
  const char *const endless[] = {"crash-emitter", notes, "8", "0", NULL};
  const char *const recovery[] = {"lifeline-recover", "--timeout-ms", "20000", NULL};
  assert_int_equal(test_wait(test_start(endless, NULL)), 128 + SIGKILL); /* it kills itself */
  unsetenv("LIFELINE_CRASH_POINT");
  assert_int_equal(version_of(&directory), VERSION_LARGE);
  if (test_wait(test_start(recovery, log)) != 0) fail_msg("%s", test_text_of(log));
  unsetenv("LIFELINE_COMPRESSION");
  assert_int_equal(test_ring_files(&directory), 0);
  check_books(&directory, notes);
  test_directory_remove(&directory);
}
#endif

int main(int argc, char **argv) {
  if (argc > 1) rounds = (unsigned)atoi(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_killed_emitters_events_arrive_exactly_once),
      cmocka_unit_test(the_next_start_delivers_what_the_last_run_left),
      cmocka_unit_test(the_next_start_leaves_what_is_meant_for_another_sink),
      cmocka_unit_test(a_living_programs_file_is_left_alone),
      cmocka_unit_test(files_below_the_sessions_directory_are_found_as_well),
      cmocka_unit_test(a_file_that_makes_no_sense_is_left_and_named),
      cmocka_unit_test(a_file_of_another_version_is_left_and_a_line_says_what_delivers_it),
      cmocka_unit_test(a_file_with_holes_on_a_full_filesystem_is_no_sigbus),
      cmocka_unit_test(a_damaged_type_takes_no_other_along),
      cmocka_unit_test(a_damaged_number_of_a_type_costs_nothing),
      cmocka_unit_test(a_ring_that_was_overwritten_keeps_what_is_before),
      cmocka_unit_test(a_descriptor_larger_than_any_overruns_nothing),
      cmocka_unit_test(a_damaged_batch_is_refused_and_the_others_arrive),
      cmocka_unit_test(a_recovery_may_be_killed_and_run_again),
#ifdef LIFELINE_CRASH_POINTS
      cmocka_unit_test(dying_before_the_first_large_batch_is_sealed_costs_nothing),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
