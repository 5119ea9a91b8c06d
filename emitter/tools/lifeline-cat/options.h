/* The command line. */
#ifndef LIFELINE_CAT_OPTIONS_H
#define LIFELINE_CAT_OPTIONS_H

#include "merge.h"
#include "print.h"

typedef struct options {
  format as;
  order by;
  bool follow, json, quiet;
  size_t window_bytes;
  wanted filter;
  const char **types; /* ends with NULL */
  const char **inputs;
  uint32_t input_count;
} options;

/* Parses the options, and replaces directories by the batch files in them. Returns -1 to continue, or an exit status:
 * the message or help was printed. */
int options_parse(options *all, int argc, char **argv);
void options_free(options *all);

#endif
