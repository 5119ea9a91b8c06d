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

/* Fills in the options; directories are replaced by the batch files in them. Returns -1, or the exit status of a
 * program that has said all that it had to say. */
int options_parse(options *all, int argc, char **argv);
void options_free(options *all);

#endif
