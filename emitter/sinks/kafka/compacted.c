#include "compacted.h"

#include <stdio.h>
#include <string.h>

#include "conf.h"

enum { LOOK_MS = 60000, METADATA_PAUSE_MS = 1000, ANSWER_MS = 1000, MOST_PARTITIONS = 64 };

typedef struct reading {
  kafka_watch *watch;
  rd_kafka_t *consumer;
  rd_kafka_topic_t *topic;
  rd_kafka_queue_t *queue;
  int partitions;
  int64_t first[MOST_PARTITIONS], end[MOST_PARTITIONS]; /* offsets at the start */
  uint64_t at_end;                                      /* one bit per partition */
  bool complete, reported;
  uint64_t credentials; /* version of the files that the consumer has read */
} reading;

static void no_activations(kafka_watch *watch, const char *why) {
  if (watch->refused)
    watch->refused(watch->refused_ctx, why);
  else
    sink_report_state(&watch->control->report, LL_SINK_INFO, "kafka: no activations are read: %s", why);
}

/* False for errors of the broker, which the sink reports. */
static bool explain(kafka_watch *watch, rd_kafka_resp_err_t code) {
  char why[256];
  switch (code) {
  case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
  case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
  case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    snprintf(why, sizeof why, "the topic %s is missing; create it with lifeline-setup", watch->control->name);
    break;
  case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    snprintf(why, sizeof why, "this user may not read the topic %s", watch->control->name);
    break;
  case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    snprintf(why, sizeof why, "the brokers reject %s as a topic name", watch->control->name);
    break;
  default: return false;
  }
  no_activations(watch, why);
  return true;
}

static rd_kafka_t *make_consumer(kafka_watch *watch, rd_kafka_topic_conf_t **topic_conf) {
  static const kafka_setting defaults[] = {
      {"enable.partition.eof", "true"},
      {"allow.auto.create.topics", "false"},
      {"fetch.wait.max.ms", "2000"}, /* an answer comes earlier if there is a record */
      {"queued.min.messages", "1000"},
      {"queued.max.messages.kbytes", "4096"},
      {NULL, NULL},
  };
  char error[512];
  rd_kafka_conf_t *conf =
      kafka_conf_new(watch->url, watch->security, "lifeline-control", defaults, error, sizeof error);
  rd_kafka_t *consumer = conf ? kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error) : NULL;
  if (conf && !consumer) rd_kafka_conf_destroy(conf);
  if (!consumer) {
    no_activations(watch, error);
    return NULL;
  }
  *topic_conf = rd_kafka_topic_conf_new();
  rd_kafka_topic_conf_set(*topic_conf, "auto.offset.reset", "earliest", error, sizeof error);
  return consumer;
}

/* librdkafka reads password and certificates once per client, and says nothing of a refusal here. */
static bool is_outdated(const reading *r) {
  return sink_security_version(r->watch->security) != r->credentials;
}

/* Waits for a broker. Returns 0 if the topic cannot be read, or needs another consumer. */
static int count_partitions(reading *r) {
  for (; !sink_control_closing(r->watch->control) && !is_outdated(r);
       sink_control_wait(r->watch->control, METADATA_PAUSE_MS)) {
    const struct rd_kafka_metadata *metadata;
    rd_kafka_poll(r->consumer, 0);
    if (rd_kafka_metadata(r->consumer, 0, r->topic, &metadata, 1000) != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    rd_kafka_resp_err_t code = metadata->topic_cnt ? metadata->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    int count = code ? 0 : metadata->topics[0].partition_cnt;
    rd_kafka_metadata_destroy(metadata);
    if (count > 0) return count < MOST_PARTITIONS ? count : MOST_PARTITIONS;
    if (explain(r->watch, code)) return 0;
  }
  return 0;
}

static void pass_on(reading *r, const rd_kafka_message_t *message) {
  int64_t written_ms = rd_kafka_message_timestamp(message, NULL);
  sink_control_says(r->watch->control, &(ll_control_message){.id = message->key ? message->key : "",
                                                             .id_bytes = message->key ? message->key_len : 0,
                                                             .line = message->payload,
                                                             .line_bytes = message->payload ? message->len : 0,
                                                             .written_ms = written_ms > 0 ? written_ms : 0});
}

static void note_end(reading *r, int partition) {
  r->at_end |= UINT64_C(1) << partition;
  if (r->complete || r->at_end != UINT64_MAX >> (64 - r->partitions)) return;
  r->complete = true;
  sink_control_complete(r->watch->control);
}

/* Called after a fetch: offsets, and so the end of an empty topic, are told to users who may not read, too. */
static void report_complete(reading *r) {
  if (!r->complete || r->reported) return;
  r->reported = true;
  sink_report_state(&r->watch->control->report, LL_SINK_INFO, "kafka: activations are read from the topic %s",
                    r->watch->control->name);
}

/* A record, or the end of a partition. */
static void take(reading *r, const rd_kafka_message_t *message) {
  if (!message->err) pass_on(r, message);
  if (message->err || message->offset + 1 >= r->end[message->partition]) note_end(r, message->partition);
  report_complete(r);
}

/* Asks where each partition begins or ends. False if brokers did not answer. Unlike rd_kafka_query_watermark_offsets of
 * librdkafka 2.0 it gives up after the time. */
static bool ask_offsets(reading *r, int64_t which, int64_t *offsets) {
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(r->partitions);
  for (int p = 0; p < r->partitions; p++)
    rd_kafka_topic_partition_list_add(list, r->watch->control->name, p)->offset = which;
  bool answered = rd_kafka_offsets_for_times(r->consumer, list, ANSWER_MS) == RD_KAFKA_RESP_ERR_NO_ERROR;
  for (int p = 0; answered && p < r->partitions; p++)
    if (!list->elems[p].err && list->elems[p].offset >= 0) offsets[p] = list->elems[p].offset;
  rd_kafka_topic_partition_list_destroy(list);
  return answered;
}

/* librdkafka would say that it is at the end of a partition only after a fetch that brought nothing. */
static void find_ends(reading *r) {
  for (int p = 0; p < r->partitions; p++) {
    r->first[p] = RD_KAFKA_OFFSET_BEGINNING;
    r->end[p] = INT64_MAX;
  }
  if (!ask_offsets(r, RD_KAFKA_OFFSET_END, r->end) || sink_control_closing(r->watch->control) ||
      !ask_offsets(r, RD_KAFKA_OFFSET_BEGINNING, r->first))
    return;
  for (int p = 0; p < r->partitions; p++)
    if (r->first[p] >= r->end[p]) note_end(r, p);
}

/* Reads until the topic is gone or forbidden, the credentials have been renewed, or wake ends the wait. After an outage
 * librdkafka resumes by itself. */
static void follow(reading *r) {
  for (bool good = true; good && !sink_control_closing(r->watch->control) && !is_outdated(r);) {
    rd_kafka_poll(r->consumer, 0);
    rd_kafka_message_t *message = rd_kafka_consume_queue(r->queue, LOOK_MS);
    if (!message) continue;
    if (!message->err || message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
      take(r, message);
    else
      good = !explain(r->watch, message->err);
    rd_kafka_message_destroy(message);
  }
}

static void wake(void *queue) {
  rd_kafka_queue_yield(queue);
}

static void read_topic(reading *r) {
  r->partitions = count_partitions(r);
  if (r->partitions == 0) return;
  r->queue = rd_kafka_queue_new(r->consumer);
  sink_control_wake_by(r->watch->control, wake, r->queue);
  sink_control_begin(r->watch->control);
  find_ends(r);
  for (int p = 0; p < r->partitions; p++)
    rd_kafka_consume_start_queue(r->topic, p, r->first[p], r->queue);
  follow(r);
  for (int p = 0; p < r->partitions; p++)
    rd_kafka_consume_stop(r->topic, p);
  sink_control_wake_by(r->watch->control, NULL, NULL);
  rd_kafka_queue_destroy(r->queue);
}

void kafka_watch_read(void *of) {
  kafka_watch *watch = of;
  while (!sink_control_closing(watch->control)) {
    rd_kafka_topic_conf_t *topic_conf;
    reading r = {.watch = watch, .credentials = sink_security_version(watch->security)};
    r.consumer = make_consumer(watch, &topic_conf); /* NULL also while a certificate is being replaced */
    r.topic = r.consumer ? rd_kafka_topic_new(r.consumer, watch->control->name, topic_conf) : NULL;
    if (r.topic) {
      read_topic(&r);
      rd_kafka_topic_destroy(r.topic);
    }
    if (r.consumer) kafka_destroy(r.consumer);
    sink_control_wait(watch->control, SINK_CONTROL_RETRY_MS);
  }
}
