/* The rate of a broker alone: publishes N messages of B bytes as fast as it acknowledges them, through the client
 * library and with the settings that Lifeline's sinks use, and prints the seconds and the processor time that it took.
 */
#include <librdkafka/rdkafka.h>
#include <nats/nats.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char USAGE[] = "Usage: raw-publisher nats|kafka SERVER SUBJECT_OR_TOPIC MESSAGES BYTES\n"
                            "SERVER is nats://host:port or host:port; stream or topic must exist.\n";

enum { IN_FLIGHT = 256 };

static _Noreturn void die(const char *what, const char *why) {
  fprintf(stderr, "raw-publisher: %s: %s\n", what, why);
  exit(1);
}

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void nats_must(const char *what, natsStatus status) {
  if (status != NATS_OK) die(what, natsStatus_GetText(status));
}

static void publish_nats(const char *server, const char *subject, long messages, const char *data, size_t bytes) {
  natsConnection *connection = NULL;
  jsCtx *jetstream = NULL;
  jsOptions options;
  jsPubOptions drain;
  nats_must("connect", natsConnection_ConnectTo(&connection, server));
  jsOptions_Init(&options);
  options.PublishAsync.MaxPending = IN_FLIGHT;
  nats_must("JetStream", natsConnection_JetStream(&jetstream, connection, &options));
  for (long i = 0; i < messages; i++) {
    natsMsg *message = NULL;
    nats_must("message", natsMsg_Create(&message, subject, NULL, data, (int)bytes));
    nats_must("publish", js_PublishMsgAsync(jetstream, &message, NULL));
  }
  jsPubOptions_Init(&drain);
  drain.MaxWait = 60000;
  nats_must("acknowledgements", js_PublishAsyncComplete(jetstream, &drain));
  jsCtx_Destroy(jetstream);
  natsConnection_Destroy(connection);
  nats_Close();
}

static long undelivered;

static void delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *ctx) {
  (void)producer;
  (void)ctx;
  if (message->err) undelivered++;
}

static void set(rd_kafka_conf_t *conf, const char *key, const char *value) {
  char error[256];
  if (rd_kafka_conf_set(conf, key, value, error, sizeof error) != RD_KAFKA_CONF_OK) die(key, error);
}

static void publish_kafka(const char *server, const char *topic, long messages, const char *data, size_t bytes) {
  char error[256];
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", server);
  set(conf, "enable.idempotence", "true");
  set(conf, "linger.ms", "0");
  rd_kafka_conf_set_dr_msg_cb(conf, delivered);
  rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
  if (producer == NULL) die("producer", error);
  for (long i = 0; i < messages; i++) {
    while (rd_kafka_outq_len(producer) >= IN_FLIGHT)
      rd_kafka_poll(producer, 10);
    rd_kafka_resp_err_t status =
        rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_KEY((void *)"bench", 5),
                          RD_KAFKA_V_VALUE((void *)data, bytes), RD_KAFKA_V_END);
    if (status) die("produce", rd_kafka_err2str(status));
    rd_kafka_poll(producer, 0);
  }
  if (rd_kafka_flush(producer, 60000) || undelivered > 0) die("flush", "not every message was acknowledged");
  rd_kafka_destroy(producer);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--help") == 0) return fputs(USAGE, stdout), 0;
  bool is_nats = argc > 1 && strcmp(argv[1], "nats") == 0, is_kafka = argc > 1 && strcmp(argv[1], "kafka") == 0;
  long messages = argc == 6 ? atol(argv[4]) : 0;
  long bytes = argc == 6 ? atol(argv[5]) : 0;
  if ((!is_nats && !is_kafka) || messages < 1 || bytes < 1 || bytes > 960000) return fputs(USAGE, stderr), 2;

  char *data = malloc((size_t)bytes);
  if (data == NULL) die("memory", "none left");
  uint64_t state = 88172645463325252u; /* xorshift: bytes that do not compress */
  for (long i = 0; i < bytes; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    data[i] = (char)state;
  }
  double start = seconds_of(CLOCK_MONOTONIC), cpu_start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  if (is_nats)
    publish_nats(argv[2], argv[3], messages, data, (size_t)bytes);
  else
    publish_kafka(argv[2], argv[3], messages, data, (size_t)bytes);
  double seconds = seconds_of(CLOCK_MONOTONIC) - start;
  double cpu_seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
  printf("{\"messages\":%ld,\"bytes\":%ld,\"seconds\":%.6f,\"cpu_seconds\":%.6f}\n", messages, bytes, seconds,
         cpu_seconds);
  free(data);
  return 0;
}
