/* The sink nats://: publishes batches to JetStream asynchronously, with a bound on those in flight. The stream
 * acknowledges each batch. With ?mode=core it publishes to core NATS, which acknowledges nothing.
 *
 *   nats://[user:password@]host:port[,host:port]/[subject prefix]?mode=&stream=&max_in_flight=&control=&tls...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ack.h"
#include "base/bytes.h"
#include "bound.h"
#include "bucket.h"
#include "flight.h"
#include "link.h"
#include "naming.h"
#include "threads.h"

enum {
  MAX_IN_FLIGHT_DEFAULT = 64,
  MAX_IN_FLIGHT_MOST = 65536,
  ACK_TIMEOUT_MS = 10000,
  FORBIDDEN_TIMEOUT_MS = 1000, /* a server does not answer forbidden messages */
  ASK_AGAIN_MS = 1000,
  DUPLICATES_AGAIN_MS = 60000,
  CLOSE_TIMEOUT_MS = 1500,
  CLOSE_UNREACHED_MS = 50, /* never connected: nothing to flush */
};

#define STREAMS_SUFFIX "streams" /* inbox suffix of the answer that names the stream */

/* Batches that JetStream called duplicates although they were sent for the first time. */
typedef struct duplicates {
  pthread_mutex_t mutex;
  uint64_t count, reported;
  uint64_t sequence, stored; /* of the last one: batch sequence, and sequence of the stored message */
  int64_t due_ms;            /* when the next line may be logged */
} duplicates;

struct ll_sink {
  const ll_sink_host *host;
  sink_url url;
  sink_security security;
  sink_report report;
  flight flight;
  nats_link *link;
  sink_control control;
  nats_watch watch;
  bool core;
  duplicates duplicates;
  bool troubled;     /* batches are not stored although the link is up */
  bool unanswered;   /* no responders for a batch; the query for the stream is pending */
  bool missing;      /* JetStream said that the stream is missing */
  int64_t asked_ms;  /* time of the last query for the stream */
  bool forbidden;    /* the server said that the user may not publish */
  uint64_t sent;     /* highest sequence sent; harvester thread only */
  size_t last_limit; /* last known server limit, used while disconnected; harvester thread only */
  sink_bound bound;  /* of the stream */
  const char *stream;
  char subject[256];
  char incarnation[INCARNATION_HEX_BYTES];
  char host_header[SINK_HEADER_BYTES];
  char program_header[SINK_HEADER_BYTES];
};

static bool get(bool *flag) {
  return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}
static void set(bool *flag, bool to) {
  __atomic_store_n(flag, to, __ATOMIC_RELEASE);
}

static size_t header_bytes(const ll_sink *sink) {
  return sizeof "NATS/1.0\r\n"
                "Nats-Msg-Id: \r\n"
                "Lifeline-Host: \r\n"
                "Lifeline-Program: \r\n"
                "Nats-Expected-Stream: \r\n"
                "Lifeline-Signature: \r\n"
                "\r\n" +
         INCARNATION_HEX_BYTES + sizeof "-65535-18446744073709551615-ffffffff" + SIGNATURE_TEXT_BYTES +
         strlen(sink->host_header) + strlen(sink->program_header) + strlen(sink->stream);
}

static void trouble(ll_sink *sink, const char *why) {
  set(&sink->troubled, true);
  sink_report_state(&sink->report, LL_SINK_ERROR, "nats: %s", why);
}

static void stream_is_missing(ll_sink *sink, const char *why) {
  set(&sink->troubled, true);
  set(&sink->missing, true);
  sink_report_cause(&sink->report,
                    "nats: stream %s with the subjects %s.* is missing (%s); create it with lifeline-setup",
                    sink->stream, sink->url.name, why);
}

/* No responders on the batches' subject: the stream is missing or has no leader, or the server is shutting down and has
 * stopped its streams. Asks JetStream which stream takes the subject. Reports a symptom after a delay if no answer
 * comes, unless the connection is lost or a batch is acknowledged first. */
static void nobody_answers(ll_sink *sink) {
  int64_t now_ms = flight_now_ms();
  if (get(&sink->missing)) return;
  set(&sink->unanswered, true);
  sink_report_symptom(
      &sink->report,
      "nats: no answer on %s: the server is shutting down, JetStream is off, or the stream %s has no leader",
      sink->subject, sink->stream);
  if (now_ms - __atomic_load_n(&sink->asked_ms, __ATOMIC_ACQUIRE) < ASK_AGAIN_MS) return;
  __atomic_store_n(&sink->asked_ms, now_ms, __ATOMIC_RELEASE);
  char reply[200], question[300];
  snprintf(reply, sizeof reply, "%s.%s", link_inbox(sink->link), STREAMS_SUFFIX);
  int bytes = snprintf(question, sizeof question, "{\"subject\":\"%s\"}", sink->subject);
  link_publish(sink->link, &(link_message){"$JS.API.STREAM.NAMES", reply, NULL, question, (size_t)bytes});
}

/* Only JetStream's answer proves that the stream is missing; an error or a timeout does not. */
static void on_streams(ll_sink *sink, const wire_frame *answer) {
  char why[300];
  snprintf(why, sizeof why, "no stream accepts %s", sink->subject);
  if (get(&sink->unanswered) && !link_nobody_answers(answer) && nats_no_streams(answer->data, answer->bytes))
    stream_is_missing(sink, why);
}

static void recovered(ll_sink *sink) {
  set(&sink->forbidden, false);
  set(&sink->missing, false);
  if (get(&sink->unanswered)) {
    set(&sink->unanswered, false);
    if (!sink_report_withdraw(&sink->report)) set(&sink->troubled, true); /* the symptom was reported */
  }
  if (get(&sink->troubled)) {
    set(&sink->troubled, false);
    sink_report_state(&sink->report, LL_SINK_INFO, "nats: stream %s accepts batches again", sink->stream);
  }
}

static void expire(ll_sink *sink) {
  if (sink->core)
    flight_land_until(&sink->flight, flight_now_ms(), LL_SINK_ACKED, "");
  else if (get(&sink->forbidden))
    flight_land_until(&sink->flight, flight_now_ms(), LL_SINK_RETRY, "the user may not publish");
  else if (flight_land_until(&sink->flight, flight_now_ms(), LL_SINK_RETRY, "no acknowledgement in time") > 0) {
    set(&sink->troubled, true);
    sink_report_state(&sink->report, LL_SINK_WARN, "nats: %s does not answer; trying again", sink->url.hosts);
  }
}

static void on_event(void *ctx, link_event event) {
  ll_sink *sink = ctx;
  switch (event) {
  case LINK_UP:
    set(&sink->forbidden, false);
    set(&sink->missing, false);
    __atomic_store_n(&sink->asked_ms, 0, __ATOMIC_RELEASE);
    nats_watch_up(&sink->watch);
    break;
  case LINK_DOWN:
    nats_watch_down(&sink->watch);
    flight_land_until(&sink->flight, INT64_MAX, LL_SINK_RETRY, "the connection was lost");
    break;
  case LINK_NO_CONSUMER: nats_watch_forbidden(&sink->watch); break;
  case LINK_FORBIDDEN:
    set(&sink->forbidden, true);
    set(&sink->troubled, true);
    flight_hurry(&sink->flight, flight_now_ms() + FORBIDDEN_TIMEOUT_MS);
    break;
  }
}

/* Batches that are not acknowledged in time expire in nats_poll, which the host calls while it waits for them. */
static int64_t on_tick(void *ctx) {
  return nats_watch_tick(&((ll_sink *)ctx)->watch);
}

/* The batch counts as acknowledged. Its id ends with its checksum, so the stored message is most likely the same batch,
 * sent by a copy of this process or of its ring file, and to count it as dropped would be wrong. The bytes cannot be
 * compared, since emitters have no permission to read batches. If they differ, the batch is not archived, as the logged
 * error says; the ledger takes `archived` from the archive, not from acknowledgements. */
static void note_duplicate(ll_sink *sink, uint64_t sequence, uint64_t stored) {
  duplicates *all = &sink->duplicates;
  pthread_mutex_lock(&all->mutex);
  all->count++;
  all->sequence = sequence;
  all->stored = stored;
  pthread_mutex_unlock(&all->mutex);
}

/* Logs the first at once, then at most one line a minute, and the rest at close. */
static void report_duplicates(ll_sink *sink, bool ending) {
  duplicates *all = &sink->duplicates;
  int64_t now_ms = flight_now_ms();
  pthread_mutex_lock(&all->mutex);
  if (all->count > all->reported && (ending || now_ms >= all->due_ms)) {
    all->reported = all->count;
    all->due_ms = now_ms + DUPLICATES_AGAIN_MS;
    sink_report_state(&sink->report, LL_SINK_ERROR,
                      "nats: stream %s already has a message with the id of batch %llu on %s, which was sent for the "
                      "first time (it is message %llu; such batches so far: %llu): another emitter or a third party "
                      "used the message ids of this emitter. If its bytes differ, this batch is not archived. Give "
                      "each user permission for its own subjects only, see SECURITY.md",
                      sink->stream, (unsigned long long)all->sequence, sink->subject, (unsigned long long)all->stored,
                      (unsigned long long)all->count);
  }
  pthread_mutex_unlock(&all->mutex);
}

static void on_answer(void *ctx, const char *suffix, const wire_frame *answer) {
  ll_sink *sink = ctx;
  unsigned slot;
  unsigned long long ticket, first;
  uint64_t stored;
  if (strcmp(suffix, STREAMS_SUFFIX) == 0) on_streams(sink, answer);
  if (strncmp(suffix, NATS_WATCH_SUFFIX, strlen(NATS_WATCH_SUFFIX)) == 0)
    nats_watch_answer(&sink->watch, suffix, answer);
  if (sscanf(suffix, "%u-%llu-%llu", &slot, &ticket, &first) != 3) return;
  char why[340], report[768];
  if (link_nobody_answers(answer)) {
    nobody_answers(sink);
    flight_land(&sink->flight, slot, ticket, LL_SINK_RETRY, "nobody answers");
    return;
  }
  switch (nats_ack_read(answer->data, answer->bytes, &stored, why, sizeof why)) {
  case NATS_ACK_DUPLICATE:
    /* A batch that has landed was given up and sent again; the second copy may have been stored first. */
    if (first != 0 && flight_bytes(&sink->flight, slot, ticket) != 0) note_duplicate(sink, first, stored);
    flight_land(&sink->flight, slot, ticket, LL_SINK_ACKED, "");
    recovered(sink);
    break;
  case NATS_ACK_STORED:
    sink_bound_acknowledge(&sink->bound, flight_bytes(&sink->flight, slot, ticket));
    flight_land(&sink->flight, slot, ticket, LL_SINK_ACKED, "");
    recovered(sink);
    break;
  case NATS_ACK_NO_STREAM:
    stream_is_missing(sink, why);
    flight_land(&sink->flight, slot, ticket, LL_SINK_RETRY, why);
    break;
  case NATS_ACK_TOO_LARGE:
    snprintf(report, sizeof report, "stream %s rejects messages as large as a batch: %s", sink->stream, why);
    trouble(sink, report);
    sink_bound_refuse(&sink->bound, flight_bytes(&sink->flight, slot, ticket));
    flight_land(&sink->flight, slot, ticket, LL_SINK_REFUSED, why);
    break;
  case NATS_ACK_LATER:
    snprintf(report, sizeof report, "stream %s cannot store batches at the moment: %s", sink->stream, why);
    trouble(sink, report);
    flight_land(&sink->flight, slot, ticket, LL_SINK_RETRY, why);
    break;
  }
}

static bool known_parameters(const sink_url *url, char *error, size_t error_bytes) {
  static const char *const known[] = {"mode",     "stream",  "max_in_flight", "tls",     "tls_ca",
                                      "tls_cert", "tls_key", "creds",         "control", "signing_key"};
  for (size_t i = 0; i < url->parameter_count; i++) {
    bool found = false;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
      found |= strcmp(known[k], url->parameters[i].key) == 0;
    if (!found) {
      snprintf(error, error_bytes, "nats: the URL's parameter \"%s\" is unknown", url->parameters[i].key);
      return false;
    }
  }
  return true;
}

/* True for subject tokens without wildcards. */
static bool legal_prefix(const char *prefix) {
  size_t length = strlen(prefix);
  return length > 0 && length < 200 &&
         strspn(prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == length &&
         prefix[0] != '.' && prefix[length - 1] != '.' && !strstr(prefix, "..");
}

static bool configure(ll_sink *sink, unsigned *in_flight, char *error, size_t error_bytes) {
  sink_url *url = &sink->url;
  const char *mode = sink_url_parameter(url, "mode"), *stream = sink_url_parameter(url, "stream");
  if (!*url->name) url->name = NATS_DEFAULT_PREFIX;
  sink->stream = stream ? stream : NATS_DEFAULT_STREAM;
  sink->core = mode && strcmp(mode, "core") == 0;
  if (!known_parameters(url, error, error_bytes) ||
      !sink_url_number(url, "max_in_flight", MAX_IN_FLIGHT_DEFAULT, MAX_IN_FLIGHT_MOST, in_flight, error, error_bytes))
    return false;
  if (mode && !sink->core && strcmp(mode, "jetstream") != 0)
    snprintf(error, error_bytes, "nats: the URL parameter mode must be jetstream or core");
  else if (!legal_prefix(url->name))
    snprintf(error, error_bytes,
             "nats: the subject prefix in the URL may contain only A-Z a-z 0-9 _ - and single dots");
  else if (!*sink->stream || strlen(sink->stream) > 200 || strpbrk(sink->stream, " .*>\r\n"))
    snprintf(error, error_bytes, "nats: the URL parameter stream is not a valid stream name");
  else {
    snprintf(sink->subject, sizeof sink->subject, "%s.%u", url->name, sink_partition(sink->host->incarnation));
    return true;
  }
  return false;
}

static void free_sink(ll_sink *sink) {
  flight_destroy(&sink->flight);
  pthread_mutex_destroy(&sink->duplicates.mutex);
  sink_security_free(&sink->security);
  sink_url_free(&sink->url);
  free(sink);
}

static void on_control(void *ctx, const wire_frame *message) {
  nats_watch_message(&((ll_sink *)ctx)->watch, message);
}

static void on_end(void *ctx) {
  ll_sink *sink = ctx;
  link_free(sink->link);
  free_sink(sink);
}

static bool connect_to(ll_sink *sink, char *error, size_t error_bytes) {
  char name[SINK_HEADER_BYTES + 16];
  snprintf(name, sizeof name, "lifeline %s", sink->program_header);
  link_callbacks callbacks = {
      .ctx = sink, .event = on_event, .tick = on_tick, .answer = on_answer, .message = on_control, .end = on_end};
  sink->watch.control = &sink->control;
  sink->link = link_open(&sink->url, &sink->security, name, &sink->report, &callbacks, error, error_bytes);
  sink->watch.link = sink->link;
  return sink->link != NULL;
}

static bool load_security(ll_sink *sink, char *error, size_t error_bytes) {
  if (!sink_security_load(&sink->security, &sink->url, error, error_bytes)) return false;
  if (sink_security_is_exposed(&sink->security, &sink->url))
    sink_report_state(&sink->report, LL_SINK_WARN,
                      "nats: the password goes to %s in clear text: add tls=true to the URL", sink->url.hosts);
  return true;
}

static ll_sink *nats_open(const ll_sink_host *host, char *error, size_t error_bytes) {
  ll_sink *sink = calloc(1, sizeof *sink);
  if (!sink) {
    snprintf(error, error_bytes, "nats: out of memory");
    return NULL;
  }
  sink_threads_renew();
  sink->host = host;
  sink_report_init(&sink->report, host);
  pthread_mutex_init(&sink->duplicates.mutex, NULL);
  sink_header_text(host->host_name, sink->host_header);
  sink_header_text(host->program, sink->program_header);
  ll_hex(host->incarnation, sizeof host->incarnation, sink->incarnation);
  unsigned in_flight;
  if (sink_url_parse(&sink->url, host->url, NATS_DEFAULT_PORT, error, error_bytes) &&
      load_security(sink, error, error_bytes) && configure(sink, &in_flight, error, error_bytes) &&
      sink_control_init(&sink->control, host, &sink->url, NATS_DEFAULT_CONTROL, error, error_bytes) &&
      flight_init(&sink->flight, host, in_flight, error, error_bytes) && connect_to(sink, error, error_bytes))
    return sink;
  free_sink(sink);
  return NULL;
}

static bool publish(ll_sink *sink, const char *reply, const uint8_t *batch, size_t bytes, uint16_t route,
                    uint64_t sequence) {
  const sink_signature *signing = &sink->security.signature;
  char headers[512 + 2 * SINK_HEADER_BYTES], signature[SIGNATURE_TEXT_BYTES] = "";
  if (signing->on) sink_signature_of(signing, batch, bytes, signature);
  const uint8_t *crc = batch + bytes - 4; /* makes the id unpredictable */
  snprintf(headers, sizeof headers,
           "NATS/1.0\r\nNats-Msg-Id: %s-%u-%llu-%02x%02x%02x%02x\r\nLifeline-Host: %s\r\nLifeline-Program: "
           "%s\r\n%s%s%s%s%s%s\r\n",
           sink->incarnation, route, (unsigned long long)sequence, crc[0], crc[1], crc[2], crc[3], sink->host_header,
           sink->program_header, sink->core ? "" : "Nats-Expected-Stream: ", sink->core ? "" : sink->stream,
           sink->core ? "" : "\r\n", signing->on ? "Lifeline-Signature: " : "", signature, signing->on ? "\r\n" : "");
  return link_publish(sink->link, &(link_message){sink->subject, reply, headers, batch, bytes});
}

/* Largest batch that the server takes; 0 if disconnected, or if its limit is too small for the headers. */
static size_t server_limit(ll_sink *sink) {
  int64_t payload = link_max_payload(sink->link);
  size_t headers = header_bytes(sink);
  if (payload > (int64_t)headers) return sink->last_limit = (size_t)payload - headers;
  if (link_is_up(sink->link))
    sink_report_state(&sink->report, LL_SINK_ERROR,
                      "nats: the server accepts messages of at most %lld bytes, which is too small",
                      (long long)payload);
  return 0;
}

static size_t nats_max_batch_bytes(ll_sink *sink) {
  server_limit(sink);
  size_t server = sink->last_limit, stream = sink_bound_most(&sink->bound);
  return sink->core || server < stream ? server : stream; /* core NATS has no stream */
}

static ll_sink_status nats_send(ll_sink *sink, uint64_t token, const uint8_t *batch, size_t bytes, uint16_t route,
                                uint64_t sequence) {
  size_t most = server_limit(sink); /* not the stream's limit, which may have been raised since */
  if (most == 0 || !link_is_up(sink->link)) return LL_SINK_BUSY;
  if (bytes > most) {
    sink_report_state(&sink->report, LL_SINK_ERROR,
                      "nats: the server accepts at most %zu bytes; a larger batch is dropped", most);
    return LL_SINK_FAILED;
  }
  if (get(&sink->forbidden) && !flight_idle(&sink->flight)) return LL_SINK_BUSY; /* probe with one batch at a time */
  unsigned slot;
  uint64_t ticket;
  int64_t patience_ms = get(&sink->forbidden) ? FORBIDDEN_TIMEOUT_MS : ACK_TIMEOUT_MS + wire_send_ms(bytes);
  /* Core NATS never answers: the deadline 0 lands its batches at the next expire. */
  int64_t deadline_ms = sink->core ? 0 : flight_now_ms() + patience_ms;
  size_t raw_bytes = sink_bound_bytes(batch, bytes);
  if (!flight_take(&sink->flight, token, raw_bytes, deadline_ms, &slot, &ticket)) return LL_SINK_BUSY;
  char reply[200];
  uint64_t first = sink->host->first_hand && sequence > sink->sent ? sequence : 0; /* 0: it may be a repeated send */
  if (sequence > sink->sent) sink->sent = sequence;
  snprintf(reply, sizeof reply, "%s.%u-%llu-%llu", link_inbox(sink->link), slot, (unsigned long long)ticket,
           (unsigned long long)first);
  if (!publish(sink, sink->core ? NULL : reply, batch, bytes, route, sequence) &&
      flight_cancel(&sink->flight, slot, ticket))
    return LL_SINK_BUSY;
  return LL_SINK_OK; /* if it failed but landed meanwhile, done was called */
}

static void nats_poll(ll_sink *sink, int timeout_ms) {
  sink_report_tick(&sink->report);
  expire(sink);
  if (!flight_idle(&sink->flight) || !link_is_up(sink->link)) flight_wait(&sink->flight, timeout_ms);
  expire(sink);
  report_duplicates(sink, false);
}

static void nats_watch_control(ll_sink *sink) {
  nats_watch_start(&sink->watch);
}

static bool nats_reached(ll_sink *sink) {
  return link_was_up(sink->link);
}

static void nats_close(ll_sink *sink) {
  int64_t end_ms = flight_now_ms() + (link_was_up(sink->link) ? CLOSE_TIMEOUT_MS : CLOSE_UNREACHED_MS);
  report_duplicates(sink, true);
  sink_report_close(&sink->report);
  sink_control_close(&sink->control);
  flight_land_until(&sink->flight, INT64_MAX, LL_SINK_RETRY, "the sink was closed");
  while (!flight_idle(&sink->flight))
    flight_wait(&sink->flight, 10);
  link_close(sink->link, (int)(end_ms > flight_now_ms() ? end_ms - flight_now_ms() : 0));
}

__attribute__((visibility("default"))) const ll_sink_plugin LL_SINK_ENTRY = {
    .abi = LL_SINK_ABI,
    .scheme = "nats",
    .open = nats_open,
    .send = nats_send,
    .poll = nats_poll,
    .max_batch_bytes = nats_max_batch_bytes,
    .close = nats_close,
    .watch = nats_watch_control,
    .reached = nats_reached,
    .threads = sink_threads,
};
