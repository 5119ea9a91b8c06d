#include "bucket.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 200, REQUEST_MS = 2000, REREAD_MS = 300000 };

static void no_activations(nats_watch *watch, const char *why) {
  sink_report_state(&watch->control->report, LL_SINK_INFO, "nats: no activations are read: %s", why);
}

static void explain(nats_watch *watch, natsStatus status) {
  char why[256];
  switch (status) {
  case NATS_NOT_FOUND:
    snprintf(why, sizeof why, "the bucket %s is missing; create it with lifeline-setup", watch->control->name);
    break;
  case NATS_TIMEOUT:
  case NATS_NOT_PERMITTED:
    snprintf(why, sizeof why, "this user may not read the bucket %s", watch->control->name);
    break;
  case NATS_NO_RESPONDERS: snprintf(why, sizeof why, "the server has no JetStream"); break;
  case NATS_CONNECTION_CLOSED:
  case NATS_CONNECTION_DISCONNECTED: return; /* which the link tells */
  default: snprintf(why, sizeof why, "the bucket %s: %s", watch->control->name, natsStatus_GetText(status));
  }
  no_activations(watch, why);
}

static void pass_on(nats_watch *watch, kvEntry *entry) {
  const char *key = kvEntry_Key(entry);
  ll_control_message message = {.id = key, .id_bytes = strlen(key), .written_ms = kvEntry_Created(entry) / 1000000};
  if (kvEntry_Operation(entry) == kvOp_Put) {
    message.line = kvEntry_ValueLen(entry) > 0 ? kvEntry_Value(entry) : "";
    message.line_bytes = (size_t)kvEntry_ValueLen(entry);
  }
  sink_control_says(watch->control, &message);
}

/* Until something may have been missed. */
static natsStatus follow(nats_watch *watch, kvWatcher *watcher, unsigned renewals) {
  bool complete = false;
  for (int quiet_ms = 0; quiet_ms < REREAD_MS;) {
    if (sink_control_closing(watch->control) || sink_control_renewals(watch->control) != renewals) return NATS_OK;
    kvEntry *entry = NULL;
    natsStatus status = kvWatcher_Next(&entry, watcher, LOOK_MS);
    if (status == NATS_TIMEOUT) {
      quiet_ms += LOOK_MS;
      continue;
    }
    if (status != NATS_OK) return status;
    if (entry) pass_on(watch, entry);
    if (!entry && !complete) {
      complete = true;
      sink_control_complete(watch->control);
      sink_report_state(&watch->control->report, LL_SINK_INFO, "nats: activations are read from the bucket %s",
                        watch->control->name);
    }
    kvEntry_Destroy(entry);
  }
  return NATS_OK;
}

static natsStatus read_bucket(nats_watch *watch, natsConnection *connection, unsigned renewals) {
  jsCtx *js = NULL;
  kvStore *store = NULL;
  kvWatcher *watcher = NULL;
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = REQUEST_MS;
  natsStatus status = natsConnection_JetStream(&js, connection, &options);
  if (status == NATS_OK) status = js_KeyValue(&store, js, watch->control->name);
  sink_control_begin(watch->control);
  if (status == NATS_OK) status = kvStore_WatchAll(&watcher, store, NULL);
  if (status == NATS_OK) status = follow(watch, watcher, renewals);
  kvWatcher_Destroy(watcher);
  kvStore_Destroy(store);
  jsCtx_Destroy(js);
  return status;
}

void nats_watch_read(void *of) {
  nats_watch *watch = of;
  while (!sink_control_closing(watch->control)) {
    unsigned renewals = sink_control_renewals(watch->control);
    natsConnection *connection = link_borrow(watch->link);
    natsStatus status = NATS_CONNECTION_DISCONNECTED;
    if (connection) {
      status = read_bucket(watch, connection, renewals);
      link_return(watch->link);
    }
    if (status == NATS_OK) continue;
    explain(watch, status);
    if (sink_control_renewals(watch->control) == renewals) sink_control_wait(watch->control, SINK_CONTROL_RETRY_MS);
  }
  nats_ReleaseThreadMemory();
}
