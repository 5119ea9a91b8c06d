#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "emit.h"

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void report_begin(struct report *report, uint64_t transfer) {
  report->transfer = transfer;
  report->began_ns = now_ns();
}

void report_end(struct report *report) {
  report->ended_ns = now_ns();
}

void report_make_printable(char *text) {
  for (; *text != '\0'; text++)
    if ((unsigned char)*text < 0x20 || *text == 0x7f || *text == '"' || *text == '\\') *text = '?';
}

void report_print(const struct report *report, bool json, const char *error) {
  double seconds = report->began_ns != 0 ? (double)(report->ended_ns - report->began_ns) / 1e9 : 0;
  if (error != NULL) {
    char text[512];
    snprintf(text, sizeof text, "%s", error);
    report_make_printable(text);
    fprintf(stderr, "remote-copy: %s: %s\n", report->role, text);
  }
  if (json) {
    printf("{\"role\":\"%s\",\"ok\":%s,\"transfer\":\"%" PRIu64 "\",\"files\":%" PRIu64 ",\"bytes\":%" PRIu64
           ",\"seconds\":%.6f}\n",
           report->role, report->ok ? "true" : "false", report->transfer, report->files, report->bytes, seconds);
  } else if (report->ok) {
    printf("%s: %" PRIu64 " files, %" PRIu64 " bytes in %.2f s (%.1f MB/s), verified\n", report->role, report->files,
           report->bytes, seconds, seconds > 0 ? (double)report->bytes / 1e6 / seconds : 0);
  }
  fflush(stdout);
}

void report_print_events(const char *role, bool json) {
  uint64_t events = atomic_load(&emit_count);
  if (json)
    printf("{\"role\":\"%s\",\"events_emitted\":%" PRIu64 "}\n", role, events);
  else
    printf("%s: emitted %" PRIu64 " events\n", role, events);
  fflush(stdout);
}
