/* The sink kafka://: sends batches to a topic with an idempotent producer, keyed by incarnation and acknowledged by all
 * in-sync replicas. librdkafka queues and retries; a bound on the batches in flight keeps its queue short.
 *
 *   kafka://[user:password@]host:port[,host:port]/[topic]?max_in_flight=&control=&tls...&kafka.<librdkafka's setting>=
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/low.h"
#include "bound.h"
#include "clients.h"
#include "compacted.h"
#include "conf.h"
#include "flight.h"
#include "limit.h"
#include "naming.h"
#include "report.h"
#include "threads.h"

enum {
  MAX_IN_FLIGHT_DEFAULT = 64,
  MAX_IN_FLIGHT_MOST = 65535, /* the slot number has 16 bits of a message's opaque */
  RESTART_PAUSE_MS = 1000,
  FORBIDDEN_PAUSE_MS = 3000,
  CLOSE_TIMEOUT_MS = 1500,
  CLOSE_UNREACHED_MS = 50, /* never connected: nothing to flush */
  SIGNATURE_HEADER_BYTES = sizeof "lifeline-signature" + SIGNATURE_TEXT_BYTES + 4,
  RECORD_OVERHEAD_BYTES = 256, /* record batch with one record: 61 bytes, lengths, header names, and a reserve */
};

static_assert(sizeof(void *) >= sizeof(uint64_t), "a message's opaque holds a ticket and a slot");

/* State of the connection. During an outage only a change for the worse is reported. UNREACHABLE may be a mere symptom
 * of the cause that makes the broker REFUSING. */
typedef enum health { HEALTHY, UNREACHABLE, REFUSING } health;

struct ll_sink {
  ll_sink *left; /* the previous sink that kafka_close left behind */
  const ll_sink_host *host;
  sink_url url;
  sink_security security;
  sink_report report;
  flight flight;
  sink_control control;
  kafka_watch watch;
  rd_kafka_t *producer; /* NULL between a fatal error and the restart */
  rd_kafka_topic_t *topic;
  int64_t restart_at_ms;
  uint64_t credentials;     /* version of the files that the producer has read */
  int64_t look_at_ms;       /* when to look at them again while there is trouble */
  size_t max_message_bytes; /* of the producer */
  size_t overhead_bytes;    /* of a message, beside its batch */
  sink_bound bound;         /* of the topic */
  bool limit_outdated;      /* a batch was refused for its size: ask again */
  bool alone;               /* one batch per record batch, since a record batch was refused for its size */
  uint64_t alone_since;     /* first ticket of a producer that does so; 0: none */
  bool fatal;
  bool forbidden;  /* no permission; this producer would not ask again for minutes */
  bool stalled;    /* the last send returned LL_SINK_BUSY */
  unsigned health; /* enum health, accessed atomically */
  unsigned buried; /* producers that are being destroyed */
  bool reached;    /* a broker has answered at least once */
  char incarnation[INCARNATION_HEX_BYTES], host_header[SINK_HEADER_BYTES], program_header[SINK_HEADER_BYTES];
};

typedef enum subject { THE_TOPIC, THE_BROKERS } subject;

static void worsen(ll_sink *sink, health to, subject what, const char *why) {
  unsigned before = __atomic_load_n(&sink->health, __ATOMIC_ACQUIRE);
  if (before >= (unsigned)to && before != HEALTHY) return;
  __atomic_store_n(&sink->health, to, __ATOMIC_RELEASE);
  (to == REFUSING ? sink_report_cause : sink_report_symptom)(&sink->report, "kafka: %s%s %s; trying again",
                                                             what == THE_TOPIC ? "the topic " : "",
                                                             what == THE_TOPIC ? sink->url.name : sink->url.hosts, why);
}

static void heal(ll_sink *sink) {
  if (__atomic_exchange_n(&sink->health, HEALTHY, __ATOMIC_ACQ_REL) != HEALTHY)
    sink_report_state(&sink->report, LL_SINK_INFO, "kafka: %s accepts batches again", sink->url.hosts);
}

static void missing_topic(ll_sink *sink) {
  worsen(sink, REFUSING, THE_TOPIC, "is missing; create it with lifeline-setup");
}

static void forbid(ll_sink *sink) {
  worsen(sink, REFUSING, THE_TOPIC, "cannot be written: this user has no permission");
  __atomic_store_n(&sink->forbidden, true, __ATOMIC_RELEASE);
}

static bool is_about_size(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || code == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE;
}

/* The refusal of a record batch with several batches does not mean that each is too large: a new producer sends each
 * batch in its own record batch. */
static ll_sink_outcome judge_size(ll_sink *sink, uint64_t ticket, size_t bytes) {
  uint64_t alone_since = __atomic_load_n(&sink->alone_since, __ATOMIC_ACQUIRE);
  if (alone_since && ticket >= alone_since) {
    worsen(sink, REFUSING, THE_TOPIC, "rejects messages as large as a batch: raise its max.message.bytes");
    sink_bound_refuse(&sink->bound, bytes);
    __atomic_store_n(&sink->limit_outdated, true, __ATOMIC_RELEASE);
    return LL_SINK_REFUSED;
  }
  if (!__atomic_exchange_n(&sink->alone, true, __ATOMIC_ACQ_REL))
    __atomic_store_n(&sink->fatal, true, __ATOMIC_RELEASE);
  return LL_SINK_RETRY;
}

/* Outcome of a delivery report, or of an error of producev. */
static ll_sink_outcome judge(ll_sink *sink, rd_kafka_resp_err_t code) {
  switch (code) {
  case RD_KAFKA_RESP_ERR_NO_ERROR: heal(sink); return LL_SINK_ACKED;
  case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
  case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
  case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART: missing_topic(sink); return LL_SINK_RETRY;
  case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED: forbid(sink); return LL_SINK_RETRY;
  case RD_KAFKA_RESP_ERR__FATAL:
  case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
  case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT: /* purged by stop */ return LL_SINK_RETRY;
  default: worsen(sink, UNREACHABLE, THE_BROKERS, "cannot store batches at the moment"); return LL_SINK_RETRY;
  }
}

static void on_delivery(ll_sink *sink, const rd_kafka_message_t *message) {
  uint64_t opaque = (uint64_t)(uintptr_t)message->_private, ticket = opaque >> 16;
  unsigned slot = (unsigned)(opaque & UINT16_MAX);
  size_t bytes = flight_bytes(&sink->flight, slot, ticket);
  if (!message->err) sink_bound_acknowledge(&sink->bound, bytes);
  ll_sink_outcome outcome = is_about_size(message->err) ? judge_size(sink, ticket, bytes) : judge(sink, message->err);
  flight_land(&sink->flight, slot, ticket, outcome, rd_kafka_err2str(message->err));
}

/* Without permission to write the topic the user gets no producer id either, which is a fatal error of an idempotent
 * producer. */
static void on_fatal(ll_sink *sink, rd_kafka_t *producer) {
  if (rd_kafka_fatal_error(producer, NULL, 0) == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED)
    forbid(sink);
  else
    __atomic_store_n(&sink->fatal, true, __ATOMIC_RELEASE);
}

static void on_error(ll_sink *sink, rd_kafka_t *producer, rd_kafka_resp_err_t code, const char *reason) {
  if (code == RD_KAFKA_RESP_ERR__FATAL) {
    on_fatal(sink, producer);
    return;
  }
  bool symptom;
  const char *why = kafka_explain(code, reason, &symptom);
  if (why) worsen(sink, symptom ? UNREACHABLE : REFUSING, THE_BROKERS, why);
}

static size_t without_overhead(const ll_sink *sink, size_t message_bytes) {
  return message_bytes > sink->overhead_bytes ? message_bytes - sink->overhead_bytes : 0;
}

/* Runs on librdkafka's background thread, which may outlive the sink's host. */
static void on_event(rd_kafka_t *producer, rd_kafka_event_t *event, void *ctx) {
  if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR) {
    for (const rd_kafka_message_t *m; (m = rd_kafka_event_message_next(event));)
      on_delivery(ctx, m);
  } else if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR) {
    on_error(ctx, producer, rd_kafka_event_error(event), rd_kafka_event_error_string(event));
  } else if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT) {
    ll_sink *sink = ctx;
    sink_bound_tell(&sink->bound, without_overhead(sink, kafka_limit_read(event)));
  }
  rd_kafka_event_destroy(event);
}

static void ask_for_limit(ll_sink *sink) {
  rd_kafka_queue_t *background = rd_kafka_queue_get_background(sink->producer);
  kafka_limit_ask(sink->producer, sink->url.name, background);
  rd_kafka_queue_destroy(background);
}

static size_t setting(const rd_kafka_conf_t *conf, const char *key) {
  char value[32];
  size_t size = sizeof value;
  return rd_kafka_conf_get(conf, key, value, &size) == RD_KAFKA_CONF_OK ? strtoul(value, NULL, 10) : 0;
}

/* A message that is larger than the queue would wait for room without end. */
static size_t largest_message(const rd_kafka_conf_t *conf) {
  size_t message = setting(conf, "message.max.bytes"), queue = setting(conf, "queue.buffering.max.kbytes") * 1024;
  return queue < message ? queue : message;
}

static bool start(ll_sink *sink, char *error, size_t error_bytes) {
  static const kafka_setting defaults[] = {
      {"enable.idempotence", "true"},
      {"partitioner", "murmur2_random"}, /* as in Java: all producers map a key to the same partition */
      {"compression.codec", "none"},     /* the emitter compresses batches itself */
      {"message.max.bytes", "1000000"},
      {"allow.auto.create.topics", "false"},
      {"topic.metadata.propagation.max.ms", "3000"}, /* limits the time until a missing topic is noticed */
      {"linger.ms", "1"},
      {"socket.timeout.ms", "10000"}, /* limits the time until a broker that never answers is noticed */
      {"api.version.request.timeout.ms", "5000"},
      {NULL, NULL},
  };
  char client_id[128], value[32], servers[4096];
  size_t servers_size = sizeof servers;
  snprintf(client_id, sizeof client_id, "lifeline-%.8s", sink->incarnation);
  sink->credentials = sink_security_version(&sink->security);
  rd_kafka_conf_t *conf = kafka_conf_new(&sink->url, &sink->security, client_id, defaults, error, error_bytes);
  if (!conf) return false;
  sink->max_message_bytes = largest_message(conf);
  if (__atomic_load_n(&sink->alone, __ATOMIC_ACQUIRE)) {
    rd_kafka_conf_set(conf, "batch.num.messages", "1", value, sizeof value);
    if (!sink->alone_since) __atomic_store_n(&sink->alone_since, sink->flight.tickets + 1, __ATOMIC_RELEASE);
  }
  /* Creates the topic before adding brokers: for a topic created later, librdkafka waits a second for its leaders. */
  rd_kafka_conf_get(conf, "bootstrap.servers", servers, &servers_size);
  rd_kafka_conf_set(conf, "bootstrap.servers", NULL, value, sizeof value);
  rd_kafka_conf_set_opaque(conf, sink);
  rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
  rd_kafka_conf_set_background_event_cb(conf, on_event);
  char why[256];
  sink->producer = kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
  if (!sink->producer) {
    snprintf(error, error_bytes, "kafka: %s", why);
    rd_kafka_conf_destroy(conf);
    return false;
  }
  rd_kafka_queue_t *main_queue = rd_kafka_queue_get_main(sink->producer);
  rd_kafka_queue_t *background = rd_kafka_queue_get_background(sink->producer);
  rd_kafka_queue_forward(main_queue, background);
  rd_kafka_queue_destroy(background);
  rd_kafka_queue_destroy(main_queue);
  sink->topic = rd_kafka_topic_new(sink->producer, sink->url.name, NULL);
  rd_kafka_brokers_add(sink->producer, servers);
  ask_for_limit(sink);
  return true;
}

typedef struct burial {
  ll_sink *sink;
  rd_kafka_t *producer;
} burial;

static void *bury(void *ctx) {
  burial b = *(burial *)ctx;
  sink_thread_begins();
  free(ctx);
  kafka_destroy(b.producer);
  __atomic_sub_fetch(&b.sink->buried, 1, __ATOMIC_ACQ_REL);
  sink_thread_ends();
  return NULL;
}

/* Gives up the producer's messages, and destroys it on a separate thread, since a hanging broker delays that. */
static void stop(ll_sink *sink) {
  rd_kafka_t *producer = sink->producer;
  sink->producer = NULL;
  if (!producer) return;
  if (sink->topic) rd_kafka_topic_destroy(sink->topic);
  sink->topic = NULL;
  rd_kafka_purge(producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
  flight_land_until(&sink->flight, INT64_MAX, LL_SINK_RETRY, "the producer was closed");
  burial *b = malloc(sizeof *b);
  pthread_t thread;
  __atomic_add_fetch(&sink->buried, 1, __ATOMIC_ACQ_REL);
  if (b) *b = (burial){sink, producer};
  if (b && pthread_create(&thread, NULL, bury, b) == 0)
    pthread_detach(thread);
  else
    free(b); /* the producer is never destroyed; buried keeps the sink alive, too */
}

static bool configure(ll_sink *sink, unsigned *in_flight, char *error, size_t error_bytes) {
  if (!*sink->url.name) sink->url.name = KAFKA_DEFAULT_TOPIC;
  if (!sink_url_number(&sink->url, "max_in_flight", MAX_IN_FLIGHT_DEFAULT, MAX_IN_FLIGHT_MOST, in_flight, error,
                       error_bytes))
    return false;
  if (sink->security.creds && sink_url_parameter(&sink->url, "creds")) {
    snprintf(error, error_bytes, "kafka: the URL's parameter creds is for nats://");
    return false;
  }
  return true;
}

static void free_sink(ll_sink *sink) {
  flight_destroy(&sink->flight);
  sink_security_free(&sink->security);
  sink_url_free(&sink->url);
  free(sink);
}

static bool load_security(ll_sink *sink, char *error, size_t error_bytes) {
  if (!sink_security_load(&sink->security, &sink->url, error, error_bytes)) return false;
  if (sink_security_is_exposed(&sink->security, &sink->url))
    sink_report_state(&sink->report, LL_SINK_WARN,
                      "kafka: the password goes to %s in clear text: add tls=true to the URL", sink->url.hosts);
  return true;
}

static size_t overhead(const ll_sink *sink) {
  return RECORD_OVERHEAD_BYTES + (size_t)(sink->security.signature.on ? SIGNATURE_HEADER_BYTES : 0) +
         strlen(sink->host->host_name) + strlen(sink->host->program);
}

static ll_sink *kafka_open(const ll_sink_host *host, char *error, size_t error_bytes) {
  ll_sink *sink = calloc(1, sizeof *sink);
  if (!sink) {
    snprintf(error, error_bytes, "kafka: out of memory");
    return NULL;
  }
  kafka_threads_renew();
  ll_low_fill(); /* librdkafka opens pipes whenever a broker becomes known */
  sink->host = host;
  sink_report_init(&sink->report, host);
  ll_hex(host->incarnation, sizeof host->incarnation, sink->incarnation);
  sink_header_text(host->host_name, sink->host_header);
  sink_header_text(host->program, sink->program_header);
  sink_security_outlive_exit();
  unsigned in_flight;
  if (sink_url_parse(&sink->url, host->url, KAFKA_DEFAULT_PORT, error, error_bytes) &&
      load_security(sink, error, error_bytes) && configure(sink, &in_flight, error, error_bytes) &&
      sink_control_init(&sink->control, host, &sink->url, KAFKA_DEFAULT_CONTROL, error, error_bytes) &&
      flight_init(&sink->flight, host, in_flight, error, error_bytes)) {
    sink->overhead_bytes = overhead(sink);
    if (start(sink, error, error_bytes)) return sink;
  }
  free_sink(sink);
  return NULL;
}

/* librdkafka reads password and certificates once per client. */
static bool has_outdated_credentials(ll_sink *sink) {
  if (__atomic_load_n(&sink->health, __ATOMIC_ACQUIRE) == HEALTHY || flight_now_ms() < sink->look_at_ms) return false;
  sink->look_at_ms = flight_now_ms() + RESTART_PAUSE_MS;
  return sink_security_version(&sink->security) != sink->credentials;
}

/* Replaces a producer after a fatal error: an idempotent producer cannot continue once it has lost track. Its batches
 * in flight are sent again, and readers drop the duplicates. A producer without permission to write the topic is
 * replaced, too, and one that has trouble after its credentials have been renewed. */
static bool replace_broken(ll_sink *sink) {
  if (__atomic_exchange_n(&sink->fatal, false, __ATOMIC_ACQ_REL)) {
    if (!__atomic_load_n(&sink->alone, __ATOMIC_ACQUIRE))
      sink_report_state(&sink->report, LL_SINK_WARN, "kafka: the producer lost track of its batches and is replaced");
    stop(sink);
    sink->restart_at_ms = flight_now_ms() + RESTART_PAUSE_MS;
  }
  if (__atomic_exchange_n(&sink->forbidden, false, __ATOMIC_ACQ_REL) && sink->producer) {
    stop(sink);
    sink->restart_at_ms = flight_now_ms() + FORBIDDEN_PAUSE_MS;
  }
  if (sink->producer && has_outdated_credentials(sink)) {
    stop(sink);
    __atomic_store_n(&sink->health, UNREACHABLE, __ATOMIC_RELEASE); /* the next cause may be another one */
  }
  char error[256];
  if (!sink->producer && flight_now_ms() >= sink->restart_at_ms && !start(sink, error, sizeof error)) {
    sink->restart_at_ms = flight_now_ms() + RESTART_PAUSE_MS;
    sink_report_state(&sink->report, LL_SINK_ERROR, "%s", error);
  }
  return sink->producer != NULL;
}

static size_t kafka_max_batch_bytes(ll_sink *sink) {
  size_t producer = without_overhead(sink, sink->max_message_bytes), topic = sink_bound_most(&sink->bound);
  return producer < topic ? producer : topic;
}

static rd_kafka_resp_err_t produce(ll_sink *sink, uint64_t opaque, const uint8_t *batch, size_t bytes) {
  const sink_signature *signing = &sink->security.signature;
  char signature[SIGNATURE_TEXT_BYTES];
  if (signing->on) sink_signature_of(signing, batch, bytes, signature);
  return rd_kafka_producev(
      sink->producer, RD_KAFKA_V_TOPIC(sink->url.name), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
      RD_KAFKA_V_KEY(sink->incarnation, INCARNATION_HEX_BYTES - 1), RD_KAFKA_V_VALUE((void *)batch, bytes),
      RD_KAFKA_V_HEADER("lifeline-host", sink->host_header, -1),
      RD_KAFKA_V_HEADER("lifeline-program", sink->program_header, -1), RD_KAFKA_V_OPAQUE((void *)(uintptr_t)opaque),
      signing->on ? RD_KAFKA_VTYPE_HEADER : RD_KAFKA_VTYPE_END, /* ends the list if batches are not signed */
      "lifeline-signature", (const void *)signature, (ssize_t)(sizeof signature - 1), RD_KAFKA_V_END);
}

static ll_sink_status busy(ll_sink *sink) {
  sink->stalled = true;
  return LL_SINK_BUSY;
}

static ll_sink_status kafka_send(ll_sink *sink, uint64_t token, const uint8_t *batch, size_t bytes, uint16_t route,
                                 uint64_t sequence) {
  (void)route;
  (void)sequence;
  sink->stalled = false;
  size_t most = without_overhead(sink, sink->max_message_bytes); /* the topic's limit may have been raised */
  if (bytes > most) {
    sink_report_state(&sink->report, LL_SINK_ERROR,
                      "kafka: message.max.bytes or queue.buffering.max.kbytes allows %zu; a larger batch is dropped",
                      most);
    return LL_SINK_FAILED;
  }
  unsigned slot;
  uint64_t ticket;
  if (!replace_broken(sink) ||
      !flight_take(&sink->flight, token, sink_bound_bytes(batch, bytes), INT64_MAX, &slot, &ticket))
    return busy(sink);
  rd_kafka_resp_err_t code = produce(sink, ticket << 16 | slot, batch, bytes);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR || !flight_cancel(&sink->flight, slot, ticket)) return LL_SINK_OK;
  if (code == RD_KAFKA_RESP_ERR__FATAL) on_fatal(sink, sink->producer);
  return code != RD_KAFKA_RESP_ERR__QUEUE_FULL && judge(sink, code) == LL_SINK_REFUSED ? LL_SINK_FAILED : busy(sink);
}

static void kafka_poll(ll_sink *sink, int timeout_ms) {
  ll_low_fill();
  sink_report_tick(&sink->report);
  if (replace_broken(sink) && __atomic_exchange_n(&sink->limit_outdated, false, __ATOMIC_ACQ_REL)) ask_for_limit(sink);
  if (sink->stalled || !flight_idle(&sink->flight)) flight_wait(&sink->flight, timeout_ms);
}

static void kafka_watch_control(ll_sink *sink) {
  sink->watch = (kafka_watch){.control = &sink->control, .url = &sink->url, .security = &sink->security};
  sink_control_start(&sink->control, kafka_watch_read, &sink->watch);
}

/* The cluster id is known after the first answer of a broker. */
static bool kafka_reached(ll_sink *sink) {
  char *cluster = !sink->reached && sink->producer ? rd_kafka_clusterid(sink->producer, 0) : NULL;
  sink->reached |= cluster != NULL;
  if (cluster) rd_kafka_mem_free(sink->producer, cluster);
  return sink->reached;
}

static void kafka_close(ll_sink *sink) {
  int timeout_ms = kafka_reached(sink) ? CLOSE_TIMEOUT_MS : CLOSE_UNREACHED_MS;
  sink_report_close(&sink->report);
  sink_control_close(&sink->control);
  stop(sink);
  for (int64_t end_ms = flight_now_ms() + timeout_ms; flight_now_ms() < end_ms;) {
    if (__atomic_load_n(&sink->buried, __ATOMIC_ACQUIRE) == 0 && flight_idle(&sink->flight) &&
        sink_control_join(&sink->control, 0)) {
      free_sink(sink);
      return;
    }
    usleep(1000);
  }
  /* librdkafka's threads still use the sink: keep it, reachable, so that leak checkers do not report it. */
  static ll_sink *last_left;
  sink->left = __atomic_exchange_n(&last_left, sink, __ATOMIC_RELAXED);
}

__attribute__((visibility("default"))) const ll_sink_plugin LL_SINK_ENTRY = {
    .abi = LL_SINK_ABI,
    .scheme = "kafka",
    .open = kafka_open,
    .send = kafka_send,
    .poll = kafka_poll,
    .max_batch_bytes = kafka_max_batch_bytes,
    .close = kafka_close,
    .watch = kafka_watch_control,
    .reached = kafka_reached,
    .threads = kafka_threads,
};
