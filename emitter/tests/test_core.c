/* Unit tests of the core, for cases that whole programs rarely reach. */
#include "support.h"

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "base/utf8.h"
#include "batch/compress.h"
#include "batch/crc32c.h"
#include "ring/pool.h"
#include "ring/slots.h"
#include "ring/types.h"
#include "ring/validate.h"
#include "route/harvest.h"
#include "sink/destination.h"
#include "sink/plugin.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void crc32c_is_that_of_rfc_3720(void **state) {
  (void)state;
  uint8_t bytes[32];
  memset(bytes, 0, sizeof bytes);
  assert_int_equal(ll_crc32c(bytes, sizeof bytes), 0x8a9136aa);
  memset(bytes, 0xff, sizeof bytes);
  assert_int_equal(ll_crc32c(bytes, sizeof bytes), 0x62a8ab43);
  assert_int_equal(ll_crc32c("123456789", 9), 0xe3069283);
}

static void instruction_and_table_agree_on_every_length(void **state) {
  (void)state;
  static uint8_t bytes[8000];
  unsigned seed = 1;
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (uint8_t)rand_r(&seed);
  for (size_t i = 0; i < sizeof bytes; i += i < 100 ? 1 : 97)
    assert_int_equal(ll_crc32c(bytes + i % 9, sizeof bytes - i - i % 9),
                     ll_crc32c_by_table(bytes + i % 9, sizeof bytes - i - i % 9));
}

static void only_well_formed_text_is_utf8(void **state) {
  (void)state;
  assert_true(ll_is_utf8("") && ll_is_utf8("h\xc3\xa9") && ll_is_utf8("\xf0\x9f\x90\xb8") &&
              ll_is_utf8("\xef\xbf\xbf"));
  assert_false(ll_is_utf8("\xc0\xaf"));         /* overlong */
  assert_false(ll_is_utf8("\xed\xa0\x80"));     /* surrogate */
  assert_false(ll_is_utf8("\xf4\x90\x80\x80")); /* beyond Unicode */
  assert_false(ll_is_utf8("\xe2\x82"));         /* cut */
  char text[] = "a\xff\xc3\xa9\xe2\x82";
  ll_make_utf8(text);
  assert_string_equal(text, "a?\xc3\xa9??");
}

static ll_types types;

static int make_types(void **state) {
  (void)state;
  return ll_types_create(&types);
}

static int free_types(void **state) {
  (void)state;
  ll_types_free(&types);
  return 0;
}

static const ll_field two_fields[] = {{LL_CODE_i32, "a", "B"}, {LL_CODE_string, "b", ""}};

static void equal_types_share_a_number_and_changed_ones_do_not(void **state) {
  (void)state;
  char why[256];
  ll_event_type type = {.state = LL_TYPE_NEW, .level = LL_INFO, .field_count = 2, .name = "name", .fields = two_fields},
                other = type;
  assert_int_equal(ll_types_register(&types, &type, why, sizeof why), 1);
  assert_int_equal(ll_types_register(&types, &other, why, sizeof why), 1);
  other.level = LL_WARN;
  assert_int_equal(ll_types_register(&types, &other, why, sizeof why), 2);
  other.field_count = 1;
  assert_int_equal(ll_types_register(&types, &other, why, sizeof why), 3);
}

static void illegal_types_are_refused_with_a_reason(void **state) {
  (void)state;
  char why[256], name[400];
  const ll_field twice[] = {{LL_CODE_i32, "a", ""}, {LL_CODE_f32, "a", ""}};
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  const struct {
    ll_event_type type;
    const char *reason;
  } cases[] = {
      {{.state = LL_TYPE_NEW, .level = LL_INFO, .field_count = 2, .name = "x", .fields = twice},
       "two fields or constants of one name"},
      {{.state = LL_TYPE_NEW, .level = 9, .field_count = 0, .name = "x", .fields = twice}, "unknown level"},
      {{.state = LL_TYPE_NEW, .level = LL_INFO, .field_count = 0, .name = name, .fields = twice},
       "longer than 255 bytes"},
      {{.state = LL_TYPE_NEW, .level = LL_INFO, .field_count = 0, .name = "\xff", .fields = twice}, "not UTF-8"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(ll_types_register(&types, &cases[i].type, why, sizeof why), LL_TYPE_REFUSED);
    if (strstr(why, cases[i].reason) == NULL) fail_msg("%s", why);
  }
}

/* A program that makes names of its data gets one line. */
static void of_too_many_types_the_first_is_told(void **state) {
  (void)state;
  char why[256], name[256], lines = 0;
  ll_event_type type = {.state = LL_TYPE_NEW, .level = LL_INFO, .field_count = 0, .name = name, .fields = two_fields};
  for (int i = 0, refused = 0; refused < 3; i++) {
    snprintf(name, sizeof name, "%0250d", i);
    if (ll_types_register(&types, &type, why, sizeof why) != LL_TYPE_REFUSED) continue;
    refused++;
    lines += why[0] != '\0';
  }
  assert_int_equal(lines, 1);
}

/* The record ends before an inaccessible page. */
static void a_record_that_lies_about_its_length_is_no_record(void **state) {
  (void)state;
  char why[256];
  ll_event_type type = {.state = LL_TYPE_NEW, .level = LL_INFO, .field_count = 2, .name = "name", .fields = two_fields};
  assert_int_equal(ll_types_register(&types, &type, why, sizeof why), 1);
  uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(pages, MAP_FAILED);
  assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
  for (size_t available = 0; available <= 24; available += 8) {
    uint8_t record[24] = {1, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 10, 0, 'a'};
    uint8_t *at = pages + 4096 - available;
    memcpy(at, record, available);
    assert_int_equal(ll_record_bytes(&types, at, available), available == 24 ? 24 : 0);
  }
  uint8_t unknown[8] = {2};
  assert_int_equal(ll_record_bytes(&types, unknown, sizeof unknown), 0);
  munmap(pages, 8192);
}

static char logged[256];

static void keep_line(void *ctx, ll_log_level level, const char *message) {
  (void)ctx, (void)level;
  snprintf(logged, sizeof logged, "%s", message);
}

static void what_others_say_does_not_speak_to_the_terminal(void **state) {
  (void)state;
  ll_log_to(keep_line, NULL);
  ll_log(LL_LOG_WARN, "it says %s", "a\nb\x1b[31mc\x7f\td");
  ll_log_to(NULL, NULL);
  assert_string_equal(logged, "it says a b [31mc  d");
  ll_log_to(keep_line, NULL);
  ll_log(LL_LOG_WARN, "it says %s",
         "\xc2\x9b"
         "31m caf\xc3\xa9 \xc2\xb5 \xc2");
  ll_log_to(NULL, NULL);
  assert_string_equal(logged, "it says   31m caf\xc3\xa9 \xc2\xb5 \xc2");
}

/* Fills the ring like a thread that is always ahead of the harvester. */
static void fill_up(const ll_store *store, ll_ring *ring, uint64_t word, uint64_t bytes) {
  for (; ring->head - ring->tail < bytes; ring->head += sizeof word)
    memcpy(ll_ring_base(store, ring) + (ring->head & (ring->bytes - 1)), &word, sizeof word);
}

static void a_ring_that_fills_every_batch_does_not_shut_out_the_others(void **state) {
  (void)state;
  static ll_event_type type = {.level = LL_INFO, .name = "test.bare"};
  ll_store store;
  ll_types own;
  ll_harvest harvest;
  char why[256];
  uint8_t incarnation[16] = {1};
  assert_int_equal(ll_types_create(&own), 0);
  uint64_t word = UINT64_C(1000) << 16 | ll_types_register(&own, &type, why, sizeof why);
  assert_int_equal(ll_store_create(&store, "/nowhere/at/all", "test", 16u << 20, incarnation, why, sizeof why), 0);
  assert_int_equal(
      ll_harvest_start(&harvest, &store, 0, &own, ll_compressor_create("none", why, sizeof why), 64 << 10, true), 0);
  ll_ring *busy = ll_pool_take(&store, 0, LL_RING_BYTES_MAX), *quiet = ll_pool_take(&store, 0, LL_RING_BYTES_MIN);
  assert_non_null(busy);
  assert_non_null(quiet);
  busy->thread = 1;
  quiet->thread = 2;
  fill_up(&store, quiet, word, sizeof word);
  for (int batch = 0; batch < 3; batch++) {
    fill_up(&store, busy, word, busy->bytes);
    assert_int_equal(ll_harvest_seal(&harvest, 0), LL_SEALED);
  }
  assert_int_equal(quiet->tail, quiet->head);
  ll_harvest_free(&harvest);
  ll_store_unmap(&store);
  ll_types_free(&own);
}

/* A ring whose events waited, and the ticks that batches give them. */
typedef struct waiting {
  ll_store store;
  ll_types types;
  ll_harvest harvest;
  ll_ring *ring;
  uint16_t number;
  uint64_t now;
  uint64_t ticks[64];
  uint32_t events, flags;
} waiting;

static waiting start_to_wait(uint64_t since_ticks) {
  static ll_event_type type = {.level = LL_INFO, .name = "test.bare"};
  waiting all = {.events = 0};
  char why[256];
  type.state = 0;
  assert_int_equal(ll_types_create(&all.types), 0);
  all.number = (uint16_t)ll_types_register(&all.types, &type, why, sizeof why);
  assert_int_equal(ll_store_create(&all.store, "/nowhere/at/all", "test", 16u << 20, (uint8_t[16]){1}, why, sizeof why),
                   0);
  all.ring = ll_pool_take(&all.store, 0, LL_RING_BYTES_MIN);
  all.ring->thread = 1;
  all.now = ll_clock_tick((ll_clock_kind)all.store.header->clock);
  all.ring->since = all.now - since_ticks;
  return all;
}

static void emit_at(waiting *all, uint64_t tick) {
  fill_up(&all->store, all->ring, tick << 16 | all->number, all->ring->head - all->ring->tail + sizeof tick);
}

static void read_what_waited(waiting *all) {
  uint64_t sequence = 0;
  for (const ll_slot *slot; (slot = ll_slot_next_sealed(&all->store, 0, &sequence)) != NULL;) {
    llb_rejection rejection;
    llb_batch *batch = llb_read(slot->batch, slot->bytes, &rejection);
    assert_non_null(batch);
    all->flags |= batch->flags;
    llb_cursor cursor = llb_events(batch);
    for (llb_event event; llb_next(&cursor, &event);)
      all->ticks[all->events++] = event.tick;
    llb_batch_free(batch);
  }
}

/* Seals and reads everything. `seen` may be NULL. */
static void end_the_wait(waiting *all, const ll_sighting *seen) {
  char why[256];
  assert_int_equal(ll_harvest_start(&all->harvest, &all->store, 0, &all->types,
                                    ll_compressor_create("none", why, sizeof why), 64 << 10, true),
                   0);
  if (seen != NULL) all->harvest.batch->seen[all->ring - all->store.rings] = *seen;
  while (ll_harvest_seal(&all->harvest, 0) == LL_SEALED) {
  }
  read_what_waited(all);
  ll_harvest_free(&all->harvest);
  ll_store_unmap(&all->store);
  ll_types_free(&all->types);
}

static void events_that_waited_for_days_keep_their_times(void **state) {
  (void)state;
  enum { EVENTS = 40 };
  const uint64_t step = UINT64_C(1) << 44; /* 40 of them are more than twice what 48 bits can tell */
  waiting all = start_to_wait(EVENTS * step);
  uint64_t first = all.now - EVENTS * step;
  for (uint64_t i = 0; i < EVENTS; i++)
    emit_at(&all, first + i * step);
  end_the_wait(&all, NULL);
  assert_int_equal(all.events, EVENTS);
  for (uint64_t i = 0; i < EVENTS; i++)
    assert_int_equal(all.ticks[i], first + i * step);
  assert_int_equal(all.flags & LLB_CLOCK_UNCERTAIN, 0);
}

static void an_event_behind_one_that_waited_is_known_to_be_later(void **state) {
  (void)state;
  const uint64_t days = (UINT64_C(1) << 48) + (UINT64_C(1) << 45);
  waiting all = start_to_wait(days);
  emit_at(&all, all.now - days);
  ll_sighting seen = {all.ring->head, all.now - 10};
  emit_at(&all, all.now);
  end_the_wait(&all, &seen);
  assert_int_equal(all.events, 2);
  assert_int_equal(all.ticks[0], all.now - days);
  assert_int_equal(all.ticks[1], all.now);
  assert_int_equal(all.flags & LLB_CLOCK_UNCERTAIN, 0);
}

static void a_time_that_can_only_be_guessed_is_uncertain(void **state) {
  (void)state;
  const uint64_t days = (UINT64_C(1) << 48) + (UINT64_C(1) << 47);
  waiting all = start_to_wait(days);
  emit_at(&all, all.now - days);
  emit_at(&all, all.now); /* the process was stopped in between */
  end_the_wait(&all, NULL);
  assert_int_equal(all.events, 2);
  assert_int_equal(all.ticks[0], all.now - days);
  assert_int_equal(all.ticks[1], all.now);
  assert_int_not_equal(all.flags & LLB_CLOCK_UNCERTAIN, 0);
}

static void a_file_with_a_ring_that_was_never_made_is_refused(void **state) {
  (void)state;
  test_directory directory;
  test_directory_make(&directory);
  ll_store store, found;
  char why[256] = "";
  uint8_t incarnation[16] = {1};
  assert_int_equal(ll_store_create(&store, directory.rings, "test", 4u << 20, incarnation, why, sizeof why), 0);
  ll_store_publish(&store, why, sizeof why);
  assert_true(store.crash_safe);
  store.header->owner.pid = 0;
  store.header->ring_count = 1;
  store.rings[0].head = 8;
  assert_int_equal(ll_store_attach(&found, store.path, false, why, sizeof why), EINVAL);
  assert_string_equal(why, "unknown ring state");
  ll_store_remove(&store);
  ll_store_unmap(&store);
  test_directory_remove(&directory);
}

/* A zero word is a filler only at the end of a lap; elsewhere the program has overwritten its ring. */
static void zeros_in_the_middle_of_a_ring_are_not_taken_for_its_end(void **state) {
  (void)state;
  test_directory directory;
  test_directory_make(&directory);
  ll_store store;
  ll_types own;
  char why[256] = "";
  uint8_t incarnation[16] = {1};
  static ll_batch batch;
  assert_int_equal(ll_types_create(&own), 0);
  assert_int_equal(ll_store_create(&store, directory.rings, "test", 4u << 20, incarnation, why, sizeof why), 0);
  ll_ring *ring = ll_pool_take(&store, 0, LL_RING_BYTES_MIN);
  assert_non_null(ring);
  ring->thread = 1;
  ring->head = 4096; /* of zeros */
  ll_batch_begin(&batch, &own, &store, 0, 64 << 10, 64 << 10, 0);
  assert_int_equal(ll_batch_gather(&batch, &store, 0), LL_GATHERED_GARBAGE);
  ring->tail = ring->head = ring->bytes - 4096;
  ring->head = ring->bytes; /* and here they are a filler */
  ll_batch_begin(&batch, &own, &store, 0, 64 << 10, 64 << 10, 0);
  assert_int_equal(ll_batch_gather(&batch, &store, 0), LL_GATHERED_ALL);
  ll_store_remove(&store);
  ll_store_unmap(&store);
  ll_types_free(&own);
  test_directory_remove(&directory);
}

static void calibrations_thin_out_but_keep_first_last_and_steps(void **state) {
  (void)state;
  ll_calibrations known = {.count = 0};
  for (uint64_t i = 0; i < LL_CALIBRATIONS_MAX; i++)
    known.at[known.count++] = (ll_calibration){i + 1, i, 0, 1, i == 21 ? LL_CALIBRATION_STEP : 0};
  for (int i = 0; i < 500; i++) {
    ll_calibrate(&known, LL_CLOCK_MONOTONIC);
    assert_true(known.count <= LL_CALIBRATIONS_MAX);
    for (uint32_t j = 1; j < known.count; j++)
      assert_true(known.at[j].tick > known.at[j - 1].tick);
  }
}

static void a_tick_that_runs_backwards_is_admitted(void **state) {
  (void)state;
  ll_calibrations known = {.count = 0};
  ll_calibrate(&known, LL_CLOCK_MONOTONIC);
  known.at[0].tick += UINT64_C(1) << 40;
  ll_calibrate(&known, LL_CLOCK_MONOTONIC);
  assert_int_equal(known.count, 1);
  assert_int_equal(known.uncertain, 1);
}

static void a_step_of_the_realtime_clock_is_marked(void **state) {
  (void)state;
  ll_calibrations known = {.count = 0};
  ll_calibrate(&known, LL_CLOCK_MONOTONIC);
  known.at[0].realtime_offset_ns -= 50000000;
  ll_calibrate(&known, LL_CLOCK_MONOTONIC);
  assert_int_equal(known.count, 2);
  assert_int_equal(known.at[1].flags, LL_CALIBRATION_STEP);
  assert_int_equal(known.uncertain, 0);
}

static void we_are_alive_and_an_ended_child_is_dead(void **state) {
  (void)state;
  int ends[2];
  ll_process self = ll_process_self(), child;
  assert_int_equal(ll_process_liveness(&self), LL_ALIVE);
  assert_int_equal(pipe(ends), 0);
  pid_t pid = fork();
  if (pid == 0) {
    child = ll_process_self();
    _exit(write(ends[1], &child, sizeof child) == sizeof child ? 0 : 1);
  }
  assert_int_equal(read(ends[0], &child, sizeof child), sizeof child);
  assert_int_equal(test_wait(pid), 0);
  assert_int_equal(ll_process_liveness(&child), LL_DEAD);
  self.start_time++; /* the pid was reused */
  assert_int_equal(ll_process_liveness(&self), LL_REPLACED);
  self = ll_process_self();
  self.boot[0] ^= 1;
  assert_int_equal(ll_process_liveness(&self), LL_OTHER_BOOT);
  self = ll_process_self();
  self.pid_namespace ^= 1;
  assert_int_equal(ll_process_liveness(&self), LL_UNKNOWN);
  close(ends[0]);
  close(ends[1]);
}

static void what_cannot_be_found_out_is_not_dead(void **state) {
  (void)state;
  struct rlimit before, none = {0, 0};
  ll_process self = ll_process_self(), child = self;
  child.pid = (uint32_t)fork();
  if (child.pid == 0) {
    pause();
    _exit(0);
  }
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  none.rlim_max = before.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0); /* /proc cannot be read */
  ll_liveness ours = ll_process_liveness(&self), childs = ll_process_liveness(&child);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_int_equal(ours, LL_UNKNOWN);
  assert_int_equal(childs, LL_UNKNOWN);
  self.start_time = 0; /* the writer could not determine its start time */
  assert_int_equal(ll_process_liveness(&self), LL_UNKNOWN);
  kill((pid_t)child.pid, SIGKILL);
  test_wait_for((pid_t)child.pid, SIGKILL);
  assert_int_equal(ll_process_liveness(&child), LL_DEAD);
}

/* In a child: a ring file whose owner the recovering process does not know, as in another container. */
static void own_a_file_elsewhere(const test_directory *directory, size_t member, int told) {
  ll_store store;
  char why[256] = "";
  uint8_t incarnation[16] = {1};
  if (ll_store_create(&store, directory->rings, "test", 4u << 20, incarnation, why, sizeof why) != 0) _exit(1);
  ((uint8_t *)&store.header->owner)[member] ^= 1;
  ll_store_publish(&store, why, sizeof why);
  if (write(told, store.path, sizeof store.path) != (ssize_t)sizeof store.path) _exit(1);
  pause();
  _exit(0);
}

static void an_owner_elsewhere_is_dead_when_nobody_maps_its_file(void **state) {
  (void)state;
  static const size_t members[] = {offsetof(ll_process, pid_namespace), offsetof(ll_process, boot),
                                   offsetof(ll_process, start_time)}; /* by another time namespace */
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    test_directory directory;
    ll_store found;
    int ends[2];
    char path[PATH_MAX], why[256] = "";
    test_directory_make(&directory);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) own_a_file_elsewhere(&directory, members[i], ends[1]);
    assert_int_equal(read(ends[0], path, sizeof path), sizeof path);
    assert_int_equal(ll_store_attach(&found, path, false, why, sizeof why), EBUSY);
    assert_int_equal(ll_store_attach(&found, path, true, why, sizeof why), EBUSY);
    kill(child, SIGKILL);
    test_wait_for(child, SIGKILL);
    assert_int_equal(ll_store_attach(&found, path, false, why, sizeof why), 0);
    ((uint8_t *)&found.header->recoverer)[members[i]] ^= 1; /* the recovering process may be elsewhere, too */
    ll_store again;
    assert_int_equal(ll_store_attach(&again, path, false, why, sizeof why), EBUSY);
    ll_store_remove(&found);
    ll_store_unmap(&found);
    close(ends[0]);
    close(ends[1]);
    test_directory_remove(&directory);
  }
}

/* In a child: a program that calls chroot. */
static void look_from_another_root(const test_directory *directory) {
  enum { NOT_ALLOWED = 77 };
  ll_store store;
  char why[256] = "";
  uint8_t incarnation[16] = {2};
  if (ll_store_create(&store, directory->rings, "test", 4u << 20, incarnation, why, sizeof why) != 0) _exit(1);
  ll_store_publish(&store, why, sizeof why);
  if (!store.crash_safe) _exit(2);
  if (chroot(directory->path) != 0) _exit(NOT_ALLOWED);
  ll_store_look(&store);
  _exit(store.crash_safe ? 0 : 3);
}

static void a_file_whose_path_is_one_of_another_root_counts_as_there(void **state) {
  (void)state;
  test_directory directory;
  test_directory_make(&directory);
  pid_t child = fork();
  if (child == 0) look_from_another_root(&directory);
  int status = test_wait(child);
  test_directory_remove(&directory);
  if (status == 77) skip();
  assert_int_equal(status, 0);
}

/* --- memory limits --- */

static void write_file(const char *directory, const char *name, const char *text) {
  char path[400];
  snprintf(path, sizeof path, "mkdir -p %s", directory);
  assert_int_equal(system(path), 0);
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void the_lowest_memory_limit_of_all_control_groups_counts(void **state) {
  (void)state;
  static const struct {
    const char *membership, *directory, *file, *text;
  } steps[] = {
      {"0::/a/b\n", "/a/b", "memory.max", "max\n"},
      {NULL, "/a", "memory.max", "25165824\n"}, /* 24 MiB */
      {NULL, "/a", "memory.current", "20971520\n"},
      {NULL, "/a", "memory.stat", "anon 1\ninactive_file 4194304\nactive_file 1048576\n"},
      {"5:cpu,memory:/x\n1:memory_not:/a/b\n", "/memory", "memory.limit_in_bytes", "9223372036854771712\n"},
      {NULL, "/memory/x", "memory.limit_in_bytes", "8388608\n"},
      {NULL, "/memory/x", "memory.usage_in_bytes", "9388608\n"},
  };
  static const ll_cgroup_memory expected[] = {
      {UINT64_MAX, UINT64_MAX}, {24u << 20, 24u << 20}, {24u << 20, 4u << 20}, {24u << 20, 9u << 20},
      {UINT64_MAX, UINT64_MAX}, {8u << 20, 8u << 20},   {8u << 20, 0},
  };
  char root[] = "/tmp/lifeline-test-XXXXXX", membership[100], directory[200], command[100];
  assert_non_null(mkdtemp(root));
  snprintf(membership, sizeof membership, "%s/membership", root);
  for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    if (steps[i].membership != NULL) write_file(root, "membership", steps[i].membership);
    snprintf(directory, sizeof directory, "%s%s", root, steps[i].directory);
    write_file(directory, steps[i].file, steps[i].text);
    ll_cgroup_memory found = ll_cgroup_memory_of(membership, root);
    assert_int_equal(found.limit, expected[i].limit);
    assert_int_equal(found.room, expected[i].room);
  }
  assert_int_equal(ll_cgroup_memory_of("/nowhere", root).limit, UINT64_MAX);
  snprintf(command, sizeof command, "rm -r %s", root);
  assert_int_equal(system(command), 0);
  assert_int_equal(ll_store_budget_within(UINT64_MAX, 64u << 20, 0), 64u << 20);
  assert_int_equal(ll_store_budget_within(24u << 20, 64u << 20, 0), 6u << 20);
  assert_int_equal(ll_store_budget_within(1u << 20, 64u << 20, 0), ll_store_least_budget(0));
}

/* --- destinations --- */

static void a_destination_has_no_secrets_and_may_change_its_servers(void **state) {
  (void)state;
  static const struct {
    const char *url, *destination;
  } cases[] = {
      {"nats://user:p@ss/word@host:4222,other/prefix?tls=true&creds=/secret", "nats://host:4222,other/prefix"},
      {"kafka://host", "kafka://host"},
      {"file:///tmp/out.llb?x", "file:///tmp/out.llb"},
      {"null:", "null:"},
  };
  char one[LL_DESTINATION_BYTES];
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ll_destination(cases[i].url, one);
    assert_string_equal(one, cases[i].destination);
    assert_true(ll_destination_is_same(one, one));
  }
  assert_true(ll_destination_is_same("nats://a,b:1", "nats://c,b:1/"));
  assert_false(ll_destination_is_same("nats://a,b:1", "nats://b"));
  assert_false(ll_destination_is_same("nats://a/x", "nats://a/y"));
  assert_false(ll_destination_is_same("nats://a", "kafka://a"));
  assert_false(ll_destination_is_same("file:///a", "file:///b"));
}

static void say_nothing(void *ctx, ll_sink_log_level level, const char *message) {
  (void)ctx, (void)level, (void)message;
}

static void take_note(void *ctx, uint64_t token, ll_sink_outcome outcome, const char *why) {
  (void)token, (void)outcome, (void)why;
  ++*(int *)ctx;
}

/* So an ending program does not wait for it. */
static void a_file_that_could_never_be_written_is_not_reached(void **state) {
  (void)state;
  test_directory directory;
  test_directory_make(&directory);
  char url[300], folder[200], why[200];
  int done = 0;
  snprintf(folder, sizeof folder, "%s/missing", directory.path);
  snprintf(url, sizeof url, "file://%s/events.llb", folder);
  const ll_sink_host host = {.url = url, .ctx = &done, .log = say_nothing, .done = take_note};
  ll_sink *sink = ll_sink_file.open(&host, why, sizeof why);
  assert_non_null(sink);
  static const uint8_t batch[64];
  assert_true(ll_sink_file.reached(sink));
  assert_int_equal(ll_sink_file.send(sink, 1, batch, sizeof batch, 0, 1), LL_SINK_BUSY);
  assert_false(ll_sink_file.reached(sink));
  assert_int_equal(mkdir(folder, 0700), 0);
  assert_int_equal(ll_sink_file.send(sink, 1, batch, sizeof batch, 0, 1), LL_SINK_OK);
  assert_int_equal(done, 1);
  assert_true(ll_sink_file.reached(sink));
  ll_sink_file.close(sink);
  test_directory_remove(&directory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crc32c_is_that_of_rfc_3720),
      cmocka_unit_test(instruction_and_table_agree_on_every_length),
      cmocka_unit_test(only_well_formed_text_is_utf8),
      cmocka_unit_test_setup_teardown(equal_types_share_a_number_and_changed_ones_do_not, make_types, free_types),
      cmocka_unit_test_setup_teardown(illegal_types_are_refused_with_a_reason, make_types, free_types),
      cmocka_unit_test_setup_teardown(of_too_many_types_the_first_is_told, make_types, free_types),
      cmocka_unit_test_setup_teardown(a_record_that_lies_about_its_length_is_no_record, make_types, free_types),
      cmocka_unit_test(what_others_say_does_not_speak_to_the_terminal),
      cmocka_unit_test(a_file_with_a_ring_that_was_never_made_is_refused),
      cmocka_unit_test(calibrations_thin_out_but_keep_first_last_and_steps),
      cmocka_unit_test(a_tick_that_runs_backwards_is_admitted),
      cmocka_unit_test(a_ring_that_fills_every_batch_does_not_shut_out_the_others),
      cmocka_unit_test(events_that_waited_for_days_keep_their_times),
      cmocka_unit_test(an_event_behind_one_that_waited_is_known_to_be_later),
      cmocka_unit_test(a_time_that_can_only_be_guessed_is_uncertain),
      cmocka_unit_test(a_step_of_the_realtime_clock_is_marked),
      cmocka_unit_test(zeros_in_the_middle_of_a_ring_are_not_taken_for_its_end),
      cmocka_unit_test(we_are_alive_and_an_ended_child_is_dead),
      cmocka_unit_test(what_cannot_be_found_out_is_not_dead),
      cmocka_unit_test(a_file_whose_path_is_one_of_another_root_counts_as_there),
      cmocka_unit_test(an_owner_elsewhere_is_dead_when_nobody_maps_its_file),
      cmocka_unit_test(the_lowest_memory_limit_of_all_control_groups_counts),
      cmocka_unit_test(a_destination_has_no_secrets_and_may_change_its_servers),
      cmocka_unit_test(a_file_that_could_never_be_written_is_not_reached),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
