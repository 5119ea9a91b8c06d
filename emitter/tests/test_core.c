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
#include "route/relief.h"
#include "sink/destination.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

static void a_slot_is_freed_by_its_own_batch_only(void **state) {
  (void)state;
  ll_store store;
  char why[256];
  uint8_t incarnation[16] = {1};
  assert_int_equal(ll_store_create(&store, "/nowhere/at/all", "test", 4u << 20, incarnation, why, sizeof why), 0);
  assert_false(store.crash_safe);
  ll_slot *slot = ll_slot_to_fill(&store, 0, LL_SLOT_RUN);
  uint32_t index = ll_slot_index(&store, slot);
  ll_slot_seal(&store, slot, 7);
  assert_false(ll_slot_move(&store, index, 6, LL_SLOT_SEALED, LL_SLOT_FREE));
  assert_true(ll_slot_move(&store, index, 7, LL_SLOT_SEALED, LL_SLOT_FREE));
  assert_false(ll_slot_move(&store, index, 7, LL_SLOT_SEALED, LL_SLOT_FREE));
  ll_store_unmap(&store);
}

static void the_slot_of_the_latest_batch_is_not_filled_again(void **state) {
  (void)state;
  ll_store store;
  char why[256];
  uint64_t sequence;
  uint8_t incarnation[16] = {1};
  assert_int_equal(ll_store_create(&store, "/nowhere/at/all", "test", 4u << 20, incarnation, why, sizeof why), 0);
  for (uint64_t next = 1; next < 50; next++) {
    ll_slot *latest = ll_slot_latest(&store, 0, &sequence), *slot = ll_slot_to_fill(&store, 0, LL_SLOT_RUN);
    assert_int_equal(sequence, next - 1);
    assert_ptr_not_equal(slot, latest);
    ll_slot_seal(&store, slot, next);
    assert_true(ll_slot_move(&store, ll_slot_index(&store, slot), next, LL_SLOT_SEALED, LL_SLOT_FREE));
  }
  ll_store_unmap(&store);
}

/* Seals a slot that looks like a batch of this many bytes. */
static ll_slot *fill_slot(ll_store *store, uint64_t sequence, uint32_t bytes) {
  ll_slot *slot = ll_slot_to_fill(store, 0, LL_SLOT_RUN);
  if (slot == NULL) return NULL;
  slot->bytes = bytes;
  slot->route = 0; /* a previous batch may have set it */
  slot->take_count = 0;
  memset(slot->batch, (int)sequence, bytes);
  ll_slot_seal(store, slot, sequence);
  return slot;
}

static void small_batches_lie_side_by_side_and_leave_each_other_alone(void **state) {
  (void)state;
  ll_store store;
  char why[256];
  uint64_t sequence = 0;
  uint8_t incarnation[16] = {1};
  assert_int_equal(ll_store_create(&store, "/nowhere/at/all", "test", 4u << 20, incarnation, why, sizeof why), 0);
  for (int round = 0; round < 50; round++) {
    ll_slot *slot;
    while ((slot = fill_slot(&store, sequence + 1, (uint32_t)(sequence * 7919 % 60000) + 1)) != NULL)
      sequence++;
    assert_null(ll_slots_fault(&store));
    if (round == 0) assert_in_range(ll_slots_vacant(&store, 0), 0, LL_SLOT_RUN - 1);
    assert_true(ll_slots_in(&store, 0, LL_SLOT_SEALED) > 0);
    unsigned seen = 0;
    uint64_t at = 0;
    for (const ll_slot *next; (next = ll_slot_next_sealed(&store, 0, &at)) != NULL; seen++) {
      for (uint32_t i = 0; i < next->bytes; i++)
        if (next->batch[i] != (uint8_t)at) fail_msg("batch %llu was written over", (unsigned long long)at);
      /* Keep some, so that the free space is fragmented. */
      if (at % 5 == (uint64_t)round % 5) continue;
      ll_slot_move(&store, ll_slot_index(&store, next), at, LL_SLOT_SEALED,
                   at % 3 == 0 ? LL_SLOT_REFUSED : LL_SLOT_FREE);
      if (at % 3 == 0) ll_slot_move(&store, ll_slot_index(&store, next), at, LL_SLOT_REFUSED, LL_SLOT_FREE);
    }
    assert_int_equal(ll_slot_latest(&store, 0, &at) != NULL, 1);
    assert_int_equal(at, sequence);
  }
  /* When the sink has taken everything, unused slots are no longer searched. */
  uint64_t at = 0;
  for (const ll_slot *next; (next = ll_slot_next_sealed(&store, 0, &at)) != NULL;)
    ll_slot_move(&store, ll_slot_index(&store, next), at, LL_SLOT_SEALED, LL_SLOT_FREE);
  for (int i = 0; i < 2; i++) {
    fill_slot(&store, ++sequence, 1);
    ll_slot_latest(&store, 0, &at);
    assert_int_equal(at, sequence);
  }
  assert_in_range(ll_slots_of(&store, 0).end, 1, 2 * LL_SLOT_RUN);
  ll_store_unmap(&store);
}

static void a_large_batch_takes_the_slots_that_it_needs(void **state) {
  (void)state;
  ll_store store;
  char why[256];
  uint8_t incarnation[16] = {1};
  uint64_t sequence = 0;
  assert_int_equal(ll_store_create(&store, "/nowhere/at/all", "test", 16u << 20, incarnation, why, sizeof why), 0);
  assert_int_equal(ll_slots_for(&store, 0, 0), LL_SLOT_RUN);
  assert_int_equal(ll_slots_for(&store, 0, 256u << 10), LL_SLOT_RUN);
  assert_int_equal(ll_slots_for(&store, 0, LL_BATCH_RAW_MAX), LL_SLOT_RUN_MOST);
  for (uint32_t slots = LL_SLOT_RUN; slots <= LL_SLOT_RUN_MOST; slots += 4) {
    uint32_t most = (uint32_t)ll_slots_room(slots), least = (slots - 4) * LL_SLOT_BYTES;
    for (uint32_t bytes = most; bytes > least; bytes -= LL_SLOT_BYTES / 2 + 1) {
      ll_slot *slot = ll_slot_to_fill(&store, 0, slots), *next;
      assert_non_null(slot);
      uint32_t extent = (uint32_t)((sizeof *slot + bytes + LL_SLOT_BYTES + 6) / LL_SLOT_BYTES);
      slot->bytes = bytes;
      slot->route = 0;
      slot->take_count = 0;
      ll_slot_seal(&store, slot, ++sequence);
      assert_in_range(ll_slot_extent(&store, ll_slot_index(&store, slot), slot), extent, slots);
      next = ll_slot_to_fill(&store, 0, LL_SLOT_RUN);
      assert_true((uint8_t *)next >= slot->batch + bytes ||
                  (uint8_t *)next + LL_SLOT_RUN * LL_SLOT_BYTES <= (uint8_t *)slot);
      assert_null(ll_slots_fault(&store));
      ll_slot_move(&store, ll_slot_index(&store, slot), sequence, LL_SLOT_SEALED, LL_SLOT_FREE);
    }
  }
  ll_store_unmap(&store);
}

static void a_word_holds_any_number_of_slots(void **state) {
  (void)state;
  static const uint8_t counts[] = {0,  1,  2,  3,  4,  5,  6,  7,   8,   9,   10,  11,  12,  13,  14,  15,
                                   16, 17, 18, 19, 20, 21, 22, 23,  24,  25,  26,  27,  28,  29,  30,  31,
                                   32, 33, 34, 35, 36, 37, 38, 39,  40,  44,  48,  52,  56,  60,  64,  68,
                                   72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124, 128, 132};
  assert_int_equal(sizeof counts, 64);
  for (uint32_t code = 0; code < 64; code++)
    assert_int_equal(ll_slot_count_of(UINT64_C(7) << 8 | code << 2 | LL_SLOT_SEALED), counts[code]);
  for (uint32_t slots = 0, code = 0; slots <= LL_SLOT_RUN_MOST; slots++) {
    code += counts[code] < slots;
    assert_int_equal(ll_slot_word(7, slots, LL_SLOT_SEALED), UINT64_C(7) << 8 | code << 2 | LL_SLOT_SEALED);
  }
}

/* Earlier versions of Lifeline must not read words that they do not understand, and batches that they reject: one may
 * be too large for them although it fits into LL_SLOT_RUN slots. */
static void the_first_large_batch_changes_the_version_of_the_file(void **state) {
  (void)state;
  ll_store store;
  char why[256];
  uint8_t incarnation[16] = {1};
  assert_int_equal(ll_store_create(&store, "/nowhere/at/all", "test", 16u << 20, incarnation, why, sizeof why), 0);
  ll_slot *slot = fill_slot(&store, 1, LL_BATCH_ORDINARY);
  assert_int_equal(store.header->version, LL_FILE_VERSION);
  ll_slot_move(&store, ll_slot_index(&store, slot), 1, LL_SLOT_SEALED, LL_SLOT_FREE);
  uint64_t *words = store.header->slot_words;
  static const char impossible[] = "a sealed batch of an impossible number of slots";
  for (uint32_t code = LL_SLOT_RUN; code < 64; code++) {
    words[0] = UINT64_C(2) << 8 | code << 2 | LL_SLOT_SEALED;
    store.header->version = LL_FILE_VERSION;
    assert_int_equal(ll_slots_fault(&store) != NULL, code > LL_SLOT_RUN);
    if (code > LL_SLOT_RUN) assert_string_equal(ll_slots_fault(&store), impossible);
    store.header->version = LL_FILE_VERSION_LARGE;
    assert_int_equal(ll_slots_fault(&store) != NULL, code > 60);
    if (code > 60) assert_string_equal(ll_slots_fault(&store), impossible);
  }
  words[0] = ll_slot_word(1, 1, LL_SLOT_FREE);
  static const uint32_t large[] = {LL_BATCH_ORDINARY + 1, LL_BATCH_MOST};
  for (uint64_t sequence = 2; sequence < 4; sequence++) {
    store.header->version = LL_FILE_VERSION;
    slot = ll_slot_to_fill(&store, 0, LL_SLOT_RUN_MOST);
    slot->bytes = large[sequence - 2];
    slot->route = 0;
    slot->take_count = 0;
    ll_slot_seal(&store, slot, sequence);
    assert_int_equal(store.header->version, LL_FILE_VERSION_LARGE);
    assert_null(ll_slots_fault(&store));
  }
  ll_store_unmap(&store);
}

/* The sink may hold a batch for long: the others need room meanwhile. */
static void no_batch_takes_more_than_a_quarter_of_a_small_budget(void **state) {
  (void)state;
  for (size_t budget = 2u << 20; budget <= 32u << 20; budget += 1u << 20) {
    ll_store store;
    char why[256];
    uint8_t incarnation[16] = {1};
    assert_int_equal(ll_store_create(&store, "/nowhere/at/all", "test", budget, incarnation, why, sizeof why), 0);
    uint32_t quarter = store.header->slot_count / 4, slots = ll_slots_for(&store, 0, LL_BATCH_RAW_MAX);
    assert_int_equal(slots % 4, 0);
    assert_in_range(slots, LL_SLOT_RUN, quarter < LL_SLOT_RUN ? LL_SLOT_RUN : quarter);
    assert_non_null(ll_slot_to_fill(&store, 0, slots));
    ll_store_unmap(&store);
  }
}

/* Much space may be free, but none of it large enough. */
static void the_spool_makes_room_until_slots_lie_side_by_side(void **state) {
  (void)state;
  static uint64_t in_flight[LL_SLOTS_MAX], offered[LL_SLOTS_MAX];
  static ll_spool_settings settings = {.bytes = 64u << 20};
  test_directory directory;
  ll_store store;
  ll_spool spool;
  char why[256];
  uint8_t incarnation[16] = {1};
  test_directory_make(&directory);
  snprintf(settings.directory, sizeof settings.directory, "%s/spool", directory.path);
  assert_int_equal(ll_store_create(&store, "/nowhere/at/all", "test", 4u << 20, incarnation, why, sizeof why), 0);
  ll_spool_start(&spool, &settings, &store, 0, "host", "program");
  uint64_t sequence = 0;
  for (const ll_slot *slot; (slot = fill_slot(&store, sequence + 1, 100)) != NULL; sequence++)
    assert_int_equal(ll_slot_index(&store, slot), sequence);
  for (uint32_t i = 0; i < sequence; i++)
    if (i % LL_SLOT_RUN != 0) ll_slot_move(&store, i, i + 1, LL_SLOT_SEALED, LL_SLOT_FREE);
  assert_true(ll_slots_vacant(&store, 0) > store.header->slot_count / 2);
  assert_null(ll_slot_to_fill(&store, 0, LL_SLOT_RUN));
  uint32_t sealed = ll_slots_in(&store, 0, LL_SLOT_SEALED);
  ll_relieve(&spool, &(ll_relief_view){in_flight, offered});
  assert_non_null(ll_slot_to_fill(&store, 0, LL_SLOT_RUN));
  assert_int_equal(ll_slots_in(&store, 0, LL_SLOT_SEALED), sealed - 1);
  assert_int_equal(ll_spool_batches(&spool), 1);
  ll_spool_stop(&spool);
  ll_store_unmap(&store);
  test_directory_remove(&directory);
}

/* Independent of the order of the slots: the oldest of the batches that were never handed to the sink. */
static void the_spool_takes_the_oldest_first(void **state) {
  (void)state;
  static uint64_t in_flight[LL_SLOTS_MAX], offered[LL_SLOTS_MAX];
  static ll_spool_settings settings = {.bytes = 64u << 20};
  test_directory directory;
  ll_store store;
  ll_spool spool;
  char why[256];
  uint8_t incarnation[16] = {1};
  test_directory_make(&directory);
  snprintf(settings.directory, sizeof settings.directory, "%s/spool", directory.path);
  assert_int_equal(ll_store_create(&store, "/nowhere/at/all", "test", 4u << 20, incarnation, why, sizeof why), 0);
  ll_spool_start(&spool, &settings, &store, 0, "host", "program");
  uint32_t count = 0;
  while (fill_slot(&store, count + 1, 100) != NULL)
    count++;
  /* Permute the batches, and mark every fifth as handed to the sink. */
  for (uint32_t i = 0; i < count; i++) {
    uint64_t sequence = 1 + (uint64_t)i * 11 % count;
    store.header->slot_words[i] = ll_slot_word(sequence, 1, LL_SLOT_SEALED);
    offered[i] = i % 5 == 0 ? sequence : 0;
  }
  ll_relieve(&spool, &(ll_relief_view){in_flight, offered});
  uint64_t newest_gone = 0, oldest_left = UINT64_MAX;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t sequence = ll_slot_sequence(store.header->slot_words[i]);
    bool gone = ll_slot_state_of(store.header->slot_words[i]) == LL_SLOT_FREE;
    if (offered[i] == sequence) {
      assert_false(gone);
    } else if (gone) {
      newest_gone = sequence > newest_gone ? sequence : newest_gone;
    } else {
      oldest_left = sequence < oldest_left ? sequence : oldest_left;
    }
  }
  assert_true(newest_gone > 0);
  assert_true(newest_gone < oldest_left);
  ll_spool_stop(&spool);
  ll_store_unmap(&store);
  test_directory_remove(&directory);
}

static void sealed_batches_that_overlap_are_a_fault(void **state) {
  (void)state;
  ll_store store;
  char why[256];
  uint8_t incarnation[16] = {1};
  assert_int_equal(ll_store_create(&store, "/nowhere/at/all", "test", 4u << 20, incarnation, why, sizeof why), 0);
  ll_slot *first = fill_slot(&store, 1, 100);
  fill_slot(&store, 2, 100);
  assert_null(ll_slots_fault(&store));
  uint64_t *words = store.header->slot_words, right = words[0];
  uint32_t last = store.header->slot_count - 1;
  words[0] = ll_slot_word(1, 2, LL_SLOT_SEALED);
  assert_string_equal(ll_slots_fault(&store), "batches that overlap");
  words[1] = ll_slot_word(2, 1, LL_SLOT_FREE); /* the latest still has its slot */
  assert_string_equal(ll_slots_fault(&store), "batches that overlap");
  words[0] = ll_slot_word(1, 0, LL_SLOT_SEALED);
  assert_string_equal(ll_slots_fault(&store), "a sealed batch of an impossible number of slots");
  words[0] = ll_slot_word(0, 1, LL_SLOT_SEALED); /* it would never be sent */
  assert_string_equal(ll_slots_fault(&store), "impossible sequence");
  words[0] = ll_slot_word(UINT64_C(1) << 47, 1, LL_SLOT_FREE);
  assert_string_equal(ll_slots_fault(&store), "impossible sequence");
  words[0] = right;
  first->bytes = LL_SLOT_BYTES;
  assert_string_equal(ll_slots_fault(&store), "a sealed batch larger than its slots");
  words[0] = ll_slot_word(1, LL_SLOT_RUN_MOST, LL_SLOT_SEALED);
  store.header->version = LL_FILE_VERSION_LARGE;
  first->bytes = LL_BATCH_MOST + 1;
  assert_string_equal(ll_slots_fault(&store), "a sealed batch larger than its slots");
  words[0] = right;
  first->bytes = 100;
  first->take_count = UINT32_MAX;
  assert_string_equal(ll_slots_fault(&store), "a sealed batch larger than its slots");
  first->take_count = LL_TAKES_MAX + 1;
  assert_string_equal(ll_slots_fault(&store), "a sealed batch that took from too many rings");
  first->take_count = 0;
  words[last] = ll_slot_word(3, 1, LL_SLOT_SEALED);
  assert_string_equal(ll_slots_fault(&store), "a batch where there is none");
  store.header->routes[0].slots_used = store.header->slot_count;
  assert_null(ll_slots_fault(&store));
  words[last] = ll_slot_word(3, 2, LL_SLOT_SEALED);
  assert_string_equal(ll_slots_fault(&store), "a sealed batch of an impossible number of slots");
  ll_store_unmap(&store);
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
  assert_int_equal(ll_process_liveness(&self), LL_DEAD);
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

/* In a child: a ring file whose owner's pid is unknown to the recovering process, as in another container. */
static void own_a_file_in_another_namespace(const test_directory *directory, int told) {
  ll_store store;
  char why[256] = "";
  uint8_t incarnation[16] = {1};
  if (ll_store_create(&store, directory->rings, "test", 4u << 20, incarnation, why, sizeof why) != 0) _exit(1);
  store.header->owner.pid_namespace ^= 1;
  ll_store_publish(&store, why, sizeof why);
  if (write(told, store.path, sizeof store.path) != (ssize_t)sizeof store.path) _exit(1);
  pause();
  _exit(0);
}

static void an_owner_in_another_namespace_is_dead_when_nobody_maps_its_file(void **state) {
  (void)state;
  test_directory directory;
  ll_store found;
  int ends[2];
  char path[PATH_MAX], why[256] = "";
  test_directory_make(&directory);
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) own_a_file_in_another_namespace(&directory, ends[1]);
  assert_int_equal(read(ends[0], path, sizeof path), sizeof path);
  assert_int_equal(ll_store_attach(&found, path, false, why, sizeof why), EBUSY);
  kill(child, SIGKILL);
  test_wait_for(child, SIGKILL);
  assert_int_equal(ll_store_attach(&found, path, false, why, sizeof why), 0);
  found.header->recoverer.pid_namespace ^= 1; /* the recovering process may be in another namespace, too */
  ll_store again;
  assert_int_equal(ll_store_attach(&again, path, false, why, sizeof why), EBUSY);
  ll_store_remove(&found);
  ll_store_unmap(&found);
  close(ends[0]);
  close(ends[1]);
  test_directory_remove(&directory);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crc32c_is_that_of_rfc_3720),
      cmocka_unit_test(instruction_and_table_agree_on_every_length),
      cmocka_unit_test(only_well_formed_text_is_utf8),
      cmocka_unit_test_setup_teardown(equal_types_share_a_number_and_changed_ones_do_not, make_types, free_types),
      cmocka_unit_test_setup_teardown(illegal_types_are_refused_with_a_reason, make_types, free_types),
      cmocka_unit_test_setup_teardown(a_record_that_lies_about_its_length_is_no_record, make_types, free_types),
      cmocka_unit_test(a_slot_is_freed_by_its_own_batch_only),
      cmocka_unit_test(the_slot_of_the_latest_batch_is_not_filled_again),
      cmocka_unit_test(small_batches_lie_side_by_side_and_leave_each_other_alone),
      cmocka_unit_test(a_large_batch_takes_the_slots_that_it_needs),
      cmocka_unit_test(a_word_holds_any_number_of_slots),
      cmocka_unit_test(the_first_large_batch_changes_the_version_of_the_file),
      cmocka_unit_test(no_batch_takes_more_than_a_quarter_of_a_small_budget),
      cmocka_unit_test(the_spool_makes_room_until_slots_lie_side_by_side),
      cmocka_unit_test(the_spool_takes_the_oldest_first),
      cmocka_unit_test(sealed_batches_that_overlap_are_a_fault),
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
      cmocka_unit_test(an_owner_in_another_namespace_is_dead_when_nobody_maps_its_file),
      cmocka_unit_test(the_lowest_memory_limit_of_all_control_groups_counts),
      cmocka_unit_test(a_destination_has_no_secrets_and_may_change_its_servers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
