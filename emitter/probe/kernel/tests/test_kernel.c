/* The parts of kernel events that need no kernel. */
#include "kernel.h"
#include "keymap.h"
#include "names.h"
#include "source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 600, ROUNDS = 40000 };

static uint32_t next_random(uint32_t *state) {
  return *state = *state * 1664525u + 1013904223u;
}

static struct kernel_key key_of(uint32_t number) {
  return (struct kernel_key){.process = number / 7, .kind = (uint16_t)(number % 7), .detail = 3, .device = number & 1};
}

static int keep_even(void *ctx, const struct kernel_key *key, void *entry) {
  (void)key;
  ++*(unsigned *)ctx;
  return *(uint64_t *)entry % 2 == 0;
}

static void a_keymap_holds_what_was_put_into_it(void **state) {
  static uint64_t model[KEYS]; /* 0: not there */
  uint32_t seed = 1;
  unsigned used = 0;
  keymap map;
  (void)state;
  keymap_init(&map, sizeof(uint64_t), UINT32_MAX);
  for (int round = 0; round < ROUNDS; round++) {
    uint32_t number = next_random(&seed) >> 8, at = number % KEYS;
    struct kernel_key key = key_of(at);
    uint64_t *found = keymap_find(&map, &key);
    assert_int_equal(found != NULL ? *found : 0, model[at]);
    if (number >> 10 & 1) {
      used += model[at] == 0;
      model[at] = (uint64_t)round + 1;
      *(uint64_t *)keymap_make(&map, &key) = model[at];
    } else {
      used -= model[at] != 0;
      model[at] = 0;
      keymap_remove(&map, &key);
    }
    assert_int_equal(map.used, used);
    if (round % 1000 != 999) continue;
    unsigned visited = 0;
    keymap_keep(&map, keep_even, &visited);
    assert_int_equal(visited, used);
    for (int i = 0; i < KEYS; i++)
      if (model[i] % 2 == 1) model[i] = 0, used--;
  }
  keymap_free(&map);
}

static void a_keymap_takes_no_more_than_its_most(void **state) {
  keymap map;
  (void)state;
  keymap_init(&map, 1, 100);
  for (uint32_t i = 0; i < 100; i++) {
    struct kernel_key key = key_of(i);
    assert_non_null(keymap_make(&map, &key));
  }
  struct kernel_key old = key_of(50), one_more = key_of(100);
  assert_non_null(keymap_make(&map, &old));
  assert_null(keymap_make(&map, &one_more));
  keymap_remove(&map, &old);
  assert_non_null(keymap_make(&map, &one_more));
  keymap_free(&map);
}

static void lists_of_views_and_sources_have_known_words_alone(void **state) {
  (void)state;
  assert_int_equal(kernel_views_of("sched"), KERNEL_SCHED);
  assert_int_equal(kernel_views_of("syscalls,net,sched"), KERNEL_SYSCALLS | KERNEL_NET | KERNEL_SCHED);
  static const char *const bad[] = {"",      ",",         "sched,",   ",sched", "sched,,net",
                                    "Sched", "sched net", "schedule", "sche"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(kernel_views_of(bad[i]), 0);
  assert_true(kernel_sources_are_valid("ebpf,proc"));
  assert_true(kernel_sources_are_valid("proc"));
  assert_false(kernel_sources_are_valid("ebpf,"));
  assert_false(kernel_sources_are_valid("bpf"));
}

static void operations_have_the_names_of_calipers(void **state) {
  char name[32];
  (void)state;
  assert_string_equal(name_of_operation(KERNEL_OPERATION(KERNEL_TARGET_DISK, KERNEL_VERB_READ), name, sizeof name),
                      "disk.read");
  assert_string_equal(name_of_operation(KERNEL_OPERATION(KERNEL_TARGET_NET, KERNEL_VERB_WRITE), name, sizeof name),
                      "net.send");
  assert_string_equal(name_of_operation(KERNEL_OPERATION(KERNEL_TARGET_OTHER, KERNEL_VERB_POLL), name, sizeof name),
                      "wait.poll");
  assert_string_equal(name_of_operation(60000, name, sizeof name), "other.sync"); /* from no kernel of ours */
  assert_string_equal(name_of_reason(60000), "unknown");
}

static void the_name_of_a_program_is_printable(void **state) {
  char name[17];
  (void)state;
  assert_string_equal(name_of_program("sh\n\x1b[2J\xff", name), "sh??[2J?");
  assert_string_equal(name_of_program("0123456789abcdef", name), "0123456789abcdef"); /* no closing 0 */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_keymap_holds_what_was_put_into_it),
      cmocka_unit_test(a_keymap_takes_no_more_than_its_most),
      cmocka_unit_test(lists_of_views_and_sources_have_known_words_alone),
      cmocka_unit_test(operations_have_the_names_of_calipers),
      cmocka_unit_test(the_name_of_a_program_is_printable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
