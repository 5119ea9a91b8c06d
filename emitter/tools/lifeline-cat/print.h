/* One event as one line: JSON as the decode job writes it, BP, or ULM. */
#ifndef LIFELINE_CAT_PRINT_H
#define LIFELINE_CAT_PRINT_H

#include "ordered.h"
#include "out.h"

typedef enum format { FORMAT_JSON, FORMAT_BP, FORMAT_ULM, FORMAT_NONE } format;

typedef struct wanted {
  const char *const *types; /* globs of which one must match; NULL: all */
  const char *program, *host;
  unsigned level;            /* this and what matters more */
  int64_t since_ns, last_ns; /* both belong to it */
} wanted;

/* Everything that does not change between two events of one type in one batch. */
typedef struct type_text type_text;

/* Prints the event if it is wanted. */
void print_event(out *to, format as, const wanted *filter, ordered *batch, const ordered_event *at);

#endif
