#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "setup.h"

enum {
  TIMEOUT_MS = 60000, /* a newly started cluster on a busy machine takes tens of seconds */
  DEFAULT_PARTITIONS = 16,
  MAX_MESSAGE_BYTES = 1000000,
  MAX_SETTINGS = 4,
};

#define DEFAULT_RETENTION_MS (7LL * 86400 * 1000)

typedef struct topic {
  const char *what; /* name after the prefix */
  char name[256];
  int partitions;
  kafka_setting settings[MAX_SETTINGS];
  size_t setting_count;
} topic;

typedef struct admin {
  const setup_wishes *wishes;
  rd_kafka_t *client;
  rd_kafka_queue_t *queue;
  rd_kafka_AdminOptions_t *options;
  bool created;
} admin;

/* Searches the metadata of the whole cluster: a request for one topic might create it. */
static const rd_kafka_metadata_topic_t *find(const rd_kafka_metadata_t *metadata, const char *name) {
  for (int i = 0; i < metadata->topic_cnt; i++)
    if (strcmp(metadata->topics[i].topic, name) == 0) return &metadata->topics[i];
  return NULL;
}

static void create(admin *a, const topic *t) {
  char reason[256];
  rd_kafka_NewTopic_t *wanted = rd_kafka_NewTopic_new(
      t->name, t->partitions, a->wishes->replicas ? a->wishes->replicas : -1, reason, sizeof reason);
  if (!wanted) {
    setup_report(SETUP_FAILED, "topic", t->name, "%s", reason);
    return;
  }
  for (size_t i = 0; i < t->setting_count; i++)
    rd_kafka_NewTopic_set_config(wanted, t->settings[i].key, t->settings[i].value);
  rd_kafka_CreateTopics(a->client, &wanted, 1, a->options, a->queue);
  rd_kafka_NewTopic_destroy(wanted);
  rd_kafka_event_t *event = rd_kafka_queue_poll(a->queue, TIMEOUT_MS);
  size_t count = 0;
  const rd_kafka_topic_result_t **results =
      event && !rd_kafka_event_error(event)
          ? rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)
          : NULL;
  rd_kafka_resp_err_t code = count   ? rd_kafka_topic_result_error(results[0])
                             : event ? rd_kafka_event_error(event)
                                     : RD_KAFKA_RESP_ERR__TIMED_OUT;
  a->created |= code == RD_KAFKA_RESP_ERR_NO_ERROR;
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
    setup_report(SETUP_CREATED, "topic", t->name, "%s", "");
  else if (code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
    setup_report(SETUP_OK, "topic", t->name, "%s", "");
  else
    setup_report(SETUP_FAILED, "topic", t->name, "%s", rd_kafka_err2str(code));
  if (event) rd_kafka_event_destroy(event);
}

/* Settings not given on the command line are up to the operator. */
static bool matters(const setup_wishes *wishes, const char *key) {
  if (strcmp(key, "retention.ms") == 0) return wishes->retention_ms != 0;
  return strcmp(key, "retention.bytes") != 0 || wishes->max_bytes != 0;
}

static bool fits(const char *key, const char *found, const char *wanted) {
  if (strcmp(key, "max.message.bytes") == 0) return atoll(found) >= atoll(wanted);
  if (strcmp(key, "cleanup.policy") == 0 && strchr(wanted, ',')) /* a list in either order */
    return strstr(found, "compact") && strstr(found, "delete");
  return strcmp(found, wanted) == 0;
}

static const char *found_value(const rd_kafka_ConfigEntry_t **entries, size_t count, const char *key) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(rd_kafka_ConfigEntry_name(entries[i]), key) == 0) return rd_kafka_ConfigEntry_value(entries[i]);
  return NULL;
}

static void compare(admin *a, const topic *t, const rd_kafka_ConfigEntry_t **entries, size_t count) {
  for (size_t i = 0; i < t->setting_count; i++) {
    const kafka_setting *wanted = &t->settings[i];
    const char *found = found_value(entries, count, wanted->key);
    if (found && matters(a->wishes, wanted->key) && !fits(wanted->key, found, wanted->value)) {
      setup_report(SETUP_DIFFERS, "topic", t->name, "%s is %s, not %s; change it with kafka-configs.sh --alter",
                   wanted->key, found, wanted->value);
      return;
    }
  }
  setup_report(SETUP_OK, "topic", t->name, "%s", "");
}

static void check_settings(admin *a, const topic *t) {
  rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, t->name);
  rd_kafka_DescribeConfigs(a->client, &resource, 1, a->options, a->queue);
  rd_kafka_ConfigResource_destroy(resource);
  rd_kafka_event_t *event = rd_kafka_queue_poll(a->queue, TIMEOUT_MS);
  size_t resources = 0, count = 0;
  const rd_kafka_ConfigResource_t **found =
      event && !rd_kafka_event_error(event)
          ? rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &resources)
          : NULL;
  rd_kafka_resp_err_t code = resources ? rd_kafka_ConfigResource_error(found[0])
                             : event   ? rd_kafka_event_error(event)
                                       : RD_KAFKA_RESP_ERR__TIMED_OUT;
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(found[0], &count);
    compare(a, t, entries, count);
  } else {
    setup_report(SETUP_FAILED, "topic", t->name, "its settings cannot be read: %s", rd_kafka_err2str(code));
  }
  if (event) rd_kafka_event_destroy(event);
}

static void setup_topic(admin *a, const rd_kafka_metadata_t *metadata, const topic *t) {
  const rd_kafka_metadata_topic_t *found = find(metadata, t->name);
  if (!found && a->wishes->check)
    setup_report(SETUP_MISSING, "topic", t->name, "run lifeline-setup without --check");
  else if (!found)
    create(a, t);
  else if (a->wishes->partitions && found->partition_cnt != t->partitions)
    setup_report(SETUP_DIFFERS, "topic", t->name,
                 "it has %d partitions, not %d; more would move its keys: create another with --prefix",
                 found->partition_cnt, t->partitions);
  else
    check_settings(a, t);
}

/* Waits until the brokers' metadata show the created topics, so that the next client finds them. */
static void await(admin *a, const topic *topics, size_t count) {
  for (int tries = 0; tries < TIMEOUT_MS / 50; tries++) {
    const rd_kafka_metadata_t *metadata;
    if (rd_kafka_metadata(a->client, 1, NULL, &metadata, TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
    size_t seen = 0;
    for (size_t i = 0; i < count; i++) {
      const rd_kafka_metadata_topic_t *found = find(metadata, topics[i].name);
      seen += found && found->partition_cnt > 0 && found->partitions[0].leader >= 0;
    }
    rd_kafka_metadata_destroy(metadata);
    if (seen == count) return;
    usleep(50000);
  }
}

static void setup_topics(admin *a, const rd_kafka_metadata_t *metadata) {
  const setup_wishes *wishes = a->wishes;
  int partitions = wishes->partitions ? wishes->partitions : DEFAULT_PARTITIONS;
  char retention_ms[32], retention_bytes[32], message_bytes[32];
  snprintf(retention_ms, sizeof retention_ms, "%lld",
           wishes->retention_ms ? wishes->retention_ms : DEFAULT_RETENTION_MS);
  snprintf(retention_bytes, sizeof retention_bytes, "%lld", wishes->max_bytes ? wishes->max_bytes / partitions : -1);
  snprintf(message_bytes, sizeof message_bytes, "%d", MAX_MESSAGE_BYTES + 12000); /* and the record batch's header */
  topic topics[] = {
      {"batches",
       "",
       partitions,
       {{"retention.ms", retention_ms},
        {"retention.bytes", retention_bytes},
        {"max.message.bytes", message_bytes},
        {"message.timestamp.type", "LogAppendTime"}}, /* lets the broker's clock check the emitters' clocks */
       4},
      {"summaries", "", partitions, {{"cleanup.policy", "compact,delete"}, {"retention.ms", retention_ms}}, 2},
      {"ledger", "", partitions, {{"cleanup.policy", "compact"}}, 1},
      {"alerts", "", partitions, {{"cleanup.policy", "compact,delete"}, {"retention.ms", retention_ms}}, 2},
      {"rejected", "", 1, {{"retention.ms", retention_ms}}, 1},
      {"activations", "", 1, {{"cleanup.policy", "compact"}}, 1},
  };
  for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
    if (i == 0 && *wishes->broker.url.name)
      snprintf(topics[i].name, sizeof topics[i].name, "%s", wishes->broker.url.name);
    else
      snprintf(topics[i].name, sizeof topics[i].name, "%s.%s", wishes->prefix, topics[i].what);
    setup_topic(a, metadata, &topics[i]);
  }
  if (a->created) await(a, topics, sizeof topics / sizeof *topics);
}

bool setup_kafka(const setup_wishes *wishes, char *error, size_t error_bytes) {
  tool_kafka kafka;
  const rd_kafka_metadata_t *metadata;
  if (!tool_kafka_open(&kafka, &wishes->broker, "lifeline-setup", NULL, error, error_bytes)) return false;
  bool asked = tool_kafka_ready(&kafka, &wishes->broker, &metadata, error, error_bytes);
  if (asked) {
    char ignored[64];
    admin a = {.wishes = wishes, .client = kafka.client, .queue = rd_kafka_queue_new(kafka.client)};
    a.options = rd_kafka_AdminOptions_new(a.client, RD_KAFKA_ADMIN_OP_ANY);
    rd_kafka_AdminOptions_set_request_timeout(a.options, TIMEOUT_MS, ignored, sizeof ignored);
    setup_topics(&a, metadata);
    rd_kafka_AdminOptions_destroy(a.options);
    rd_kafka_queue_destroy(a.queue);
    rd_kafka_metadata_destroy(metadata);
  }
  tool_kafka_close(&kafka);
  return asked;
}
