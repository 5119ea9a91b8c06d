#include "acl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TIMEOUT_MS = 60000 };

static void set(rd_kafka_conf_t *conf, const char *key, const char *value) {
  char error[256];
  if (rd_kafka_conf_set(conf, key, value, error, sizeof error) != RD_KAFKA_CONF_OK) fail_msg("%s", error);
}

rd_kafka_t *acl_connect(const broker *b, const char *user, const char *password_file, rd_kafka_type_t type,
                        const char *const *settings) {
  char error[256], password[64] = "";
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  for (; settings && *settings; settings += 2)
    set(conf, settings[0], settings[1]);
  set(conf, "bootstrap.servers", b->url + strlen("kafka://"));
  set(conf, "security.protocol", *user ? (*b->ca ? "sasl_ssl" : "sasl_plaintext") : "plaintext");
  if (*b->ca) set(conf, "ssl.ca.location", b->ca);
  if (*user) {
    FILE *file = fopen(password_file, "r");
    assert_non_null(file);
    assert_non_null(fgets(password, sizeof password, file));
    fclose(file);
    password[strcspn(password, "\n")] = 0;
    set(conf, "sasl.mechanisms", "PLAIN");
    set(conf, "sasl.username", user);
    set(conf, "sasl.password", password);
  }
  if (type == RD_KAFKA_PRODUCER) rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
  rd_kafka_t *client = rd_kafka_new(type, conf, error, sizeof error);
  if (!client) fail_msg("%s", error);
  return client;
}

/* As the user with all rights. */
static rd_kafka_t *connect_as_operator(const broker *b) {
  return acl_connect(b, b->user, b->password_file, RD_KAFKA_PRODUCER, NULL);
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

void acl_by_script(const broker *b) {
  char command[768], own[256];
  ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  assert_true(length > 0);
  own[length] = 0;
  snprintf(command, sizeof command, "KAFKA_ACLS='%s' '" ACL_SCRIPT "' '%s' User:%s", own, b->url + strlen("kafka://"),
           b->emitter);
  assert_int_equal(system(command), 0);
}

/* The script's operation and topic of a call; anything else that it may come to say is an error here. */
int acl_tool(int argc, char **argv) {
  static const char *const form[] = {
      "--bootstrap-server", NULL, "--add", "--allow-principal", NULL, "--operation", NULL, "--topic", NULL};
  enum { SERVER = 1, PRINCIPAL = 4, OPERATION = 6, TOPIC = 8, WORDS = 9 };
  bool good = argc == 1 + WORDS;
  for (int i = 0; good && i < WORDS; i++)
    good = !form[i] || strcmp(form[i], argv[1 + i]) == 0;
  argv++;
  bool writes = good && strcmp(argv[OPERATION], "Write") == 0;
  if (!good || (!writes && strcmp(argv[OPERATION], "Read") != 0) || strncmp(argv[PRINCIPAL], "User:", 5) != 0) return 2;
  broker b = {0};
  snprintf(b.url, sizeof b.url, "kafka://%s", argv[SERVER]);
  snprintf(b.user, sizeof b.user, "%s", getenv("LIFELINE_USER"));
  snprintf(b.password_file, sizeof b.password_file, "%s", getenv("LIFELINE_PASSWORD_FILE"));
  snprintf(b.ca, sizeof b.ca, "%s", getenv("LIFELINE_TLS_CA"));
  snprintf(b.emitter, sizeof b.emitter, "%s", argv[PRINCIPAL] + 5);
  acl_allow(&b, argv[TOPIC], writes ? ACL_WRITE : ACL_READ, true);
  return 0;
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
