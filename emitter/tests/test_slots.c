/* Slots of a ring file: which batches take them, when they are free again, and what is a fault. */
#include "support.h"

#include "ring/slots.h"
#include "ring/validate.h"
#include "route/relief.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* A spool for a store of 4 MB, in a directory of its own. */
static void start_spool(ll_spool *spool, ll_store *store, test_directory *directory) {
  static ll_spool_settings settings = {.bytes = 64u << 20};
  char why[256];
  uint8_t incarnation[16] = {1};
  test_directory_make(directory);
  snprintf(settings.directory, sizeof settings.directory, "%s/spool", directory->path);
  assert_int_equal(ll_store_create(store, "/nowhere/at/all", "test", 4u << 20, incarnation, why, sizeof why), 0);
  ll_spool_start(spool, &settings, store, 0, "host", "program");
}

static void end_spool(ll_spool *spool, ll_store *store, test_directory *directory) {
  ll_spool_stop(spool);
  ll_store_unmap(store);
  test_directory_remove(directory);
}

/* Much space may be free, but none of it large enough. */
static void the_spool_makes_room_until_slots_lie_side_by_side(void **state) {
  (void)state;
  static uint64_t in_flight[LL_SLOTS_MAX], offered[LL_SLOTS_MAX];
  test_directory directory;
  ll_store store;
  ll_spool spool;
  start_spool(&spool, &store, &directory);
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
  end_spool(&spool, &store, &directory);
}

/* Independent of the order of the slots: the oldest of the batches that were never handed to the sink. */
static void the_spool_takes_the_oldest_first(void **state) {
  (void)state;
  static uint64_t in_flight[LL_SLOTS_MAX], offered[LL_SLOTS_MAX];
  test_directory directory;
  ll_store store;
  ll_spool spool;
  start_spool(&spool, &store, &directory);
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
  end_spool(&spool, &store, &directory);
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

int main(void) {
  const struct CMUnitTest tests[] = {
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
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
