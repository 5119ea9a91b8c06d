/* lifeline-spool: inspects a spool directory, and delivers the batches that dead programs left in it. */
#include "base/clock.h"
#include "common/json.h"
#include "life/config.h"
#include "sink/plugin.h"
#include "spool/spool_drain.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "Usage: lifeline-spool list   [--spool DIR] [--program NAME] [--json]\n"
    "       lifeline-spool verify [--spool DIR] [--program NAME] [--json]\n"
    "       lifeline-spool drain  [--spool DIR] [--program NAME] [--url URL] [--route NAME=URL]...\n"
    "                             [--timeout-ms N] [--kept] [--other-namespaces] [--json]\n"
    "\n"
    "The spool is the directory in which programs store batches of events while their broker is\n"
    "unreachable (LIFELINE_SPOOL). list shows its contents, verify reads everything and reports\n"
    "damage, drain delivers the batches of programs that have ended, each exactly once for\n"
    "consumers, and removes delivered segments. Segments of running programs are skipped: they\n"
    "drain their own. drain may be interrupted (Ctrl-C) or killed, and run again, at any time.\n"
    "\n"
    "  --spool DIR         the directory (LIFELINE_SPOOL)\n"
    "  --program NAME      only batches of this program\n"
    "  --url URL           the sink (LIFELINE_URL; keep passwords there)\n"
    "  --route NAME=URL    the sink for batches of this route (LIFELINE_ROUTES); may be repeated\n"
    "  --timeout-ms N      give up after this time; the rest is kept for the next run (unlimited)\n"
    "  --kept              also drain segments kept as .refused or .damaged, for example after a\n"
    "                      limit of the broker was raised\n"
    "  --other-namespaces  also segments of other pid namespaces (containers) whose owners are\n"
    "                      known to be dead\n"
    "  --json              print one JSON object per line\n"
    "  --help              print this text\n"
    "  --version           print the version\n"
    "\n"
    "Exit status: 0 nothing is damaged or left, 1 something is, 2 wrong usage.\n";

typedef struct settings {
  char directory[LL_SPOOL_PATH_MAX];
  const char *program;
  bool json;
  bool failed;
} settings;

enum { HALF_MADE_US = 50000 };

static uint64_t deadline_ns = UINT64_MAX;

static void stop(int signal) {
  (void)signal;
  __atomic_store_n(&deadline_ns, 0, __ATOMIC_RELAXED);
}

static int wrong(const char *what) {
  fprintf(stderr, "lifeline-spool: %s (try --help)\n", what);
  return 2;
}

/* --- list and verify ---------------------------------------------------------------------------------------------- */

/* Contents of a segment. */
typedef struct content {
  uint64_t batches, events, damaged, torn, mended;
} content;

static content count(const ll_spool_content *segment) {
  content all = {0, 0, 0, 0, 0};
  ll_segment_scan scan = ll_segment_scan_start(&segment->identity, segment->bytes, segment->size);
  ll_scanned_record record;
  for (ll_scanned what; (what = ll_segment_scan_next(&scan, &record)) != LL_SCANNED_END;) {
    all.damaged += what == LL_SCANNED_DAMAGE;
    all.torn += what == LL_SCANNED_TORN;
    if (what != LL_SCANNED_RECORD) continue;
    all.batches++;
    all.events += record.events;
    all.mended += record.mended;
  }
  return all;
}

static const char *owner_of(const ll_segment_identity *identity) {
  static const char *const names[] = {[LL_DEAD] = "dead",
                                      [LL_ALIVE] = "alive",
                                      [LL_REPLACED] = "dead",
                                      [LL_OTHER_BOOT] = "dead",
                                      [LL_UNKNOWN] = "unknown"};
  return names[ll_process_liveness(&identity->owner)];
}

/* In text output, the segment's name contains incarnation and route; JSON has separate fields. */
static void print_segment(const settings *with, const ll_spool_file *file, const ll_spool_content *segment,
                          const content *all, const char *trouble) {
  if (with->json) {
    printf("{\"segment\":");
    json_print_text(file->name);
    printf(",\"state\":\"%s\",\"bytes\":%llu", ll_spool_kind_name(file->kind), (unsigned long long)file->bytes);
    if (segment != NULL) {
      printf(",\"program\":");
      json_print_text(segment->identity.program);
      printf(",\"host\":");
      json_print_text(segment->identity.host);
      printf(",\"pid\":%u,\"route\":", (unsigned)segment->identity.owner.pid);
      json_print_text(segment->identity.route_name);
      printf(",\"incarnation\":\"");
      for (int i = 0; i < 16; i++)
        printf("%02x", segment->identity.incarnation[i]);
      printf("\",\"owner\":\"%s\",\"batches\":%llu,\"events\":%llu,\"damaged\":%llu,\"torn\":%llu,\"mended\":%llu",
             owner_of(&segment->identity), (unsigned long long)all->batches, (unsigned long long)all->events,
             (unsigned long long)all->damaged, (unsigned long long)all->torn, (unsigned long long)all->mended);
    }
    if (trouble != NULL) printf(",\"trouble\":"), json_print_text(trouble);
    puts("}");
    return;
  }
  printf("%s: %s", file->name, ll_spool_kind_name(file->kind));
  if (segment != NULL)
    printf(" owner=%s route=%s batches=%llu events=%llu bytes=%llu", owner_of(&segment->identity),
           segment->identity.route_name, (unsigned long long)all->batches, (unsigned long long)all->events,
           (unsigned long long)file->bytes);
  if (segment != NULL && all->damaged + all->torn + all->mended > 0)
    printf(" damaged=%llu torn=%llu mended=%llu", (unsigned long long)all->damaged, (unsigned long long)all->torn,
           (unsigned long long)all->mended);
  printf(trouble != NULL ? " trouble: %s\n" : "\n", trouble);
}

static int look(settings *with, bool verify) {
  char why[512];
  if (access(with->directory, F_OK) != 0) {
    fprintf(stderr, "lifeline-spool: directory %s does not exist: the spool is empty\n", with->directory);
    return 0;
  }
  int directory = ll_spool_directory_open(with->directory, false, why, sizeof why);
  ll_spool_listing listing = {NULL, 0, 0};
  int error = directory >= 0 ? ll_spool_listing_read(directory, with->program, &listing) : 0;
  if (directory < 0 || error != 0) {
    fprintf(stderr, "lifeline-spool: %s\n", directory < 0 ? why : strerror(error));
    return 1;
  }
  content sum = {0, 0, 0, 0, 0};
  for (size_t i = 0; i < listing.count && deadline_ns != 0; i++) {
    ll_spool_content segment;
    const ll_spool_file *file = &listing.files[i];
    error = ll_spool_content_read(directory, file->name, LL_SPOOL_LOOK, &segment, why, sizeof why);
    if (error == EINVAL) { /* it may be half written */
      usleep(HALF_MADE_US);
      error = ll_spool_content_read(directory, file->name, LL_SPOOL_LOOK, &segment, why, sizeof why);
    }
    if (error == ENOENT) continue; /* it was delivered meanwhile */
    content all = {0, 0, 0, 0, 0};
    if (error == 0) all = count(&segment);
    sum.batches += all.batches;
    sum.events += all.events;
    sum.damaged += all.damaged + (error != 0);
    if (!verify || all.damaged + all.torn + all.mended > 0 || error != 0)
      print_segment(with, file, error == 0 ? &segment : NULL, &all, error != 0 ? why : NULL);
    if (error == 0) ll_spool_content_free(&segment);
  }
  printf(with->json ? "{\"segments\":%zu,\"batches\":%llu,\"events\":%llu,\"bytes\":%llu,\"damaged\":%llu}\n"
                    : "spool: segments=%zu batches=%llu events=%llu bytes=%llu damaged=%llu\n",
         listing.count, (unsigned long long)sum.batches, (unsigned long long)sum.events,
         (unsigned long long)listing.bytes, (unsigned long long)sum.damaged);
  ll_spool_listing_free(&listing);
  close(directory);
  return sum.damaged == 0 && deadline_ns != 0 ? 0 : 1;
}

/* --- drain -------------------------------------------------------------------------------------------------------- */

typedef struct totals {
  bool json;
  uint64_t batches, events, refused;
} totals;

static void report(void *ctx, const ll_drained *segment) {
  totals *all = ctx;
  all->batches += segment->batches;
  all->events += segment->events;
  all->refused += segment->refused_batches;
  if (all->json) {
    printf("{\"segment\":");
    json_print_text(segment->name);
    printf(",\"complete\":%s,\"batches\":%llu,\"events\":%llu,\"refused_batches\":%llu,\"refused_events\":%llu,"
           "\"damaged\":%llu",
           segment->complete ? "true" : "false", (unsigned long long)segment->batches,
           (unsigned long long)segment->events, (unsigned long long)segment->refused_batches,
           (unsigned long long)segment->refused_events, (unsigned long long)segment->damaged_places);
    if (segment->trouble != NULL) printf(",\"trouble\":"), json_print_text(segment->trouble);
    puts("}");
  } else {
    printf("%s: batches=%llu events=%llu %s%s\n", segment->name, (unsigned long long)segment->batches,
           (unsigned long long)segment->events, segment->trouble != NULL ? "trouble: " : "complete",
           segment->trouble != NULL ? segment->trouble : "");
  }
  fflush(stdout); /* shows progress */
}

static int drain_all(ll_spool_drain *drain, const settings *with) {
  char why[512];
  totals all = {with->json, 0, 0, 0};
  if (drain->url == NULL || *drain->url == '\0') return wrong("no sink: give --url or set LIFELINE_URL");
  if (ll_sink_plugin_for(drain->url, why, sizeof why) == NULL) return wrong(why);
  for (uint32_t i = 0; i < drain->routes->count; i++)
    if (ll_sink_plugin_for(drain->routes->urls[i], why, sizeof why) == NULL) return wrong(why);
  if (access(with->directory, F_OK) != 0)
    fprintf(stderr, "lifeline-spool: directory %s does not exist: the spool is empty\n", with->directory);
  drain->directory = with->directory;
  drain->program = with->program;
  drain->deadline_ns = &deadline_ns;
  drain->report = report;
  drain->ctx = &all;
  if (!ll_spool_drain_all(drain, why, sizeof why)) {
    fprintf(stderr, "lifeline-spool: %s\n", why);
    return 1;
  }
  bool over = ll_monotonic_ns() >= deadline_ns;
  printf(with->json ? "{\"segments\":%llu,\"batches\":%llu,\"events\":%llu,\"refused_batches\":%llu,\"left\":%llu,"
                      "\"skipped_live\":%llu,\"stopped\":%s}\n"
                    : "drain: segments=%llu batches=%llu events=%llu refused_batches=%llu left=%llu skipped_live=%llu "
                      "stopped=%s\n",
         (unsigned long long)drain->segments, (unsigned long long)all.batches, (unsigned long long)all.events,
         (unsigned long long)all.refused, (unsigned long long)drain->failed, (unsigned long long)drain->skipped_live,
         over ? "true" : "false");
  return drain->failed == 0 && !over ? 0 : 1;
}

static bool parse_number(const char *text, uint64_t *value) {
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' && *value <= UINT64_MAX / 2000000;
}

int main(int argc, char **argv) {
  static const struct option names[] = {{"spool", required_argument, NULL, 's'},
                                        {"url", required_argument, NULL, 'u'},
                                        {"route", required_argument, NULL, 'r'},
                                        {"program", required_argument, NULL, 'p'},
                                        {"timeout-ms", required_argument, NULL, 't'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"kept", no_argument, NULL, 'k'},
                                        {"other-namespaces", no_argument, NULL, 'o'},
                                        {"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'v'},
                                        {NULL, 0, NULL, 0}};
  static ll_routes routes;
  static settings with;
  char why[512];
  const char *directory = NULL;
  uint64_t timeout_ms = 0;
  bool given = false;
  ll_spool_drain drain = {.routes = &routes, .url = secure_getenv("LIFELINE_URL")};
  if (!ll_routes_parse(&routes, secure_getenv("LIFELINE_ROUTES"), why, sizeof why)) return wrong(why);
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 's': directory = optarg; break;
    case 'u': drain.url = optarg; break;
    case 'r':
      if (!given) memset(&routes, 0, sizeof routes); /* --route overrides LIFELINE_ROUTES */
      given = true;
      if (!ll_routes_add(&routes, optarg, strlen(optarg), why, sizeof why)) return wrong(why);
      break;
    case 'p': with.program = optarg; break;
    case 'j': with.json = true; break;
    case 'k': drain.kept_too = true; break;
    case 'o': drain.other_namespaces = true; break;
    case 'h': fputs(usage, stdout); return 0;
    case 'v': printf("lifeline-spool %d.%d.%d\n", LL_VERSION_MAJOR, LL_VERSION_MINOR, LL_VERSION_PATCH); return 0;
    case 't':
      if (parse_number(optarg, &timeout_ms)) break;
      return wrong("--timeout-ms must be a number of milliseconds");
    default: return wrong("wrong usage");
    }
  }
  if (optind + 1 != argc) return wrong("give one command: list, verify or drain");
  if (!ll_config_spool_dir(directory, with.directory, sizeof with.directory))
    return wrong("the spool directory's name is too long");
  if (with.directory[0] == '\0') return wrong("no spool: give --spool or set LIFELINE_SPOOL");
  if (timeout_ms > 0) deadline_ns = ll_monotonic_ns() + timeout_ms * UINT64_C(1000000);
  signal(SIGINT, stop);
  signal(SIGTERM, stop);
  const char *command = argv[optind];
  if (strcmp(command, "list") == 0) return output_end("lifeline-spool", look(&with, false));
  if (strcmp(command, "verify") == 0) return output_end("lifeline-spool", look(&with, true));
  if (strcmp(command, "drain") == 0) return output_end("lifeline-spool", drain_all(&drain, &with));
  return wrong("the commands are list, verify and drain");
}
