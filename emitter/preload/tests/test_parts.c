/* The parts of the preload that need no preload: settings, names, names of peers, targets. */
#include "names.h"
#include "peer.h"
#include "settings.h"
#include "table.h"
#include "targets.h"

#include "support.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char why[200];

/* --- settings --- */

static struct { const char *name, *value; } variables[8];

static char *get(const char *name) {
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    if (variables[i].name != NULL && strcmp(variables[i].name, name) == 0) return (char *)variables[i].value;
  return NULL;
}

static bool load(io_settings *settings, const char *name, const char *value) {
  memset(variables, 0, sizeof variables);
  variables[0].name = "LIFELINE_URL", variables[0].value = "null:";
  variables[1].name = name, variables[1].value = value;
  variables[2].name = "LIFELINE_RUN_KEY", variables[2].value = "000102030405060708090a0b0c0d0e0f";
  return io_settings_load(settings, get, why, sizeof why);
}

static void without_a_url_it_is_off(void **state) {
  (void)state;
  io_settings settings;
  assert_true(load(&settings, "LIFELINE_URL", ""));
  assert_true(settings.on);
  variables[0].value = "";
  assert_true(io_settings_load(&settings, get, why, sizeof why));
  assert_false(settings.on);
  assert_true(load(&settings, "LIFELINE", "off"));
  assert_false(settings.on);
}

static void a_list_chooses_kinds_and_calipers(void **state) {
  (void)state;
  io_settings settings;
  assert_true(load(&settings, "LIFELINE_RUN_FOR", "net,disk.read,wait"));
  assert_true(settings.measured[IO_NET][IO_READ] && settings.measured[IO_NET][IO_ACCEPT]);
  assert_true(settings.measured[IO_DISK][IO_READ] && settings.waits);
  assert_false(settings.measured[IO_DISK][IO_WRITE] || settings.measured[IO_PIPE][IO_READ]);
  assert_true(load(&settings, "LIFELINE_RUN_FOR", "fsync"));
  assert_true(settings.measured[IO_DISK][IO_SYNC]);
  assert_false(settings.measured[IO_DISK][IO_WRITE] || settings.waits);
  assert_false(load(&settings, "LIFELINE_RUN_FOR", "disk,dis"));
  assert_non_null(strstr(why, "\"dis\""));
}

static void bad_values_are_refused(void **state) {
  (void)state;
  static const char *const bad[][2] = {{"LIFELINE_RUN_NAMES", "some"},
                                       {"LIFELINE_RUN_TARGETS", "1025"},
                                       {"LIFELINE_RUN_TARGETS", "-1"},
                                       {"LIFELINE_RUN_TARGETS", "1x"},
                                       {"LIFELINE_RUN_FOR", "disk.reads"}};
  io_settings settings;
  char long_list[IO_REDACT_BYTES + 10];
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(load(&settings, bad[i][0], bad[i][1]));
    assert_false(settings.on);
  }
  memset(long_list, 'x', sizeof long_list - 1);
  long_list[sizeof long_list - 1] = '\0';
  assert_false(load(&settings, "LIFELINE_RUN_REDACT", long_list));
  assert_false(settings.on);
  uint64_t key[2];
  assert_false(io_settings_key(key, "000102030405060708090a0b0c0d0e0"));
  assert_false(io_settings_key(key, "000102030405060708090a0b0c0d0e0g"));
}

/* --- names --- */

/* The example of the paper's appendix. */
static void the_hash_is_siphash(void **state) {
  (void)state;
  const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
  uint8_t bytes[15];
  for (uint8_t i = 0; i < sizeof bytes; i++)
    bytes[i] = i;
  assert_int_equal(io_hash(key, bytes, sizeof bytes), UINT64_C(0xa129ca6149be45e5));
}

static void patterns_match_as_in_a_shell(void **state) {
  (void)state;
  static const struct {
    const char *pattern, *text;
    bool matches;
  } cases[] = {{"", "", true},
               {"*", "", true},
               {"a*c", "abc", true},
               {"a*c", "ac", true},
               {"a*c", "abd", false},
               {"*.key", "/a/b.key", true},
               {"?", "", false},
               {"?b", "ab", true},
               {"*a*b", "xaxbxb", true},
               {"*a*b", "xaxbxc", false},
               {"/srv/*/.ssh/*", "/srv/u/.ssh/id", true},
               {"**", "x", true},
               {"abc", "ab", false},
               {"ab", "abc", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(io_glob(cases[i].pattern, cases[i].text), cases[i].matches);
  char text[4001], pattern[] = "*a*a*a*a*a*a*a*a*a*a*b"; /* no time that grows with the number of stars */
  memset(text, 'a', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  assert_false(io_glob(pattern, text));
}

static void secret_files_are_redacted_in_every_form(void **state) {
  (void)state;
  io_settings settings;
  char name[IO_NAME_BYTES];
  static const char *const forms[] = {"full", "hash"};
  for (size_t i = 0; i < 2; i++) {
    assert_true(load(&settings, "LIFELINE_RUN_NAMES", forms[i]));
    strcpy(settings.redact, "*.key");
    io_name(&settings, "/etc/x.key", true, name);
    assert_string_equal(name, "(redacted)");
  }
  assert_true(load(&settings, "LIFELINE_RUN_REDACT", ":*.key::/root/*:"));
  io_name(&settings, "/root/x", true, name);
  assert_string_equal(name, "(redacted)");
  io_name(&settings, "/rooted/x", true, name);
  assert_string_equal(name, "/rooted/x");
  io_name(&settings, "/removed.key (deleted)", true, name);
  assert_string_equal(name, "(redacted)");
  io_name(&settings, "x.key", false, name); /* a peer */
  assert_string_equal(name, "x.key");
}

static void hashes_depend_on_the_key(void **state) {
  (void)state;
  io_settings settings;
  char one[IO_NAME_BYTES], other[IO_NAME_BYTES];
  assert_true(load(&settings, "LIFELINE_RUN_NAMES", "hash"));
  io_name(&settings, "/a", true, one);
  assert_int_equal(strlen(one), 17);
  settings.key[0] ^= 1;
  io_name(&settings, "/a", true, other);
  assert_string_not_equal(one, other);
  assert_true(load(&settings, "LIFELINE_RUN_NAMES", "none"));
  io_name(&settings, "/a", true, one);
  assert_string_equal(one, "(not named)");
}

static void long_names_keep_their_end(void **state) {
  (void)state;
  io_settings settings;
  char path[5000], name[IO_NAME_BYTES];
  assert_true(load(&settings, "LIFELINE_RUN_NAMES", "full"));
  for (size_t length = IO_NAME_BYTES - 10; length < sizeof path; length += 37) {
    memset(path, '/', length);
    strcpy(path + length - 4, "/end");
    io_name(&settings, path, true, name);
    assert_true(strlen(name) < IO_NAME_BYTES);
    assert_string_equal(name + strlen(name) - 4, "/end");
  }
  memset(path, 0x80, 4000); /* no beginning of a character in reach */
  path[4000] = '\0';
  io_name(&settings, path, true, name);
  assert_string_equal(name, "...");
}

/* --- peers --- */

static void peers_have_the_names_of_their_addresses(void **state) {
  (void)state;
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(80)};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(443)};
  struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
  char name[IO_PEER_BYTES];
  inet_pton(AF_INET, "10.1.2.3", &v4.sin_addr);
  assert_true(io_peer_at((struct sockaddr *)&v4, sizeof v4, name));
  assert_string_equal(name, "10.1.2.3:80");
  inet_pton(AF_INET6, "fe80::1", &v6.sin6_addr);
  assert_true(io_peer_at((struct sockaddr *)&v6, sizeof v6, name));
  assert_string_equal(name, "[fe80::1]:443");
  inet_pton(AF_INET6, "::ffff:10.1.2.3", &v6.sin6_addr);
  assert_true(io_peer_at((struct sockaddr *)&v6, sizeof v6, name));
  assert_string_equal(name, "10.1.2.3:443");
  assert_false(io_peer_at((struct sockaddr *)&path, sizeof path, name));
  assert_false(io_peer_at(NULL, 0, name));
  assert_false(io_peer_at((struct sockaddr *)&v4, 1, name));
}

static void a_socket_without_an_address_has_a_name(void **state) {
  (void)state;
  char name[IO_PEER_BYTES];
  int pair[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  assert_false(io_peer(pair[0], false, name));
  assert_string_equal(name, "socket");
  close(pair[0]), close(pair[1]);
  assert_false(io_peer(-1, false, name));
  assert_string_equal(name, "socket");
}

/* --- targets --- */

enum { THREADS = 4, NAMES = 3000, ROUNDS = 20 };

static uint32_t stop;

/* More names than there is room for, from all threads in the same order: they meet in the same buckets. */
static void *add_names(void *unused) {
  (void)unused;
  char name[32];
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < NAMES; i++) {
      snprintf(name, sizeof name, "/file/%d", i);
      io_target target = io_target_find(IO_DISK, name, true);
      io_sums *sums = io_target_begin(&target, IO_DISK, IO_READ);
      __atomic_fetch_add(&sums->nbytes, 1, __ATOMIC_RELAXED);
      __atomic_fetch_add(&sums->count, 1, __ATOMIC_RELEASE);
      const char *kind, *text;
      if (io_target_introduce(target, &kind, &text)) {
        assert_string_equal(kind, "disk");
        assert_string_equal(text, target.slot >= IO_KINDS ? name : "(others)");
      }
      io_target_end(sums);
    }
  return NULL;
}

static void *report(void *unused) {
  (void)unused;
  while (__atomic_load_n(&stop, __ATOMIC_ACQUIRE) == 0)
    io_targets_report(1);
  return NULL;
}

static void the_table_is_bounded_while_threads_add_and_report(void **state) {
  (void)state;
  static io_settings settings;
  pthread_t threads[THREADS], reporter;
  assert_true(load(&settings, "LIFELINE_RUN_TARGETS", "100"));
  assert_true(io_targets_create(&settings));
  io_target one = io_target_find(IO_NET, "10.0.0.1:80", false), same = io_target_find(IO_NET, "10.0.0.1:80", false);
  assert_memory_equal(&one, &same, sizeof one);
  assert_true(io_target_is_current(one));
  io_targets_report(1);
  io_targets_report(1); /* idle for two reports: forgotten */
  assert_false(io_target_is_current(one));
  pthread_create(&reporter, NULL, report, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, add_names, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  pthread_join(reporter, NULL);
  unsigned named = 0;
  for (int i = 0; i < NAMES; i++) {
    char name[32];
    snprintf(name, sizeof name, "/file/%d", i);
    named += io_target_find(IO_DISK, name, true).slot >= IO_KINDS;
  }
  assert_in_range(named, 1, 100);
}

static void a_child_frees_what_its_parent_was_forgetting(void **state) {
  (void)state;
  static io_table table;
  table.keys[IO_KINDS] = IO_KEY_FORGETTING;
  table.keys[IO_KINDS + 1] = 2;
  table.used = 2;
  io_table_after_fork(&table);
  assert_int_equal(table.keys[IO_KINDS], 0);
  assert_int_equal(table.slots[IO_KINDS].generation, 1);
  assert_int_equal(table.keys[IO_KINDS + 1], 2);
  assert_int_equal(table.used, 1);
}

static io_values shards[IO_SHARDS];

static void *add_values(void *unused) {
  (void)unused;
  for (unsigned i = 1; i <= NAMES; i++)
    io_values_add(&shards[i % IO_SHARDS], i, i % 2);
  return NULL;
}

static void values_are_taken_once_while_threads_add(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  io_values all = {0};
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, add_values, NULL);
  for (int i = 0; i < THREADS; i++) {
    io_values_take(shards, &all);
    pthread_join(threads[i], NULL);
  }
  io_values_take(shards, &all);
  const uint64_t n = NAMES, sum = THREADS * (n * (n + 1) / 2);
  double squares, least, greatest;
  memcpy(&squares, &all.value.squares, sizeof squares);
  memcpy(&greatest, &all.value.greatest, sizeof greatest);
  uint64_t bits = ~all.value.least;
  memcpy(&least, &bits, sizeof least);
  assert_true(all.count == THREADS * n && all.timed == THREADS * n / 2 && all.value.sum == sum);
  assert_true(squares == (double)(THREADS * (n * (n + 1) * (2 * n + 1) / 6)) && least == 1 && greatest == (double)n);
  assert_true(all.ticks.sum == all.timed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_url_it_is_off),
      cmocka_unit_test(a_list_chooses_kinds_and_calipers),
      cmocka_unit_test(bad_values_are_refused),
      cmocka_unit_test(the_hash_is_siphash),
      cmocka_unit_test(patterns_match_as_in_a_shell),
      cmocka_unit_test(secret_files_are_redacted_in_every_form),
      cmocka_unit_test(hashes_depend_on_the_key),
      cmocka_unit_test(long_names_keep_their_end),
      cmocka_unit_test(peers_have_the_names_of_their_addresses),
      cmocka_unit_test(a_socket_without_an_address_has_a_name),
      cmocka_unit_test(the_table_is_bounded_while_threads_add_and_report),
      cmocka_unit_test(a_child_frees_what_its_parent_was_forgetting),
      cmocka_unit_test(values_are_taken_once_while_threads_add),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
