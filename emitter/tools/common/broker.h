/* A tool's short-lived connection to a broker. */
#ifndef LIFELINE_TOOL_BROKER_H
#define LIFELINE_TOOL_BROKER_H

#include <librdkafka/rdkafka.h>
#include <nats/nats.h>

#include "security.h"

enum { TOOL_TIMEOUT_MS = 10000 };

/* The broker's URL and the credentials. */
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
  bool forbidden; /* the server refused a request since this was last cleared */
} tool_nats;

/* Requests to JetStream time out after TOOL_TIMEOUT_MS. On failure writes one line into error and leaves nothing to
 * close. */
bool tool_nats_open(tool_nats *nats, const tool_broker *broker, const char *name, char *error, size_t error_bytes);
void tool_nats_close(tool_nats *nats);

/* A request of at most wait_ms, which is that of nats->js too. Its answer goes into `of`. */
typedef natsStatus (*tool_nats_question)(tool_nats *nats, int64_t wait_ms, void *of);

/* A server never answers what it forbids, and a busy one answers late: asks again, each time with twice the patience,
 * half a minute in all. NATS_NOT_PERMITTED: it was forbidden; NATS_TIMEOUT: that could not be found out. Changes
 * nats->js. */
natsStatus tool_nats_ask(tool_nats *nats, tool_nats_question question, void *of);

/* Asks so whether this user may read the bucket; NATS_NOT_FOUND: there is none. */
natsStatus tool_nats_ask_for_bucket(tool_nats *nats, const char *name);

/* The server's error text for the last call. */
const char *tool_nats_error(natsStatus status);

/* True if the server refused the last request. Does a round trip, since refusals arrive asynchronously. */
bool tool_nats_forbade(tool_nats *nats);

typedef struct tool_kafka {
  rd_kafka_t *client;
  const char *clearest; /* why the brokers cannot be reached, or NULL */
  bool clear;           /* clearest is a cause, not a mere symptom */
} tool_kafka;

typedef void (*tool_delivered)(rd_kafka_t *client, const rd_kafka_message_t *message, void *ctx);

/* tool_kafka_open creates a producer; delivered may be NULL. tool_kafka_ready returns false with one line in error if
 * no broker answers; metadata may be NULL, and the caller must destroy it. */
bool tool_kafka_open(tool_kafka *kafka, const tool_broker *broker, const char *name, tool_delivered delivered,
                     char *error, size_t error_bytes);
bool tool_kafka_ready(tool_kafka *kafka, const tool_broker *broker, const rd_kafka_metadata_t **metadata, char *error,
                      size_t error_bytes);
void tool_kafka_close(tool_kafka *kafka);

#endif
