#include "readback.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <string.h>

enum { PATIENCE_MS = 10000 };

static bool trouble(const char *what, const char *why) {
  fprintf(stderr, "bench-readback: %s: %s\n", what, why);
  return false;
}

static rd_kafka_t *make_consumer(const char *servers) {
  static const char *const settings[][2] = {{"group.id", "bench-readback"},
                                            {"enable.auto.commit", "false"},
                                            {"check.crcs", "true"},
                                            {"fetch.message.max.bytes", "8388608"}};
  char why[256] = "";
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  bool set = rd_kafka_conf_set(conf, "bootstrap.servers", servers, why, sizeof why) == RD_KAFKA_CONF_OK;
  for (size_t i = 0; set && i < sizeof settings / sizeof settings[0]; i++)
    set = rd_kafka_conf_set(conf, settings[i][0], settings[i][1], why, sizeof why) == RD_KAFKA_CONF_OK;
  rd_kafka_t *consumer = set ? rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why) : NULL;
  if (consumer == NULL) {
    rd_kafka_conf_destroy(conf);
    trouble("the consumer", why);
  }
  return consumer;
}

/* Assigns all partitions from the beginning, without a group. */
static bool assign_all(rd_kafka_t *consumer, const char *topic) {
  const struct rd_kafka_metadata *metadata = NULL;
  rd_kafka_topic_t *handle = rd_kafka_topic_new(consumer, topic, NULL);
  rd_kafka_resp_err_t error = rd_kafka_metadata(consumer, 0, handle, &metadata, PATIENCE_MS);
  rd_kafka_topic_destroy(handle);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return trouble(topic, rd_kafka_err2str(error));
  int count = metadata->topics[0].partition_cnt;
  rd_kafka_topic_partition_list_t *partitions = rd_kafka_topic_partition_list_new(count);
  for (int i = 0; i < count; i++)
    rd_kafka_topic_partition_list_add(partitions, topic, i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  error = rd_kafka_assign(consumer, partitions);
  rd_kafka_topic_partition_list_destroy(partitions);
  rd_kafka_metadata_destroy(metadata);
  return error == RD_KAFKA_RESP_ERR_NO_ERROR || trouble(topic, rd_kafka_err2str(error));
}

static bool read_all(tally *counted, rd_kafka_t *consumer) {
  while (!counted->final) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, PATIENCE_MS);
    if (message == NULL) return true;
    bool legal = message->err == RD_KAFKA_RESP_ERR_NO_ERROR
                     ? tally_batch(counted, message->payload, message->len)
                     : trouble("the next message", rd_kafka_message_errstr(message));
    rd_kafka_message_destroy(message);
    if (!legal) return false;
  }
  return true;
}

bool readback_kafka(tally *counted, const char *url) {
  rd_kafka_t *consumer = make_consumer(url + strlen("kafka://"));
  if (consumer == NULL) return false;
  rd_kafka_poll_set_consumer(consumer);
  bool read = assign_all(consumer, "lifeline.batches") && read_all(counted, consumer);
  rd_kafka_consumer_close(consumer);
  rd_kafka_destroy(consumer);
  return read;
}
