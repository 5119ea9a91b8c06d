/* The parts of kernel events that need no kernel. */
#include "kernel.h"
#include "keymap.h"
#include "names.h"
#include "source.h"
#include "tracepoint.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
  assert_true(kernel_sources_are_valid("ebpf,perf,proc"));
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

/* --- descriptions of tracepoints --- */

static void write_file(const char *folder, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), strlen(text));
  close(file);
}

static bool read_described(const char *text, tracepoint_field *field) {
  char folder[] = "/tmp/lifeline-tracepoint-XXXXXX", path[256], why[256];
  uint64_t id = 0;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/events", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(path, sizeof path, "%s/events/one", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  write_file(path, "id", "317\n");
  write_file(path, "format", text);
  bool good = tracepoint_read(folder, "one", &id, field, 1, why, sizeof why);
  if (good) assert_int_equal(id, 317);
  if (!good) assert_non_null(strstr(why, "one"));
  static const char *const parts[] = {"/events/one/id", "/events/one/format", "/events/one", "/events", ""};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    snprintf(path, sizeof path, "%s%s", folder, parts[i]);
    assert_int_equal(remove(path), 0);
  }
  return good;
}

static void a_field_is_found_in_the_description_of_a_tracepoint(void **state) {
  tracepoint_field field = {"pid", 0, 0};
  (void)state;
  assert_true(read_described("name: one\nformat:\n"
                             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                             "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                             "\tfield:pid_t pid;\toffset:28;\tsize:4;\tsigned:1;\n",
                             &field));
  assert_int_equal(field.offset, 28);
  assert_int_equal(field.bytes, 4);
}

static void a_description_without_the_field_or_with_a_strange_one_is_refused(void **state) {
  static const char *const bad[] = {"name: one\n",
                                    "\tfield:pid_t pid;\toffset:28;\tsize:3;\tsigned:1;\n",
                                    "\tfield:pid_t pid;\toffset:99999;\tsize:4;\tsigned:1;\n",
                                    "\tfield:pid_t pid;\toffset:;\tsize:4;\tsigned:1;\n",
                                    "pid; offset:28; size:4;",
                                    " pid"};
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    tracepoint_field field = {"pid", 0, 0};
    assert_false(read_described(bad[i], &field));
  }
}

static void a_value_beyond_the_end_of_a_record_is_0(void **state) {
  static const uint8_t record[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const tracepoint_field inside = {"", 4, 4}, outside = {"", 6, 4};
  (void)state;
  assert_int_equal(tracepoint_value(record, sizeof record, &inside), 0x08070605);
  assert_int_equal(tracepoint_value(record, sizeof record, &outside), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_keymap_holds_what_was_put_into_it),
      cmocka_unit_test(a_keymap_takes_no_more_than_its_most),
      cmocka_unit_test(lists_of_views_and_sources_have_known_words_alone),
      cmocka_unit_test(operations_have_the_names_of_calipers),
      cmocka_unit_test(the_name_of_a_program_is_printable),
      cmocka_unit_test(a_field_is_found_in_the_description_of_a_tracepoint),
      cmocka_unit_test(a_description_without_the_field_or_with_a_strange_one_is_refused),
      cmocka_unit_test(a_value_beyond_the_end_of_a_record_is_0),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
