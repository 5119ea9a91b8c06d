/* lifeline-doctor: checks everything between a program and its broker, and names the remedies. */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "json.h"
#include "resolution/resolution.h"
#include "sink/plugin.h"

static const char usage[] = "Usage: lifeline-doctor [--url URL] [--json]\n"
                            "\n"
                            "Checks everything between an instrumented program and its broker, with the\n"
                            "settings and credentials that the program would have here, and prints one line\n"
                            "per result, with the remedy:\n"
                            "  here    settings, clock, ring directory, spool, trigger file\n"
                            "  broker  names, connection, TLS, credentials, permissions, stream or topic and\n"
                            "          their limits, activations\n"
                            "It changes nothing, and leaves no message on the broker.\n"
                            "\n"
                            "  --url URL  overrides $LIFELINE_URL\n"
                            "  --json     print one JSON object instead of lines\n"
                            "  --help     print this text\n"
                            "  --version  print the version\n"
                            "\n"
                            "Run it as the user and in the environment of the program. Checks for which an\n"
                            "emitter's credentials have no permission are skipped: run it with an operator's\n"
                            "as well.\n"
                            "\n"
                            "Exit status: 0 no check failed (there may be warnings); 1 a check failed; 2 wrong\n"
                            "usage.\n";

static struct {
  bool json;
  unsigned count[FAIL + 1];
  bool any;
} output;

void report(verdict v, const char *subject, const char *format, ...) {
  static const char *const words[] = {"ok", "skipped", "warn", "fail"};
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  output.count[v]++;
  if (!output.json) {
    printf("%-7s %s: ", words[v], subject);
    plain_print_text(text); /* untrusted: quotes settings, brokers and files */
    putchar('\n');
    fflush(stdout);
    return;
  }
  printf("%s{\"state\":\"%s\",\"subject\":", output.any ? "," : "", words[v]);
  json_print_text(subject);
  printf(",\"text\":");
  json_print_text(text);
  putchar('}');
  output.any = true;
}

const char *bytes_text(double bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  static char texts[4][32];
  static unsigned next;
  char *text = texts[next++ % 4];
  size_t unit = 0;
  for (; bytes >= 1024 && unit < 4; unit++)
    bytes /= 1024;
  snprintf(text, sizeof texts[0], unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
  return text;
}

static void ignore_log(void *ctx, ll_sink_log_level level, const char *message) {
  (void)ctx, (void)level, (void)message;
}
static void ignore_done(void *ctx, uint64_t token, ll_sink_outcome outcome, const char *why) {
  (void)ctx, (void)token, (void)outcome, (void)why;
}

/* Lets the sink parse the URL, as in a program. False if the URL cannot be used. */
static bool check_sink(const char *route, const char *url, const ll_config *config) {
  char why[512];
  const ll_sink_host host = {.url = url,
                             .host_name = config->streams.host,
                             .program = config->streams.program,
                             .log = ignore_log,
                             .done = ignore_done};
  const ll_sink_plugin *plugin = ll_sink_plugin_for(url, why, sizeof why);
  ll_sink *sink = plugin != NULL ? plugin->open(&host, why, sizeof why) : NULL;
  if (sink == NULL) {
    report(FAIL, plugin != NULL ? "url" : "sink", "%s%s%s%s", route ? "route " : "", route ? route : "",
           route ? ": " : "", why);
    return false;
  }
  plugin->close(sink);
  report(OK, "sink", "the sink for %s accepts the URL%s%s", plugin->scheme, route ? " of route " : "",
         route ? route : "");
  if (plugin == &ll_sink_file) check_file(url + strlen("file://"));
  return true;
}

static void check_broker(const char *url) {
  tool_broker broker;
  char error[512];
  if (strncmp(url, "nats://", 7) != 0 && strncmp(url, "kafka://", 8) != 0) {
    report(SKIPPED, "broker", "the URL names none");
    return;
  }
  if (!tool_broker_read(&broker, url, error, sizeof error)) {
    report(FAIL, "url", "%s", error);
    return;
  }
  report(OK, "url", "%s at %s%s%s%s", broker.url.scheme, broker.url.hosts, broker.security.user ? " as user " : "",
         broker.security.user ? broker.security.user : "", broker.security.tls ? " with TLS" : "");
  if (check_network(&broker)) (broker.nats ? check_nats : check_kafka)(&broker);
  tool_broker_free(&broker);
}

/* Loads the settings like ll_init. */
static void check_settings(ll_config *config) {
  char why[512] = "";
  if (!ll_config_load(config, NULL, why, sizeof why) ||
      (config->on && !ll_resolution_start(&config->activations, why, sizeof why)))
    report(FAIL, "settings", "%s; instrumentation stays off", why);
  else if (!config->on && getenv("LIFELINE_URL"))
    report(WARN, "settings", "LIFELINE=off: programs emit nothing; the URL is not checked");
  else
    report(OK, "settings", "the environment is valid");
}

static int wrong(const char *what) {
  fprintf(stderr, "lifeline-doctor: %s (try --help)\n", what);
  return 2;
}

static int parse_options(int argc, char **argv, const char **url) {
  static const struct option options[] = {
      {"url", required_argument, NULL, 'u'},
      {"json", no_argument, NULL, 'j'},
      {"help", no_argument, NULL, 'h'},
      {"version", no_argument, NULL, 'v'},
      {NULL, 0, NULL, 0},
  };
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
    case 'u': *url = optarg; break;
    case 'j': output.json = true; break;
    case 'h': fputs(usage, stdout); return 0;
    case 'v': puts("lifeline-doctor " LIFELINE_VERSION); return 0;
    default: return 2; /* getopt has printed the error */
    }
  }
  if (optind != argc) return wrong("only options are accepted");
  return *url && **url ? -1 : wrong("no sink to check: give --url or set LIFELINE_URL");
}

int main(int argc, char **argv) {
  static ll_config config;
  const char *url = getenv("LIFELINE_URL");
  int status = parse_options(argc, argv, &url);
  if (status >= 0) return status;
  signal(SIGPIPE, SIG_IGN);
  if (output.json) printf("{\"findings\":[");
  setenv("LIFELINE_URL", url, 1); /* as in the program */
  check_settings(&config);
  check_clock();
  check_ring_directory(&config);
  check_spool();
  check_triggers();
  for (uint32_t i = 0; i < config.streams.routes.count; i++)
    check_sink(config.streams.routes.names[i], config.streams.routes.urls[i], &config);
  if (config.on && check_sink(NULL, url, &config)) check_broker(url);
  if (output.json)
    printf("],\"ok\":%u,\"skipped\":%u,\"warn\":%u,\"fail\":%u}\n", output.count[OK], output.count[SKIPPED],
           output.count[WARN], output.count[FAIL]);
  return output_end("lifeline-doctor", output.count[FAIL] ? 1 : 0);
}
