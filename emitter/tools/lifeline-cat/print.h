/* Prints an event as one line: JSON as written by the decode job, BP, or ULM. */
#ifndef LIFELINE_CAT_PRINT_H
#define LIFELINE_CAT_PRINT_H

#include "ordered.h"
#include "out.h"

typedef enum format { FORMAT_JSON, FORMAT_BP, FORMAT_ULM, FORMAT_NONE } format;

typedef struct wanted {
  const char *const *types; /* globs, one of which must match; NULL: all */
  const char *program, *host;
  unsigned level;            /* this level and more severe ones */
  int64_t since_ns, last_ns; /* both inclusive */
} wanted;

/* The text shared by all events of one type in one batch. */
typedef struct type_text type_text;

/* Prints the event if the filter accepts it. */
void print_event(out *to, format as, const wanted *filter, ordered *batch, const ordered_event *at);

/* The types of all events so far, if none of them matches a glob of --type; NULL if one does, or if there were no
 * events. */
const char *print_unmatched(bool *incomplete);

#endif
