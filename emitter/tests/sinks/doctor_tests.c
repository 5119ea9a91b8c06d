/* lifeline-doctor on real brokers, healthy and not. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "acl.h"
#include "faulty.h"
#include "troubles.h"

static char text[16384];

static void expect(int status, const char *url, const char *finding) {
  if (broker_doctor(url, "", text, sizeof text) != status || !strstr(text, finding))
    fail_msg("not status %d with \"%s\", but:\n%s", status, finding, text);
}

/* A broker confirms a changed right before it applies it. */
static void expect_soon(int status, const char *url, const char *finding) {
  for (int i = 0; i < 100; i++, usleep(100000))
    if (broker_doctor(url, "", text, sizeof text) == status && strstr(text, finding)) return;
  fail_msg("not status %d with \"%s\", but:\n%s", status, finding, text);
}

static void also(const char *finding) {
  if (!strstr(text, finding)) fail_msg("not \"%s\", but:\n%s", finding, text);
}

static void what_is_missing_is_named_and_setup_mends_it(void **state) {
  (void)state;
  broker_credentials(NULL, NULL, NULL);
  expect(1, plain.url,
         is_nats() ? "fail    stream: LIFELINE is missing; create it with lifeline-setup"
                   : "fail    topic: lifeline.batches is missing");
  also("warn    activations:");
  char output[4096];
  assert_int_equal(broker_setup(plain.url, "", output, sizeof output), 0);
  expect(0, plain.url, "ok      batches: this user may ");
  also("ok      activations: they are read from the ");
  also("warn    control: this user may write activations for all programs");
  also("ok      clock");
  also("ok      ring directory: ");
}

static void nothing_is_left_on_the_broker(void **state) {
  (void)state;
  expect(0, plain.url, "ok      credentials");
  if (is_nats()) also("0 bytes held");
  char output[4096];
  assert_int_equal(broker_activate(plain.url, "list --json", output, sizeof output), 0);
  assert_string_equal(output, "[]\n");
}

static void json_counts_the_findings(void **state) {
  (void)state;
  assert_int_equal(broker_doctor(plain.url, "--json", text, sizeof text), 0);
  assert_int_equal(strncmp(text, "{\"findings\":[{\"state\":\"", 23), 0);
  also("\"fail\":0}\n");
}

static void a_broker_that_is_not_there_or_none_is_told_apart(void **state) {
  (void)state;
  char url[128];
  faulty other;
  snprintf(url, sizeof url, "%s://127.0.0.1:1", scheme);
  expect(1, url, "no connection: Connection refused");
  snprintf(url, sizeof url, "%s://no-such-host.invalid", scheme);
  expect(1, url, "the name no-such-host.invalid cannot be resolved");
  if (!is_nats()) return;
  faulty_start(&other, CLOSES_EVERY_CONNECTION, 0, NULL, false);
  snprintf(url, sizeof url, "%s://127.0.0.1:%d", scheme, other.port);
  expect(1, url, "it accepts connections but sends nothing");
  faulty_stop(&other);
}

static void an_emitters_user_is_in_order_and_may_not_write_control(void **state) {
  (void)state;
  char output[4096];
  broker_credentials(guarded.user, guarded.password_file, guarded.ca);
  assert_int_equal(broker_setup(guarded.tls_url, "", output, sizeof output), 0);
  broker_credentials(guarded.emitter, guarded.emitter_password_file, guarded.ca);
  if (!is_nats()) {
    expect(1, guarded.tls_url, "or this user may not see it");
    acl_allow(&guarded, "lifeline.batches", ACL_WRITE, true);
    acl_allow(&guarded, "lifeline.activations", ACL_READ, true);
  }
  expect_soon(0, guarded.tls_url, "ok      batches: this user may ");
  if (!strstr(text, "its certificate is good for 30 days")) also("its certificate is good for 29 days");
  also("ok      activations: they are read from the ");
  also("ok      control: this user may not write activations, which is right for an emitter");
  also("skipped");
}

static void an_emitters_user_cannot_switch_others(void **state) {
  (void)state;
  char output[4096];
  assert_int_equal(broker_activate(guarded.tls_url, "set '* off'", output, sizeof output), 1);
  assert_non_null(strstr(output, "user emitter may not write"));
  assert_int_equal(broker_activate(guarded.tls_url, "list --json", output, sizeof output), 0);
  assert_string_equal(output, "[]\n");
}

static void bad_credentials_and_certificates_are_told_apart(void **state) {
  (void)state;
  broker_credentials(guarded.emitter, guarded.password_file, guarded.ca);
  expect(1, guarded.tls_url, "refuses the credentials");
  broker_credentials(guarded.emitter, guarded.emitter_password_file, NULL);
  expect(1, guarded.tls_url, "its certificate is not trusted");
  faulty other;
  char url[128];
  faulty_start(&other, SHOWS_AN_EXPIRED_CERTIFICATE, 0, guarded.directory, is_nats());
  broker_credentials(guarded.emitter, guarded.emitter_password_file, guarded.ca);
  snprintf(url, sizeof url, "%s://127.0.0.1:%d/?tls=true", scheme, other.port);
  expect(1, url, "its certificate has expired on");
  faulty_stop(&other);
  broker_credentials(NULL, NULL, NULL);
}

static void a_limit_below_the_largest_batch_is_a_warning(void **state) {
  (void)state;
  char url[512], output[4096];
  broker_credentials(NULL, NULL, NULL);
  if (is_nats()) {
    broker_reconfigure(&plain, "max_payload: 1MB", "max_payload: 500KB");
    expect_soon(0, plain.url, "warn    server: it accepts messages of at most ");
    broker_reconfigure(&plain, "max_payload: 500KB", "max_payload: 1MB");
  } else {
    snprintf(url, sizeof url, "%s/small.batches", plain.url);
    assert_int_equal(broker_setup(url, "--prefix small --partitions 2", output, sizeof output), 0);
    acl_alter_topic(&plain, "small.batches", "max.message.bytes", "500000");
    expect_soon(0, url, "warn    topic: small.batches accepts messages of at most 500000 bytes");
  }
  also("grow to 960000");
}

static void this_machine_is_looked_at_as_well(void **state) {
  (void)state;
  char directory[] = "/tmp/lifeline-doctor-XXXXXX", path[64];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/triggers", directory);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("# fine\ndisk.* off\ndisk.* sampel:3\nend\n", file);
  fclose(file);
  setenv("LIFELINE_TRIGGERS", path, 1);
  expect(1, "null:", "fail    trigger file: line 3: column 8");
  assert_int_equal(chmod(path, 0666), 0);
  expect(1, "null:", "can be written by others, and is not read");
  unlink(path);
  expect(0, "null:", "ok      trigger file: ");
  assert_int_equal(chmod(directory, 0777), 0);
  setenv("LIFELINE_RING_DIR", directory, 1);
  expect(1, "null:", "fail    ring directory: ");
  unsetenv("LIFELINE_RING_DIR");
  unsetenv("LIFELINE_TRIGGERS");
  expect(1, "file:///no-such-directory/events.llb", "fail    file: ");
  snprintf(path, sizeof path, "file://%s/events.llb", directory);
  expect(0, path, "ok      file: ");
  setenv("LIFELINE_BATCH_BYTES", "many", 1);
  expect(1, "null:", "fail    settings: LIFELINE_BATCH_BYTES must be a number");
  unsetenv("LIFELINE_BATCH_BYTES");
  rmdir(directory);
}

static int start(void **state) {
  (void)state;
  broker_start(&plain, scheme, "");
  broker_start(&guarded, scheme, is_nats() ? "--tls --auth" : "--tls --auth --acl");
  return 0;
}

int doctor_tests(void) {
  setenv("LIFELINE_BUDGET_BYTES", "4194304", 1); /* /dev/shm has room for that in any container */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_missing_is_named_and_setup_mends_it),
      cmocka_unit_test(nothing_is_left_on_the_broker),
      cmocka_unit_test(json_counts_the_findings),
      cmocka_unit_test(a_broker_that_is_not_there_or_none_is_told_apart),
      cmocka_unit_test(an_emitters_user_is_in_order_and_may_not_write_control),
      cmocka_unit_test(an_emitters_user_cannot_switch_others),
      cmocka_unit_test(bad_credentials_and_certificates_are_told_apart),
      cmocka_unit_test(a_limit_below_the_largest_batch_is_a_warning),
      cmocka_unit_test(this_machine_is_looked_at_as_well),
  };
  signal(SIGPIPE, SIG_IGN); /* the faulty server writes to closed connections */
  int failed = cmocka_run_group_tests_name("lifeline-doctor", tests, start, NULL);
  signal(SIGPIPE, SIG_DFL);
  return failed;
}
