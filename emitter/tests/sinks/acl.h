/* Changes the Kafka ACLs of the emitter's user at run time, like sinks/permissions/kafka-acls.sh with Kafka's own tool,
 * which the test broker's jars lack. */
#ifndef LIFELINE_TEST_ACL_H
#define LIFELINE_TEST_ACL_H

#include <stdbool.h>

#include "broker.h"

typedef enum acl_right { ACL_READ, ACL_WRITE } acl_right;

/* Grants or revokes a right. */
void acl_allow(const broker *b, const char *topic, acl_right right, bool allowed);

/* Sets one of the topic's settings. */
void acl_alter_topic(const broker *b, const char *topic, const char *key, const char *value);

#endif
