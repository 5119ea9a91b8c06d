/* NATS: credentials, JetStream, the stream, and this user's permissions. */
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "doctor.h"
#include "names.h"
#include "options.h"

enum { FAIR_DUPLICATES_S = 10 };

#define NO_SUCH_STREAM "lifeline-doctor-expects-another-stream"

/* The server's answer to a message whose header forbids storing it: the server checks permissions first. */
typedef enum answer { STORED_NOTHING, NOBODY, FORBIDDEN, NO_ANSWER } answer;

typedef struct probed {
  const char *subject;
  natsMsg *reply;
} probed;

static natsStatus ask_to_publish(tool_nats *nats, int64_t wait_ms, void *of) {
  probed *p = of;
  natsMsg *message = NULL;
  natsStatus status = natsMsg_Create(&message, p->subject, NULL, NULL, 0);
  if (status == NATS_OK) status = natsMsgHeader_Set(message, "Nats-Expected-Stream", NO_SUCH_STREAM);
  if (status == NATS_OK) status = natsConnection_RequestMsg(&p->reply, nats->connection, message, wait_ms);
  natsMsg_Destroy(message);
  return status;
}

/* Writes the name of the stream that takes the subject. */
static answer probe(tool_nats *nats, const char *subject, char *stream, size_t bytes) {
  probed p = {.subject = subject};
  natsStatus status = tool_nats_ask(nats, ask_to_publish, &p);
  *stream = 0;
  const char *found = status == NATS_OK ? strstr(natsMsg_GetData(p.reply), "\"stream\":\"") : NULL;
  if (found) snprintf(stream, bytes, "%.*s", (int)strcspn(found + 10, "\""), found + 10);
  natsMsg_Destroy(p.reply);
  switch (status) {
  case NATS_OK: return STORED_NOTHING;
  case NATS_NO_RESPONDERS: return NOBODY;
  case NATS_NOT_PERMITTED: return FORBIDDEN;
  default: return NO_ANSWER;
  }
}

/* Why a question of this check has no answer. */
static void report_unknown(const char *check, natsStatus status, const char *what) {
  if (status == NATS_NOT_PERMITTED)
    report(SKIPPED, check, "this user may not see %s", what);
  else
    report(WARN, check, "cannot find out %s: %s", what, tool_nats_error(status));
}

static bool check_publishing(const tool_broker *broker, tool_nats *nats, const char *wanted) {
  char subject[300], stream[256];
  snprintf(subject, sizeof subject, "%s.0", *broker->url.name ? broker->url.name : NATS_DEFAULT_PREFIX);
  switch (probe(nats, subject, stream, sizeof stream)) {
  case STORED_NOTHING:
    if (strcmp(stream, wanted) == 0)
      report(OK, "batches", "this user may publish %s, which goes to the stream %s", subject, stream);
    else
      report(FAIL, "batches", "%s goes to the stream %s, not %s: check stream= and the path of the URL", subject,
             stream, wanted);
    return true;
  case NOBODY: report(FAIL, "batches", "no stream accepts %s; create it with lifeline-setup", subject); return true;
  case FORBIDDEN:
    report(FAIL, "batches", "this user may not publish %s; sinks/permissions/nats.conf has what an emitter needs",
           subject);
    return true;
  default: report(FAIL, "batches", "no answer on %s: is JetStream running?", subject); return false;
  }
}

static void check_limits(const jsStreamConfig *c, const char *name) {
  if (c->Sealed)
    report(FAIL, "stream", "%s is sealed: it accepts no messages", name);
  else if (c->MaxMsgSize >= 0 && c->MaxMsgSize < DEFAULT_BATCH + 1000)
    report(FAIL, "stream",
           "%s accepts messages of at most %d bytes; batches have 64 KiB and more: raise max_msg_size to %d", name,
           c->MaxMsgSize, LARGEST_MESSAGE);
  else if (c->MaxMsgSize >= 0 && c->MaxMsgSize < LARGEST_MESSAGE)
    report(
        WARN, "stream",
        "%s accepts messages of at most %d bytes; under load batches grow to %d, and each program loses those that are "
        "refused before it makes smaller ones: raise max_msg_size to %d",
        name, c->MaxMsgSize, LL_BATCH_MOST, LARGEST_MESSAGE);
  else if (c->Retention != js_LimitsPolicy)
    report(FAIL, "stream", "the retention of %s is not `limits`: reading a batch removes it", name);
  else if (c->Discard == js_DiscardNew)
    report(WARN, "stream", "%s rejects batches when it is full, instead of removing old ones", name);
  else if (c->Duplicates < FAIR_DUPLICATES_S * 1000000000LL)
    report(WARN, "stream", "%s detects duplicates within %.1f s only; a batch that is sent again later is stored twice",
           name, (double)c->Duplicates / 1e9);
  else
    report(OK, "stream", "%s keeps batches for %s, %lld replica%s, duplicates within %lld s", name,
           c->MaxAge ? "a limited time" : "ever", (long long)c->Replicas, c->Replicas == 1 ? "" : "s",
           (long long)(c->Duplicates / 1000000000));
}

static void check_room(const jsStreamInfo *info) {
  const jsStreamConfig *c = info->Config;
  double held = (double)info->State.Bytes;
  if (c->MaxBytes <= 0 && c->MaxAge <= 0)
    report(WARN, "retention", "%s has no limit of age or size and grows until the disk is full", c->Name);
  else if (c->MaxBytes <= 0)
    report(OK, "retention", "%.1f days, no bound on bytes; %s held", (double)c->MaxAge / 864e11, bytes_text(held));
  else
    report(OK, "retention", "%.1f days, at most %s; %s held", (double)c->MaxAge / 864e11,
           bytes_text((double)c->MaxBytes), bytes_text(held));
}

static natsStatus ask_for_account(tool_nats *nats, int64_t wait_ms, void *of) {
  (void)wait_ms; /* in nats->js, as for all of JetStream */
  return js_GetAccountInfo(of, nats->js, NULL, NULL);
}

static void check_disk(tool_nats *nats) {
  jsAccountInfo *info = NULL;
  natsStatus status = tool_nats_ask(nats, ask_for_account, &info);
  if (status != NATS_OK) {
    report_unknown("storage", status, "the account's limits");
    return;
  }
  double used = (double)info->Store, most = (double)info->Limits.MaxStore;
  if (most > 0 && used > 0.9 * most)
    report(WARN, "storage", "%s of the account's %s are used", bytes_text(used), bytes_text(most));
  else
    report(OK, "storage", "%s used%s%s", bytes_text(used), most > 0 ? " of " : ", no limit of the account",
           most > 0 ? bytes_text(most) : "");
  jsAccountInfo_Destroy(info);
}

typedef struct streamed {
  const char *name;
  jsStreamInfo *info;
} streamed;

static natsStatus ask_for_stream(tool_nats *nats, int64_t wait_ms, void *of) {
  (void)wait_ms;
  streamed *s = of;
  return js_GetStreamInfo(&s->info, nats->js, s->name, NULL, NULL);
}

static void check_stream(tool_nats *nats, const char *name) {
  streamed s = {.name = name};
  char what[300];
  snprintf(what, sizeof what, "the limits of %s", name);
  natsStatus status = tool_nats_ask(nats, ask_for_stream, &s);
  if (status == NATS_OK) {
    check_limits(s.info->Config, name);
    check_room(s.info);
  } else if (status == NATS_NOT_FOUND) {
    report(FAIL, "stream", "%s is missing; create it with lifeline-setup", name);
  } else {
    report_unknown("stream", status, what);
  }
  jsStreamInfo_Destroy(s.info);
}

static void check_control(const tool_broker *broker, tool_nats *nats) {
  const char *wish = sink_url_parameter(&broker->url, "control");
  const char *name = wish && strcmp(wish, "on") != 0 ? wish : NATS_DEFAULT_CONTROL;
  char subject[300], stream[256];
  if (strcmp(name, "off") == 0) {
    report(OK, "activations", "control=off: programs read none");
    return;
  }
  natsStatus status = tool_nats_ask_for_bucket(nats, name);
  if (status == NATS_NOT_FOUND)
    report(WARN, "activations",
           "the bucket %s is missing, so that activations have no effect; create it with lifeline-setup", name);
  else if (status == NATS_NOT_PERMITTED)
    report(WARN, "activations", "this user may not read the bucket %s, so that activations have no effect", name);
  else if (status != NATS_OK)
    report_unknown("activations", status, "whether they can be read");
  else
    report(OK, "activations", "they are read from the bucket %s", name);
  snprintf(subject, sizeof subject, "$KV.%s.lifeline-doctor", name);
  answer may = probe(nats, subject, stream, sizeof stream);
  if (may == FORBIDDEN)
    report(OK, "control", "this user may not write activations, which is right for an emitter");
  else if (may == STORED_NOTHING)
    report(WARN, "control",
           "this user may write activations for all programs; restrict emitters with sinks/permissions/nats.conf");
}

static void check_server(tool_nats *nats) {
  char server[256] = "";
  natsConnection_GetConnectedUrl(nats->connection, server, sizeof server);
  int64_t payload = natsConnection_GetMaxPayload(nats->connection);
  if (payload < DEFAULT_BATCH + 1000)
    report(FAIL, "server", "it accepts messages of at most %s; batches have 64 KiB and more: raise max_payload to 1 MB",
           bytes_text((double)payload));
  else if (payload < LARGEST_MESSAGE)
    report(WARN, "server",
           "it accepts messages of at most %s; batches, which grow to %d bytes under load, are made smaller: raise "
           "max_payload to 1 MB",
           bytes_text((double)payload), LL_BATCH_MOST);
  else
    report(OK, "server", "it accepts messages of %s", bytes_text((double)payload));
}

void check_nats(const tool_broker *broker) {
  char error[512];
  tool_nats nats;
  const char *stream = sink_url_parameter(&broker->url, "stream"), *mode = sink_url_parameter(&broker->url, "mode");
  if (!tool_nats_open(&nats, broker, "lifeline-doctor", error, sizeof error)) {
    report(FAIL, "credentials", "%s", error);
    return;
  }
  report(OK, "credentials", "%s%s",
         broker->security.user ? "the server accepts user " : "the server accepts the connection",
         broker->security.user ? broker->security.user : "");
  check_server(&nats);
  if (mode && strcmp(mode, "core") == 0)
    report(WARN, "batches", "mode=core: batches are not acknowledged, and may be lost");
  else if (check_publishing(broker, &nats, stream ? stream : NATS_DEFAULT_STREAM)) {
    check_stream(&nats, stream ? stream : NATS_DEFAULT_STREAM);
    check_disk(&nats);
  }
  check_control(broker, &nats);
  tool_nats_close(&nats);
  nats_Close();
}
