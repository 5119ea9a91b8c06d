/* Tests without a broker: URLs, credentials, names, reports, JetStream's answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ack.h"
#include "alert.h"
#include "base/bytes.h"
#include "base/format.h"
#include "bound.h"
#include "conf.h"
#include "naming.h"
#include "report.h"
#include "security.h"
#include "sink/sink.h"

static char error[256];

static void a_url_falls_into_its_parts(void **state) {
  (void)state;
  sink_url url;
  assert_true(sink_url_parse(&url, "nats://me%40here:p%3Aw%2F@a:1,b,[::1]:3,[::1]/x.y?k=v%26w&m=core", "4222", error,
                             sizeof error));
  assert_string_equal(url.scheme, "nats");
  assert_string_equal(url.user, "me@here");
  assert_string_equal(url.password, "p:w/");
  assert_string_equal(url.hosts, "a:1,b:4222,[::1]:3,[::1]:4222");
  assert_string_equal(url.name, "x.y");
  assert_string_equal(sink_url_parameter(&url, "k"), "v&w");
  assert_string_equal(sink_url_parameter(&url, "m"), "core");
  assert_null(sink_url_parameter(&url, "n"));
  sink_url_free(&url);
  assert_true(sink_url_parse(&url, "kafka://h", "9092", error, sizeof error));
  assert_string_equal(url.hosts, "h:9092");
  assert_string_equal(url.name, "");
  assert_null(url.user);
  sink_url_free(&url);
}

static void a_url_that_is_none_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "nats",
      "nats://",
      "nats://h:",
      "nats://h:0",
      "nats://h:65536",
      "nats://:1",
      "nats://h,",
      "nats://h/?k",
      "nats://h/?=v",
      "nats://h/%00",
      "nats://h/%4",
      "nats://h:1x",
      "nats://h/?a=1&a=2",
      "nats://u%@h",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    sink_url url;
    *error = 0;
    assert_false(sink_url_parse(&url, texts[i], "4222", error, sizeof error));
    assert_true(strlen(error) > 10);
  }
}

static void a_number_of_a_url_is_whole_and_bounded(void **state) {
  (void)state;
  static const char *const bad[] = {"0",    "65",  "1e1", "-1",         "+1",
                                    "%201", "64x", "",    "4294967297", "99999999999999999999"};
  sink_url url;
  unsigned number = 0;
  char text[64];
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    snprintf(text, sizeof text, "nats://h/?n=%s", bad[i]);
    assert_true(sink_url_parse(&url, text, "4222", error, sizeof error));
    assert_false(sink_url_number(&url, "n", 7, 64, &number, error, sizeof error));
    assert_string_equal(error, "nats: the URL parameter n must be a number from 1 to 64");
    sink_url_free(&url);
  }
  assert_true(sink_url_parse(&url, "nats://h/?n=64", "4222", error, sizeof error));
  assert_true(sink_url_number(&url, "n", 7, 64, &number, error, sizeof error));
  assert_int_equal(number, 64);
  assert_true(sink_url_number(&url, "m", 7, 64, &number, error, sizeof error));
  assert_int_equal(number, 7);
  sink_url_free(&url);
}

static void credentials_of_the_url_come_before_those_of_the_environment(void **state) {
  (void)state;
  char path[] = "/tmp/lifeline-password-XXXXXX";
  int file = mkstemp(path);
  assert_int_equal(write(file, "from-file\n", 10), 10);
  close(file);
  setenv("LIFELINE_USER", "from-environment", 1);
  setenv("LIFELINE_PASSWORD", "not-used", 1);
  setenv("LIFELINE_PASSWORD_FILE", path, 1);
  sink_url url;
  sink_security security;
  assert_true(sink_url_parse(&url, "nats://h", "4222", error, sizeof error));
  assert_true(sink_security_load(&security, &url, error, sizeof error));
  assert_string_equal(security.user, "from-environment");
  assert_string_equal(security.password, "from-file");
  assert_false(security.tls);
  sink_security_free(&security);
  sink_url_free(&url);
  assert_true(sink_url_parse(&url, "nats://me:mine@h?tls=true", "4222", error, sizeof error));
  assert_true(sink_security_load(&security, &url, error, sizeof error));
  assert_string_equal(security.user, "me");
  assert_string_equal(security.password, "mine");
  assert_true(security.tls);
  sink_security_free(&security);
  sink_url_free(&url);
  unlink(path);
  setenv("LIFELINE_USER", "", 1);
  assert_true(sink_url_parse(&url, "nats://h", "4222", error, sizeof error));
  assert_true(sink_security_load(&security, &url, error, sizeof error));
  assert_null(security.user);
  sink_security_free(&security);
  sink_url_free(&url);
  setenv("LIFELINE_USER", "from-environment", 1);
  assert_true(sink_url_parse(&url, "nats://h", "4222", error, sizeof error));
  assert_false(sink_security_load(&security, &url, error, sizeof error));
  assert_non_null(strstr(error, "the password cannot be read from /tmp/lifeline-password-"));
  sink_url_free(&url);
  unsetenv("LIFELINE_USER");
  unsetenv("LIFELINE_PASSWORD");
  unsetenv("LIFELINE_PASSWORD_FILE");
}

static void signatures_are_those_of_the_vectors(void **state) {
  (void)state;
  static uint8_t batch[1 << 20];
  char key[65], name[200], wanted[65], got[SIGNATURE_TEXT_BYTES], path[512];
  sink_signature signature;
  FILE *list = fopen(VECTORS "/signatures.txt", "r");
  int lines = 0;
  assert_non_null(list);
  for (; fscanf(list, "%64s %199s %64s\n", key, name, wanted) == 3; lines++) {
    for (int i = 0; i < SIGNATURE_KEY_BYTES; i++)
      assert_int_equal(sscanf(key + 2 * i, "%2hhx", &signature.key[i]), 1);
    snprintf(path, sizeof path, VECTORS "/%s", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    sink_signature_of(&signature, batch, fread(batch, 1, sizeof batch, file), got);
    fclose(file);
    assert_string_equal(got, wanted);
  }
  assert_true(feof(list) && lines > 50);
  fclose(list);
}

static void write_key(const char *path, const char *key, mode_t mode) {
  FILE *file = fopen(path, "w");
  assert_true(fputs(key, file) >= 0 && fclose(file) == 0 && chmod(path, mode) == 0);
}

static void a_signing_key_is_64_digits_that_others_may_not_read(void **state) {
  (void)state;
  static const char digits[] = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
  char path[] = "/tmp/lifeline-key-XXXXXX", text[200], long_key[100];
  snprintf(long_key, sizeof long_key, "%s0", digits);
  struct {
    const char *key;
    mode_t mode;
    const char *complaint; /* NULL: none */
  } cases[] = {
      {digits, 0600, NULL},
      {long_key, 0600, "64 hex digits"},
      {digits + 1, 0600, "64 hex digits"},
      {"", 0600, "64 hex digits"},
      {digits, 0604, "other users can read or write it"},
  };
  close(mkstemp(path));
  snprintf(text, sizeof text, "nats://h?signing_key=%s", path);
  sink_url url;
  sink_security security;
  assert_true(sink_url_parse(&url, text, "4222", error, sizeof error));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_key(path, cases[i].key, cases[i].mode);
    assert_int_equal(sink_security_load(&security, &url, error, sizeof error), !cases[i].complaint);
    if (cases[i].complaint) {
      assert_non_null(strstr(error, cases[i].complaint));
      assert_non_null(strstr(error, path));
      assert_null(strstr(error, "2233"));
      continue;
    }
    assert_true(security.signature.on);
    assert_int_equal(security.signature.key[1], 0x11);
    sink_security_free(&security);
  }
  unlink(path);
  assert_false(sink_security_load(&security, &url, error, sizeof error));
  assert_non_null(strstr(error, "No such file"));
  sink_url_free(&url);
}

static void a_certificate_without_its_key_is_refused(void **state) {
  (void)state;
  sink_url url;
  sink_security security;
  assert_true(sink_url_parse(&url, "nats://h?tls_cert=/etc/hostname", "4222", error, sizeof error));
  assert_false(sink_security_load(&security, &url, error, sizeof error));
  assert_string_equal(error, "nats: tls_cert and tls_key go together");
  sink_url_free(&url);
}

static bool is_exposed(const char *text) {
  sink_url url;
  sink_security security;
  assert_true(sink_url_parse(&url, text, "4222", error, sizeof error));
  assert_true(sink_security_load(&security, &url, error, sizeof error));
  bool exposed = sink_security_is_exposed(&security, &url);
  sink_security_free(&security);
  sink_url_free(&url);
  return exposed;
}

static void a_password_is_exposed_where_it_leaves_the_machine_without_tls(void **state) {
  (void)state;
  assert_true(is_exposed("nats://me:mine@broker"));
  assert_true(is_exposed("nats://me:mine@10.0.0.1:4222"));
  assert_true(is_exposed("nats://me:mine@127.0.0.1:4222,broker:4223"));
  assert_true(is_exposed("nats://me:mine@127.example.org"));
  assert_true(is_exposed("nats://me:mine@[2001:db8::1]:4222"));
  assert_false(is_exposed("nats://me:mine@127.0.0.1:4222,localhost:4223"));
  assert_false(is_exposed("nats://me:mine@[::1]:4222"));
  assert_false(is_exposed("nats://me:mine@broker?tls=true"));
  assert_false(is_exposed("nats://broker"));
}

static void names_follow_the_format(void **state) {
  (void)state;
  const uint8_t zero[16] = {0};
  uint8_t counted[16];
  for (int i = 0; i < 16; i++)
    counted[i] = (uint8_t)(i * 17);
  char hex[INCARNATION_HEX_BYTES];
  ll_hex(counted, sizeof counted, hex);
  assert_string_equal(hex, "00112233445566778899aabbccddeeff");
  assert_int_equal(sink_partition(zero), 5);
  assert_int_equal(sink_partition((const uint8_t[16]){0xff}), 10);
}

static nats_ack_kind read_answer(const char *json, char *why, size_t bytes) {
  uint64_t stored = 0;
  nats_ack_kind kind = nats_ack_read(json, strlen(json), &stored, why, bytes);
  if (kind == NATS_ACK_STORED || kind == NATS_ACK_DUPLICATE) assert_int_equal(stored, 7);
  return kind;
}

static void answers_of_jetstream_are_told_apart(void **state) {
  (void)state;
  char why[128] = "";
  assert_int_equal(read_answer("{\"stream\":\"LIFELINE\",\"seq\":7}", why, sizeof why), NATS_ACK_STORED);
  assert_int_equal(read_answer("{\"stream\":\"L\",\"seq\":7,\"duplicate\": true}", why, sizeof why),
                   NATS_ACK_DUPLICATE);
  assert_int_equal(read_answer("{\"stream\":\"L\",\"seq\":7,\"duplicate\":true}", why, sizeof why), NATS_ACK_DUPLICATE);
  assert_int_equal(read_answer("{\"stream\":\"L\",\"seq\":7,\"duplicate\":false}", why, sizeof why), NATS_ACK_STORED);
  assert_int_equal(read_answer("{\"error\":{\"code\":400,\"err_code\":10060,\"description\":\"expected stream does not "
                               "match\"},\"stream\":\"OTHER\",\"seq\":0}",
                               why, sizeof why),
                   NATS_ACK_NO_STREAM);
  assert_string_equal(why, "expected stream does not match");
  assert_int_equal(
      read_answer("{\"error\":{\"code\":400,\"err_code\":10054,\"description\":\"too large\"}}", why, sizeof why),
      NATS_ACK_TOO_LARGE);
  assert_int_equal(read_answer("{\"error\":{\"code\":503,\"err_code\":10077,\"description\":\"maximum messages "
                               "exceeded\"}}",
                               why, sizeof why),
                   NATS_ACK_LATER);
  assert_string_equal(why, "maximum messages exceeded");
  assert_int_equal(read_answer("hello", why, sizeof why), NATS_ACK_LATER);
  assert_int_equal(read_answer("", why, sizeof why), NATS_ACK_LATER);
  assert_int_equal(read_answer("{\"error\":{}}", why, sizeof why), NATS_ACK_LATER);
}

/* The texts of OpenSSL 3.0 and 3.2, and of librdkafka. */
static void only_some_alerts_are_about_the_certificate(void **state) {
  (void)state;
  static const char *const about_it[] = {
      "tlsv13 alert certificate required",
      "sslv3 alert bad certificate",
      "ssl/tls alert bad certificate",
      "sslv3 alert unsupported certificate",
      "sslv3 alert certificate revoked",
      "sslv3 alert certificate expired",
      "sslv3 alert certificate unknown",
      "tlsv1 alert unknown ca",
      "tlsv1 alert access denied",
      "sslv3 alert handshake failure",
      "SSL handshake failed: error:0A000418:SSL routines::tlsv1 alert unknown ca: SSL alert number 48"};
  static const char *const others[] = {
      "tlsv1 alert internal error", "tlsv1 alert decode error", "tlsv1 alert user cancelled",
      "sslv3 alert close notify",
      "SSL handshake failed: error:0A000438:SSL routines::tlsv1 alert internal error: SSL alert number 80"};
  for (size_t i = 0; i < sizeof about_it / sizeof *about_it; i++)
    assert_int_equal(sink_alert_read(about_it[i]), SINK_ALERT_CERTIFICATE);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_int_equal(sink_alert_read(others[i]), SINK_ALERT_OTHER);
  assert_int_equal(sink_alert_read("certificate verify failed"), SINK_ALERT_NONE);
  bool symptom;
  assert_string_equal(kafka_explain(RD_KAFKA_RESP_ERR__SSL, others[4], &symptom), "cannot be reached");
  assert_true(symptom);
  assert_non_null(strstr(kafka_explain(RD_KAFKA_RESP_ERR__SSL, about_it[10], &symptom), "client certificate"));
  assert_false(symptom);
}

static void append_line(void *ctx, ll_sink_log_level level, const char *message) {
  (void)level;
  strcat(strcat(ctx, message), "\n");
}

static void a_cause_takes_the_place_of_its_symptom(void **state) {
  (void)state;
  char said[256] = "";
  const ll_sink_host host = {.ctx = said, .log = append_line};
  sink_report report;
  sink_report_init(&report, &host);
  sink_report_symptom(&report, "%s cannot be reached", "h:1");
  report.symptom_due_ms = INT64_MAX; /* not due yet, however busy the machine is */
  sink_report_tick(&report);
  assert_string_equal(said, "");
  sink_report_cause(&report, "%s is not trusted", "h:1");
  sink_report_close(&report);
  assert_string_equal(said, "h:1 is not trusted\n");
}

static void a_symptom_without_a_cause_is_said_after_a_moment(void **state) {
  (void)state;
  char said[256] = "";
  const ll_sink_host host = {.ctx = said, .log = append_line};
  sink_report report;
  sink_report_init(&report, &host);
  sink_report_symptom(&report, "cannot be reached");
  usleep(SINK_REPORT_PATIENCE_MS * 1000 / 2);
  sink_report_symptom(&report, "is down"); /* does not restart the delay */
  usleep(SINK_REPORT_PATIENCE_MS * 1000 / 2 + 10000);
  sink_report_tick(&report);
  sink_report_tick(&report);
  assert_string_equal(said, "cannot be reached\n");
  sink_report_close(&report);
}

static void a_symptom_is_not_lost_to_other_news_or_to_the_end(void **state) {
  (void)state;
  char said[256] = "";
  const ll_sink_host host = {.ctx = said, .log = append_line};
  sink_report report;
  sink_report_init(&report, &host);
  sink_report_symptom(&report, "cannot be reached");
  sink_report_state(&report, LL_SINK_INFO, "accepts batches again");
  sink_report_symptom(&report, "hangs");
  sink_report_close(&report);
  sink_report_cause(&report, "too late");
  assert_string_equal(said, "cannot be reached\naccepts batches again\nhangs\n");
}

static void batches_grow_in_steps_while_the_limit_is_unknown(void **state) {
  (void)state;
  sink_bound bound = {0};
  assert_int_equal(sink_bound_most(&bound), LL_SINK_CAUTIOUS_BYTES);
  sink_bound_acknowledge(&bound, 1000);
  assert_int_equal(sink_bound_most(&bound), LL_SINK_CAUTIOUS_BYTES);
  sink_bound_acknowledge(&bound, LL_SINK_CAUTIOUS_BYTES);
  assert_int_equal(sink_bound_most(&bound), 2 * LL_SINK_CAUTIOUS_BYTES);
  sink_bound_acknowledge(&bound, 1000);
  assert_int_equal(sink_bound_most(&bound), 2 * LL_SINK_CAUTIOUS_BYTES);
  sink_bound_tell(&bound, 0);
  assert_int_equal(sink_bound_most(&bound), 2 * LL_SINK_CAUTIOUS_BYTES);
}

static void a_refusal_halves_batches_until_the_limit_is_told(void **state) {
  (void)state;
  sink_bound bound = {0};
  sink_bound_refuse(&bound, 0);
  assert_int_equal(sink_bound_most(&bound), LL_SINK_CAUTIOUS_BYTES);
  sink_bound_refuse(&bound, 600000);
  sink_bound_refuse(&bound, 600000); /* it was in flight with the first one */
  assert_int_equal(sink_bound_most(&bound), 300000);
  sink_bound_acknowledge(&bound, 300000);
  assert_int_equal(sink_bound_most(&bound), 300000);
  sink_bound_refuse(&bound, 200000);
  assert_int_equal(sink_bound_most(&bound), 100000);
  sink_bound_refuse(&bound, 50000);
  assert_int_equal(sink_bound_most(&bound), 40000);
  sink_bound_tell(&bound, 500000);
  assert_int_equal(sink_bound_most(&bound), 500000);
}

static void the_size_of_a_batch_is_the_one_before_compression(void **state) {
  (void)state;
  uint8_t batch[300] = {0};
  ll_batch_head head = {.magic = LL_BATCH_MAGIC, .events_bytes = 100, .events_raw_bytes = 400};
  memcpy(batch, &head, sizeof head);
  assert_int_equal(sink_bound_bytes(batch, sizeof batch), 600);
  assert_int_equal(sink_bound_bytes(batch, sizeof head - 1), sizeof head - 1);
  *batch = 0;
  assert_int_equal(sink_bound_bytes(batch, sizeof batch), sizeof batch);
}

/* Client libraries of both brokers end at headers with other letters. */
static void the_text_of_a_header_is_printable_ascii(void **state) {
  (void)state;
  char header[SINK_HEADER_BYTES], text[256];
  sink_header_text("copy-2.1_x", header);
  assert_string_equal(header, "copy-2.1_x");
  sink_header_text("z\xc3\xa4hler 100%\r\nX: y\x7f", header);
  assert_string_equal(header, "z%C3%A4hler%20100%25%0D%0AX:%20y%7F");
  sink_header_text(NULL, header);
  assert_string_equal(header, "");
  memset(text, 0xff, 255);
  text[255] = '\0';
  sink_header_text(text, header);
  assert_int_equal(strlen(header), 765);
  for (size_t i = 0; header[i]; i++)
    assert_true(header[i] > 0x20 && header[i] < 0x7f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_text_of_a_header_is_printable_ascii),
      cmocka_unit_test(a_url_falls_into_its_parts),
      cmocka_unit_test(a_url_that_is_none_is_refused),
      cmocka_unit_test(a_number_of_a_url_is_whole_and_bounded),
      cmocka_unit_test(credentials_of_the_url_come_before_those_of_the_environment),
      cmocka_unit_test(signatures_are_those_of_the_vectors),
      cmocka_unit_test(a_signing_key_is_64_digits_that_others_may_not_read),
      cmocka_unit_test(a_certificate_without_its_key_is_refused),
      cmocka_unit_test(a_password_is_exposed_where_it_leaves_the_machine_without_tls),
      cmocka_unit_test(names_follow_the_format),
      cmocka_unit_test(a_cause_takes_the_place_of_its_symptom),
      cmocka_unit_test(a_symptom_without_a_cause_is_said_after_a_moment),
      cmocka_unit_test(a_symptom_is_not_lost_to_other_news_or_to_the_end),
      cmocka_unit_test(answers_of_jetstream_are_told_apart),
      cmocka_unit_test(only_some_alerts_are_about_the_certificate),
      cmocka_unit_test(batches_grow_in_steps_while_the_limit_is_unknown),
      cmocka_unit_test(a_refusal_halves_batches_until_the_limit_is_told),
      cmocka_unit_test(the_size_of_a_batch_is_the_one_before_compression),
  };
  return cmocka_run_group_tests_name("sinks", tests, NULL, NULL);
}
