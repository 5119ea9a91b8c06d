/* The parts of the probe that need no kernel: the schedule, text, announcements of sessions, answers about sockets,
 * anomalies, the table of connections. */
#include "base/text.h"
#include "connections/anomaly.h"
#include "connections/table.h"
#include "processes/cgroups.h"
#include "processes/scan.h"
#include "schedule.h"
#include "sessions/sessions.h"

#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A generator of its own: the same cases in every run. */
static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

/* Changes some bytes of a text of the kernel, cuts it, or repeats a part. The result has a 0 at its end. */
static size_t mutate(char *text, size_t size, size_t room, uint64_t *state) {
  for (uint64_t i = next_random(state) % 8; i > 0 && size > 0; i--) {
    static const char harsh[] = "\0\n()-:=| 9\xff\xc3"
                                "18446744073709551616";
    size_t at = next_random(state) % size;
    text[at] = next_random(state) % 2 ? (char)next_random(state) : harsh[next_random(state) % sizeof harsh];
  }
  if (next_random(state) % 4 == 0 && size > 0) size = next_random(state) % size;
  if (next_random(state) % 4 == 0 && size > 0 && size < room / 2) {
    memcpy(text + size, text, size);
    size *= 2;
  }
  text[size] = '\0';
  return size;
}

/* --- schedule ----------------------------------------------------------------------------------------------------- */

static uint64_t sampled_ns[16];
static unsigned sampled;

static bool note_time(void *ctx, uint64_t now_ns) {
  (void)ctx;
  sampled_ns[sampled++ % 16] = now_ns;
  return sampled % 2 == 0;
}

static void a_late_sample_is_taken_once_and_does_not_move_the_schedule(void **state) {
  schedule all = {.count = 0};
  (void)state;
  sampled = 0;
  sampler *one = schedule_add(&all, "test", note_time, NULL, 100, 1000);
  schedule_run(&all, 999);
  assert_int_equal(sampled, 0);
  schedule_run(&all, 1030); /* 30 late */
  assert_int_equal(schedule_next(&all), 1100);
  schedule_run(&all, 1100);
  assert_int_equal(schedule_next(&all), 1200);
  schedule_run(&all, 1555); /* 1200 is taken now, 1300 to 1500 never */
  assert_int_equal(schedule_next(&all), 1600);
  assert_int_equal(one->samples, 3);
  assert_int_equal(one->skipped, 3);
  assert_int_equal(one->failures, 2);
}

static void a_shorter_period_takes_effect_within_itself_and_a_longer_one_after_the_next_sample(void **state) {
  schedule all = {.count = 0};
  (void)state;
  sampled = 0;
  sampler *one = schedule_add(&all, "test", note_time, NULL, 60000, 0);
  schedule_run(&all, 0);
  schedule_rate(one, 100, 5000);
  assert_int_equal(schedule_next(&all), 5100);
  schedule_run(&all, 5100);
  schedule_rate(one, 60000, 5150);
  assert_int_equal(schedule_next(&all), 5200);
  schedule_run(&all, 5200);
  assert_int_equal(schedule_next(&all), 65200);
  schedule_rate(one, 0, 5300);
  assert_true(schedule_next(&all) == UINT64_MAX);
  assert_int_equal(one->skipped, 0);
}

/* --- text --------------------------------------------------------------------------------------------------------- */

static void numbers_end_at_blanks_and_do_not_overflow(void **state) {
  char text[] = " 12\t18446744073709551615 18446744073709551616";
  char *at = text;
  uint64_t values[3] = {0, 0, 0};
  (void)state;
  assert_int_equal(text_numbers(&at, values, 3), 2);
  assert_int_equal(values[0], 12);
  assert_true(values[1] == UINT64_MAX);
  char odd[] = "12x";
  at = odd;
  assert_false(text_number(&at, values));
  assert_ptr_equal(at, odd);
}

static void a_key_is_found_at_the_beginning_of_a_line_only(void **state) {
  uint64_t value = 0;
  (void)state;
  assert_true(
      text_value("nonvoluntary_ctxt_switches:\t7\nvoluntary_ctxt_switches:\t5\n", "voluntary_ctxt_switches:", &value));
  assert_int_equal(value, 5);
  assert_false(text_value("MemTotalX: 5\n", "MemTotal", &value));
  assert_false(text_value("", "MemTotal", &value));
}

static void names_become_valid_text_of_bounded_size(void **state) {
  char name[6];
  (void)state;
  text_copy(name, sizeof name, "abcd\xc3\xa9"); /* cut within the last character */
  assert_string_equal(name, "abcd");
  text_copy(name, sizeof name, "a\nb\xff");
  assert_string_equal(name, "a?b?");
}

/* --- processes ---------------------------------------------------------------------------------------------------- */

static const char stat_line[] =
    "4711 (a) b) (c) S 12 4711 4711 0 -1 4194304 100 0 3 0 250 50 0 0 20 0 9 0 987654 12345678 321 "
    "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n";

static void a_process_may_have_any_name(void **state) {
  char text[sizeof stat_line];
  process_stat stat;
  (void)state;
  memcpy(text, stat_line, sizeof text);
  assert_true(process_stat_parse(text, &stat));
  assert_int_equal(stat.pid, 4711);
  assert_int_equal(stat.parent, 12);
  assert_string_equal(stat.program, "a) b) (c");
  assert_int_equal(stat.minor_faults, 100);
  assert_int_equal(stat.major_faults, 3);
  assert_int_equal(stat.user_ticks, 250);
  assert_int_equal(stat.system_ticks, 50);
  assert_int_equal(stat.threads, 9);
  assert_int_equal(stat.start_ticks, 987654);
  assert_int_equal(stat.rss_pages, 321);
}

static void a_damaged_process_file_is_refused_or_read_within_its_bounds(void **state) {
  uint64_t seed = 1;
  unsigned refused = 0;
  (void)state;
  for (int i = 0; i < 20000; i++) {
    char *text = malloc(2 * sizeof stat_line);
    process_stat stat = {.pid = 0};
    memcpy(text, stat_line, sizeof stat_line);
    mutate(text, sizeof stat_line - 1, 2 * sizeof stat_line - 1, &seed);
    if (!process_stat_parse(text, &stat)) refused++;
    assert_true(memchr(stat.program, 0, sizeof stat.program) != NULL);
    free(text);
  }
  assert_in_range(refused, 1, 19999);
}

static void a_cgroup_is_a_path_below_the_mount_and_cannot_leave_it(void **state) {
  (void)state;
  assert_string_equal(cgroup_path("/sys/fs/cgroup/system.slice/x"), "system.slice/x");
  assert_string_equal(cgroup_path("/a..b/c"), "a..b/c");
  assert_null(cgroup_path("/a/../../etc"));
  assert_null(cgroup_path(".."));
}

/* --- sessions ----------------------------------------------------------------------------------------------------- */

static void an_announcement_has_a_pid_and_unknown_lines_are_skipped(void **state) {
  char text[] = "name=backup \x1b[31m\npid=12\nfuture=1\nbegan=1795656512000000000\nno value";
  char without[] = "name=x\nbegan=1\n", negative[] = "pid=-1\n", large[] = "pid=4294967297\n", empty[] = "";
  session_file file;
  (void)state;
  assert_true(session_file_parse(text, &file));
  assert_string_equal(file.name, "backup ?[31m");
  assert_int_equal(file.pid, 12);
  assert_true(file.began_ns == UINT64_C(1795656512000000000));
  assert_false(session_file_parse(without, &file));
  assert_false(session_file_parse(negative, &file));
  assert_false(session_file_parse(large, &file));
  assert_false(session_file_parse(empty, &file));
}

static void a_sessions_id_is_32_digits_and_not_zero(void **state) {
  uint8_t id[SESSION_BYTES];
  (void)state;
  assert_true(session_id_parse("00112233445566778899aabbccddeeff", id));
  assert_int_equal(id[1], 0x11);
  assert_int_equal(id[15], 0xff);
  assert_false(session_id_parse("00112233445566778899AABBCCDDEEFF", id));
  assert_false(session_id_parse("00112233445566778899aabbccddeef", id));
  assert_false(session_id_parse("00112233445566778899aabbccddeeff0", id));
  assert_false(session_id_parse("00000000000000000000000000000000", id));
  assert_false(session_id_parse("../2233445566778899aabbccddeeff0", id));
}

/* --- connections -------------------------------------------------------------------------------------------------- */

static size_t answer(char *bytes, const struct tcp_info *info, size_t info_bytes) {
  struct inet_diag_msg message = {.idiag_family = 2, .idiag_state = 1, .idiag_inode = 77, .idiag_rqueue = 5};
  struct rtattr attribute = {.rta_len = (unsigned short)(sizeof attribute + info_bytes), .rta_type = INET_DIAG_INFO};
  size_t at = sizeof message;
  message.id.idiag_cookie[0] = 1;
  message.id.idiag_cookie[1] = 2;
  memcpy(bytes, &message, sizeof message);
  memcpy(bytes + at, &attribute, sizeof attribute);
  memcpy(bytes + at + sizeof attribute, info, info_bytes);
  at += RTA_ALIGN(attribute.rta_len);
  attribute = (struct rtattr){.rta_len = sizeof attribute + 6, .rta_type = INET_DIAG_CONG};
  memcpy(bytes + at, &attribute, sizeof attribute);
  memcpy(bytes + at + sizeof attribute, "cubic", 6);
  return at + RTA_ALIGN(attribute.rta_len);
}

static void an_older_kernels_answer_leaves_what_it_does_not_know_at_zero(void **state) {
  struct tcp_info info = {.tcpi_rtt = 123, .tcpi_bytes_sent = 9, .tcpi_snd_wnd = 8};
  char bytes[512];
  diag_look look;
  (void)state;
  size_t size = answer(bytes, &info, offsetof(struct tcp_info, tcpi_bytes_sent));
  assert_true(diag_parse(bytes, size, &look));
  assert_true(look.has_info);
  assert_true(look.cookie == (UINT64_C(2) << 32 | 1));
  assert_int_equal(look.inode, 77);
  assert_int_equal(look.info.tcpi_rtt, 123);
  assert_int_equal(look.info.tcpi_bytes_sent, 0);
  assert_int_equal(look.info.tcpi_snd_wnd, 0);
  assert_string_equal(look.congestion, "cubic");
}

static void a_newer_kernels_answer_is_cut_and_a_damaged_one_is_read_within_its_bounds(void **state) {
  struct {
    struct tcp_info info;
    char more[32];
  } newer = {.info = {.tcpi_rtt = 5}};
  uint64_t seed = 2;
  (void)state;
  for (int i = 0; i < 20000; i++) {
    char bytes[512] = {0}, local[DIAG_END_BYTES], remote[DIAG_END_BYTES];
    diag_look look;
    size_t size = answer(bytes, &newer.info, sizeof newer);
    if (i > 0) size = mutate(bytes, size, sizeof bytes - 1, &seed);
    char *exact = malloc(size + 1); /* so that a sanitizer sees every byte too many */
    memcpy(exact, bytes, size);
    if (diag_parse(exact, size, &look)) {
      diag_ends(&look, local, remote);
      assert_non_null(diag_state_name(look.state));
      assert_true(memchr(look.congestion, 0, sizeof look.congestion) != NULL);
      if (i == 0) assert_int_equal(look.info.tcpi_rtt, 5);
    }
    free(exact);
  }
}

static void ends_are_shown_as_people_write_them(void **state) {
  char local[DIAG_END_BYTES], remote[DIAG_END_BYTES];
  diag_look look = {.family = 10};
  unsigned char mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 7};
  (void)state;
  memcpy(look.id.idiag_src, mapped, sizeof mapped);
  look.id.idiag_dst[3] = __builtin_bswap32(1);
  look.id.idiag_sport = __builtin_bswap16(80);
  look.id.idiag_dport = __builtin_bswap16(65535);
  diag_ends(&look, local, remote);
  assert_string_equal(local, "10.0.0.7:80");
  assert_string_equal(remote, "[::1]:65535");
}

static void the_table_finds_what_it_holds_through_growth_and_removal(void **state) {
  table all = {.room = 0};
  (void)state;
  for (uint64_t i = 1; i <= 5000; i++)
    assert_non_null(table_add(&all, &(diag_look){.cookie = i}, i % 3));
  for (uint64_t i = 2; i <= 5000; i += 2)
    table_remove(&all, table_find(&all, i, i % 3));
  for (uint64_t i = 1; i <= 5000; i++) {
    connection *one = table_find(&all, i, i % 3);
    assert_int_equal(one != NULL, i % 2);
    assert_null(table_find(&all, i, i % 3 + 1));
    if (one != NULL) assert_int_equal(one->look.cookie, i);
  }
  assert_int_equal(all.count, 2500);
  uint32_t end = all.end;
  for (uint64_t i = 2; i <= 5000; i += 2)
    table_add(&all, &(diag_look){.cookie = i}, i % 3);
  assert_int_equal(all.end, end);
  table_free(&all);
}

/* A connection that delivers `rate` bytes in each second of `seconds`, sampled ten times a second. */
static anomaly transfer(watch *one, struct tcp_info *info, uint64_t *now_ns, unsigned seconds, uint64_t rate, bool busy,
                        unsigned retransmits) {
  anomaly last = {0};
  for (unsigned i = 0; i < 10 * seconds; i++) {
    *now_ns += SECOND_NS / 10;
    info->tcpi_bytes_acked += rate / 10;
    info->tcpi_busy_time += busy ? 100000 : 0;
    if (i % 10 == 0) info->tcpi_total_retrans += retransmits;
    anomaly found = watch_add(one, info, *now_ns, 60 * SECOND_NS);
    if (found.kind != NULL) last = found;
  }
  return last;
}

static void half_the_throughput_is_an_anomaly_if_there_was_something_to_send(void **state) {
  watch one = {.at_ns = 0};
  struct tcp_info info = {.tcpi_state = 1};
  uint64_t now_ns = SECOND_NS;
  (void)state;
  assert_null(transfer(&one, &info, &now_ns, 10, 1000000, true, 0).kind);
  assert_null(transfer(&one, &info, &now_ns, 10, 700000, true, 0).kind);
  assert_null(transfer(&one, &info, &now_ns, 5, 0, false, 0).kind); /* the program pauses */
  anomaly found = transfer(&one, &info, &now_ns, 3, 100000, true, 0);
  assert_string_equal(found.kind, "rate");
  assert_true(found.now < found.before / 2);
  assert_null(transfer(&one, &info, &now_ns, 30, 10000, true, 0).kind); /* it was reported */
}

static void a_rise_of_retransmissions_is_an_anomaly_and_a_steady_rate_is_none(void **state) {
  watch one = {.at_ns = 0};
  struct tcp_info info = {.tcpi_state = 1};
  uint64_t now_ns = SECOND_NS;
  (void)state;
  assert_null(transfer(&one, &info, &now_ns, 10, 1000000, true, 1).kind);
  anomaly found = transfer(&one, &info, &now_ns, 3, 900000, true, 50);
  assert_string_equal(found.kind, "retransmits");
  transfer(&one, &info, &now_ns, 57, 900000, true, 50);
  assert_null(transfer(&one, &info, &now_ns, 30, 900000, true, 50).kind);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_late_sample_is_taken_once_and_does_not_move_the_schedule),
      cmocka_unit_test(a_shorter_period_takes_effect_within_itself_and_a_longer_one_after_the_next_sample),
      cmocka_unit_test(numbers_end_at_blanks_and_do_not_overflow),
      cmocka_unit_test(a_key_is_found_at_the_beginning_of_a_line_only),
      cmocka_unit_test(names_become_valid_text_of_bounded_size),
      cmocka_unit_test(a_process_may_have_any_name),
      cmocka_unit_test(a_damaged_process_file_is_refused_or_read_within_its_bounds),
      cmocka_unit_test(a_cgroup_is_a_path_below_the_mount_and_cannot_leave_it),
      cmocka_unit_test(an_announcement_has_a_pid_and_unknown_lines_are_skipped),
      cmocka_unit_test(a_sessions_id_is_32_digits_and_not_zero),
      cmocka_unit_test(an_older_kernels_answer_leaves_what_it_does_not_know_at_zero),
      cmocka_unit_test(a_newer_kernels_answer_is_cut_and_a_damaged_one_is_read_within_its_bounds),
      cmocka_unit_test(ends_are_shown_as_people_write_them),
      cmocka_unit_test(the_table_finds_what_it_holds_through_growth_and_removal),
      cmocka_unit_test(half_the_throughput_is_an_anomaly_if_there_was_something_to_send),
      cmocka_unit_test(a_rise_of_retransmissions_is_an_anomaly_and_a_steady_rate_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
