#include "bucket.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flight.h"

enum {
  ANSWER_MS = 30000, /* a busy server answers late, and a question that is asked again comes behind its answer */
  HEARTBEAT_S = 5,
  SILENCE_MS = 3 * HEARTBEAT_S * 1000,
  FIRST_NUMBER = 2,
  STREAM_NOT_FOUND = 10059, /* nats-server, server/errors.json */
};

void nats_watch_start(nats_watch *watch) {
  if (!watch->control->name) return;
  __atomic_store_n(&watch->wanted, true, __ATOMIC_RELEASE);
  link_wake(watch->link); /* without a connection its thread sees the wish once it has one */
}

void nats_watch_up(nats_watch *watch) {
  watch->due_ms = 0;
}

void nats_watch_down(nats_watch *watch) {
  watch->state = WATCH_RESTS;
}

/* Unsubscribes and schedules the next attempt. */
static void rest(nats_watch *watch, int ms) {
  if (watch->state != WATCH_RESTS) link_unsubscribe(watch->link, watch->number);
  watch->state = WATCH_RESTS;
  watch->due_ms = flight_now_ms() + ms;
}

static void give_up(nats_watch *watch, const char *why) {
  sink_report_state(&watch->control->report, LL_SINK_INFO, "nats: no activations are read: %s", why);
  rest(watch, SINK_CONTROL_RETRY_MS);
}

void nats_watch_forbidden(nats_watch *watch) {
  char why[300];
  if (watch->state != WATCH_ASKED) return;
  snprintf(why, sizeof why, "this user may not read the bucket %s", watch->control->name);
  give_up(watch, why);
}

static void begin(nats_watch *watch) {
  char inbox[160], subject[300], reply[160], request[1024];
  const char *bucket = watch->control->name;
  watch->number = watch->number < FIRST_NUMBER ? FIRST_NUMBER : watch->number + 1;
  watch->expected = 1;
  watch->complete = false;
  watch->state = WATCH_ASKED;
  watch->due_ms = flight_now_ms() + ANSWER_MS;
  snprintf(inbox, sizeof inbox, "%s.control.%u", link_inbox(watch->link), watch->number);
  snprintf(reply, sizeof reply, "%s." NATS_WATCH_SUFFIX "%u", link_inbox(watch->link), watch->number);
  snprintf(subject, sizeof subject, "$JS.API.CONSUMER.CREATE.KV_%s", bucket);
  int bytes = snprintf(request, sizeof request,
                       "{\"stream_name\":\"KV_%s\",\"config\":{\"deliver_subject\":\"%s\",\"deliver_policy\":"
                       "\"last_per_subject\",\"filter_subject\":\"$KV.%s.>\",\"ack_policy\":\"none\",\"max_deliver\":1,"
                       "\"replay_policy\":\"instant\",\"idle_heartbeat\":%d000000000,\"mem_storage\":true,"
                       "\"num_replicas\":1}}",
                       bucket, inbox, bucket, HEARTBEAT_S);
  sink_control_begin(watch->control);
  link_message message = {.subject = subject, .reply = reply, .data = request, .bytes = (size_t)bytes};
  if (link_subscribe(watch->link, inbox, watch->number)) link_publish(watch->link, &message);
}

int64_t nats_watch_tick(nats_watch *watch) {
  if (!__atomic_load_n(&watch->wanted, __ATOMIC_ACQUIRE)) return INT64_MAX;
  if (flight_now_ms() < watch->due_ms) return watch->due_ms;
  char why[300];
  switch (watch->state) {
  case WATCH_RESTS: begin(watch); break;
  case WATCH_ASKED:
    snprintf(why, sizeof why, "no answer for the bucket %s in %d s", watch->control->name, ANSWER_MS / 1000);
    give_up(watch, why);
    break;
  case WATCH_READS: rest(watch, 0); break; /* no heartbeat: the server has lost the consumer */
  }
  return watch->due_ms;
}

static void complete(nats_watch *watch) {
  if (watch->complete) return;
  watch->complete = true;
  sink_control_complete(watch->control);
  sink_report_state(&watch->control->report, LL_SINK_INFO, "nats: activations are read from the bucket %s",
                    watch->control->name);
}

void nats_watch_answer(nats_watch *watch, const char *suffix, const wire_frame *answer) {
  const char *bucket = watch->control->name, *error = wire_json(answer->data, "error"),
             *code = wire_json(answer->data, "err_code"), *text = wire_json(answer->data, "description"),
             *pending = wire_json(answer->data, "num_pending");
  char why[512];
  if (watch->state != WATCH_ASKED || strtoul(suffix + strlen(NATS_WATCH_SUFFIX), NULL, 10) != watch->number) return;
  if (link_nobody_answers(answer)) {
    give_up(watch, "the server has no JetStream");
  } else if (error && code && atoi(code) == STREAM_NOT_FOUND) {
    snprintf(why, sizeof why, "the bucket %s is missing; create it with lifeline-setup", bucket);
    give_up(watch, why);
  } else if (error) {
    snprintf(why, sizeof why, "the bucket %s: %.*s", bucket, text ? (int)strcspn(text + 1, "\"") : 7,
             text ? text + 1 : "unknown");
    give_up(watch, why);
  } else {
    watch->state = WATCH_READS;
    watch->due_ms = flight_now_ms() + SILENCE_MS;
    if (pending && *pending == '0') complete(watch);
  }
}

/* Parses an acknowledgement subject: $JS.ACK.[domain.account.]stream.consumer.tries.S.C.time.pending[.any], where S and
 * C are the message's numbers in the stream and the consumer. */
static bool read_place(const char *reply, uint64_t *sequence, int64_t *time_ns, uint64_t *pending) {
  unsigned dots = 0;
  for (const char *c = reply; *c; c++)
    dots += *c == '.';
  const char *at = reply;
  for (unsigned skip = dots >= 10 ? 8 : 6; skip > 0 && at; skip--) {
    at = strchr(at, '.');
    at = at ? at + 1 : NULL;
  }
  return strncmp(reply, "$JS.ACK.", 8) == 0 && at &&
         sscanf(at, "%" SCNu64 ".%" SCNd64 ".%" SCNu64, sequence, time_ns, pending) == 3;
}

/* True for a deletion, or a marker that the server wrote when a value expired. */
static bool is_deletion(const char *headers) {
  const char *operation = strstr(headers, "\r\nKV-Operation:");
  if (operation) operation += strlen("\r\nKV-Operation:");
  if (operation) operation += strspn(operation, " ");
  return (operation && strncmp(operation, "PUT", 3) != 0) || strstr(headers, "\r\nNats-Marker-Reason:");
}

void nats_watch_message(nats_watch *watch, const wire_frame *message) {
  char prefix[256];
  uint64_t sequence, pending;
  int64_t time_ns;
  if (watch->state == WATCH_RESTS || message->subscription != watch->number) return;
  if (watch->state == WATCH_READS) watch->due_ms = flight_now_ms() + SILENCE_MS;
  if (strncmp(message->headers, "NATS/1.0 100", 12) == 0) return; /* a heartbeat */
  int length = snprintf(prefix, sizeof prefix, "$KV.%s.", watch->control->name);
  if (!read_place(message->reply, &sequence, &time_ns, &pending) || sequence != watch->expected ||
      strncmp(message->subject, prefix, (size_t)length) != 0) {
    rest(watch, 0); /* a message was missed */
    return;
  }
  watch->expected++;
  const char *key = message->subject + length;
  ll_control_message says = {.id = key, .id_bytes = strlen(key), .written_ms = time_ns / 1000000};
  if (!is_deletion(message->headers)) {
    says.line = message->data;
    says.line_bytes = message->bytes;
  }
  sink_control_says(watch->control, &says);
  if (pending == 0) complete(watch);
}
