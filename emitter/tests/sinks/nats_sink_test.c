/* The sink nats:// and lifeline-setup against a real nats-server. */
#include <nats/nats.h>
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

#include "broker.h"
#include "drive.h"
#include "faulty.h"

enum { BATCH_BYTES = 20000, TIMEOUT_MS = 60000 };

static broker plain;   /* neither TLS nor credentials */
static broker guarded; /* both */

static char text[4096];

static void open_sink(drive *d, const char *url) {
  char error[256] = "";
  if (!drive_open(d, "nats", url, error, sizeof error)) fail_msg("the sink does not open: %s", error);
}

static void set_up_streams(const char *url) {
  if (broker_setup(url, "", text, sizeof text) != 0) fail_msg("lifeline-setup: %s", text);
}

/* Number of distinct numbers 1..count in the stream, whatever else it contains. */
static unsigned stored(const char *url, const char *incarnation_id, unsigned count) {
  natsConnection *connection = NULL;
  natsSubscription *subscription = NULL;
  jsCtx *js = NULL;
  static bool seen[DRIVE_MAX_BATCHES + 1];
  unsigned distinct = 0;
  memset(seen, 0, sizeof seen);
  assert_int_equal(natsConnection_ConnectTo(&connection, url), NATS_OK);
  assert_int_equal(natsConnection_JetStream(&js, connection, NULL), NATS_OK);
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Ordered = true;
  options.Config.DeliverPolicy = js_DeliverAll;
  assert_int_equal(js_SubscribeSync(&subscription, js, "lifeline.batches.*", NULL, &options, NULL), NATS_OK);
  for (natsMsg *message; distinct < count && natsSubscription_NextMsg(&message, subscription, TIMEOUT_MS) == NATS_OK;) {
    const char *id = NULL;
    uint64_t number = 0;
    if (natsMsg_GetDataLength(message) >= (int)sizeof number) memcpy(&number, natsMsg_GetData(message), sizeof number);
    if (natsMsgHeader_Get(message, "Nats-Msg-Id", &id) == NATS_OK && strncmp(id, incarnation_id, 32) == 0 &&
        number >= 1 && number <= count) {
      distinct += !seen[number];
      seen[number] = true;
    }
    natsMsg_Destroy(message);
  }
  natsSubscription_Destroy(subscription);
  jsCtx_Destroy(js);
  natsConnection_Destroy(connection);
  return distinct;
}

static const char *incarnation_of(const drive *d) {
  static char hex[33];
  for (int i = 0; i < 16; i++)
    snprintf(hex + 2 * i, 3, "%02x", d->host.incarnation[i]);
  return hex;
}

static void check_stored(const char *url, drive *d) {
  unsigned found = stored(url, incarnation_of(d), d->count);
  if (found != d->count) fail_msg("wrong books: %u of %u batches are stored", found, d->count);
  assert_int_equal(drive_said(d, "already has a message"), 0);
}

static void every_batch_is_acknowledged_and_stored(void **state) {
  (void)state;
  drive d;
  set_up_streams(plain.url);
  open_sink(&d, plain.url);
  drive_add(&d, 500, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  check_stored(plain.url, &d);
  drive_close(&d);
}

static void headers_and_subject_name_the_batch(void **state) {
  (void)state;
  drive d;
  natsConnection *connection = NULL;
  natsSubscription *subscription = NULL;
  natsMsg *message = NULL;
  const char *value = NULL;
  assert_int_equal(natsConnection_ConnectTo(&connection, plain.url), NATS_OK);
  assert_int_equal(natsConnection_SubscribeSync(&subscription, connection, "lifeline.batches.*"), NATS_OK);
  assert_int_equal(natsConnection_Flush(connection), NATS_OK);
  open_sink(&d, plain.url);
  drive_add(&d, 1, 100);
  assert_true(drive_run(&d, TIMEOUT_MS));
  assert_int_equal(natsSubscription_NextMsg(&message, subscription, TIMEOUT_MS), NATS_OK);
  uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < 16; i++)
    hash = (hash ^ d.host.incarnation[i]) * 0x100000001b3;
  snprintf(text, sizeof text, "lifeline.batches.%d", (int)(hash % 16));
  assert_string_equal(natsMsg_GetSubject(message), text);
  const uint8_t *crc = (const uint8_t *)natsMsg_GetData(message) + natsMsg_GetDataLength(message) - 4;
  snprintf(text, sizeof text, "%s-0-1-%02x%02x%02x%02x", incarnation_of(&d), crc[0], crc[1], crc[2], crc[3]);
  assert_int_equal(natsMsgHeader_Get(message, "Nats-Msg-Id", &value), NATS_OK);
  assert_string_equal(value, text);
  assert_int_not_equal(natsMsgHeader_Get(message, "Lifeline-Signature", &value), NATS_OK);
  assert_int_equal(natsMsgHeader_Get(message, "Lifeline-Host", &value), NATS_OK);
  assert_string_equal(value, "test-host");
  assert_int_equal(natsMsgHeader_Get(message, "Lifeline-Program", &value), NATS_OK);
  assert_string_equal(value, "sink-test");
  natsMsg_Destroy(message);
  natsSubscription_Destroy(subscription);
  natsConnection_Destroy(connection);
  drive_close(&d);
}

static void an_id_that_somebody_has_published_under_is_reported(void **state) {
  (void)state;
  drive d;
  natsConnection *connection = NULL;
  jsCtx *js = NULL;
  jsPubAck *stored_as = NULL;
  jsPubOptions options;
  char id[64];
  open_sink(&d, plain.url);
  drive_add(&d, 2, 100);
  const uint8_t *crc = d.batch[0] + 100 - 4;
  snprintf(id, sizeof id, "%s-0-1-%02x%02x%02x%02x", incarnation_of(&d), crc[0], crc[1], crc[2], crc[3]);
  jsPubOptions_Init(&options);
  options.MsgId = id;
  assert_int_equal(natsConnection_ConnectTo(&connection, plain.url), NATS_OK);
  assert_int_equal(natsConnection_JetStream(&js, connection, NULL), NATS_OK);
  assert_int_equal(js_Publish(&stored_as, js, "lifeline.batches.0", "junk", 4, &options, NULL), NATS_OK);
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_close(&d);
  snprintf(text, sizeof text, "(it is message %llu; such batches so far: 1)", (unsigned long long)stored_as->Sequence);
  assert_int_equal(drive_said(&d, "error: nats: stream LIFELINE already has a message with the id of batch 1 on "), 1);
  assert_int_equal(drive_said(&d, text), 1);
  jsPubAck_Destroy(stored_as);
  jsCtx_Destroy(js);
  natsConnection_Destroy(connection);
}

static void core_mode_publishes_without_a_stream(void **state) {
  (void)state;
  drive d;
  natsConnection *connection = NULL;
  natsSubscription *subscription = NULL;
  assert_int_equal(natsConnection_ConnectTo(&connection, plain.url), NATS_OK);
  assert_int_equal(natsConnection_SubscribeSync(&subscription, connection, "elsewhere.*"), NATS_OK);
  assert_int_equal(natsConnection_Flush(connection), NATS_OK);
  snprintf(text, sizeof text, "%s/elsewhere?mode=core", plain.url);
  open_sink(&d, text);
  drive_add(&d, 50, 1000);
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_close(&d); /* leaves nothing in buffers */
  for (int i = 0; i < 50; i++) {
    natsMsg *message = NULL;
    assert_int_equal(natsSubscription_NextMsg(&message, subscription, TIMEOUT_MS), NATS_OK);
    natsMsg_Destroy(message);
  }
  natsSubscription_Destroy(subscription);
  natsConnection_Destroy(connection);
}

static void nothing_is_lost_when_the_server_is_killed_and_comes_back(void **state) {
  (void)state;
  drive d;
  open_sink(&d, plain.url);
  drive_add(&d, 300, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  broker_kill(&plain);
  drive_add(&d, 300, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "was lost; trying again", TIMEOUT_MS));
  assert_false(drive_run(&d, 300));
  broker_again(&plain, "nats");
  assert_true(drive_run(&d, TIMEOUT_MS));
  check_stored(plain.url, &d);
  drive_close(&d);
}

static void a_kill_in_full_flight_means_retries_and_no_loss(void **state) {
  (void)state;
  drive d;
  open_sink(&d, plain.url);
  drive_add(&d, 2000, BATCH_BYTES);
  while (drive_tally(&d, DRIVE_ACKED) < 100)
    drive_run(&d, 1);
  broker_kill(&plain);
  drive_run(&d, 500);
  broker_again(&plain, "nats");
  assert_true(drive_run(&d, TIMEOUT_MS));
  check_stored(plain.url, &d);
  drive_close(&d);
}

/* Its streams stop before its connections close. */
static void a_server_that_ends_in_order_is_a_lost_connection_and_no_missing_stream(void **state) {
  (void)state;
  drive d;
  open_sink(&d, plain.url);
  drive_add(&d, DRIVE_MAX_BATCHES, 1000);
  while (drive_tally(&d, DRIVE_ACKED) < 100)
    drive_run(&d, 1);
  kill(plain.pid, SIGTERM);
  assert_true(drive_until_logged(&d, "was lost; trying again", TIMEOUT_MS));
  for (int i = 0; i < TIMEOUT_MS / 100 && kill(plain.pid, 0) == 0; i++)
    drive_run(&d, 100);
  broker_again(&plain, "nats");
  assert_true(drive_run(&d, TIMEOUT_MS));
  assert_int_equal(drive_said(&d, "is missing"), 0);
  drive_close(&d);
}

static void a_missing_stream_is_said_once_and_batches_go_when_it_is_there(void **state) {
  (void)state;
  drive d;
  snprintf(text, sizeof text, "%s/late.batches?stream=LATE", plain.url);
  char *url = strdup(text);
  open_sink(&d, url);
  drive_add(&d, 20, 1000);
  assert_true(
      drive_until_logged(&d, "error: nats: stream LATE with the subjects late.batches.* is missing", TIMEOUT_MS));
  assert_true(drive_until_logged(&d, "lifeline-setup", 100));
  drive_run(&d, 500);
  assert_null(strstr(strstr(d.log, "is missing") + 1, "is missing"));
  if (broker_setup(url, "--prefix late", text, sizeof text) != 0) fail_msg("lifeline-setup: %s", text);
  assert_true(drive_run(&d, TIMEOUT_MS));
  assert_true(drive_until_logged(&d, "info: nats: stream LATE accepts batches again", 100));
  drive_close(&d);
  free(url);
}

static void a_batch_that_is_too_large_is_refused_before_it_is_sent(void **state) {
  (void)state;
  drive d;
  open_sink(&d, plain.url);
  assert_true(drive_until_logged(&d, "info: nats: connected", TIMEOUT_MS));
  drive_add(&d, 1, 1048576); /* with headers it is more than the server takes */
  assert_false(drive_run(&d, 2000));
  assert_int_equal(drive_tally(&d, DRIVE_FAILED), 1);
  assert_true(drive_until_logged(&d, "error: nats: the server accepts", 100));
  drive_close(&d);
}

static void a_batch_that_the_stream_does_not_take_is_refused(void **state) {
  (void)state;
  drive d;
  open_sink(&d, plain.url);
  drive_add(&d, 1, 1020000); /* lifeline-setup limits messages to 1,000,000 bytes, the server to 1,048,576 */
  drive_run(&d, TIMEOUT_MS);
  assert_int_equal(drive_tally(&d, DRIVE_REFUSED), 1);
  drive_close(&d);
}

static void a_server_that_is_not_there_keeps_batches_waiting(void **state) {
  (void)state;
  drive d;
  open_sink(&d, "nats://127.0.0.1:1");
  drive_add(&d, 3, 1000);
  assert_true(drive_until_logged(&d, "error: nats: 127.0.0.1:1 cannot be reached", TIMEOUT_MS));
  assert_int_equal(drive_tally(&d, DRIVE_WAITING), 3);
  drive_close(&d);
}

static void a_server_that_hangs_neither_blocks_nor_holds_up_the_end(void **state) {
  (void)state;
  drive d;
  open_sink(&d, plain.url);
  drive_add(&d, 10, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  broker_pause(&plain);
  drive_add(&d, 300, BATCH_BYTES);
  assert_false(drive_run(&d, 500));
  drive_close(&d); /* within the time that sink.h promises */
  broker_resume(&plain);
}

static void the_emitters_credentials_publish_over_tls(void **state) {
  (void)state;
  drive d;
  broker_credentials(guarded.user, guarded.password_file, guarded.ca);
  set_up_streams(guarded.tls_url);
  broker_credentials(guarded.emitter, guarded.emitter_password_file, guarded.ca);
  open_sink(&d, guarded.tls_url);
  drive_add(&d, 100, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_close(&d);
}

static void a_server_killed_under_tls_does_not_end_the_program(void **state) {
  (void)state;
  drive d;
  void (*before)(int) = signal(SIGPIPE, SIG_DFL);
  broker_credentials(guarded.emitter, guarded.emitter_password_file, guarded.ca);
  open_sink(&d, guarded.tls_url);
  drive_add(&d, 1000, BATCH_BYTES);
  while (drive_tally(&d, DRIVE_ACKED) < 100)
    drive_run(&d, 1);
  broker_kill(&guarded);
  drive_run(&d, 500);
  broker_again(&guarded, "nats");
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_close(&d);
  signal(SIGPIPE, before);
}

static void another_authority_is_one_clear_error(void **state) {
  (void)state;
  broker_credentials(guarded.emitter, guarded.emitter_password_file, NULL); /* only the system's CA certificates */
  drive_complains_only("nats", guarded.tls_url, "its certificate is not signed by");
}

/* Certificates are renewed while programs run. */
static void a_certificate_that_is_replaced_counts_from_the_next_connection(void **state) {
  (void)state;
  drive d;
  char authority[] = "/tmp/lifeline-authority-XXXXXX", command[512];
  close(mkstemp(authority));
  snprintf(command, sizeof command,
           "openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -subj /CN=another -out %s 2>/dev/null",
           authority);
  assert_int_equal(system(command), 0);
  broker_credentials(guarded.emitter, guarded.emitter_password_file, authority);
  open_sink(&d, guarded.tls_url);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "its certificate is not signed by", TIMEOUT_MS));
  snprintf(command, sizeof command, "cp %s %s", guarded.ca, authority);
  assert_int_equal(system(command), 0);
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_close(&d);
  unlink(authority);
}

/* So are passwords. The server drops the connections of a user whose password changes. */
static void a_password_that_is_replaced_counts_from_the_next_connection(void **state) {
  (void)state;
  drive d;
  char file[] = "/tmp/lifeline-password-XXXXXX", before[128] = "", after[] = "another-password", command[512];
  FILE *original = fopen(guarded.emitter_password_file, "r");
  assert_non_null(original);
  assert_non_null(fgets(before, sizeof before, original));
  fclose(original);
  before[strcspn(before, "\n")] = 0;
  close(mkstemp(file));
  snprintf(command, sizeof command, "echo '%s' >%s", before, file);
  assert_int_equal(system(command), 0);
  broker_credentials(guarded.emitter, file, guarded.ca);
  open_sink(&d, guarded.tls_url);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  broker_reconfigure(&guarded, before, after);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "refuses the credentials", TIMEOUT_MS));
  snprintf(command, sizeof command, "echo '%s' >%s", after, file);
  assert_int_equal(system(command), 0);
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_close(&d);
  unlink(file);
  broker_reconfigure(&guarded, after, before);
}

static void a_wrong_password_is_one_clear_error_without_the_password(void **state) {
  (void)state;
  drive d;
  char url[512];
  broker_credentials(NULL, NULL, guarded.ca);
  snprintf(url, sizeof url, "nats://emitter:not-the-secret@%s", guarded.tls_url + strlen("nats://"));
  drive_complains_only("nats", url, "refuses the credentials (user emitter)");
  open_sink(&d, url);
  drive_add(&d, 1, 1000);
  assert_true(drive_until_logged(&d, "refuses the credentials", TIMEOUT_MS));
  assert_null(strstr(d.log, "not-the-secret"));
  drive_close(&d);
}

/* Uses a certificate that `asking` would accept. */
static void expect_that_an_internal_error_is_no_demand_for_a_certificate(const broker *asking) {
  drive d;
  faulty server;
  char url[64];
  faulty_start(&server, FAILS_WITH_AN_INTERNAL_ERROR, 0, asking->directory, true);
  snprintf(url, sizeof url, "nats://127.0.0.1:%d/?tls=true", server.port);
  open_sink(&d, url);
  drive_add(&d, 1, BATCH_BYTES);
  assert_true(drive_until_logged(&d, "cannot be reached: TLS: tlsv1 alert internal error", TIMEOUT_MS));
  assert_int_equal(drive_said(&d, "certificate"), 0);
  drive_close(&d);
  faulty_stop(&server);
}

static void a_broker_that_asks_for_a_certificate_is_shown_one(void **state) {
  (void)state;
  drive d;
  broker asking;
  broker_start(&asking, "nats", "--mtls");
  broker_credentials(NULL, NULL, asking.ca);
  drive_complains_only("nats", asking.tls_url, "client certificate");
  broker_client_certificate(asking.certificate, asking.key);
  set_up_streams(asking.tls_url);
  open_sink(&d, asking.tls_url);
  drive_add(&d, 100, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_close(&d);
  expect_that_an_internal_error_is_no_demand_for_a_certificate(&asking);
  broker_client_certificate(NULL, NULL);
  broker_stop(&asking);
}

static void a_url_that_makes_no_sense_is_refused_without_its_secrets(void **state) {
  (void)state;
  static const char *const urls[] = {
      "nats://u:hidden@127.0.0.1:port",         "nats://u:hid%zzden@127.0.0.1",
      "nats://u:hidden@127.0.0.1/?mode=fast",   "nats://u:hidden@127.0.0.1/?speed=9",
      "nats://u:hidden@127.0.0.1/a..b",         "nats://u:hidden@/",
      "nats://u:hidden@h/?max_in_flight=0",     "nats://u:hidden@h/?tls=maybe",
      "nats://u:hidden@h/?tls_ca=/missing",     "nats://u:hidden@h/?creds=/no/such.creds",
      "nats://u:hidden@h/?mode=core&mode=core", "nats://u:hid/den@h",
  };
  broker_credentials(NULL, NULL, NULL);
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    drive d;
    char error[256] = "";
    assert_false(drive_open(&d, "nats", urls[i], error, sizeof error));
    assert_int_equal(strncmp(error, "nats: ", 6), 0);
    assert_null(strstr(error, "hid"));
  }
}

static bool may_publish(const char *url, const char *subject) {
  natsConnection *connection = NULL;
  natsOptions *options = NULL;
  char password[256] = "";
  FILE *file = fopen(guarded.emitter_password_file, "r");
  assert_non_null(file);
  assert_non_null(fgets(password, sizeof password, file));
  fclose(file);
  password[strcspn(password, "\n")] = 0;
  natsOptions_Create(&options);
  natsOptions_SetURL(options, url);
  natsOptions_SetUserInfo(options, guarded.emitter, password);
  natsOptions_LoadCATrustedCertificates(options, guarded.ca);
  natsOptions_SetErrorHandler(options, NULL, NULL);
  assert_int_equal(natsConnection_Connect(&connection, options), NATS_OK);
  assert_int_equal(natsConnection_PublishString(connection, subject, ""), NATS_OK);
  assert_int_equal(natsConnection_Flush(connection), NATS_OK); /* a refusal comes before the PONG */
  const char *last = NULL;
  bool allowed = natsConnection_GetLastError(connection, &last) != NATS_NOT_PERMITTED;
  natsConnection_Destroy(connection);
  natsOptions_Destroy(options);
  return allowed;
}

static void the_emitters_credentials_may_not_write_control_or_results(void **state) {
  (void)state;
  char url[256];
  snprintf(url, sizeof url, "tls://%.*s", (int)strcspn(guarded.tls_url + 7, "/?"), guarded.tls_url + 7);
  assert_true(may_publish(url, "lifeline.batches.3"));
  assert_false(may_publish(url, "$KV.lifeline-activations.anything"));
  assert_false(may_publish(url, "$KV.lifeline-jobs.anything"));
  assert_false(may_publish(url, "lifeline.summaries"));
  assert_false(may_publish(url, "lifeline.events.disk.read.end"));
  assert_false(may_publish(url, "$JS.API.STREAM.DELETE.LIFELINE"));
  assert_false(may_publish(url, "$JS.API.STREAM.PURGE.LIFELINE"));
  assert_false(may_publish(url, "$JS.API.CONSUMER.CREATE.LIFELINE"));
}

static void a_subject_that_is_forbidden_is_a_clear_error_and_its_batches_wait(void **state) {
  (void)state;
  drive d;
  char url[512];
  broker_credentials(guarded.emitter, guarded.emitter_password_file, guarded.ca);
  snprintf(url, sizeof url, "%.*s/forbidden.batches?tls=true", (int)(strcspn(guarded.tls_url + 7, "/?") + 7),
           guarded.tls_url);
  open_sink(&d, url);
  drive_add(&d, 5, 1000);
  assert_true(drive_until_logged(&d, "error: nats: user emitter may not publish to forbidden.batches", TIMEOUT_MS));
  assert_false(drive_run(&d, 3000));
  assert_int_equal(drive_tally(&d, DRIVE_REFUSED), 0);
  drive_close(&d);
}

static void the_program_keeps_its_signals(void **state) {
  (void)state;
  drive d;
  struct sigaction pipe;
  sigset_t mask;
  open_sink(&d, "nats://127.0.0.1:1");
  sigaction(SIGPIPE, NULL, &pipe);
  assert_true(pipe.sa_handler == SIG_DFL);
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  assert_false(sigismember(&mask, SIGTERM));
  drive_close(&d);
  signal(SIGPIPE, SIG_IGN); /* from here on this test uses nats.c on its own threads */
}

static void setup_is_idempotent_and_check_tells_what_is_missing_or_differs(void **state) {
  (void)state;
  char url[512];
  broker_credentials(NULL, NULL, NULL);
  snprintf(url, sizeof url, "%s/other.batches?stream=OTHER", plain.url);
  assert_int_equal(broker_setup(url, "--prefix other --check", text, sizeof text), 1);
  assert_non_null(strstr(text, "missing stream OTHER:"));
  assert_int_equal(broker_setup(url, "--prefix other", text, sizeof text), 0);
  assert_non_null(strstr(text, "created stream OTHER"));
  assert_non_null(strstr(text, "created bucket other-activations"));
  assert_int_equal(broker_setup(url, "--prefix other", text, sizeof text), 0);
  assert_non_null(strstr(text, "ok      stream OTHER"));
  assert_null(strstr(text, "created"));
  assert_int_equal(broker_setup(url, "--prefix other --check --retention 7d --json", text, sizeof text), 0);
  assert_non_null(strstr(text, "\"ok\":true"));
  assert_int_equal(broker_setup(url, "--prefix other --check --retention 1d", text, sizeof text), 1);
  assert_non_null(strstr(text, "differs stream OTHER: it keeps messages for 604800 s, not 86400 s"));
  assert_int_equal(broker_setup("nats://127.0.0.1:1", "", text, sizeof text), 1);
  assert_non_null(strstr(text, "cannot be reached"));
  assert_int_equal(broker_setup(url, "--retention soon", text, sizeof text), 2);
}

static int start_brokers(void **state) {
  (void)state;
  broker_start(&plain, "nats", "");
  broker_start(&guarded, "nats", "--tls --auth");
  return 0;
}

static int stop_brokers(void **state) {
  (void)state;
  broker_stop(&plain);
  broker_stop(&guarded);
  nats_CloseAndWait(60000); /* otherwise its threads would end during exit */
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_program_keeps_its_signals), /* before this test uses nats.c itself, which changes them */
      cmocka_unit_test(every_batch_is_acknowledged_and_stored),
      cmocka_unit_test(headers_and_subject_name_the_batch),
      cmocka_unit_test(an_id_that_somebody_has_published_under_is_reported),
      cmocka_unit_test(core_mode_publishes_without_a_stream),
      cmocka_unit_test(nothing_is_lost_when_the_server_is_killed_and_comes_back),
      cmocka_unit_test(a_kill_in_full_flight_means_retries_and_no_loss),
      cmocka_unit_test(a_server_that_ends_in_order_is_a_lost_connection_and_no_missing_stream),
      cmocka_unit_test(a_missing_stream_is_said_once_and_batches_go_when_it_is_there),
      cmocka_unit_test(a_batch_that_is_too_large_is_refused_before_it_is_sent),
      cmocka_unit_test(a_batch_that_the_stream_does_not_take_is_refused),
      cmocka_unit_test(a_server_that_is_not_there_keeps_batches_waiting),
      cmocka_unit_test(a_server_that_hangs_neither_blocks_nor_holds_up_the_end),
      cmocka_unit_test(the_emitters_credentials_publish_over_tls),
      cmocka_unit_test(a_server_killed_under_tls_does_not_end_the_program),
      cmocka_unit_test(another_authority_is_one_clear_error),
      cmocka_unit_test(a_certificate_that_is_replaced_counts_from_the_next_connection),
      cmocka_unit_test(a_password_that_is_replaced_counts_from_the_next_connection),
      cmocka_unit_test(a_wrong_password_is_one_clear_error_without_the_password),
      cmocka_unit_test(a_broker_that_asks_for_a_certificate_is_shown_one),
      cmocka_unit_test(a_url_that_makes_no_sense_is_refused_without_its_secrets),
      cmocka_unit_test(the_emitters_credentials_may_not_write_control_or_results),
      cmocka_unit_test(a_subject_that_is_forbidden_is_a_clear_error_and_its_batches_wait),
      cmocka_unit_test(setup_is_idempotent_and_check_tells_what_is_missing_or_differs),
  };
  return cmocka_run_group_tests_name("sink nats", tests, start_brokers, stop_brokers);
}
