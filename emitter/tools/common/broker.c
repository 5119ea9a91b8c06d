#include "broker.h"

#include <stdio.h>
#include <string.h>

#include "conf.h"
#include "options.h"

bool tool_broker_read(tool_broker *broker, const char *url, char *error, size_t error_bytes) {
  sink_security_outlive_exit(); /* the client libraries' threads may run during exit */
  *broker = (tool_broker){.nats = strncmp(url, "nats://", 7) == 0};
  if (!broker->nats && strncmp(url, "kafka://", 8) != 0) {
    snprintf(error, error_bytes, "the URL must be nats:// or kafka://");
    return false;
  }
  if (!sink_url_parse(&broker->url, url, broker->nats ? NATS_DEFAULT_PORT : KAFKA_DEFAULT_PORT, error, error_bytes))
    return false;
  if (sink_security_load(&broker->security, &broker->url, error, error_bytes)) return true;
  sink_url_free(&broker->url);
  return false;
}

void tool_broker_free(tool_broker *broker) {
  sink_security_free(&broker->security);
  sink_url_free(&broker->url);
}

/* By default nats.c prints refusals to standard error. */
static void on_nats_error(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *nats) {
  (void)connection;
  (void)subscription;
  if (status == NATS_NOT_PERMITTED) __atomic_store_n(&((tool_nats *)nats)->forbidden, true, __ATOMIC_RELEASE);
}

static natsStatus wait_at_most(tool_nats *nats, int64_t wait_ms) {
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = wait_ms;
  jsCtx_Destroy(nats->js);
  nats->js = NULL;
  return natsConnection_JetStream(&nats->js, nats->connection, &options);
}

bool tool_nats_open(tool_nats *nats, const tool_broker *broker, const char *name, char *error, size_t error_bytes) {
  *nats = (tool_nats){0};
  natsOptions *options = nats_options_new(&broker->url, &broker->security, name, error, error_bytes);
  if (!options) return false;
  natsOptions_SetAllowReconnect(options, false);
  natsOptions_SetErrorHandler(options, on_nats_error, nats);
  natsStatus status = natsConnection_Connect(&nats->connection, options);
  if (status != NATS_OK)
    nats_explain(status, &broker->url, &broker->security, error, error_bytes);
  else if ((status = wait_at_most(nats, TOOL_TIMEOUT_MS)) != NATS_OK)
    snprintf(error, error_bytes, "nats: %s", natsStatus_GetText(status));
  natsOptions_Destroy(options);
  if (status == NATS_OK) return true;
  tool_nats_close(nats);
  return false;
}

void tool_nats_close(tool_nats *nats) {
  jsCtx_Destroy(nats->js);
  natsConnection_Destroy(nats->connection);
  *nats = (tool_nats){0};
}

const char *tool_nats_error(natsStatus status) {
  const char *text = nats_GetLastError(NULL);
  return text && *text ? text : natsStatus_GetText(status);
}

bool tool_nats_forbade(tool_nats *nats) {
  natsConnection_FlushTimeout(nats->connection, TOOL_TIMEOUT_MS); /* a refusal arrives before the PONG of this flush */
  for (int i = 0; i < 20 && !__atomic_load_n(&nats->forbidden, __ATOMIC_ACQUIRE); i++)
    nats_Sleep(5); /* another thread reports it */
  return __atomic_load_n(&nats->forbidden, __ATOMIC_ACQUIRE);
}

natsStatus tool_nats_ask(tool_nats *nats, tool_nats_question question, void *of) {
  enum { FIRST_MS = 500, LAST_MS = 16000 };
  natsStatus status = NATS_TIMEOUT;
  __atomic_store_n(&nats->forbidden, false, __ATOMIC_RELEASE);
  for (int64_t wait_ms = FIRST_MS; status == NATS_TIMEOUT && wait_ms <= LAST_MS; wait_ms *= 2) {
    status = wait_at_most(nats, wait_ms);
    if (status == NATS_OK) status = question(nats, wait_ms, of);
    if (status == NATS_TIMEOUT && tool_nats_forbade(nats)) status = NATS_NOT_PERMITTED;
  }
  natsStatus again = wait_at_most(nats, TOOL_TIMEOUT_MS);
  return status == NATS_OK ? again : status;
}

static natsStatus find_bucket(tool_nats *nats, int64_t wait_ms, void *name) {
  (void)wait_ms; /* in nats->js, as for all of JetStream */
  kvStore *bucket = NULL;
  natsStatus status = js_KeyValue(&bucket, nats->js, name);
  kvStore_Destroy(bucket);
  return status;
}

natsStatus tool_nats_ask_for_bucket(tool_nats *nats, const char *name) {
  return tool_nats_ask(nats, find_bucket, (void *)name);
}

/* Keeps the clearest connection error, since a metadata request reports only a timeout. */
static void on_kafka_error(rd_kafka_t *client, int code, const char *reason, void *of) {
  (void)client;
  tool_kafka *kafka = of;
  bool symptom;
  const char *why = kafka_explain(code, reason, &symptom);
  if (!why || kafka->clear || (symptom && kafka->clearest)) return;
  kafka->clearest = why;
  kafka->clear = !symptom;
}

bool tool_kafka_open(tool_kafka *kafka, const tool_broker *broker, const char *name, tool_delivered delivered,
                     char *error, size_t error_bytes) {
  static const kafka_setting defaults[] = {
      {"allow.auto.create.topics", "false"},
      {"message.max.bytes", "16000000"}, /* leave the limit to the broker */
      {NULL, NULL},
  };
  *kafka = (tool_kafka){0};
  rd_kafka_conf_t *conf = kafka_conf_new(&broker->url, &broker->security, name, defaults, error, error_bytes);
  if (!conf) return false;
  rd_kafka_conf_set_error_cb(conf, on_kafka_error);
  if (delivered) rd_kafka_conf_set_dr_msg_cb(conf, delivered);
  rd_kafka_conf_set_opaque(conf, kafka);
  char why[256];
  kafka->client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
  if (kafka->client) return true;
  snprintf(error, error_bytes, "kafka: %s", why);
  rd_kafka_conf_destroy(conf);
  return false;
}

bool tool_kafka_ready(tool_kafka *kafka, const tool_broker *broker, const rd_kafka_metadata_t **metadata, char *error,
                      size_t error_bytes) {
  const rd_kafka_metadata_t *found = NULL;
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;
  for (int waited_ms = 0; code && waited_ms < TOOL_TIMEOUT_MS && !kafka->clear; waited_ms += 1000) {
    code = rd_kafka_metadata(kafka->client, 1, NULL, &found, 1000);
    rd_kafka_poll(kafka->client, 0);
    if (code && code != RD_KAFKA_RESP_ERR__TIMED_OUT && code != RD_KAFKA_RESP_ERR__TRANSPORT) break;
  }
  if (!code && metadata)
    *metadata = found;
  else if (!code)
    rd_kafka_metadata_destroy(found);
  if (!code) return true;
  bool symptom;
  const char *why = kafka->clearest ? kafka->clearest : kafka_explain(code, "", &symptom);
  snprintf(error, error_bytes, "kafka: %s %s", broker->url.hosts, why ? why : rd_kafka_err2str(code));
  return false;
}

void tool_kafka_close(tool_kafka *kafka) {
  rd_kafka_destroy(kafka->client);
}
