/* Changes the Kafka ACLs of the emitter's user at run time. The test broker's jars lack Kafka's own tool. */
#ifndef LIFELINE_TEST_ACL_H
#define LIFELINE_TEST_ACL_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

#include "broker.h"

typedef enum acl_right { ACL_READ, ACL_WRITE } acl_right;

/* Grants or revokes a right. */
void acl_allow(const broker *b, const char *topic, acl_right right, bool allowed);

/* Runs sinks/permissions/kafka-acls.sh for the emitter, with this program instead of Kafka's tool. main hands all calls
 * with arguments to acl_tool, which understands those of the script only, and takes the environment's credentials. */
void acl_by_script(const broker *b);
int acl_tool(int argc, char **argv);

/* Connects as a user of the broker with these settings, which end with NULL. */
rd_kafka_t *acl_connect(const broker *b, const char *user, const char *password_file, rd_kafka_type_t type,
                        const char *const *settings);

/* Sets one of the topic's settings. */
void acl_alter_topic(const broker *b, const char *topic, const char *key, const char *value);

#endif
