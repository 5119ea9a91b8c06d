#include "link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/bytes.h"
#include "flight.h"
#include "inbox.h"
#include "threads.h"

enum {
  LOOK_MS = 1000, /* whether the program has closed the socket, of which a waiting thread is not told */
  RETRY_FIRST_MS = 500,
  RETRY_MOST_MS = 5000,
  CONNECT_FIRST_MS = 3000, /* per server, doubled while none answers: a busy one may take longer */
  CONNECT_MOST_MS = 24000,
  SEND_MS = 2000,
  PING_AFTER_MS = 20000, /* after this much silence */
  LOST_AFTER_MS = 60000,
  CLOSE_MS = 500, /* time for the server to receive what was published */
  LAST_PING_MS = 100,
  ANSWERS = 1, /* number of the inbox's subscription */
  MOST_SERVERS = 64,
};

struct nats_link {
  const sink_url *url;
  const sink_security *security;
  char *name;
  char inbox[NATS_INBOX_PREFIX_BYTES + 34];
  sink_report *report;
  link_callbacks callbacks;
  wire wire;
  bool up;     /* the connection takes messages */
  bool was_up; /* the link was up at least once */

  pthread_mutex_t mutex; /* guards the members below */
  pthread_cond_t changed;
  bool closing;
  int64_t close_ms; /* set before closing: until then the thread waits for the server */
  bool ended;       /* the thread has ended */
  bool left;        /* link_close timed out: the thread calls end */
};

static int64_t earlier(int64_t one_ms, int64_t other_ms) {
  return one_ms < other_ms ? one_ms : other_ms;
}

static bool is(nats_link *link, const bool *what) {
  pthread_mutex_lock(&link->mutex);
  bool value = *what;
  pthread_mutex_unlock(&link->mutex);
  return value;
}

static void set_up(nats_link *link, bool to) {
  __atomic_store_n(&link->up, to, __ATOMIC_RELEASE);
}

static void on_error(nats_link *link, const char *text) {
  if (!strcasestr(text, "permissions violation")) { /* after most other errors the server disconnects */
    sink_report_state(link->report, LL_SINK_WARN, "nats: %s says%s", link->wire.server, text);
    return;
  }
  if (strstr(text, "\"$JS.API.CONSUMER.CREATE.")) link->callbacks.event(link->callbacks.ctx, LINK_NO_CONSUMER);
  if (strstr(text, "\"$JS.")) return; /* other requests to JetStream can do without an answer */
  bool publish = strcasestr(text, "publish to") != NULL;
  char inbox[NATS_INBOX_PREFIX_BYTES];
  nats_inbox_prefix(link->security, inbox);
  sink_report_state(link->report, LL_SINK_ERROR, "nats: user %s may not %s %s%s", nats_user(link->security),
                    publish ? "publish to" : "subscribe to its inbox, so no batch is acknowledged:",
                    publish ? link->url->name : inbox, publish ? "" : ".>");
  if (publish) link->callbacks.event(link->callbacks.ctx, LINK_FORBIDDEN);
}

static void on_message(nats_link *link, const wire_frame *message) {
  size_t inbox = strlen(link->inbox);
  if (message->subscription != ANSWERS)
    link->callbacks.message(link->callbacks.ctx, message);
  else if (strncmp(message->subject, link->inbox, inbox) == 0 && message->subject[inbox] == '.')
    link->callbacks.answer(link->callbacks.ctx, message->subject + inbox + 1, message);
}

/* Handles all frames read. False if the peer does not speak NATS or the connection is lost. */
static bool handle_frames(nats_link *link, bool *ponged) {
  for (;;) {
    wire_frame frame = wire_next(&link->wire);
    switch (frame.kind) {
    case WIRE_NOTHING: return true;
    case WIRE_MESSAGE: on_message(link, &frame); break;
    case WIRE_PING:
      if (!wire_say(&link->wire, "PONG\r\n")) return false;
      break;
    case WIRE_PONG: *ponged = true; break;
    case WIRE_ERROR: on_error(link, frame.text); break;
    case WIRE_INFO: break;
    case WIRE_JUNK: return false;
    }
  }
}

static int64_t ping_due_ms(const nats_link *link, int64_t pinged_ms) {
  int64_t heard_ms = link->wire.heard_ms;
  return (heard_ms > pinged_ms ? heard_ms : pinged_ms) + PING_AFTER_MS;
}

/* Pings a silent server. False if it does not answer. */
static bool still_there(nats_link *link, int64_t now_ms, int64_t *pinged_ms) {
  if (now_ms < ping_due_ms(link, *pinged_ms)) return true;
  *pinged_ms = now_ms;
  return now_ms - link->wire.heard_ms < LOST_AFTER_MS && wire_say(&link->wire, "PING\r\n");
}

/* Serves one connection until it is lost or the link is closed. It sleeps until something is received or due, so that
 * the connection of an idle program costs next to nothing. */
static void live(nats_link *link) {
  int64_t pinged_ms = 0, close_ms = INT64_MAX;
  for (bool ponged = false;;) {
    /* What was read is handled before the tick, which gives up batches without an acknowledgement: it may have waited
     * in the socket while another thread wrote to a slow link. */
    if (!handle_frames(link, &ponged)) return;
    int64_t now_ms = flight_now_ms();
    if (!is(link, &link->closing))
      ponged = false; /* only the PONG for link_close's PING counts */
    else
      close_ms = link->close_ms;
    if (ponged || now_ms >= close_ms || !still_there(link, now_ms, &pinged_ms)) return;
    int64_t due_ms = earlier(link->callbacks.tick(link->callbacks.ctx), ping_due_ms(link, pinged_ms));
    int64_t sleep_ms = earlier(earlier(due_ms, close_ms) - now_ms, LOOK_MS);
    if (!wire_read(&link->wire, sleep_ms > 0 ? (int)sleep_ms : 0)) return;
  }
}

/* Tries the URL's servers in order, starting at a random one. On failure why holds the clearest reason. */
static bool connect_to_any(nats_link *link, int patience_ms, char *why, size_t why_bytes, bool *is_cause) {
  const char *hosts[MOST_SERVERS];
  char *copy = strdup(link->url->hosts), *rest = copy, detail[200];
  unsigned count = 0, first = 0;
  for (char *host; copy && count < MOST_SERVERS && (host = strsep(&rest, ","));)
    hosts[count++] = host;
  if (count > 1 && getrandom(&first, sizeof first, GRND_NONBLOCK) != sizeof first) first = 0;
  bool connected = false;
  *is_cause = false;
  snprintf(why, why_bytes, "nats: out of memory");
  for (unsigned i = 0; i < count && !connected && !is(link, &link->closing); i++) {
    nats_problem problem;
    char text[256];
    connected = wire_connect(&link->wire, hosts[(first % count + i) % count], link->security, link->name, patience_ms,
                             &problem, detail, sizeof detail);
    if (connected || *is_cause) continue;
    *is_cause = nats_explain_problem(problem, detail, link->url, link->security, text, sizeof text);
    snprintf(why, why_bytes, "%s", text);
  }
  free(copy);
  return connected;
}

static bool subscribe_to_answers(nats_link *link) {
  char subject[NATS_INBOX_PREFIX_BYTES + 40];
  snprintf(subject, sizeof subject, "%s.*", link->inbox);
  return link_subscribe(link, subject, ANSWERS);
}

static void announce_up(nats_link *link) {
  wire_open_to_all(&link->wire);
  set_up(link, true);
  __atomic_store_n(&link->was_up, true, __ATOMIC_RELEASE);
  sink_report_state(link->report, LL_SINK_INFO, "nats: connected to nats://%s", link->wire.server);
  link->callbacks.event(link->callbacks.ctx, LINK_UP);
}

static void announce_down(nats_link *link) {
  set_up(link, false);
  wire_close(&link->wire);
  sink_report_withdraw(link->report); /* a stopping server stops its streams first */
  if (!is(link, &link->closing))
    sink_report_state(link->report, LL_SINK_WARN, "nats: the connection to %s was lost; trying again",
                      link->url->hosts);
  link->callbacks.event(link->callbacks.ctx, LINK_DOWN);
}

static void pause_for(nats_link *link, int ms) {
  int64_t end_ms = flight_now_ms() + ms;
  struct timespec end = {.tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000};
  pthread_mutex_lock(&link->mutex);
  while (!link->closing)
    if (pthread_cond_timedwait(&link->changed, &link->mutex, &end) != 0) break;
  pthread_mutex_unlock(&link->mutex);
}

static void *keep(void *ctx) {
  nats_link *link = ctx;
  sink_thread_begins();
  int pause_ms = RETRY_FIRST_MS, patience_ms = CONNECT_FIRST_MS;
  bool loss_told = false; /* after a reported loss "unreachable" is not reported, but any clearer cause is */
  while (!is(link, &link->closing)) {
    char why[256];
    bool is_cause;
    if (connect_to_any(link, patience_ms, why, sizeof why, &is_cause)) {
      if (subscribe_to_answers(link)) {
        announce_up(link);
        live(link);
      }
      announce_down(link);
      loss_told = true;
      pause_ms = RETRY_FIRST_MS;
      patience_ms = CONNECT_FIRST_MS;
    } else if (!is(link, &link->closing)) {
      if (is_cause)
        sink_report_cause(link->report, "%s; trying again", why);
      else if (!loss_told)
        sink_report_symptom(link->report, "%s; trying again", why);
    }
    pause_for(link, pause_ms);
    pause_ms = pause_ms * 2 < RETRY_MOST_MS ? pause_ms * 2 : RETRY_MOST_MS;
    patience_ms = patience_ms * 2 < CONNECT_MOST_MS ? patience_ms * 2 : CONNECT_MOST_MS;
  }
  OPENSSL_thread_stop();
  pthread_mutex_lock(&link->mutex);
  link->ended = true;
  bool left = link->left;
  pthread_cond_broadcast(&link->changed);
  pthread_mutex_unlock(&link->mutex);
  if (left) link->callbacks.end(link->callbacks.ctx);
  sink_thread_ends();
  return NULL;
}

/* Reads the kernel's generator, since fork copies the state of any other: two siblings with the same inbox would
 * receive each other's acknowledgements. */
static bool choose_inbox(nats_link *link) {
  uint8_t random[16];
  if (getrandom(random, sizeof random, 0) != sizeof random) return false;
  char prefix[NATS_INBOX_PREFIX_BYTES];
  nats_inbox_prefix(link->security, prefix);
  ll_hex(random, sizeof random, link->inbox + sprintf(link->inbox, "%s.", prefix));
  return true;
}

nats_link *link_open(const sink_url *url, const sink_security *security, const char *name, sink_report *report,
                     const link_callbacks *callbacks, char *error, size_t error_bytes) {
  nats_link *link = calloc(1, sizeof *link);
  if (!link) {
    snprintf(error, error_bytes, "nats: out of memory");
    return NULL;
  }
  link->url = url;
  link->security = security;
  link->report = report;
  link->callbacks = *callbacks;
  link->name = strdup(name);
  pthread_mutex_init(&link->mutex, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&link->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  snprintf(error, error_bytes, "nats: out of memory, threads or random numbers");
  pthread_t thread;
  sink_security_outlive_exit();
  bool good = wire_init(&link->wire, security, error, error_bytes) && link->name && choose_inbox(link);
  if (!good || !sink_thread_start(&thread, "lifeline-nats", keep, link)) {
    link_free(link);
    return NULL;
  }
  pthread_detach(thread); /* link_close waits with a timeout */
  return link;
}

const char *link_inbox(const nats_link *link) {
  return link->inbox;
}

int64_t link_max_payload(nats_link *link) {
  return link_is_up(link) ? __atomic_load_n(&link->wire.max_payload, __ATOMIC_ACQUIRE) : 0;
}

bool link_is_up(nats_link *link) {
  return __atomic_load_n(&link->up, __ATOMIC_ACQUIRE);
}

bool link_was_up(nats_link *link) {
  return __atomic_load_n(&link->was_up, __ATOMIC_ACQUIRE);
}

bool link_publish(nats_link *link, const link_message *message) {
  char line[640];
  const char *reply = message->reply ? message->reply : "", *blank = message->reply ? " " : "";
  size_t headers = message->headers ? strlen(message->headers) : 0;
  int length = message->headers
                   ? snprintf(line, sizeof line, "HPUB %s %s%s%zu %zu\r\n", message->subject, reply, blank, headers,
                              headers + message->bytes)
                   : snprintf(line, sizeof line, "PUB %s %s%s%zu\r\n", message->subject, reply, blank, message->bytes);
  if (length < 0 || (size_t)length >= sizeof line) return false;
  struct iovec parts[] = {{line, (size_t)length},
                          {(void *)message->headers, headers},
                          {(void *)message->data, message->bytes},
                          {"\r\n", 2}};
  return wire_send(&link->wire, parts, 4, SEND_MS);
}

bool link_subscribe(nats_link *link, const char *subject, unsigned number) {
  char line[320];
  snprintf(line, sizeof line, "SUB %s %u\r\n", subject, number);
  return wire_say(&link->wire, line);
}

void link_unsubscribe(nats_link *link, unsigned number) {
  char line[32];
  snprintf(line, sizeof line, "UNSUB %u\r\n", number);
  wire_say(&link->wire, line);
}

bool link_nobody_answers(const wire_frame *answer) {
  return answer->bytes == 0 && strncmp(answer->headers, "NATS/1.0 503", 12) == 0;
}

static void ping(nats_link *link, int timeout_ms) {
  static const char text[] = "PING\r\n";
  wire_send(&link->wire, &(struct iovec){(void *)text, sizeof text - 1}, 1, timeout_ms);
}

void link_wake(nats_link *link) {
  ping(link, SEND_MS);
}

void link_close(nats_link *link, int timeout_ms) {
  int64_t now_ms = flight_now_ms(), end_ms = now_ms + timeout_ms;
  struct timespec latest = {.tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000};
  pthread_mutex_lock(&link->mutex);
  link->close_ms = now_ms + CLOSE_MS; /* the thread may notice up to LOOK_MS later */
  link->closing = true;
  pthread_cond_broadcast(&link->changed);
  pthread_mutex_unlock(&link->mutex);
  /* The PONG follows the server's receipt of all that was published, and wakes the thread. */
  ping(link, LAST_PING_MS);
  pthread_mutex_lock(&link->mutex);
  while (!link->ended)
    if (pthread_cond_timedwait(&link->changed, &link->mutex, &latest) != 0) break;
  bool ended = link->ended;
  link->left = !ended;
  pthread_mutex_unlock(&link->mutex);
  if (ended) link->callbacks.end(link->callbacks.ctx);
}

void link_free(nats_link *link) {
  wire_destroy(&link->wire);
  free(link->name);
  pthread_cond_destroy(&link->changed);
  pthread_mutex_destroy(&link->mutex);
  free(link);
}
