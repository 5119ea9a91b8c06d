/* Activations in a compacted Kafka topic; the URL's control= names it. Read with the emitter's code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker.h"
#include "compacted.h"
#include "store.h"

struct store {
  tool_broker broker;
  tool_kafka kafka;
  ll_sink_host host;
  sink_control control;
  kafka_watch watch;
  bool left; /* the reading thread did not end in time, and still uses this structure */
  pthread_mutex_t lock;
  pthread_cond_t news;
  activations *into; /* guarded by lock; NULL: its owner has gone on without the thread */
  bool complete;
  char trouble[ERROR_BYTES / 2]; /* why the topic cannot be read */
  rd_kafka_resp_err_t written;
  bool answered;
};

static void on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *ctx) {
  (void)client;
  (void)ctx;
  store *s = message->_private;
  s->written = message->err;
  s->answered = true;
}

static void on_refused(void *ctx, const char *why) {
  store *s = ctx;
  pthread_mutex_lock(&s->lock);
  snprintf(s->trouble, sizeof s->trouble, "%s", why);
  pthread_cond_broadcast(&s->news);
  pthread_mutex_unlock(&s->lock);
}

/* Of what the thread reports, the tool wants only the reason of an end. */
static void on_log(void *ctx, ll_sink_log_level level, const char *message) {
  (void)ctx, (void)level, (void)message;
}

static void on_begin(void *ctx) {
  (void)ctx;
}

static void on_control(void *ctx, const ll_control_message *message) {
  store *s = ctx;
  pthread_mutex_lock(&s->lock);
  if (s->into)
    activations_put(s->into, message->id, message->id_bytes, message->line_bytes ? message->line : NULL,
                    message->line_bytes);
  pthread_mutex_unlock(&s->lock);
}

static void on_complete(void *ctx) {
  store *s = ctx;
  pthread_mutex_lock(&s->lock);
  s->complete = true;
  pthread_cond_broadcast(&s->news);
  pthread_mutex_unlock(&s->lock);
}

static void kafka_close(store *s) {
  if (s->left) return; /* the process ends soon */
  if (s->kafka.client) tool_kafka_close(&s->kafka);
  tool_broker_free(&s->broker);
  free(s);
}

static bool has_topic(store *s, char error[ERROR_BYTES]) {
  const rd_kafka_metadata_t *metadata;
  bool found = false;
  if (!tool_kafka_ready(&s->kafka, &s->broker, &metadata, error, ERROR_BYTES)) return false;
  for (int i = 0; i < metadata->topic_cnt; i++)
    found |= strcmp(metadata->topics[i].topic, s->control.name) == 0;
  rd_kafka_metadata_destroy(metadata);
  if (!found)
    snprintf(error, ERROR_BYTES, "there is no topic %s on %s, or user %s may not see it; lifeline-setup creates it",
             s->control.name, s->broker.url.hosts, s->broker.security.user ? s->broker.security.user : "(none)");
  return found;
}

static store *kafka_open(const char *url, char error[ERROR_BYTES]) {
  store *s = calloc(1, sizeof *s);
  if (!s || !tool_broker_read(&s->broker, url, error, ERROR_BYTES)) {
    free(s);
    return NULL;
  }
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->news, NULL);
  s->host = (ll_sink_host){
      .ctx = s, .log = on_log, .control_begin = on_begin, .control = on_control, .control_complete = on_complete};
  if (sink_control_init(&s->control, &s->host, &s->broker.url, KAFKA_DEFAULT_CONTROL, error, ERROR_BYTES)) {
    if (!s->control.name) s->control.name = KAFKA_DEFAULT_CONTROL;
    if (tool_kafka_open(&s->kafka, &s->broker, "lifeline-activate", on_delivery, error, ERROR_BYTES) &&
        has_topic(s, error))
      return s;
  }
  kafka_close(s);
  return NULL;
}

static bool kafka_read(store *s, activations *all, char error[ERROR_BYTES]) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += TOOL_TIMEOUT_MS / 1000;
  s->into = all;
  s->watch = (kafka_watch){.control = &s->control,
                           .url = &s->broker.url,
                           .security = &s->broker.security,
                           .refused = on_refused,
                           .refused_ctx = s};
  if (!sink_control_start(&s->control, kafka_watch_read, &s->watch)) on_refused(s, "the system has no thread left");
  pthread_mutex_lock(&s->lock);
  while (!s->complete && !*s->trouble)
    if (pthread_cond_timedwait(&s->news, &s->lock, &end) != 0) break;
  bool complete = s->complete;
  if (!complete)
    snprintf(error, ERROR_BYTES, "%s on %s", *s->trouble ? s->trouble : "no answer from the topic of activations",
             s->broker.url.hosts);
  pthread_mutex_unlock(&s->lock);
  sink_control_close(&s->control);
  s->left = !sink_control_join(&s->control, TOOL_TIMEOUT_MS);
  pthread_mutex_lock(&s->lock);
  s->into = NULL;
  pthread_mutex_unlock(&s->lock);
  return complete;
}

/* A NULL line writes a tombstone. */
static bool write_record(store *s, const char *id, const char *line, char error[ERROR_BYTES]) {
  s->answered = false;
  s->written =
      rd_kafka_producev(s->kafka.client, RD_KAFKA_V_TOPIC(s->control.name), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                        RD_KAFKA_V_KEY(id, strlen(id)), RD_KAFKA_V_VALUE((void *)line, line ? strlen(line) : 0),
                        RD_KAFKA_V_OPAQUE(s), RD_KAFKA_V_END);
  if (!s->written)
    for (int waited_ms = 0; !s->answered && waited_ms < TOOL_TIMEOUT_MS; waited_ms += 100)
      rd_kafka_poll(s->kafka.client, 100);
  if (!s->written && s->answered) return true;
  if (s->written == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    snprintf(error, ERROR_BYTES, "user %s may not write the topic %s",
             s->broker.security.user ? s->broker.security.user : "(none)", s->control.name);
  else
    snprintf(error, ERROR_BYTES, "the topic %s on %s: %s", s->control.name, s->broker.url.hosts,
             s->written ? rd_kafka_err2str(s->written) : "no answer");
  return false;
}

static bool kafka_put(store *s, const char *id, const char *line, char error[ERROR_BYTES]) {
  return write_record(s, id, line, error);
}

static bool kafka_remove(store *s, const char *id, char error[ERROR_BYTES]) {
  return write_record(s, id, NULL, error);
}

const store_kind store_kafka = {
    .open = kafka_open, .read = kafka_read, .put = kafka_put, .remove = kafka_remove, .close = kafka_close};
