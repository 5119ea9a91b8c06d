/* lifeline-setup: creates and checks Lifeline's resources on a broker. It never changes existing ones, which keep the
 * operator's settings; it reports settings that do not fit. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "setup.h"

static const char usage[] = "Usage: lifeline-setup [options]\n"
                            "\n"
                            "Creates the streams, buckets or topics that Lifeline needs on a NATS or Kafka\n"
                            "broker if they are missing, and checks those that exist:\n"
                            "  NATS   streams LIFELINE (batches) and LIFELINE_OUT (output of the jobs),\n"
                            "         KV buckets lifeline-activations and lifeline-jobs\n"
                            "  Kafka  topics lifeline.batches, lifeline.summaries, lifeline.ledger,\n"
                            "         lifeline.alerts, lifeline.rejected, lifeline.activations\n"
                            "Existing ones are never changed.\n"
                            "\n"
                            "  --url URL         nats://host:port or kafka://host:port[,host:port]\n"
                            "                    (default: $LIFELINE_URL)\n"
                            "  --check           create nothing; report what is missing or differs\n"
                            "  --retention TIME  how long batches and results are kept: 90m, 12h, 7d\n"
                            "                    (default 7d)\n"
                            "  --max-bytes SIZE  size limit for batches: 500M, 8G (default 8G on NATS,\n"
                            "                    unlimited on Kafka)\n"
                            "  --replicas N      copies in a cluster (default 1 on NATS, the broker's default\n"
                            "                    on Kafka)\n"
                            "  --partitions N    Kafka: partitions of batches, summaries, ledger, alerts\n"
                            "                    (default 16)\n"
                            "  --prefix NAME     prefix of subjects and topics (default lifeline)\n"
                            "  --json            print one JSON object instead of lines\n"
                            "  --help            print this text\n"
                            "  --version         print the version\n"
                            "\n"
                            "stream=NAME in a NATS URL selects the streams NAME and NAME_OUT. Credentials and\n"
                            "TLS are set as for an emitter: LIFELINE_USER, LIFELINE_PASSWORD_FILE,\n"
                            "LIFELINE_NATS_CREDS, LIFELINE_TLS_CA, LIFELINE_TLS_CERT, LIFELINE_TLS_KEY, or in\n"
                            "the URL. Settings whose options are not given are not checked.\n"
                            "\n"
                            "Exit status: 0 everything exists; 1 something is missing, differs or cannot be\n"
                            "created; 2 wrong usage.\n";

static struct {
  bool json;
  bool good;
  unsigned count;
} output = {.good = true};

void setup_report(setup_state state, const char *kind, const char *name, const char *format, ...) {
  static const char *const words[] = {"ok", "created", "missing", "differs", "failed"};
  char detail[512];
  va_list args;
  va_start(args, format);
  vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  output.good &= state == SETUP_OK || state == SETUP_CREATED;
  if (output.json) {
    printf("%s{\"state\":\"%s\",\"kind\":\"%s\",\"name\":", output.count++ ? "," : "", words[state], kind);
    json_print_text(name);
    printf(",\"detail\":");
    json_print_text(detail);
    putchar('}');
  } else {
    printf("%-7s %s %s%s%s\n", words[state], kind, name, *detail ? ": " : "", detail);
  }
}

/* Parses a number with a unit of `units` ("smhd"), scaled by the matching factor. -1 if it is illegal. */
static long long quantity(const char *text, const char *units, const long long *factors) {
  char *end;
  long long n = strtoll(text, &end, 10);
  const char *unit = *end ? strchr(units, *end) : NULL;
  if (end == text || n <= 0 || !unit || end[1] || n > (1LL << 60) / factors[unit - units]) return -1;
  return n * factors[unit - units];
}

static bool whole(const char *text, int most, int *value) {
  char *end;
  long n = strtol(text, &end, 10);
  *value = (int)n;
  return end != text && !*end && n >= 1 && n <= most;
}

static int wrong(const char *what) {
  fprintf(stderr, "lifeline-setup: %s (try --help)\n", what);
  return 2;
}

/* Returns -1 to continue, or an exit status. */
static int parse_options(int argc, char **argv, setup_wishes *wishes, const char **url) {
  static const struct option options[] = {
      {"url", required_argument, NULL, 'u'},
      {"check", no_argument, NULL, 'c'},
      {"retention", required_argument, NULL, 't'},
      {"max-bytes", required_argument, NULL, 'b'},
      {"replicas", required_argument, NULL, 'r'},
      {"partitions", required_argument, NULL, 'p'},
      {"prefix", required_argument, NULL, 'n'},
      {"json", no_argument, NULL, 'j'},
      {"help", no_argument, NULL, 'h'},
      {"version", no_argument, NULL, 'v'},
      {NULL, 0, NULL, 0},
  };
  static const long long times[] = {1000, 60000, 3600000, 86400000};
  static const long long sizes[] = {1LL << 10, 1LL << 20, 1LL << 30, 1LL << 40};
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
    case 'u': *url = optarg; break;
    case 'c': wishes->check = true; break;
    case 'n': wishes->prefix = optarg; break;
    case 'j': wishes->json = true; break;
    case 't':
      if ((wishes->retention_ms = quantity(optarg, "smhd", times)) < 0)
        return wrong("--retention must be a number and s, m, h or d");
      break;
    case 'b':
      if ((wishes->max_bytes = quantity(optarg, "KMGT", sizes)) < 0)
        return wrong("--max-bytes must be a number and K, M, G or T");
      break;
    case 'r':
      if (!whole(optarg, 5, &wishes->replicas)) return wrong("--replicas must be a number from 1 to 5");
      break;
    case 'p':
      if (!whole(optarg, 10000, &wishes->partitions)) return wrong("--partitions must be a number from 1 to 10000");
      break;
    case 'h': fputs(usage, stdout); return 0;
    case 'v': puts("lifeline-setup " LIFELINE_VERSION); return 0;
    default: return wrong("wrong usage");
    }
  }
  if (optind != argc) return wrong("only options are accepted");
  if (!*wishes->prefix || strspn(wishes->prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") !=
                              strlen(wishes->prefix))
    return wrong("--prefix may contain only letters, digits and ._-");
  return *url && **url ? -1 : wrong("no broker: give --url or set LIFELINE_URL");
}

int main(int argc, char **argv) {
  setup_wishes wishes = {.prefix = "lifeline"};
  const char *url = getenv("LIFELINE_URL");
  int status = parse_options(argc, argv, &wishes, &url);
  if (status >= 0) return status;
  char error[512];
  if (!tool_broker_read(&wishes.broker, url, error, sizeof error)) return wrong(error);
  output.json = wishes.json;
  if (wishes.json) printf("{\"resources\":[");
  bool asked =
      wishes.broker.nats ? setup_nats(&wishes, error, sizeof error) : setup_kafka(&wishes, error, sizeof error);
  if (wishes.json) printf("],\"ok\":%s}\n", asked && output.good ? "true" : "false");
  if (!asked) fprintf(stderr, "lifeline-setup: %s\n", error);
  tool_broker_free(&wishes.broker);
  return output_end("lifeline-setup", asked && output.good ? 0 : 1);
}
