#include "readback.h"

#include <nats/nats.h>
#include <stdio.h>
#include <string.h>

enum { PATIENCE_MS = 10000 };

static bool trouble(const char *what, natsStatus status) {
  fprintf(stderr, "bench-readback: %s: %s\n", what, natsStatus_GetText(status));
  return false;
}

/* Reads with an ordered consumer, which the library recreates at the right place when a message is missing. */
static bool read_all(tally *counted, natsSubscription *subscription) {
  while (!counted->final) {
    natsMsg *message = NULL;
    natsStatus status = natsSubscription_NextMsg(&message, subscription, PATIENCE_MS);
    if (status == NATS_TIMEOUT) return true;
    if (status != NATS_OK) return trouble("the next message", status);
    bool legal = tally_batch(counted, natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message));
    natsMsg_Destroy(message);
    if (!legal) return false;
  }
  return true;
}

bool readback_nats(tally *counted, const char *url) {
  natsConnection *connection = NULL;
  jsCtx *jetstream = NULL;
  natsSubscription *subscription = NULL;
  jsSubOptions options;
  jsErrCode code = 0;
  jsSubOptions_Init(&options);
  options.Stream = "LIFELINE";
  options.Ordered = true;
  natsStatus status = natsConnection_ConnectTo(&connection, url);
  if (status == NATS_OK) status = natsConnection_JetStream(&jetstream, connection, NULL);
  if (status == NATS_OK)
    status = js_SubscribeSync(&subscription, jetstream, "lifeline.batches.*", NULL, &options, &code);
  if (status == NATS_OK) status = natsSubscription_SetPendingLimits(subscription, -1, -1);
  bool read = status == NATS_OK ? read_all(counted, subscription) : trouble(url, status);
  natsSubscription_Destroy(subscription);
  jsCtx_Destroy(jetstream);
  natsConnection_Destroy(connection);
  nats_Close();
  return read;
}
