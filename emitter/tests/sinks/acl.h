/* What Kafka allows the emitter's user, changed while it runs: as sinks/permissions/kafka-acls.sh does by Kafka's own
 * tool, which the broker's jars lack. */
#ifndef LIFELINE_TEST_ACL_H
#define LIFELINE_TEST_ACL_H

#include <stdbool.h>

#include "broker.h"

typedef enum acl_right { ACL_READ, ACL_WRITE } acl_right;

/* Allows it, or takes it back. */
void acl_allow(const broker *b, const char *topic, acl_right right, bool allowed);

/* Sets one of the topic's settings. */
void acl_alter_topic(const broker *b, const char *topic, const char *key, const char *value);

#endif
