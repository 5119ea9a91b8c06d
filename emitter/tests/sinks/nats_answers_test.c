/* The sink nats:// and answers that a real server gives only in rare situations. */
#include <dlfcn.h>
#include <nats/nats.h>
#include <netdb.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "drive.h"
#include "scripted_nats.h"

enum { TIMEOUT_MS = 60000, BATCH_BYTES = 100 };

#define NO_STREAMS "{\"type\":\"io.nats.jetstream.api.v1.stream_names_response\",\"total\":0,\"streams\":null}"
#define NOT_ENABLED                                                                                                    \
  "{\"error\":{\"code\":503,\"err_code\":10039,\"description\":\"JetStream not enabled for account\"}}"

static drive d;

static void open_sink_as(scripted_nats *server, const char *user, const char *rest) {
  char url[128], error[256] = "";
  scripted_nats_start(server);
  snprintf(url, sizeof url, "nats://%s127.0.0.1:%d%s", user, server->port, rest);
  if (!drive_open(&d, "nats", url, error, sizeof error)) fail_msg("the sink does not open: %s", error);
}

static void open_sink(scripted_nats *server) {
  open_sink_as(server, "", "");
}

static void expect_log(const char *text, unsigned times) {
  if (drive_said(&d, text) != times) fail_msg("not %u times \"%s\":\n%s", times, text, d.log);
}

/* Closes the sink first: the server serves a connection to its end. */
static void close_sink(scripted_nats *server) {
  drive_end(&d);
  scripted_nats_stop(server);
}

/* A stopping stream acknowledges stored batches after it has stopped listening: the answers overtake each other. */
static void an_acknowledgement_after_no_responders_is_no_missing_stream(void **state) {
  (void)state;
  scripted_nats server = {.answers = {SAYS_NOTHING, HAS_NO_RESPONDERS, ACKNOWLEDGES_THE_FIRST}, .answer_count = 3};
  open_sink(&server);
  drive_add(&d, 3, BATCH_BYTES);
  while (drive_tally(&d, DRIVE_ACKED) == 0)
    drive_run(&d, 10);
  scripted_nats_turn(&server, CLOSES_THE_CONNECTION);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "was lost; trying again", TIMEOUT_MS));
  scripted_nats_turn(&server, ACKNOWLEDGES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  expect_log("error: ", 0);
  expect_log("accepts batches again", 0); /* its absence was never reported */
  close_sink(&server);
}

/* A slow shutdown, with any time between the end of the streams and of the connections. JetStream's silence does not
 * mean that the stream is missing. */
static void a_server_that_ends_slowly_has_no_missing_stream(void **state) {
  (void)state;
  static const char *const said[] = {NOT_ENABLED, NULL};
  for (int i = 0; i < 2; i++) {
    scripted_nats server = {.afterwards = HAS_NO_RESPONDERS, .streams = said[i]};
    open_sink(&server);
    drive_add(&d, 3, BATCH_BYTES);
    assert_true(drive_until_logged(&d, "error: nats: no answer on lifeline.batches.", TIMEOUT_MS));
    scripted_nats_turn(&server, CLOSES_THE_CONNECTION);
    assert_true(drive_until_logged(&d, "was lost; trying again", TIMEOUT_MS));
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
  assert_true(drive_until_logged(&d, "accepts batches again", TIMEOUT_MS));
  expect_log("error: ", 1);
  close_sink(&server);
}

/* The stream may hold the same bytes, so nothing is counted as dropped. */
static void a_duplicate_of_a_first_send_is_acknowledged_and_reported(void **state) {
  (void)state;
  scripted_nats server = {.answers = {ACKNOWLEDGES, HAS_IT_ALREADY}, .answer_count = 2, .afterwards = ACKNOWLEDGES};
  open_sink(&server);
  drive_add(&d, 3, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  close_sink(&server);
  expect_log("error: nats: stream LIFELINE already has a message with the id of batch 2 on lifeline.batches.", 1);
  expect_log("(it is message 1; such batches so far: 1)", 1);
  expect_log("see SECURITY.md", 1); /* the line is not truncated */
}

static void many_duplicates_are_two_lines_the_last_with_their_number(void **state) {
  (void)state;
  scripted_nats server = {.afterwards = HAS_IT_ALREADY};
  open_sink(&server);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "such batches so far: 1)", TIMEOUT_MS));
  drive_add(&d, 500, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  close_sink(&server);
  expect_log("such batches so far: 501)", 1);
  assert_in_range(drive_said(&d, "such batches so far"), 2, 4); /* one a minute on a slow machine */
}

/* The first copy was stored, but its acknowledgement was lost with the connection. */
static void a_duplicate_of_a_batch_that_was_sent_before_is_not_reported(void **state) {
  (void)state;
  scripted_nats server = {.afterwards = CLOSES_THE_CONNECTION};
  open_sink(&server);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "was lost; trying again", TIMEOUT_MS));
  scripted_nats_turn(&server, HAS_IT_ALREADY);
  assert_true(drive_run(&d, TIMEOUT_MS));
  close_sink(&server);
  expect_log("already has a message", 0);
}

/* The resent copy went through another server, and arrived before the first. */
static void a_duplicate_of_a_first_send_that_was_overtaken_is_not_reported(void **state) {
  (void)state;
  scripted_nats server = {.afterwards = CLOSES_THE_CONNECTION};
  open_sink(&server);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "was lost; trying again", TIMEOUT_MS));
  scripted_nats_turn(&server, HAD_THE_PREVIOUS_ALREADY);
  assert_true(drive_run(&d, TIMEOUT_MS));
  close_sink(&server);
  expect_log("already has a message", 0);
}

/* As for lifeline-recover, or a spool that another process left. */
static void a_duplicate_of_what_others_may_have_sent_is_not_reported(void **state) {
  (void)state;
  scripted_nats server = {.afterwards = HAS_IT_ALREADY};
  open_sink(&server);
  d.host.first_hand = false;
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  close_sink(&server);
  expect_log("already has a message", 0);
}

#define INFO(more)                                                                                                     \
  "INFO {\"server_id\":\"X\",\"version\":\"2.10.0\",\"headers\":true,\"max_payload\":100000" more "}\r\n"

/* A man in the middle may have sent it. */
static void what_comes_before_tls_is_not_taken_for_the_servers_word(void **state) {
  (void)state;
  scripted_nats server = {.greeting = INFO(",\"tls_required\":true") "PONG\r\n", .listens = true, .login_bytes = 1};
  open_sink(&server);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "it sent data before the TLS handshake", TIMEOUT_MS));
  close_sink(&server);
  assert_int_equal(server.login_bytes, 0);
}

static void tls_that_a_server_does_not_insist_on_is_used_where_it_is_wanted(void **state) {
  (void)state;
  scripted_nats server = {.greeting = INFO(",\"tls_available\":true"), .listens = true};
  open_sink_as(&server, "", "/?tls=true");
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "error: nats: ", TIMEOUT_MS));
  expect_log("has no TLS", 0);
  close_sink(&server);
  assert_true(server.login_bytes > 0);
  assert_int_equal(server.login[0], 0x16); /* a TLS handshake record */
}

/* As from a busy server. */
static void only_alerts_about_the_certificate_are_a_demand_for_one(void **state) {
  (void)state;
  enum { BAD_CERTIFICATE = 42, UNKNOWN_CA = 48, DECODE_ERROR = 50, INTERNAL_ERROR = 80 };
  static const struct {
    unsigned char alert;
    const char *said;
  } cases[] = {{BAD_CERTIFICATE, "it may require a client certificate"},
               {UNKNOWN_CA, "it may require a client certificate"},
               {DECODE_ERROR, "cannot be reached: TLS: tlsv1 alert decode error"},
               {INTERNAL_ERROR, "cannot be reached: TLS: tlsv1 alert internal error"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scripted_nats server = {.greeting = INFO(",\"tls_required\":true"), .listens = true, .alert = cases[i].alert};
    open_sink(&server);
    drive_add(&d, 1, BATCH_BYTES);
    assert_true(drive_until_logged(&d, cases[i].said, TIMEOUT_MS));
    expect_log("certificate", strstr(cases[i].said, "certificate") != NULL);
    close_sink(&server);
  }
}

static void a_server_that_talks_and_never_answers_is_given_up(void **state) {
  (void)state;
  scripted_nats server = {.talks = true};
  open_sink(&server);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "cannot be reached: no answer", TIMEOUT_MS));
  close_sink(&server);
}

static void a_user_without_a_password_is_a_token_and_not_shown(void **state) {
  (void)state;
  scripted_nats server = {.refuses = true};
  open_sink_as(&server, "s3cret@", "");
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "refuses the credentials (user (a token))", TIMEOUT_MS));
  close_sink(&server);
  assert_non_null(strstr(server.login, "\"auth_token\":\"s3cret\""));
  expect_log("s3cret", 0);
}

/* Batches are also made while disconnected, and must fit afterwards. */
static void the_servers_limit_holds_while_it_is_away(void **state) {
  (void)state;
  scripted_nats server = {.greeting = INFO(""), .afterwards = ACKNOWLEDGES};
  open_sink(&server);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  __atomic_store_n(&server.ending, true, __ATOMIC_RELEASE); /* it accepts no further connection */
  scripted_nats_turn(&server, CLOSES_THE_CONNECTION);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "was lost; trying again", TIMEOUT_MS));
  assert_in_range(d.plugin->max_batch_bytes(d.sink), 90000, 100000);
  close_sink(&server);
}

static void expect_largest(size_t bytes) {
  assert_int_equal(d.plugin->max_batch_bytes(d.sink), bytes);
}

/* The server takes 1 MiB, but the stream may take less, which only it knows. */
static void batches_grow_as_far_as_the_stream_has_acknowledged(void **state) {
  (void)state;
  scripted_nats server = {.afterwards = ACKNOWLEDGES};
  open_sink(&server);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  expect_largest(LL_SINK_CAUTIOUS_BYTES);
  drive_add(&d, 1, LL_SINK_CAUTIOUS_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  expect_largest(2 * LL_SINK_CAUTIOUS_BYTES);
  drive_add(&d, 1, 2 * LL_SINK_CAUTIOUS_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  assert_in_range(d.plugin->max_batch_bytes(d.sink), 1000000, 1048576);
  close_sink(&server);
}

static void core_nats_has_no_limit_but_the_servers(void **state) {
  (void)state;
  scripted_nats server = {.afterwards = SAYS_NOTHING};
  open_sink_as(&server, "", "/?mode=core");
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  assert_in_range(d.plugin->max_batch_bytes(d.sink), 1000000, 1048576);
  close_sink(&server);
}

/* It takes longer than any pause may be. An interrupted batch would be sent again from its start, without end. */
static void a_large_batch_passes_a_slow_link(void **state) {
  (void)state;
  scripted_nats server = {.is_slow = true, .afterwards = ACKNOWLEDGES};
  open_sink(&server);
  drive_add(&d, 1, 960000);
  assert_true(drive_run(&d, TIMEOUT_MS));
  close_sink(&server);
}

static void why_a_server_hangs_up_is_said(void **state) {
  (void)state;
  scripted_nats server = {.answers = {SAYS_WHY_AND_CLOSES}, .answer_count = 1, .afterwards = ACKNOWLEDGES};
  open_sink(&server);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "says 'Maximum Payload Violation'", TIMEOUT_MS));
  scripted_nats_turn(&server, ACKNOWLEDGES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  close_sink(&server);
}

static void a_server_that_takes_next_to_nothing_is_an_error(void **state) {
  (void)state;
  scripted_nats server = {.greeting = "INFO {\"headers\":true,\"max_payload\":64}\r\n"};
  open_sink(&server);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "the server accepts messages of at most 64 bytes", TIMEOUT_MS));
  close_sink(&server);
}

/* Addresses of the host "two.invalid": one that does not respond, then the server's. */
static struct sockaddr_in two_addresses[2];

__attribute__((visibility("default"))) int getaddrinfo(const char *host, const char *port,
                                                       const struct addrinfo *wanted, struct addrinfo **found) {
  static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
  if (strcmp(host, "two.invalid") != 0) {
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(host, port, wanted, found);
  }
  struct addrinfo *both = calloc(2, sizeof *both);
  for (int i = 0; i < 2; i++)
    both[i] = (struct addrinfo){.ai_family = AF_INET,
                                .ai_socktype = SOCK_STREAM,
                                .ai_addr = (struct sockaddr *)&two_addresses[i],
                                .ai_addrlen = sizeof two_addresses[i]};
  both[0].ai_next = &both[1];
  both[0].ai_flags = -1;
  *found = both;
  return 0;
}

__attribute__((visibility("default"))) void freeaddrinfo(struct addrinfo *found) {
  static void (*real)(struct addrinfo *);
  if (found->ai_flags == -1) {
    free(found);
    return;
  }
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "freeaddrinfo");
  real(found);
}

/* Its accept queue is full, so the kernel does not respond. */
static void an_address_on_which_nothing_answers_leaves_time_for_the_next(void **state) {
  (void)state;
  enum { QUEUED = 8 };
  int deaf = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), queued[QUEUED];
  socklen_t size = sizeof two_addresses[0];
  char url[64], error[256] = "";
  two_addresses[0] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  assert_int_equal(bind(deaf, (struct sockaddr *)&two_addresses[0], size), 0);
  assert_int_equal(listen(deaf, 0), 0);
  assert_int_equal(getsockname(deaf, (struct sockaddr *)&two_addresses[0], &size), 0);
  for (int i = 0; i < QUEUED; i++) {
    queued[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    connect(queued[i], (struct sockaddr *)&two_addresses[0], size);
  }
  scripted_nats server = {.afterwards = ACKNOWLEDGES};
  scripted_nats_start(&server);
  two_addresses[1] = two_addresses[0];
  two_addresses[1].sin_port = htons((uint16_t)server.port);
  snprintf(url, sizeof url, "nats://two.invalid");
  if (!drive_open(&d, "nats", url, error, sizeof error)) fail_msg("the sink does not open: %s", error);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  close_sink(&server);
  for (int i = 0; i < QUEUED; i++)
    close(queued[i]);
  close(deaf);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_acknowledgement_after_no_responders_is_no_missing_stream),
      cmocka_unit_test(a_server_that_ends_slowly_has_no_missing_stream),
      cmocka_unit_test(a_stream_that_jetstream_does_not_know_is_missing),
      cmocka_unit_test(a_duplicate_of_a_first_send_is_acknowledged_and_reported),
      cmocka_unit_test(many_duplicates_are_two_lines_the_last_with_their_number),
      cmocka_unit_test(a_duplicate_of_a_batch_that_was_sent_before_is_not_reported),
      cmocka_unit_test(a_duplicate_of_a_first_send_that_was_overtaken_is_not_reported),
      cmocka_unit_test(a_duplicate_of_what_others_may_have_sent_is_not_reported),
      cmocka_unit_test(what_comes_before_tls_is_not_taken_for_the_servers_word),
      cmocka_unit_test(tls_that_a_server_does_not_insist_on_is_used_where_it_is_wanted),
      cmocka_unit_test(only_alerts_about_the_certificate_are_a_demand_for_one),
      cmocka_unit_test(a_server_that_talks_and_never_answers_is_given_up),
      cmocka_unit_test(a_user_without_a_password_is_a_token_and_not_shown),
      cmocka_unit_test(the_servers_limit_holds_while_it_is_away),
      cmocka_unit_test(batches_grow_as_far_as_the_stream_has_acknowledged),
      cmocka_unit_test(core_nats_has_no_limit_but_the_servers),
      cmocka_unit_test(a_large_batch_passes_a_slow_link),
      cmocka_unit_test(why_a_server_hangs_up_is_said),
      cmocka_unit_test(a_server_that_takes_next_to_nothing_is_an_error),
      cmocka_unit_test(an_address_on_which_nothing_answers_leaves_time_for_the_next),
  };
  signal(SIGPIPE, SIG_IGN);
  int failed = cmocka_run_group_tests_name("answers of NATS", tests, NULL, NULL);
  nats_CloseAndWait(60000); /* otherwise its threads would end during exit */
  return failed;
}
