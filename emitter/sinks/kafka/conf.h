/* librdkafka's configuration from a URL and the environment, for the sink and the tools. */
#ifndef LIFELINE_KAFKA_CONF_H
#define LIFELINE_KAFKA_CONF_H

#include <librdkafka/rdkafka.h>

#include "security.h"

#define KAFKA_DEFAULT_PORT "9092"
#define KAFKA_DEFAULT_TOPIC "lifeline.batches"

typedef struct kafka_setting {
  const char *key;
  const char *value;
} kafka_setting;

/* Sets servers, credentials and TLS, then the given defaults (ended by a NULL key), then the URL's kafka.<key>=<value>,
 * which take precedence. On failure returns NULL and writes one line into error. */
rd_kafka_conf_t *kafka_conf_new(const sink_url *url, const sink_security *security, const char *client_id,
                                const kafka_setting *defaults, char *error, size_t error_bytes);

/* rd_kafka_new, with threads that are nearly free while they have nothing to do. Takes conf unless it returns NULL. */
rd_kafka_t *kafka_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, char *error, size_t error_bytes);

/* rd_kafka_destroy of a client that kafka_new has made. */
void kafka_destroy(rd_kafka_t *client);

/* Says why brokers cannot be reached and what to do; NULL if the error is about something else. reason is librdkafka's
 * text. *symptom is set if there may be a clearer cause. */
const char *kafka_explain(rd_kafka_resp_err_t code, const char *reason, bool *symptom);

#endif
