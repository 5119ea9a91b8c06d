/* What a transfer came to, for people or as JSON. */
#ifndef REMOTE_COPY_REPORT_H
#define REMOTE_COPY_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct report {
  const char *role; /* "send" or "receive" */
  uint64_t transfer;
  char source[128], destination[128];
  uint64_t files, bytes;
  bool ok;
  int64_t began_ns, ended_ns;
};

void report_begin(struct report *report, uint64_t transfer);
void report_end(struct report *report);

/* Results go to stdout, an error to stderr. */
void report_print(const struct report *report, bool json, const char *error);

/* The count of events of the whole process. */
void report_print_events(const char *role, bool json);

/* Text from a peer or a file name, made harmless for a terminal and for JSON. */
void report_make_printable(char *text);

#endif
