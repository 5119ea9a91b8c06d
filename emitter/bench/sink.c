/* bench-sink: throughput and processor time of a sink without an emitter, to be compared with raw-publisher, which uses
 * only the client library, and with bench-writev, which uses none. */
#include "options.h"
#include "payload.h"
#include "sink/plugin.h"
#include "timing.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "Usage: bench-sink --url URL [--messages N] [--bytes N]\n"
    "\n"
    "Prints messages, bytes, seconds and processor time until the last acknowledgement as JSON.\n"
    "--messages (4000) of --bytes (262144).\n";

enum { BYTES_MAX = 960000, POLL_MS = 10, PATIENCE_S = 60 };

static uint64_t acknowledged, others;

static void print_trouble(void *ctx, ll_sink_log_level level, const char *message) {
  (void)ctx;
  if (level != LL_SINK_INFO) fprintf(stderr, "bench-sink: %s\n", message);
}

static void done(void *ctx, uint64_t token, ll_sink_outcome outcome, const char *why) {
  (void)ctx, (void)token, (void)why;
  __atomic_fetch_add(outcome == LL_SINK_ACKED ? &acknowledged : &others, 1, __ATOMIC_RELEASE);
}

static bool publish(const ll_sink_plugin *plugin, ll_sink *sink, uint64_t messages, const uint8_t *data, size_t bytes) {
  uint64_t deadline = now_ns() + PATIENCE_S * UINT64_C(1000000000), sent = 0;
  while (__atomic_load_n(&acknowledged, __ATOMIC_ACQUIRE) < messages) {
    if (__atomic_load_n(&others, __ATOMIC_ACQUIRE) > 0 || now_ns() > deadline) return false;
    ll_sink_status status = LL_SINK_BUSY;
    if (sent < messages) status = plugin->send(sink, sent, data, bytes, 0, sent + 1);
    if (status == LL_SINK_FAILED) return false;
    if (status == LL_SINK_OK) sent++;
    plugin->poll(sink, status == LL_SINK_OK ? 0 : POLL_MS);
  }
  return true;
}

int main(int argc, char **argv) {
  static const struct option names[] = {{"url", required_argument, NULL, 'u'},
                                        {"messages", required_argument, NULL, 'm'},
                                        {"bytes", required_argument, NULL, 'b'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  static uint8_t data[BYTES_MAX];
  uint64_t messages = 4000, bytes = 262144;
  const char *url = NULL;
  bool legal = true;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'u': url = optarg; break;
    case 'm': legal = legal && parse_number(optarg, 1, 1u << 30, &messages); break;
    case 'b': legal = legal && parse_number(optarg, 1, BYTES_MAX, &bytes); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  if (!legal || url == NULL || optind != argc) {
    fputs("bench-sink: wrong usage (try --help)\n", stderr);
    return 2;
  }
  char why[512] = "";
  ll_sink_host host = {.url = url, .host_name = "bench", .program = "bench-sink", .log = print_trouble, .done = done};
  memcpy(host.incarnation, &(uint64_t){now_ns() ^ (uint64_t)getpid() << 40}, sizeof(uint64_t));
  payload_fill(data, bytes);
  const ll_sink_plugin *plugin = ll_sink_plugin_for(url, why, sizeof why);
  uint64_t began = now_ns(), cpu_began = cpu_ns();
  ll_sink *sink = plugin != NULL ? plugin->open(&host, why, sizeof why) : NULL;
  if (sink == NULL) {
    fprintf(stderr, "bench-sink: %s\n", why);
    return 1;
  }
  bool published = publish(plugin, sink, messages, data, bytes);
  double seconds = (double)(now_ns() - began) / 1e9, cpu_seconds = (double)(cpu_ns() - cpu_began) / 1e9;
  plugin->close(sink);
  if (!published) {
    fputs("bench-sink: not every message was acknowledged\n", stderr);
    return 1;
  }
  printf("{\"messages\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"seconds\":%.6f,\"cpu_seconds\":%.6f}\n", messages, bytes,
         seconds, cpu_seconds);
  return 0;
}
