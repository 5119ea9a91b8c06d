/* A tool's connection to a broker: asked a few things, then closed. */
#ifndef LIFELINE_TOOL_BROKER_H
#define LIFELINE_TOOL_BROKER_H

#include <librdkafka/rdkafka.h>
#include <nats/nats.h>

#include "security.h"

enum { TOOL_TIMEOUT_MS = 10000 };

/* Where the broker is and who asks. */
typedef struct tool_broker {
  sink_url url;
  sink_security security;
  bool nats; /* else Kafka */
} tool_broker;

/* On failure writes one line into error and leaves nothing to free. */
bool tool_broker_read(tool_broker *broker, const char *url, char *error, size_t error_bytes);
void tool_broker_free(tool_broker *broker);

typedef struct tool_nats {
  natsConnection *connection;
  jsCtx *js;
  bool forbidden; /* the server has refused something since this was last set to false */
} tool_nats;

/* Requests to JetStream wait for wait_ms at most: what is forbidden is not answered. On failure writes one line into
 * error and leaves nothing to close. */
bool tool_nats_open(tool_nats *nats, const tool_broker *broker, const char *name, int wait_ms, char *error,
                    size_t error_bytes);
void tool_nats_close(tool_nats *nats);

/* What went wrong with the last call, in the server's words. */
const char *tool_nats_error(natsStatus status);

/* Whether the server refused it; asks the server, since refusals come on their own. */
bool tool_nats_forbade(tool_nats *nats);

typedef struct tool_kafka {
  rd_kafka_t *client;
  const char *clearest; /* why the brokers cannot be reached, if so */
  bool clear;           /* that is more than a symptom */
} tool_kafka;

typedef void (*tool_delivered)(rd_kafka_t *client, const rd_kafka_message_t *message, void *ctx);

/* A producer; delivered may be NULL. ready: false with one line in error if no broker answers; metadata is the caller's
 * to destroy, and may be NULL. */
bool tool_kafka_open(tool_kafka *kafka, const tool_broker *broker, const char *name, tool_delivered delivered,
                     char *error, size_t error_bytes);
bool tool_kafka_ready(tool_kafka *kafka, const tool_broker *broker, const rd_kafka_metadata_t **metadata, char *error,
                      size_t error_bytes);
void tool_kafka_close(tool_kafka *kafka);

#endif
