/* null: acknowledges and discards every batch. */
#include "base/format.h"
#include "plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ll_sink {
  const ll_sink_host *host;
};

static ll_sink *null_open(const ll_sink_host *host, char *error, size_t error_bytes) {
  if (strcmp(host->url, "null:") != 0) {
    snprintf(error, error_bytes, "the URL of the null sink must be null:");
    return NULL;
  }
  ll_sink *sink = malloc(sizeof *sink);
  if (sink == NULL)
    snprintf(error, error_bytes, "out of memory");
  else
    sink->host = host;
  return sink;
}

static ll_sink_status null_send(ll_sink *sink, uint64_t token, const uint8_t *batch, size_t bytes, uint16_t route,
                                uint64_t sequence) {
  (void)batch, (void)bytes, (void)route, (void)sequence;
  sink->host->done(sink->host->ctx, token, LL_SINK_ACKED, NULL);
  return LL_SINK_OK;
}

static void null_poll(ll_sink *sink, int timeout_ms) {
  (void)sink, (void)timeout_ms;
}
static size_t null_max_batch_bytes(ll_sink *sink) {
  return (void)sink, LL_BATCH_MOST;
}
static void null_close(ll_sink *sink) {
  free(sink);
}

const ll_sink_plugin ll_sink_null = {
    .abi = LL_SINK_ABI,
    .scheme = "null",
    .open = null_open,
    .send = null_send,
    .poll = null_poll,
    .max_batch_bytes = null_max_batch_bytes,
    .close = null_close,
};
