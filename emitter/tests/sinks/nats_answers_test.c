/* What the sink nats:// makes of answers that a real server gives only in rare moments. */
#include <nats/nats.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "drive.h"
#include "scripted_nats.h"

enum { TIMEOUT_MS = 60000, BATCH_BYTES = 100 };

#define NO_STREAMS "{\"type\":\"io.nats.jetstream.api.v1.stream_names_response\",\"total\":0,\"streams\":null}"
#define NOT_ENABLED                                                                                                    \
  "{\"error\":{\"code\":503,\"err_code\":10039,\"description\":\"JetStream not enabled for account\"}}"

static drive d;

static void open_sink(scripted_nats *server) {
  char url[64], error[256] = "";
  scripted_nats_start(server);
  snprintf(url, sizeof url, "nats://127.0.0.1:%d", server->port);
  if (!drive_open(&d, "nats", url, error, sizeof error)) fail_msg("the sink does not open: %s", error);
}

static void expect_log(const char *text, unsigned times) {
  if (drive_said(&d, text) != times) fail_msg("not %u times \"%s\":\n%s", times, text, d.log);
}

/* The sink first: the server serves a connection to its end. */
static void close_sink(scripted_nats *server) {
  drive_end(&d);
  scripted_nats_stop(server);
}

/* A stream that ends acknowledges what it has stored, and no longer listens: the answers overtake each other. */
static void an_acknowledgement_after_no_responders_is_no_missing_stream(void **state) {
  (void)state;
  scripted_nats server = {.answers = {SAYS_NOTHING, HAS_NO_RESPONDERS, ACKNOWLEDGES_THE_FIRST}, .answer_count = 3};
  open_sink(&server);
  drive_add(&d, 3, BATCH_BYTES);
  while (drive_tally(&d, DRIVE_ACKED) == 0)
    drive_run(&d, 10);
  scripted_nats_turn(&server, CLOSES_THE_CONNECTION);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "is lost; trying again", TIMEOUT_MS));
  scripted_nats_turn(&server, ACKNOWLEDGES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  expect_log("error: ", 0);
  expect_log("takes batches again", 0); /* nobody said that it does not */
  close_sink(&server);
}

/* However long it takes from its streams' end to its connections': what JetStream cannot tell is not that it is
 * missing. */
static void a_server_that_ends_slowly_has_no_missing_stream(void **state) {
  (void)state;
  static const char *const said[] = {NOT_ENABLED, NULL};
  for (int i = 0; i < 2; i++) {
    scripted_nats server = {.afterwards = HAS_NO_RESPONDERS, .streams = said[i]};
    open_sink(&server);
    drive_add(&d, 3, BATCH_BYTES);
    assert_true(drive_until_logged(&d, "error: nats: nobody answers on lifeline.batches.", TIMEOUT_MS));
    scripted_nats_turn(&server, CLOSES_THE_CONNECTION);
    assert_true(drive_until_logged(&d, "is lost; trying again", TIMEOUT_MS));
    scripted_nats_turn(&server, ACKNOWLEDGES);
    assert_true(drive_run(&d, TIMEOUT_MS));
    expect_log("is missing", 0);
    expect_log("error: ", 1);
    close_sink(&server);
  }
}

static void a_stream_that_jetstream_does_not_know_is_missing(void **state) {
  (void)state;
  scripted_nats server = {.afterwards = HAS_NO_RESPONDERS, .streams = NO_STREAMS};
  open_sink(&server);
  drive_add(&d, 3, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "stream LIFELINE with the subjects lifeline.batches.* is missing", TIMEOUT_MS));
  drive_run(&d, 500);
  scripted_nats_turn(&server, ACKNOWLEDGES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  assert_true(drive_until_logged(&d, "takes batches again", TIMEOUT_MS));
  expect_log("error: ", 1);
  close_sink(&server);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_acknowledgement_after_no_responders_is_no_missing_stream),
      cmocka_unit_test(a_server_that_ends_slowly_has_no_missing_stream),
      cmocka_unit_test(a_stream_that_jetstream_does_not_know_is_missing),
  };
  signal(SIGPIPE, SIG_IGN);
  int failed = cmocka_run_group_tests_name("answers of NATS", tests, NULL, NULL);
  nats_CloseAndWait(60000); /* or its threads would end while the process does */
  return failed;
}
