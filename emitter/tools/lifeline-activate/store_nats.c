/* Activations in a NATS KV bucket; the URL's control= names it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker.h"
#include "names.h"
#include "store.h"

struct store {
  tool_broker broker;
  tool_nats nats;
  kvStore *bucket;
  const char *name;
};

static void explain(store *s, natsStatus status, const char *what, char error[ERROR_BYTES]) {
  if (status == NATS_NOT_FOUND)
    snprintf(error, ERROR_BYTES, "there is no bucket %s on %s; create it with lifeline-setup", s->name,
             s->broker.url.hosts);
  else if (tool_nats_forbade(&s->nats))
    snprintf(error, ERROR_BYTES, "user %s may not %s the bucket %s",
             s->broker.security.user ? s->broker.security.user : "(none)", what, s->name);
  else if (status == NATS_NO_RESPONDERS)
    snprintf(error, ERROR_BYTES, "%s has no JetStream, or its bucket %s is gone", s->broker.url.hosts, s->name);
  else
    snprintf(error, ERROR_BYTES, "the bucket %s on %s: %s", s->name, s->broker.url.hosts, tool_nats_error(status));
}

static void nats_close(store *s) {
  kvStore_Destroy(s->bucket);
  tool_nats_close(&s->nats);
  tool_broker_free(&s->broker);
  free(s);
  nats_Close();
}

static store *nats_open(const char *url, char error[ERROR_BYTES]) {
  store *s = calloc(1, sizeof *s);
  if (!s || !tool_broker_read(&s->broker, url, error, ERROR_BYTES)) {
    free(s);
    return NULL;
  }
  const char *name = sink_url_parameter(&s->broker.url, "control");
  s->name = name && strcmp(name, "on") != 0 && strcmp(name, "off") != 0 ? name : NATS_DEFAULT_CONTROL;
  if (tool_nats_open(&s->nats, &s->broker, "lifeline-activate", error, ERROR_BYTES)) {
    natsStatus status = tool_nats_ask_for_bucket(&s->nats, s->name);
    if (status == NATS_OK) status = js_KeyValue(&s->bucket, s->nats.js, s->name);
    if (status == NATS_OK) return s;
    explain(s, status, "read", error);
  }
  nats_close(s);
  return NULL;
}

static bool nats_read(store *s, activations *all, char error[ERROR_BYTES]) {
  kvWatcher *watcher = NULL;
  kvEntry *entry = NULL;
  kvWatchOptions options;
  kvWatchOptions_Init(&options);
  options.IgnoreDeletes = true;
  natsStatus status = kvStore_WatchAll(&watcher, s->bucket, &options);
  while (status == NATS_OK && (status = kvWatcher_Next(&entry, watcher, TOOL_TIMEOUT_MS)) == NATS_OK && entry) {
    const char *id = kvEntry_Key(entry), *line = kvEntry_Value(entry);
    if (kvEntry_ValueLen(entry) > 0) activations_put(all, id, strlen(id), line, (size_t)kvEntry_ValueLen(entry));
    kvEntry_Destroy(entry);
    entry = NULL;
  }
  if (status != NATS_OK) explain(s, status, "read", error);
  kvWatcher_Destroy(watcher);
  return status == NATS_OK;
}

static bool nats_put(store *s, const char *id, const char *line, char error[ERROR_BYTES]) {
  natsStatus status = kvStore_PutString(NULL, s->bucket, id, line);
  if (status != NATS_OK) explain(s, status, "write", error);
  return status == NATS_OK;
}

static bool nats_remove(store *s, const char *id, char error[ERROR_BYTES]) {
  natsStatus status = kvStore_Purge(s->bucket, id, NULL);
  if (status != NATS_OK) explain(s, status, "write", error);
  return status == NATS_OK;
}

const store_kind store_nats = {
    .open = nats_open, .read = nats_read, .put = nats_put, .remove = nats_remove, .close = nats_close};
