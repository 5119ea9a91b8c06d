/* The control topic on Kafka: a compacted topic, read from the beginning. */
#ifndef LIFELINE_KAFKA_COMPACTED_H
#define LIFELINE_KAFKA_COMPACTED_H

#include <librdkafka/rdkafka.h>

#include "control_topic.h"
#include "security.h"

#define KAFKA_DEFAULT_CONTROL "lifeline.activations"

typedef struct kafka_watch {
  sink_control *control;
  const sink_url *url;
  const sink_security *security;
  void (*refused)(void *ctx, const char *why); /* called when reading ends with an error; NULL: it is reported */
  void *refused_ctx;
} kafka_watch;

/* Reads until the control is closed. The consumer has no group: every emitter reads everything, and needs only the
 * permission to read the topic. For sink_control_start. */
void kafka_watch_read(void *watch);

#endif
