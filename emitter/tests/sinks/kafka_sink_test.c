/* The sink kafka:// and lifeline-setup against a real Kafka. */
#include <librdkafka/rdkafka.h>
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
#include "broker.h"
#include "drive.h"
#include "hostile_kafka.h"

enum { BATCH_BYTES = 20000, TIMEOUT_MS = 60000 };

static broker plain;   /* neither TLS nor credentials */
static broker guarded; /* both, and ACLs */

static char text[8192];

static void open_sink(drive *d, const char *url) {
  char error[256] = "";
  if (!drive_open(d, "kafka", url, error, sizeof error)) fail_msg("the sink does not open: %s", error);
}

static void set_up_topics(const char *url, const char *options) {
  if (broker_setup(url, options, text, sizeof text) != 0) fail_msg("lifeline-setup: %s", text);
}

static const char *incarnation_of(const drive *d) {
  static char hex[33];
  for (int i = 0; i < 16; i++)
    snprintf(hex + 2 * i, 3, "%02x", d->host.incarnation[i]);
  return hex;
}

/* A topic's contents of one emitter. */
typedef struct contents {
  unsigned distinct;
  unsigned records;
  bool one_partition;
  bool headers;
} contents;

static bool has_header(const rd_kafka_message_t *message, const char *name, const char *value) {
  rd_kafka_headers_t *headers;
  const void *found;
  size_t size;
  return rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR &&
         rd_kafka_header_get_last(headers, name, &found, &size) == RD_KAFKA_RESP_ERR_NO_ERROR &&
         size == strlen(value) && memcmp(found, value, size) == 0;
}

static void assign_all(rd_kafka_t *consumer, const char *topic, int *partitions) {
  const struct rd_kafka_metadata *metadata;
  assert_int_equal(rd_kafka_metadata(consumer, 1, NULL, &metadata, TIMEOUT_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);
  *partitions = 0;
  for (int t = 0; t < metadata->topic_cnt; t++)
    if (strcmp(metadata->topics[t].topic, topic) == 0) *partitions = metadata->topics[t].partition_cnt;
  for (int p = 0; p < *partitions; p++)
    rd_kafka_topic_partition_list_add(list, topic, p)->offset = RD_KAFKA_OFFSET_BEGINNING;
  assert_int_equal(rd_kafka_assign(consumer, list), RD_KAFKA_RESP_ERR_NO_ERROR);
  rd_kafka_topic_partition_list_destroy(list);
  rd_kafka_metadata_destroy(metadata);
}

static contents read_topic(const char *url, const char *topic, const drive *d) {
  static bool seen[DRIVE_MAX_BATCHES + 1];
  contents result = {.one_partition = true, .headers = true};
  char error[256];
  int partitions, ended = 0, partition = -1;
  memset(seen, 0, sizeof seen);
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", url + strlen("kafka://"), error, sizeof error);
  rd_kafka_conf_set(conf, "group.id", "sink-test", error, sizeof error);
  rd_kafka_conf_set(conf, "enable.partition.eof", "true", error, sizeof error);
  rd_kafka_t *consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
  assert_non_null(consumer);
  rd_kafka_poll_set_consumer(consumer);
  assign_all(consumer, topic, &partitions);
  while (ended < partitions) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, TIMEOUT_MS);
    assert_non_null(message);
    ended += message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (!message->err && message->key_len == 32 && memcmp(message->key, incarnation_of(d), 32) == 0) {
      uint64_t number;
      memcpy(&number, message->payload, sizeof number);
      assert_in_range(number, 1, d->count);
      result.records++;
      result.distinct += !seen[number];
      seen[number] = true;
      result.one_partition &= partition < 0 || partition == message->partition;
      partition = message->partition;
      result.headers &= has_header(message, "lifeline-host", "test-host");
      result.headers &= has_header(message, "lifeline-program", "sink-test");
    }
    rd_kafka_message_destroy(message);
  }
  rd_kafka_consumer_close(consumer);
  rd_kafka_destroy(consumer);
  return result;
}

static void every_batch_is_acknowledged_and_stored_once_in_its_emitters_partition(void **state) {
  (void)state;
  drive d;
  open_sink(&d, plain.url);
  drive_add(&d, 500, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  contents found = read_topic(plain.url, "lifeline.batches", &d);
  if (found.distinct != d.count || found.records != d.count)
    fail_msg("wrong books: %u records hold %u of %u batches", found.records, found.distinct, d.count);
  assert_true(found.one_partition);
  assert_true(found.headers);
  drive_close(&d);
}

static void a_kill_in_full_flight_means_no_loss(void **state) {
  (void)state;
  drive d;
  open_sink(&d, plain.url);
  drive_add(&d, 2000, BATCH_BYTES);
  while (drive_tally(&d, DRIVE_ACKED) < 100)
    drive_run(&d, 1);
  broker_kill(&plain);
  assert_true(drive_until_logged(&d, "cannot be reached; trying again", TIMEOUT_MS));
  assert_true(drive_tally(&d, DRIVE_ACKED) < d.count);
  broker_again(&plain, "kafka");
  assert_true(drive_run(&d, TIMEOUT_MS));
  assert_true(drive_until_logged(&d, "accepts batches again", 100));
  unsigned found = read_topic(plain.url, "lifeline.batches", &d).distinct;
  if (found != d.count) fail_msg("wrong books: %u of %u batches are stored", found, d.count);
  drive_close(&d);
}

static void batches_given_up_by_a_timeout_come_back_for_a_retry(void **state) {
  (void)state;
  drive d;
  snprintf(text, sizeof text, "%s?kafka.message.timeout.ms=1500", "kafka://127.0.0.1:1/");
  open_sink(&d, text);
  drive_add(&d, 3, 1000);
  for (int i = 0; i < TIMEOUT_MS / 100 && drive_retries(&d) < 3; i++)
    drive_run(&d, 100);
  assert_in_range(drive_retries(&d), 3, 100);
  assert_int_equal(drive_tally(&d, DRIVE_ACKED), 0);
  drive_close(&d);
}

static void a_missing_topic_is_said_once_and_batches_go_when_it_is_there(void **state) {
  (void)state;
  drive d;
  char url[512];
  snprintf(url, sizeof url, "%s/late.batches", plain.url);
  open_sink(&d, url);
  drive_add(&d, 20, 1000);
  assert_true(drive_until_logged(&d, "error: kafka: the topic late.batches is missing", TIMEOUT_MS));
  assert_true(drive_until_logged(&d, "lifeline-setup", 100));
  drive_run(&d, 1000);
  assert_null(strstr(strstr(d.log, "is missing") + 1, "is missing"));
  set_up_topics(url, "--prefix late --partitions 2");
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_close(&d);
}

/* Waits until the broker has told it: at least that much. */
static size_t limit_of_the_topic(drive *d, size_t least) {
  for (int i = 0; i < 6000 && d->plugin->max_batch_bytes(d->sink) < least; i++, usleep(10000))
    drive_run(d, 0); /* with nothing in flight, poll does not wait */
  return d->plugin->max_batch_bytes(d->sink);
}

static void a_batch_that_is_too_large_is_refused_before_it_is_sent(void **state) {
  (void)state;
  drive d;
  open_sink(&d, plain.url);
  size_t most = limit_of_the_topic(&d, 960000);
  assert_in_range(most, 960000, 1000000);
  drive_add(&d, 1, most);
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_add(&d, 1, most + 1);
  assert_false(drive_run(&d, 2000));
  assert_int_equal(drive_tally(&d, DRIVE_FAILED), 1);
  drive_close(&d);
}

static void a_batch_that_the_topic_does_not_take_is_refused(void **state) {
  (void)state;
  drive d;
  snprintf(text, sizeof text, "%s/?kafka.message.max.bytes=2000000", plain.url);
  open_sink(&d, text);
  drive_add(&d, 1, 1500000);
  drive_run(&d, TIMEOUT_MS);
  assert_int_equal(drive_tally(&d, DRIVE_REFUSED), 1);
  assert_true(drive_until_logged(&d, "raise its max.message.bytes", 100));
  assert_in_range(limit_of_the_topic(&d, 1000000), 1000000, 1012000); /* as set by lifeline-setup */
  drive_close(&d);
}

/* A batch that never fits into librdkafka's queue would wait without end, and those behind it as well. */
static void a_small_queue_makes_batches_smaller(void **state) {
  (void)state;
  drive d;
  snprintf(text, sizeof text, "%s/?kafka.queue.buffering.max.kbytes=512", plain.url);
  open_sink(&d, text);
  size_t most = limit_of_the_topic(&d, 500000);
  assert_in_range(most, 500000, 512 << 10);
  drive_add(&d, 1, most);
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_add(&d, 1, 600000);
  assert_false(drive_run(&d, TIMEOUT_MS));
  assert_int_equal(drive_tally(&d, DRIVE_FAILED), 1);
  drive_close(&d);
}

/* A broker refuses what is larger than a segment of the topic, whatever max.message.bytes says: by default 12 bytes
 * more than the smallest segment. */
static void batches_fit_into_a_segment_of_the_topic(void **state) {
  (void)state;
  enum { SEGMENT_BYTES = 1 << 20, OVERHEAD_BYTES = 256 };
  drive d;
  char url[512];
  size_t most = 0, overhead = 0;
  snprintf(url, sizeof url, "%s/short.batches", plain.url);
  set_up_topics(url, "--prefix short --partitions 2");
  snprintf(url, sizeof url, "%s/short.batches?kafka.message.max.bytes=2000000", plain.url);
  acl_alter_topic(&plain, "short.batches", "segment.bytes", "1048576"); /* and resets max.message.bytes */
  for (int i = 0; i < TIMEOUT_MS / 1000 && most < 1012000; i++) {       /* it takes effect with a delay */
    open_sink(&d, url);
    most = limit_of_the_topic(&d, 1000000);
    overhead = OVERHEAD_BYTES + strlen(d.host.host_name) + strlen(d.host.program);
    drive_close(&d);
  }
  assert_int_equal(most, SEGMENT_BYTES - overhead);
}

static void a_control_topic_with_an_illegal_name_is_said(void **state) {
  (void)state;
  drive d;
  snprintf(text, sizeof text, "%s/?control=..", plain.url);
  open_sink(&d, text);
  d.plugin->watch(d.sink);
  assert_true(drive_until_logged(&d, "no activations are read: the brokers reject .. as a topic name", TIMEOUT_MS));
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
  broker_credentials(guarded.emitter, guarded.emitter_password_file, guarded.ca);
  open_sink(&d, guarded.tls_url);
  drive_add(&d, 100, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_close(&d);
}

static void another_authority_is_one_clear_error(void **state) {
  (void)state;
  broker_credentials(guarded.emitter, guarded.emitter_password_file, NULL); /* only the system's CA certificates */
  drive_complains_only("kafka", guarded.tls_url, "the certificate is not signed by a trusted CA");
}

static void a_wrong_password_is_one_clear_error_without_the_password(void **state) {
  (void)state;
  drive d;
  char url[512];
  broker_credentials(NULL, NULL, guarded.ca);
  snprintf(url, sizeof url, "kafka://emitter:not-the-secret@%s", guarded.tls_url + strlen("kafka://"));
  drive_complains_only("kafka", url, "refuses the credentials");
  open_sink(&d, url);
  drive_add(&d, 1, 1000);
  assert_true(drive_until_logged(&d, "refuses the credentials", TIMEOUT_MS));
  assert_null(strstr(d.log, "not-the-secret"));
  drive_close(&d);
}

static void put_into(const char *path, const char *writer) {
  char command[512];
  snprintf(command, sizeof command, "%s >%s 2>/dev/null", writer, path);
  assert_int_equal(system(command), 0);
}

static void put_copy(const char *path, const char *from) {
  char writer[256];
  snprintf(writer, sizeof writer, "cat %s", from);
  put_into(path, writer);
}

/* librdkafka reads them once per client. */
static void credentials_that_are_replaced_are_used(void **state) {
  (void)state;
  drive d;
  char password[] = "/tmp/lifeline-password-XXXXXX", authority[] = "/tmp/lifeline-authority-XXXXXX";
  close(mkstemp(password));
  close(mkstemp(authority));
  put_copy(password, guarded.password_file); /* another user's */
  put_into(authority, "openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -subj /CN=another");
  broker_credentials(guarded.emitter, password, authority);
  open_sink(&d, guarded.tls_url);
  drive_add(&d, 1, BATCH_BYTES);
  d.plugin->watch(d.sink);
  assert_true(drive_until_logged(&d, "not signed by a trusted CA", TIMEOUT_MS));
  put_copy(authority, guarded.ca);
  assert_true(drive_until_logged(&d, "refuses the credentials", TIMEOUT_MS));
  put_copy(password, guarded.emitter_password_file);
  assert_true(drive_run(&d, TIMEOUT_MS));
  assert_true(drive_until_logged(&d, "activations are read from the topic", TIMEOUT_MS));
  drive_close(&d);
  unlink(password);
  unlink(authority);
}

static void a_broker_that_asks_for_a_certificate_is_shown_one(void **state) {
  (void)state;
  drive d;
  broker asking;
  broker_start(&asking, "kafka", "--mtls");
  broker_credentials(NULL, NULL, asking.ca);
  drive_complains_only("kafka", asking.tls_url, "client certificate");
  broker_client_certificate(asking.certificate, asking.key);
  set_up_topics(asking.tls_url, "");
  open_sink(&d, asking.tls_url);
  drive_add(&d, 100, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_close(&d);
  broker_client_certificate(NULL, NULL);
  broker_stop(&asking);
}

/* Leaves the sink open, with waiting batches. */
static void expect_forbidden(drive *d, const char *url, const char *topic) {
  char forbidden[512], complaint[256];
  snprintf(forbidden, sizeof forbidden, "%.*s/%s?tls=true",
           (int)(strlen("kafka://") + strcspn(url + strlen("kafka://"), "/")), url, topic);
  snprintf(complaint, sizeof complaint, "the topic %s cannot be written: this user has no permission", topic);
  open_sink(d, forbidden);
  drive_add(d, 5, 1000);
  assert_true(drive_until_logged(d, complaint, TIMEOUT_MS));
  assert_false(drive_run(d, 1000));
  assert_int_equal(drive_tally(d, DRIVE_REFUSED), 0);
  assert_int_equal(drive_said(d, "\n"), 1);
}

static void what_an_emitter_may_not_write_is_a_clear_error_and_waits_until_it_may(void **state) {
  (void)state;
  drive d;
  broker_credentials(guarded.user, guarded.password_file, guarded.ca);
  set_up_topics(guarded.tls_url, "");
  broker_credentials(guarded.emitter, guarded.emitter_password_file, guarded.ca);
  acl_allow(&guarded, "lifeline.activations", ACL_READ, true);
  expect_forbidden(&d, guarded.tls_url,
                   "lifeline.activations"); /* a user without write permission gets no producer id */
  drive_close(&d);
  expect_forbidden(&d, guarded.tls_url, "lifeline.batches");
  acl_allow(&guarded, "lifeline.batches", ACL_WRITE, true);
  drive_add(&d, 100, BATCH_BYTES);
  assert_true(drive_run(&d, TIMEOUT_MS));
  drive_close(&d);
  expect_forbidden(&d, guarded.tls_url, "lifeline.activations");
  drive_close(&d);
  expect_forbidden(&d, guarded.tls_url, "lifeline.summaries");
  drive_close(&d);
}

/* The shipped script, with the test's own stand-in for Kafka's tool. */
static void with_the_shipped_permissions_an_emitter_does_nothing_else(void **state) {
  (void)state;
  acl_allow(&guarded, "lifeline.activations", ACL_READ, false);
  acl_allow(&guarded, "lifeline.batches", ACL_WRITE, false);
  broker_credentials(guarded.user, guarded.password_file, guarded.ca);
  set_up_topics(guarded.tls_url, "--prefix team --partitions 1");
  acl_by_script(&guarded);
  hostile_neighbour(&guarded);
}

static void a_url_that_makes_no_sense_is_refused_without_its_secrets(void **state) {
  (void)state;
  static const char *const urls[] = {
      "kafka://u:hidden@h:port",
      "kafka://u:hidden@h/?speed=9",
      "kafka://u:hidden@h/?kafka.no.such.setting=hidden",
      "kafka://u:hidden@h/?kafka.acks=hidden",
      "kafka://u:hidden@h/?kafka.partitioner=random",
      "kafka://u:hidden@h/?max_in_flight=0",
      "kafka://u:hidden@h/?max_in_flight=1e3",
      "kafka://u:hidden@h/?tls_ca=/missing",
      "kafka://u:hidden@h/?tls_ca=/etc/hostname",
      "kafka://u:hid/den@h",
      "kafka://user-without-password@h",
  };
  broker_credentials(NULL, NULL, NULL);
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    drive d;
    char error[256] = "";
    assert_false(drive_open(&d, "kafka", urls[i], error, sizeof error));
    assert_int_equal(strncmp(error, "kafka: ", 7), 0);
    assert_null(strstr(error, "hid"));
  }
}

static void the_program_keeps_its_signals(void **state) {
  (void)state;
  drive d;
  struct sigaction pipe;
  sigset_t mask;
  open_sink(&d, "kafka://127.0.0.1:1");
  sigaction(SIGPIPE, NULL, &pipe);
  assert_true(pipe.sa_handler == SIG_DFL);
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  assert_false(sigismember(&mask, SIGTERM));
  drive_close(&d);
}

static void setup_is_idempotent_and_check_tells_what_is_missing_or_differs(void **state) {
  (void)state;
  broker_credentials(NULL, NULL, NULL);
  assert_int_equal(broker_setup(plain.url, "--prefix other --check", text, sizeof text), 1);
  assert_non_null(strstr(text, "missing topic other.batches"));
  assert_int_equal(broker_setup(plain.url, "--prefix other --partitions 3", text, sizeof text), 0);
  assert_non_null(strstr(text, "created topic other.ledger"));
  assert_int_equal(broker_setup(plain.url, "--prefix other --partitions 3", text, sizeof text), 0);
  assert_null(strstr(text, "created"));
  assert_int_equal(broker_setup(plain.url, "--prefix other --check --json", text, sizeof text), 0);
  assert_non_null(strstr(text, "\"ok\":true"));
  assert_int_equal(broker_setup(plain.url, "--prefix other --check --partitions 4", text, sizeof text), 1);
  assert_non_null(strstr(text, "differs topic other.batches: it has 3 partitions, not 4"));
  assert_int_equal(broker_setup(plain.url, "--prefix other --check --retention 1d", text, sizeof text), 1);
  assert_non_null(strstr(text, "retention.ms is 604800000, not 86400000"));
}

static int start_brokers(void **state) {
  (void)state;
  broker_start(&plain, "kafka", "");
  broker_start(&guarded, "kafka", "--tls --auth --acl");
  set_up_topics(plain.url, "");
  return 0;
}

static int stop_brokers(void **state) {
  (void)state;
  broker_stop(&plain);
  broker_stop(&guarded);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1) return acl_tool(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_program_keeps_its_signals),
      cmocka_unit_test(every_batch_is_acknowledged_and_stored_once_in_its_emitters_partition),
      cmocka_unit_test(a_kill_in_full_flight_means_no_loss),
      cmocka_unit_test(batches_given_up_by_a_timeout_come_back_for_a_retry),
      cmocka_unit_test(a_missing_topic_is_said_once_and_batches_go_when_it_is_there),
      cmocka_unit_test(a_batch_that_is_too_large_is_refused_before_it_is_sent),
      cmocka_unit_test(a_batch_that_the_topic_does_not_take_is_refused),
      cmocka_unit_test(a_small_queue_makes_batches_smaller),
      cmocka_unit_test(batches_fit_into_a_segment_of_the_topic),
      cmocka_unit_test(a_control_topic_with_an_illegal_name_is_said),
      cmocka_unit_test(a_server_that_hangs_neither_blocks_nor_holds_up_the_end),
      cmocka_unit_test(what_an_emitter_may_not_write_is_a_clear_error_and_waits_until_it_may), /* until allowed */
      cmocka_unit_test(with_the_shipped_permissions_an_emitter_does_nothing_else),
      cmocka_unit_test(the_emitters_credentials_publish_over_tls),
      cmocka_unit_test(credentials_that_are_replaced_are_used),
      cmocka_unit_test(another_authority_is_one_clear_error),
      cmocka_unit_test(a_wrong_password_is_one_clear_error_without_the_password),
      cmocka_unit_test(a_broker_that_asks_for_a_certificate_is_shown_one),
      cmocka_unit_test(a_url_that_makes_no_sense_is_refused_without_its_secrets),
      cmocka_unit_test(setup_is_idempotent_and_check_tells_what_is_missing_or_differs),
  };
  return cmocka_run_group_tests_name("sink kafka", tests, start_brokers, stop_brokers);
}
