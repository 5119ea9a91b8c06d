#include "topic.h"

#include <librdkafka/rdkafka.h>
#include <nats/nats.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { PATIENCE_MS = 60000 };

static void read_nats(const char *url, topic_message take, void *ctx) {
  natsConnection *connection = NULL;
  natsSubscription *subscription = NULL;
  jsCtx *js = NULL;
  jsStreamInfo *info = NULL;
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Ordered = true;
  assert_int_equal(natsConnection_ConnectTo(&connection, url), NATS_OK);
  assert_int_equal(natsConnection_JetStream(&js, connection, NULL), NATS_OK);
  assert_int_equal(js_GetStreamInfo(&info, js, "LIFELINE", NULL, NULL), NATS_OK);
  assert_int_equal(js_SubscribeSync(&subscription, js, "lifeline.batches.*", NULL, &options, NULL), NATS_OK);
  for (uint64_t left = info->State.Msgs; left > 0; left--) {
    natsMsg *message = NULL;
    assert_int_equal(natsSubscription_NextMsg(&message, subscription, PATIENCE_MS), NATS_OK);
    take(ctx, natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message));
    natsMsg_Destroy(message);
  }
  jsStreamInfo_Destroy(info);
  natsSubscription_Destroy(subscription);
  jsCtx_Destroy(js);
  natsConnection_Destroy(connection);
}

static int count_partitions(rd_kafka_t *consumer, rd_kafka_topic_t *topic) {
  const struct rd_kafka_metadata *metadata;
  assert_int_equal(rd_kafka_metadata(consumer, 0, topic, &metadata, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
  int count = metadata->topics[0].partition_cnt;
  rd_kafka_metadata_destroy(metadata);
  return count;
}

static void read_kafka(const char *url, topic_message take, void *ctx) {
  char error[256];
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", url + strlen("kafka://"), error, sizeof error);
  rd_kafka_conf_set(conf, "enable.partition.eof", "true", error, sizeof error);
  rd_kafka_t *consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
  assert_non_null(consumer);
  rd_kafka_topic_t *topic = rd_kafka_topic_new(consumer, "lifeline.batches", NULL);
  rd_kafka_queue_t *queue = rd_kafka_queue_new(consumer);
  int partitions = count_partitions(consumer, topic);
  for (int p = 0; p < partitions; p++)
    rd_kafka_consume_start_queue(topic, p, RD_KAFKA_OFFSET_BEGINNING, queue);
  for (int ended = 0; ended < partitions;) {
    rd_kafka_message_t *message = rd_kafka_consume_queue(queue, PATIENCE_MS);
    assert_non_null(message);
    ended += message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (!message->err) take(ctx, message->payload, message->len);
    rd_kafka_message_destroy(message);
  }
  for (int p = 0; p < partitions; p++)
    rd_kafka_consume_stop(topic, p);
  rd_kafka_queue_destroy(queue);
  rd_kafka_topic_destroy(topic);
  rd_kafka_destroy(consumer);
}

void topic_read(const char *url, const char *scheme, topic_message take, void *ctx) {
  (strcmp(scheme, "nats") == 0 ? read_nats : read_kafka)(url, take, ctx);
}
