/* The time of a NATS server: JetStream answers a request for a stream's state with the time at which it did so.
 *
 * The stream is the bucket of activations, which each emitter may ask about (sinks/permissions/nats.conf). A round is a
 * few questions, one after the other; the one with the shortest round trip counts, since its error is the smallest.
 */
#include "broker_clock.h"

#include "base/clock.h"
#include "link.h"
#include "names.h"
#include "security.h"
#include "url.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUESTIONS = 5, OPENING_MS = 10, CLOSE_MS = 200 };

#define MS UINT64_C(1000000)
#define ROUND_NS (10000 * MS)
#define PATIENCE_NS (2000 * MS) /* for the answers of a round */
#define STEP_NS (1 * MS)        /* the time of day was set meanwhile */

typedef struct moment {
  uint64_t monotonic_ns;
  int64_t realtime_ns;
} moment;

typedef struct nats_clock {
  nats_link *link;
  bool opened;
  sink_url url;
  sink_security security;
  sink_report report;
  char subject[300];
  unsigned question; /* its number, which comes back with the answer */
  unsigned left;     /* questions of this round */
  moment asked;
  uint64_t next_ns;
  bool found;
  broker_time best; /* of this round */
  pthread_mutex_t mutex;
  broker_time latest;
} nats_clock;

static moment now(void) {
  uint64_t monotonic_ns = ll_now_ns(CLOCK_MONOTONIC);
  return (moment){monotonic_ns, (int64_t)ll_now_ns(CLOCK_REALTIME)};
}

static void ask(nats_clock *clock) {
  char reply[160];
  snprintf(reply, sizeof reply, "%s.%u", link_inbox(clock->link), ++clock->question);
  clock->asked = now();
  link_publish(clock->link, &(link_message){clock->subject, reply, NULL, "", 0});
}

static void end_round(nats_clock *clock) {
  pthread_mutex_lock(&clock->mutex);
  broker_time *latest = &clock->latest;
  uint64_t rounds = latest->rounds + 1, answered = latest->answered + clock->found;
  if (clock->found) *latest = clock->best;
  latest->rounds = rounds;
  latest->answered = answered;
  pthread_mutex_unlock(&clock->mutex);
  clock->left = 0;
  clock->next_ns = now().monotonic_ns + ROUND_NS;
}

/* "2026-11-26T01:58:41.831111646Z", with 0 to 9 digits of the second's fraction. */
static bool parse_time(const char *text, int64_t *ns) {
  struct tm tm = {0};
  int read = 0;
  int64_t fraction = 0, unit = 100000000;
  if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
             &tm.tm_sec, &read) != 6 ||
      read == 0)
    return false;
  text += read;
  if (*text == '.')
    for (text++; *text >= '0' && *text <= '9'; text++, unit /= 10)
      fraction += (*text - '0') * unit;
  if (*text != 'Z') return false;
  tm.tm_year -= 1900;
  tm.tm_mon--;
  *ns = (int64_t)timegm(&tm) * 1000000000 + fraction;
  return true;
}

/* The server's own time is the last member of its answer; a stream's name or metadata may contain the same text. */
static bool time_of(const wire_frame *answer, int64_t *ns) {
  static const char key[] = "\"ts\":\"";
  char text[64] = "";
  for (size_t at = answer->bytes; at-- > 0;) {
    if (answer->bytes - at < sizeof key || memcmp(answer->data + at, key, sizeof key - 1) != 0) continue;
    size_t size = answer->bytes - at - (sizeof key - 1);
    memcpy(text, answer->data + at + sizeof key - 1, size < sizeof text ? size : sizeof text - 1);
    return parse_time(text, ns);
  }
  return false;
}

static void on_answer(void *ctx, const char *suffix, const wire_frame *answer) {
  nats_clock *clock = ctx;
  moment then = clock->asked, answered = now();
  int64_t theirs;
  if (clock->left == 0 || strtoul(suffix, NULL, 10) != clock->question) return; /* of a round that was given up */
  if (link_nobody_answers(answer) || !time_of(answer, &theirs)) {
    end_round(clock); /* no such stream, or a server that is too old */
    return;
  }
  uint64_t trip = answered.monotonic_ns - then.monotonic_ns;
  int64_t step = answered.realtime_ns - then.realtime_ns - (int64_t)trip;
  if (step < (int64_t)STEP_NS && -step < (int64_t)STEP_NS && (!clock->found || trip < clock->best.round_trip_ns)) {
    clock->found = true;
    clock->best = (broker_time){
        .offset_ns = then.realtime_ns + (int64_t)(trip / 2) - theirs, .error_ns = trip / 2 + 1, .round_trip_ns = trip};
  }
  if (--clock->left > 0)
    ask(clock);
  else
    end_round(clock);
}

static void start_round(nats_clock *clock) {
  clock->left = QUESTIONS;
  clock->found = false;
  ask(clock);
}

static void on_event(void *ctx, link_event event) {
  nats_clock *clock = ctx;
  if (event == LINK_UP) clock->left = 0, clock->next_ns = 0;
}

static int64_t on_tick(void *ctx) {
  nats_clock *clock = ctx;
  uint64_t now_ns = now().monotonic_ns;
  /* The thread of the link may be faster than link_open. */
  if (!__atomic_load_n(&clock->opened, __ATOMIC_ACQUIRE)) return (int64_t)(now_ns / MS) + OPENING_MS;
  if (clock->left > 0 && now_ns - clock->asked.monotonic_ns > PATIENCE_NS) end_round(clock);
  if (clock->left == 0 && now_ns >= clock->next_ns) start_round(clock);
  uint64_t due_ns = clock->left > 0 ? clock->asked.monotonic_ns + PATIENCE_NS : clock->next_ns;
  return (int64_t)(due_ns / MS) + 1;
}

static void on_message(void *ctx, const wire_frame *message) {
  (void)ctx, (void)message;
}

static void free_clock(nats_clock *clock) {
  pthread_mutex_destroy(&clock->mutex);
  pthread_mutex_destroy(&clock->report.mutex);
  sink_security_free(&clock->security);
  sink_url_free(&clock->url);
  free(clock);
}

static void on_end(void *ctx) {
  nats_clock *clock = ctx;
  link_free(clock->link);
  free_clock(clock);
}

static void *open_clock(const char *url, char *why, size_t why_bytes) {
  nats_clock *clock = calloc(1, sizeof *clock);
  if (clock == NULL) return snprintf(why, why_bytes, "out of memory"), NULL;
  pthread_mutex_init(&clock->mutex, NULL);
  sink_report_init(&clock->report, NULL); /* silent: the sink reports the state of its connection, which is alike */
  if (!sink_url_parse(&clock->url, url, NATS_DEFAULT_PORT, why, why_bytes) ||
      !sink_security_load(&clock->security, &clock->url, why, why_bytes)) {
    free_clock(clock);
    return NULL;
  }
  const char *bucket = sink_url_parameter(&clock->url, "control");
  if (bucket == NULL || strcmp(bucket, "on") == 0 || strcmp(bucket, "off") == 0) bucket = NATS_DEFAULT_CONTROL;
  snprintf(clock->subject, sizeof clock->subject, "$JS.API.STREAM.INFO.KV_%s", bucket);
  link_callbacks callbacks = {
      .ctx = clock, .event = on_event, .tick = on_tick, .answer = on_answer, .message = on_message, .end = on_end};
  clock->link =
      link_open(&clock->url, &clock->security, "lifeline-probe clock", &clock->report, &callbacks, why, why_bytes);
  if (clock->link == NULL) {
    free_clock(clock);
    return NULL;
  }
  __atomic_store_n(&clock->opened, true, __ATOMIC_RELEASE);
  return clock;
}

static broker_time read_clock(void *ctx) {
  nats_clock *clock = ctx;
  pthread_mutex_lock(&clock->mutex);
  broker_time latest = clock->latest;
  pthread_mutex_unlock(&clock->mutex);
  return latest;
}

static void close_clock(void *ctx) {
  link_close(((nats_clock *)ctx)->link, CLOSE_MS);
}

__attribute__((visibility("default")))
const broker_clock_plugin ll_broker_clock_v1 = {BROKER_CLOCK_ABI, open_clock, read_clock, close_clock};
