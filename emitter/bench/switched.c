/* bench-switched: when the broker stored the first batch of each emitter that holds an event of one type. */
#include "options.h"

#include <lifeline/batch.h>

#include <getopt.h>
#include <inttypes.h>
#include <nats/nats.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "Usage: bench-switched --url nats://HOST:PORT --type NAME --since NS --emitters N [--timeout-s N]\n"
    "\n"
    "Prints as JSON, per emitter, when the broker stored its first batch since NS, in ns since 1970, that\n"
    "holds an event of the type. Waits for N emitters, at most --timeout-s (60).\n";

enum { EMITTERS_MAX = 10000, LOOK_MS = 100 };

typedef struct first {
  uint8_t incarnation[16];
  int64_t stored_ns;
} first;

typedef struct search {
  const char *type;
  first found[EMITTERS_MAX];
  uint64_t count;
} search;

static bool failed(const char *what, natsStatus status) {
  fprintf(stderr, "bench-switched: %s: %s\n", what, natsStatus_GetText(status));
  return false;
}

static bool is_known(const search *wanted, const uint8_t *incarnation) {
  for (uint64_t i = 0; i < wanted->count; i++)
    if (memcmp(wanted->found[i].incarnation, incarnation, 16) == 0) return true;
  return false;
}

/* A batch may describe types of which it has no events. */
static bool holds(const llb_batch *batch, const char *type) {
  llb_event event;
  for (llb_cursor cursor = llb_events(batch); llb_next(&cursor, &event);)
    if (event.type->name.size == strlen(type) && memcmp(event.type->name.data, type, strlen(type)) == 0) return true;
  return false;
}

static bool look(search *wanted, natsMsg *message) {
  llb_rejection rejection;
  llb_batch *batch = llb_read(natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message), &rejection);
  if (batch == NULL) {
    fprintf(stderr, "bench-switched: %s is no batch: %s\n", natsMsg_GetSubject(message), rejection.message);
    return false;
  }
  natsStatus status = NATS_OK;
  if (!is_known(wanted, batch->incarnation) && holds(batch, wanted->type)) {
    jsMsgMetaData *stored = NULL;
    status = natsMsg_GetMetaData(&stored, message);
    if (status == NATS_OK) {
      first *next = &wanted->found[wanted->count++];
      memcpy(next->incarnation, batch->incarnation, sizeof next->incarnation);
      next->stored_ns = stored->Timestamp;
      jsMsgMetaData_Destroy(stored);
    }
  }
  llb_batch_free(batch);
  return status == NATS_OK || failed("a message's metadata", status);
}

static bool look_until(search *wanted, natsSubscription *subscription, uint64_t emitters, time_t end) {
  while (wanted->count < emitters && time(NULL) < end) {
    natsMsg *message = NULL;
    natsStatus status = natsSubscription_NextMsg(&message, subscription, LOOK_MS);
    if (status == NATS_TIMEOUT) continue;
    if (status != NATS_OK) return failed("the next message", status);
    bool legal = look(wanted, message);
    natsMsg_Destroy(message);
    if (!legal) return false;
  }
  return true;
}

static bool search_broker(search *wanted, const char *url, int64_t since, uint64_t emitters, time_t end) {
  natsConnection *connection = NULL;
  jsCtx *jetstream = NULL;
  natsSubscription *subscription = NULL;
  jsSubOptions options;
  jsErrCode code = 0;
  jsSubOptions_Init(&options);
  options.Stream = "LIFELINE";
  options.Ordered = true;
  options.Config.DeliverPolicy = js_DeliverByStartTime;
  options.Config.OptStartTime = since;
  natsStatus status = natsConnection_ConnectTo(&connection, url);
  if (status == NATS_OK) status = natsConnection_JetStream(&jetstream, connection, NULL);
  if (status == NATS_OK)
    status = js_SubscribeSync(&subscription, jetstream, "lifeline.batches.*", NULL, &options, &code);
  if (status == NATS_OK) status = natsSubscription_SetPendingLimits(subscription, -1, -1);
  bool read = status == NATS_OK ? look_until(wanted, subscription, emitters, end) : failed(url, status);
  natsSubscription_Destroy(subscription);
  jsCtx_Destroy(jetstream);
  natsConnection_Destroy(connection);
  nats_Close();
  return read;
}

int main(int argc, char **argv) {
  static const struct option names[] = {{"url", required_argument, NULL, 'u'},
                                        {"type", required_argument, NULL, 't'},
                                        {"since", required_argument, NULL, 's'},
                                        {"emitters", required_argument, NULL, 'e'},
                                        {"timeout-s", required_argument, NULL, 'w'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  static search wanted;
  const char *url = NULL;
  uint64_t since = 0, emitters = 0, timeout_s = 60;
  bool legal = true;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'u': url = optarg; break;
    case 't': wanted.type = optarg; break;
    case 's': legal = legal && parse_number(optarg, 1, INT64_MAX, &since); break;
    case 'e': legal = legal && parse_number(optarg, 1, EMITTERS_MAX, &emitters); break;
    case 'w': legal = legal && parse_number(optarg, 1, 3600, &timeout_s); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  if (!legal || url == NULL || wanted.type == NULL || since == 0 || emitters == 0 || optind != argc) {
    fputs("bench-switched: wrong usage (try --help)\n", stderr);
    return 2;
  }
  if (!search_broker(&wanted, url, (int64_t)since, emitters, time(NULL) + (time_t)timeout_s)) return 1;
  printf("{\"stored_ns\":[");
  for (uint64_t i = 0; i < wanted.count; i++)
    printf("%s%" PRId64, i > 0 ? "," : "", wanted.found[i].stored_ns);
  puts("]}");
  return 0;
}
