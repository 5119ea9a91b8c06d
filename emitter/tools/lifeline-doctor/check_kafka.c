/* Kafka: credentials, the topic, and this user's permissions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "compacted.h"
#include "conf.h"
#include "doctor.h"

enum { WAIT_MS = 30000, PROBE_BYTES = 8 << 20 };

typedef struct session {
  const tool_broker *broker;
  tool_kafka kafka;
  const rd_kafka_metadata_t *metadata;
} session;

static const rd_kafka_metadata_topic_t *find(const session *s, const char *name) {
  for (int i = 0; i < s->metadata->topic_cnt; i++)
    if (strcmp(s->metadata->topics[i].topic, name) == 0) return &s->metadata->topics[i];
  return NULL;
}

static void check_replicas(const rd_kafka_metadata_topic_t *topic) {
  int leaderless = 0, behind = 0;
  for (int p = 0; p < topic->partition_cnt; p++) {
    leaderless += topic->partitions[p].leader < 0;
    behind += topic->partitions[p].isr_cnt < topic->partitions[p].replica_cnt;
  }
  int replicas = topic->partition_cnt ? topic->partitions[0].replica_cnt : 0;
  if (leaderless)
    report(FAIL, "replicas", "%d of %d partitions of %s have no leader: brokers are down", leaderless,
           topic->partition_cnt, topic->topic);
  else if (behind)
    report(WARN, "replicas", "%d of %d partitions of %s have replicas that are not in sync", behind,
           topic->partition_cnt, topic->topic);
  else
    report(OK, "replicas", "%s has %d partitions with %d replica%s each, all in sync", topic->topic,
           topic->partition_cnt, replicas, replicas == 1 ? "" : "s");
}

static const char *setting(const rd_kafka_ConfigEntry_t **entries, size_t count, const char *key) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(rd_kafka_ConfigEntry_name(entries[i]), key) == 0 && rd_kafka_ConfigEntry_value(entries[i]))
      return rd_kafka_ConfigEntry_value(entries[i]);
  return "";
}

static void judge_settings(const char *topic, const rd_kafka_ConfigEntry_t **entries, size_t count) {
  long long size = atoll(setting(entries, count, "max.message.bytes"));
  long long ms = atoll(setting(entries, count, "retention.ms"));
  long long bytes = atoll(setting(entries, count, "retention.bytes"));
  if (size < DEFAULT_BATCH + 1000)
    report(FAIL, "topic",
           "%s accepts messages of at most %lld bytes; batches have 64 KiB and more: raise its "
           "max.message.bytes to 1012000",
           topic, size);
  else if (size < LARGEST_MESSAGE)
    report(
        WARN, "topic",
        "%s accepts messages of at most %lld bytes; under load batches grow to %d, and programs that may not see this "
        "limit lose those that are refused: raise its max.message.bytes to 1012000",
        topic, size, LL_BATCH_MOST);
  else
    report(OK, "topic", "%s accepts messages of %lld bytes", topic, size);
  if (strstr(setting(entries, count, "cleanup.policy"), "compact"))
    report(FAIL, "retention", "%s is compacted: only the last batch of each emitter would be kept", topic);
  else if (ms < 0 && bytes < 0)
    report(WARN, "retention", "%s has no limit of age or size and grows until the disk is full", topic);
  else
    report(OK, "retention", "%.1f days%s%s", (double)ms / 864e5, bytes > 0 ? ", per partition at most " : "",
           bytes > 0 ? bytes_text((double)bytes) : "");
}

/* Returns max.message.bytes, or 0 if this user may not see it. */
static long check_settings(session *s, const char *topic) {
  rd_kafka_queue_t *queue = rd_kafka_queue_new(s->kafka.client);
  rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
  rd_kafka_DescribeConfigs(s->kafka.client, &resource, 1, NULL, queue);
  rd_kafka_ConfigResource_destroy(resource);
  rd_kafka_event_t *event = rd_kafka_queue_poll(queue, WAIT_MS);
  size_t found = 0, count = 0;
  const rd_kafka_ConfigResource_t **resources =
      event && !rd_kafka_event_error(event)
          ? rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &found)
          : NULL;
  long size = 0;
  if (found && !rd_kafka_ConfigResource_error(resources[0])) {
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resources[0], &count);
    judge_settings(topic, entries, count);
    size = atol(setting(entries, count, "max.message.bytes"));
  } else if (event && !rd_kafka_event_error(event)) {
    report(SKIPPED, "topic", "this user may not see the limits of %s", topic);
  } else {
    report(WARN, "topic", "cannot find out the limits of %s: %s", topic,
           event ? rd_kafka_event_error_string(event) : "no answer");
  }
  if (event) rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  return size;
}

static void on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *ctx) {
  (void)client;
  (void)ctx;
  *(rd_kafka_resp_err_t *)message->_private = message->err;
}

/* The broker's answer to a message that it must reject. */
static rd_kafka_resp_err_t probe(session *s, const char *topic, const void *key, size_t key_bytes, const void *value,
                                 size_t bytes) {
  rd_kafka_resp_err_t answer = RD_KAFKA_RESP_ERR__TIMED_OUT;
  rd_kafka_resp_err_t code =
      rd_kafka_producev(s->kafka.client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                        RD_KAFKA_V_KEY(key, key_bytes), RD_KAFKA_V_VALUE((void *)value, bytes),
                        RD_KAFKA_V_OPAQUE(&answer), RD_KAFKA_V_END);
  if (code) return RD_KAFKA_RESP_ERR__INVALID_ARG; /* rejected by librdkafka, not the broker */
  if (rd_kafka_flush(s->kafka.client, WAIT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_purge(s->kafka.client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(s->kafka.client, WAIT_MS);
  }
  return answer;
}

/* Sends one byte more than the topic takes: the broker checks the permission before the size. */
static void check_publishing(session *s, const char *topic, long limit) {
  size_t bytes = limit ? (size_t)limit + 1 : PROBE_BYTES;
  char *value = bytes <= PROBE_BYTES ? calloc(1, bytes) : NULL;
  if (!value) {
    report(SKIPPED, "batches", "it is known only after the first batch whether this user may write %s", topic);
    return;
  }
  rd_kafka_resp_err_t code = probe(s, topic, "lifeline-doctor", 15, value, bytes);
  free(value);
  if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
    report(OK, "batches", "this user may write the topic %s", topic);
  else if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    report(FAIL, "batches",
           "this user may not write the topic %s; sinks/permissions/kafka-acls.sh has what an emitter needs", topic);
  else
    report(WARN, "batches", "cannot find out whether this user may write the topic %s: %s", topic,
           rd_kafka_err2str(code));
}

static rd_kafka_resp_err_t read_once(session *s, const char *topic) {
  char error[512];
  static const kafka_setting defaults[] = {{"enable.partition.eof", "true"}, {NULL, NULL}};
  rd_kafka_conf_t *conf =
      kafka_conf_new(&s->broker->url, &s->broker->security, "lifeline-doctor", defaults, error, sizeof error);
  rd_kafka_t *consumer = conf ? rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error) : NULL;
  if (!consumer) return RD_KAFKA_RESP_ERR__FAIL;
  rd_kafka_topic_t *handle = rd_kafka_topic_new(consumer, topic, NULL);
  rd_kafka_consume_start(handle, 0, RD_KAFKA_OFFSET_BEGINNING);
  rd_kafka_message_t *message = rd_kafka_consume(handle, 0, WAIT_MS);
  rd_kafka_resp_err_t code = message ? message->err : RD_KAFKA_RESP_ERR__TIMED_OUT;
  if (message) rd_kafka_message_destroy(message);
  rd_kafka_consume_stop(handle, 0);
  rd_kafka_topic_destroy(handle);
  rd_kafka_destroy(consumer);
  return code == RD_KAFKA_RESP_ERR__PARTITION_EOF ? RD_KAFKA_RESP_ERR_NO_ERROR : code;
}

/* Sends a message without a key, which a compacted topic rejects after it has checked the permission. */
static void check_writing_control(session *s, const char *topic) {
  rd_kafka_resp_err_t code = probe(s, topic, NULL, 0, "", 0);
  if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    report(OK, "control", "this user may not write activations, which is right for an emitter");
  else if (code == RD_KAFKA_RESP_ERR_INVALID_RECORD)
    report(WARN, "control",
           "this user may write activations for all programs; restrict emitters with sinks/permissions/kafka-acls.sh");
  else
    report(WARN, "control", "the topic %s is not compacted, or does not answer (%s): create it with lifeline-setup",
           topic, rd_kafka_err2str(code));
}

static void check_control(session *s) {
  const char *wish = sink_url_parameter(&s->broker->url, "control");
  const char *topic = wish && strcmp(wish, "on") != 0 ? wish : KAFKA_DEFAULT_CONTROL;
  if (strcmp(topic, "off") == 0) {
    report(OK, "activations", "control=off: programs read none");
    return;
  }
  if (!find(s, topic)) {
    report(WARN, "activations",
           "the topic %s is missing, or this user may not read it, so that activations have no effect", topic);
    return;
  }
  rd_kafka_resp_err_t code = read_once(s, topic);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
    report(OK, "activations", "they are read from the topic %s", topic);
  else
    report(WARN, "activations", "the topic %s cannot be read, so that activations have no effect: %s", topic,
           rd_kafka_err2str(code));
  check_writing_control(s, topic);
}

void check_kafka(const tool_broker *broker) {
  char error[512];
  session s = {.broker = broker};
  const char *topic = *broker->url.name ? broker->url.name : KAFKA_DEFAULT_TOPIC;
  if (!tool_kafka_open(&s.kafka, broker, "lifeline-doctor", on_delivery, error, sizeof error)) {
    report(FAIL, "url", "%s", error);
    return;
  }
  if (!tool_kafka_ready(&s.kafka, broker, &s.metadata, error, sizeof error)) {
    report(FAIL, "credentials", "%s", error);
    tool_kafka_close(&s.kafka);
    return;
  }
  report(OK, "credentials", "%s%s",
         broker->security.user ? "the brokers accept user " : "the brokers accept the connection",
         broker->security.user ? broker->security.user : "");
  const rd_kafka_metadata_topic_t *found = find(&s, topic);
  if (found) {
    check_replicas(found);
    check_publishing(&s, topic, check_settings(&s, topic));
  } else {
    report(FAIL, "topic",
           "%s is missing, or this user may not see it; lifeline-setup creates it, and "
           "sinks/permissions/kafka-acls.sh has what an emitter needs",
           topic);
  }
  check_control(&s);
  rd_kafka_metadata_destroy(s.metadata);
  tool_kafka_close(&s.kafka);
}
