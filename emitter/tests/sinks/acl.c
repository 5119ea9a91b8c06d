#include "acl.h"

#include <librdkafka/rdkafka.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { TIMEOUT_MS = 60000 };

static void set(rd_kafka_conf_t *conf, const char *key, const char *value) {
  char error[256];
  if (rd_kafka_conf_set(conf, key, value, error, sizeof error) != RD_KAFKA_CONF_OK) fail_msg("%s", error);
}

/* Connects as the user with all rights. */
static rd_kafka_t *connect_as_operator(const broker *b) {
  char error[256], password[64] = "";
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", b->url + strlen("kafka://"));
  set(conf, "security.protocol", *b->user ? (*b->ca ? "sasl_ssl" : "sasl_plaintext") : "plaintext");
  if (*b->ca) set(conf, "ssl.ca.location", b->ca);
  if (*b->user) {
    FILE *file = fopen(b->password_file, "r");
    assert_non_null(file);
    assert_non_null(fgets(password, sizeof password, file));
    fclose(file);
    password[strcspn(password, "\n")] = 0;
    set(conf, "sasl.mechanisms", "PLAIN");
    set(conf, "sasl.username", b->user);
    set(conf, "sasl.password", password);
  }
  rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
  assert_non_null(client);
  return client;
}

static void expect_success(rd_kafka_queue_t *queue) {
  rd_kafka_event_t *event = rd_kafka_queue_poll(queue, TIMEOUT_MS);
  assert_non_null(event);
  assert_int_equal(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
  rd_kafka_event_destroy(event);
}

void acl_allow(const broker *b, const char *topic, acl_right right, bool allowed) {
  char error[256], principal[80];
  rd_kafka_t *client = connect_as_operator(b);
  rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
  rd_kafka_AclOperation_t operation = right == ACL_WRITE ? RD_KAFKA_ACL_OPERATION_WRITE : RD_KAFKA_ACL_OPERATION_READ;
  snprintf(principal, sizeof principal, "User:%s", b->emitter);
  rd_kafka_AclBinding_t *acl = (allowed ? rd_kafka_AclBinding_new : rd_kafka_AclBindingFilter_new)(
      RD_KAFKA_RESOURCE_TOPIC, topic, RD_KAFKA_RESOURCE_PATTERN_LITERAL, principal, "*", operation,
      RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, error, sizeof error);
  assert_non_null(acl);
  (allowed ? rd_kafka_CreateAcls : rd_kafka_DeleteAcls)(client, &acl, 1, NULL, queue);
  expect_success(queue);
  rd_kafka_AclBinding_destroy(acl);
  rd_kafka_queue_destroy(queue);
  rd_kafka_destroy(client);
}

void acl_alter_topic(const broker *b, const char *topic, const char *key, const char *value) {
  rd_kafka_t *client = connect_as_operator(b);
  rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
  rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
  assert_int_equal(rd_kafka_ConfigResource_set_config(resource, key, value), RD_KAFKA_RESP_ERR_NO_ERROR);
  rd_kafka_AlterConfigs(client, &resource, 1, NULL, queue);
  expect_success(queue);
  rd_kafka_ConfigResource_destroy(resource);
  rd_kafka_queue_destroy(queue);
  rd_kafka_destroy(client);
}
