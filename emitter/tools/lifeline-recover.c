/* lifeline-recover: delivers the events that dead emitters left in their ring files. */
#include "base/clock.h"
#include "common/json.h"
#include "life/config.h"
#include "route/recover.h"
#include "sink/plugin.h"
#include "spool/spool_drain.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "Usage: lifeline-recover [--ring-dir DIR] [--url URL] [--route NAME=URL]...\n"
                            "                        [--program NAME] [--timeout-ms N] [--spool DIR] [--json]\n"
                            "                        [--other-namespaces]\n"
                            "\n"
                            "Delivers the events that programs left in their ring files when they were killed,\n"
                            "or when the broker was unreachable at exit, each exactly once, and removes the\n"
                            "delivered files. Files of running programs are skipped. It may be killed and run\n"
                            "again at any time.\n"
                            "\n"
                            "  --ring-dir DIR      directory of the files (LIFELINE_RING_DIR, or both\n"
                            "                      /dev/shm/lifeline-<uid> and $XDG_RUNTIME_DIR/lifeline)\n"
                            "  --url URL           the sink (LIFELINE_URL; keep passwords there, or in\n"
                            "                      LIFELINE_PASSWORD_FILE)\n"
                            "  --route NAME=URL    the sink for events of this route; may be repeated\n"
                            "                      (LIFELINE_ROUTES). Events of other routes are left\n"
                            "  --program NAME      only files of this program\n"
                            "  --timeout-ms N      give up after this time; unacknowledged events are kept for\n"
                            "                      the next run (30000)\n"
                            "  --spool DIR         also deliver the batches in this spool (LIFELINE_SPOOL)\n"
                            "  --json              print one JSON object per line\n"
                            "  --other-namespaces  also files of other pid namespaces (containers) whose owners\n"
                            "                      are known to be dead\n"
                            "  --help              print this text\n"
                            "  --version           print the version\n"
                            "\n"
                            "Exit status: 0 everything was delivered, 1 something was left, 2 wrong usage.\n";

typedef struct totals {
  bool json;
  uint64_t batches_resent, events_resent, batches_new, events_new;
} totals;

static void print_counts(bool json, uint64_t batches_resent, uint64_t events_resent, uint64_t batches_new,
                         uint64_t events_new) {
  printf(json ? "\"batches_resent\":%llu,\"events_resent\":%llu,\"batches_new\":%llu,\"events_new\":%llu"
              : "batches_resent=%llu events_resent=%llu batches_new=%llu events_new=%llu",
         (unsigned long long)batches_resent, (unsigned long long)events_resent, (unsigned long long)batches_new,
         (unsigned long long)events_new);
}

static void report(void *ctx, const ll_recovered *file) {
  totals *all = ctx;
  all->batches_resent += file->batches_resent;
  all->events_resent += file->events_resent;
  all->batches_new += file->batches_new;
  all->events_new += file->events_new;
  if (all->json) {
    printf("{\"file\":");
    json_print_text(file->path);
    printf(",\"complete\":%s,", file->complete ? "true" : "false");
  } else {
    printf("%s: ", file->path);
  }
  print_counts(all->json, file->batches_resent, file->events_resent, file->batches_new, file->events_new);
  if (all->json) {
    if (file->trouble != NULL) printf(",\"trouble\":"), json_print_text(file->trouble);
    puts("}");
  } else {
    printf(file->complete ? " complete\n" : " left: %s\n", file->trouble);
  }
}

/* Reports a spool segment as a file. */
static void report_segment(void *ctx, const ll_drained *segment) {
  const ll_recovered file = {.path = segment->name,
                             .complete = segment->trouble == NULL,
                             .trouble = segment->trouble,
                             .batches_resent = segment->batches,
                             .events_resent = segment->events};
  report(ctx, &file);
}

/* Returns false with one line in why if the directory cannot be read. */
static bool drain_spool(ll_recovery *recovery, const char *directory, char *why, size_t why_bytes) {
  ll_spool_drain drain = {.directory = directory,
                          .url = recovery->url,
                          .routes = recovery->routes,
                          .program = recovery->program,
                          .other_namespaces = recovery->other_namespaces,
                          .deadline_ns = recovery->deadline_ns,
                          .report = report_segment,
                          .ctx = recovery->ctx};
  bool read = ll_spool_drain_all(&drain, why, why_bytes);
  recovery->files += drain.segments;
  recovery->skipped_live += drain.skipped_live;
  recovery->failed += drain.failed;
  return read;
}

static bool parse_number(const char *text, uint64_t *value) {
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' && *value <= UINT64_MAX / 2000000;
}

static int complain(const char *what, const char *hint) {
  fprintf(stderr, "lifeline-recover: %s%s\n", what, hint);
  return 2;
}

static int wrong(const char *what) {
  return complain(what, " (try --help)");
}

int main(int argc, char **argv) {
  static const struct option names[] = {{"ring-dir", required_argument, NULL, 'd'},
                                        {"url", required_argument, NULL, 'u'},
                                        {"route", required_argument, NULL, 'r'},
                                        {"program", required_argument, NULL, 'p'},
                                        {"spool", required_argument, NULL, 's'},
                                        {"timeout-ms", required_argument, NULL, 't'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"other-namespaces", no_argument, NULL, 'o'},
                                        {"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'v'},
                                        {NULL, 0, NULL, 0}};
  const char *directory_option = NULL, *spool_option = NULL;
  uint64_t timeout_ms = 30000;
  totals all = {false, 0, 0, 0, 0};
  static ll_routes routes;
  char why[512];
  if (!ll_routes_parse(&routes, secure_getenv("LIFELINE_ROUTES"), why, sizeof why)) return complain(why, "");
  bool given = false;
  ll_recovery recovery = {.routes = &routes, .url = secure_getenv("LIFELINE_URL"), .report = report, .ctx = &all};
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'd': directory_option = optarg; break;
    case 'u': recovery.url = optarg; break;
    case 'r':
      if (!given) memset(&routes, 0, sizeof routes); /* --route overrides LIFELINE_ROUTES */
      given = true;
      if (!ll_routes_add(&routes, optarg, strlen(optarg), why, sizeof why)) return wrong(why);
      break;
    case 'p': recovery.program = optarg; break;
    case 's': spool_option = optarg; break;
    case 'j': all.json = true; break;
    case 'o': recovery.other_namespaces = true; break;
    case 'h': fputs(usage, stdout); return 0;
    case 'v': printf("lifeline-recover %d.%d.%d\n", LL_VERSION_MAJOR, LL_VERSION_MINOR, LL_VERSION_PATCH); return 0;
    case 't':
      if (parse_number(optarg, &timeout_ms)) break;
      return wrong("--timeout-ms must be a number of milliseconds");
    default: return wrong("wrong usage");
    }
  }
  if (optind != argc) return wrong("only options are accepted");
  if (recovery.url == NULL || *recovery.url == '\0') return wrong("no sink: give --url or set LIFELINE_URL");
  char directory[PATH_MAX], session_directory[PATH_MAX], spool[LL_SPOOL_PATH_MAX];
  if (!ll_config_spool_dir(spool_option, spool, sizeof spool)) return wrong("the spool directory's name is too long");
  if (!ll_config_ring_dir(directory_option, directory, sizeof directory))
    return wrong("the ring directory's name is too long");
  /* report a wrong URL even if there is nothing to send */
  if (ll_sink_plugin_for(recovery.url, why, sizeof why) == NULL) return complain(why, "");
  for (uint32_t i = 0; i < routes.count; i++)
    if (ll_sink_plugin_for(routes.urls[i], why, sizeof why) == NULL) return complain(why, "");
  if (directory_option != NULL && access(directory, F_OK) != 0)
    fprintf(stderr, "lifeline-recover: directory %s does not exist: nothing to recover\n", directory);
  uint64_t deadline_ns = ll_monotonic_ns() + timeout_ms * UINT64_C(1000000);
  recovery.directory = directory;
  if (ll_config_session_ring_dir(directory_option, session_directory, sizeof session_directory))
    recovery.session_directory = session_directory;
  recovery.deadline_ns = &deadline_ns;
  if (!ll_recover(&recovery, why, sizeof why) ||
      (spool[0] != '\0' && !drain_spool(&recovery, spool, why, sizeof why))) {
    fprintf(stderr, "lifeline-recover: %s\n", why);
    return 1;
  }
  if (all.json)
    printf("{\"files\":%llu,", (unsigned long long)recovery.files);
  else
    printf("recover: files=%llu ", (unsigned long long)recovery.files);
  print_counts(all.json, all.batches_resent, all.events_resent, all.batches_new, all.events_new);
  printf(all.json ? ",\"skipped_live\":%llu}\n" : " skipped_live=%llu\n", (unsigned long long)recovery.skipped_live);
  return output_end("lifeline-recover", recovery.failed == 0 ? 0 : 1);
}
