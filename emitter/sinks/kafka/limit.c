#include "limit.h"

#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MS = 600000 }; /* a broker may start long after the program */

void kafka_limit_ask(rd_kafka_t *client, const char *topic, rd_kafka_queue_t *queue) {
  char ignored[64];
  rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
  rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
  rd_kafka_AdminOptions_set_request_timeout(options, TIMEOUT_MS, ignored, sizeof ignored);
  rd_kafka_DescribeConfigs(client, &resource, 1, options, queue);
  rd_kafka_AdminOptions_destroy(options);
  rd_kafka_ConfigResource_destroy(resource);
}

/* 0 if it is missing. */
static size_t number(const rd_kafka_ConfigEntry_t **entry, size_t entries, const char *name) {
  for (size_t i = 0; i < entries; i++)
    if (strcmp(rd_kafka_ConfigEntry_name(entry[i]), name) == 0 && rd_kafka_ConfigEntry_value(entry[i]))
      return strtoul(rd_kafka_ConfigEntry_value(entry[i]), NULL, 10);
  return 0;
}

size_t kafka_limit_read(rd_kafka_event_t *event) {
  size_t resources = 0, entries = 0;
  const rd_kafka_DescribeConfigs_result_t *result = rd_kafka_event_DescribeConfigs_result(event);
  if (rd_kafka_event_error(event) || !result) return 0;
  const rd_kafka_ConfigResource_t **found = rd_kafka_DescribeConfigs_result_resources(result, &resources);
  if (resources == 0 || rd_kafka_ConfigResource_error(found[0])) return 0;
  const rd_kafka_ConfigEntry_t **entry = rd_kafka_ConfigResource_configs(found[0], &entries);
  size_t message = number(entry, entries, "max.message.bytes"), segment = number(entry, entries, "segment.bytes");
  return segment != 0 && segment < message ? segment : message;
}
