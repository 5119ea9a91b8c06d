/* Broker failures, on both kinds: in the end every batch is acknowledged or reported as refused, each error is one
 * line, and the sink closes in time. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "acl.h"
#include "drive.h"
#include "faulty.h"
#include "troubles.h"

enum { BATCH_BYTES = 20000, LARGE_BYTES = 100000, TIMEOUT_MS = 60000, LOOK_MS = 50 };

static char text[8192];

static void open_sink(drive *d, const char *url) {
  char error[256] = "";
  if (!drive_open(d, scheme, url, error, sizeof error)) fail_msg("the sink does not open: %s", error);
}

/* At the same time, since most of it is waiting. */
static void a_broker_that_never_answers_or_hangs_up_is_one_line_and_batches_wait(void **state) {
  (void)state;
  enum { MANNERS = 2, LONG_MS = 8000 };
  static drive drives[MANNERS];
  faulty servers[MANNERS];
  char urls[MANNERS][64];
  broker_credentials(NULL, NULL, NULL);
  for (int i = 0; i < MANNERS; i++) {
    faulty_start(&servers[i], i == 0 ? ACCEPTS_AND_NEVER_ANSWERS : CLOSES_EVERY_CONNECTION, 0, NULL, false);
    snprintf(urls[i], sizeof urls[i], "%s://127.0.0.1:%d", scheme, servers[i].port);
    open_sink(&drives[i], urls[i]);
    drive_add(&drives[i], 3, BATCH_BYTES);
  }
  for (int waited_ms = 0; waited_ms < LONG_MS; waited_ms += 100 * MANNERS)
    for (int i = 0; i < MANNERS; i++)
      drive_run(&drives[i], 100);
  for (int i = 0; i < MANNERS; i++) {
    drive *d = &drives[i];
    assert_true(__atomic_load_n(&servers[i].connections, __ATOMIC_ACQUIRE) > 0);
    assert_int_equal(drive_tally(d, DRIVE_WAITING) + drive_tally(d, DRIVE_SENT), 3);
    drive_close(d);
    faulty_stop(&servers[i]);
    if (drive_said(d, "error: ") != 1 || drive_said(d, "\n") != 1) fail_msg("%s", d->log);
    assert_int_equal(drive_said(d, "cannot be reached") + drive_said(d, "does not answer"), 1);
  }
}

static void as_emitter(void) {
  broker_credentials(guarded.emitter, guarded.emitter_password_file, guarded.ca);
}

/* Other servers take the broker's port for a while: one that hangs up, then one with an expired certificate. */
static void nothing_is_lost_while_others_have_the_port_and_an_expired_certificate_is_said(void **state) {
  (void)state;
  drive d;
  faulty server;
  as_emitter();
  open_sink(&d, guarded.tls_url);
  drive_add(&d, 50, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  broker_kill(&guarded);
  faulty_start(&server, CLOSES_EVERY_CONNECTION, broker_port(&guarded), NULL, false);
  drive_add(&d, 100, BATCH_BYTES);
  for (int i = 0; i < TIMEOUT_MS / LOOK_MS && __atomic_load_n(&server.connections, __ATOMIC_ACQUIRE) < 2; i++)
    drive_run(&d, LOOK_MS);
  assert_true(__atomic_load_n(&server.connections, __ATOMIC_ACQUIRE) >= 2);
  faulty_stop(&server);
  faulty_start(&server, SHOWS_AN_EXPIRED_CERTIFICATE, broker_port(&guarded), guarded.directory, is_nats());
  assert_true(drive_until_logged(&d, "certificate has expired", TIMEOUT_MS));
  drive_run(&d, 1000);
  assert_int_equal(drive_said(&d, "certificate has expired"), 1);
  faulty_stop(&server);
  broker_again(&guarded, scheme);
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_close(&d);
}

static void a_certificate_of_another_name_is_not_trusted(void **state) {
  (void)state;
  drive d;
  faulty server;
  char url[128];
  as_emitter();
  faulty_start(&server, SHOWS_ANOTHERS_CERTIFICATE, 0, guarded.directory, is_nats());
  snprintf(url, sizeof url, "%s://localhost:%d/?tls=true", scheme, server.port);
  open_sink(&d, url);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "not valid for this name", TIMEOUT_MS));
  drive_close(&d);
  faulty_stop(&server);
}

static void set_revoked(bool revoked) {
  const char *allowed = "include emitter-permissions.conf", *forbidden = "permissions: { publish: nothing }";
  if (is_nats())
    broker_reconfigure(&guarded, revoked ? allowed : forbidden, revoked ? forbidden : allowed);
  else
    acl_allow(&guarded, "lifeline.batches", ACL_WRITE, !revoked);
}

static void batches_wait_while_the_permission_is_revoked(void **state) {
  (void)state;
  drive d;
  as_emitter();
  open_sink(&d, guarded.tls_url);
  drive_add(&d, 50, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  set_revoked(true);
  snprintf(text, sizeof text,
           is_nats() ? "user emitter may not publish to" : "cannot be written: this user has no permission");
  for (int i = 0; i < TIMEOUT_MS / LOOK_MS && drive_said(&d, text) == 0; i++, usleep(LOOK_MS * 1000)) {
    drive_add(&d, 1, BATCH_BYTES); /* the broker takes some more before the change applies */
    drive_run(&d, LOOK_MS);
  }
  assert_int_equal(drive_said(&d, text), 1);
  drive_add(&d, 50, BATCH_BYTES);
  drive_run(&d, 3000);
  assert_int_equal(drive_said(&d, text), 1);
  assert_true(drive_tally(&d, DRIVE_WAITING) + drive_tally(&d, DRIVE_SENT) >= 50);
  assert_int_equal(drive_tally(&d, DRIVE_REFUSED) + drive_tally(&d, DRIVE_FAILED), 0);
  set_revoked(false);
  if (!drive_run(&d, TIMEOUT_MS)) fail_msg("%s", d.log);
  drive_close(&d);
}

static void lower_limit(bool lowered) {
  if (is_nats())
    broker_reconfigure(&plain, lowered ? "max_payload: 1MB" : "max_payload: 60KB",
                       lowered ? "max_payload: 60KB" : "max_payload: 1MB");
  else
    acl_alter_topic(&plain, "lifeline.batches", "max.message.bytes", lowered ? "60000" : "1012000");
}

/* Sends large batches, one by one, until one is given up, or until one is accepted again: a broker applies its new
 * limit with a delay. Returns how many were given up. */
static unsigned until_large_ones_are(drive *d, bool taken) {
  unsigned before = drive_tally(d, DRIVE_REFUSED) + drive_tally(d, DRIVE_FAILED), given_up = 0;
  for (int i = 0; i < TIMEOUT_MS / LOOK_MS && d->count < DRIVE_MAX_BATCHES / 2; i++, usleep(LOOK_MS * 1000)) {
    unsigned last = given_up;
    drive_add(d, 1, LARGE_BYTES);
    drive_run(d, TIMEOUT_MS);
    given_up = drive_tally(d, DRIVE_REFUSED) + drive_tally(d, DRIVE_FAILED) - before;
    if ((given_up == last) == taken) break;
  }
  return given_up;
}

/* Batches that exceed the new limit are given up with a report; later ones are made smaller. */
static void a_bound_that_is_lowered_costs_what_exceeds_it_and_no_more(void **state) {
  (void)state;
  drive d;
  broker_credentials(NULL, NULL, NULL);
  open_sink(&d, plain.url);
  drive_add(&d, 20, LARGE_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  lower_limit(true);
  assert_int_equal(until_large_ones_are(&d, false), 1);
  drive_add(&d, 10, BATCH_BYTES);
  drive_add(&d, 1, LARGE_BYTES);
  drive_add(&d, 10, BATCH_BYTES);
  drive_run(&d, TIMEOUT_MS);
  assert_int_equal(drive_tally(&d, DRIVE_ACKED), d.count - 2);
  assert_int_equal(drive_tally(&d, DRIVE_REFUSED) + drive_tally(&d, DRIVE_FAILED), 2);
  if (drive_said(&d, "error: ") != 1) fail_msg("%s", d.log);
  drive_run(&d, 500);
  assert_in_range(d.plugin->max_batch_bytes(d.sink), 40000, 62000);
  lower_limit(false);
  if (is_nats()) { /* it sends its limit to new connections only */
    drive_close(&d);
    return;
  }
  unsigned given_up = 2 + until_large_ones_are(&d, true);
  drive_add(&d, 20, LARGE_BYTES);
  drive_run(&d, TIMEOUT_MS);
  assert_int_equal(drive_tally(&d, DRIVE_ACKED), d.count - given_up);
  drive_close(&d);
}

static void a_program_ends_well(const char *url, const char *preload, const char *program) {
  char command[1200];
  snprintf(command, sizeof command, "LD_PRELOAD='%s' LIFELINE_URL='%s' timeout -s KILL 300 '" PROGRAMS "'/%s", preload,
           url, program);
  assert_int_equal(system(command), 0);
}

/* With the sink's threads, librdkafka's among them, in the process. */
static void a_program_whose_main_thread_ends_first_ends(void **state) {
  (void)state;
  broker_credentials(NULL, NULL, NULL);
  a_program_ends_well(plain.url, "", "ends main-exits");
}

static void what_a_program_prints_to_closed_descriptors_reaches_no_connection(void **state) {
  (void)state;
  broker_credentials(NULL, NULL, NULL);
  a_program_ends_well(plain.url, "", "ends standard-descriptors-are-closed");
}

static void a_program_that_closes_all_descriptors_keeps_its_files_and_its_events(void **state) {
  (void)state;
  broker_credentials(NULL, NULL, NULL);
  a_program_ends_well(plain.url, "", "ends all-descriptors-are-closed-midway");
}

static void the_sink_calls_its_own_libraries_and_the_programs_allocator(void **state) {
  (void)state;
  broker_credentials(guarded.emitter, guarded.emitter_password_file, guarded.ca);
  a_program_ends_well(guarded.tls_url, "", "exports-others");
  a_program_ends_well(guarded.tls_url, STRICT_MALLOC, "exports-others");
}

static void set_up(const broker *b) {
  broker_credentials(b->user, b->password_file, b->ca);
  if (broker_setup(b->tls_url, "", text, sizeof text) != 0) fail_msg("lifeline-setup: %s", text);
}

static int set_up_brokers(void **state) {
  (void)state;
  set_up(&plain);
  set_up(&guarded);
  if (!is_nats()) acl_allow(&guarded, "lifeline.batches", ACL_WRITE, true);
  return 0;
}

int fault_tests(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_broker_that_never_answers_or_hangs_up_is_one_line_and_batches_wait),
      cmocka_unit_test(nothing_is_lost_while_others_have_the_port_and_an_expired_certificate_is_said),
      cmocka_unit_test(a_certificate_of_another_name_is_not_trusted),
      cmocka_unit_test(a_bound_that_is_lowered_costs_what_exceeds_it_and_no_more),
      cmocka_unit_test(batches_wait_while_the_permission_is_revoked),
      cmocka_unit_test(a_program_whose_main_thread_ends_first_ends),
      cmocka_unit_test(what_a_program_prints_to_closed_descriptors_reaches_no_connection),
      cmocka_unit_test(a_program_that_closes_all_descriptors_keeps_its_files_and_its_events),
      cmocka_unit_test(the_sink_calls_its_own_libraries_and_the_programs_allocator),
  };
  return cmocka_run_group_tests_name("sink faults", tests, set_up_brokers, NULL);
}
