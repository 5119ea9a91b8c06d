/* Delivers what dead processes left in a spool's directory, segment by segment, and removes what is delivered.
 *
 * A segment whose owner lives is left alone, and so is one that another drain has claimed. May be killed and run again
 * at any time: what had been delivered of a segment is then sent again, and consumers absorb it.
 */
#ifndef LIFELINE_SPOOL_DRAIN_H
#define LIFELINE_SPOOL_DRAIN_H

#include "sink/routes.h"
#include "spool_files.h"

typedef struct ll_drained {
  const char *name;
  bool complete;       /* all that was whole is delivered, and the segment is gone */
  const char *trouble; /* when it is not, or not all of it was */
  uint64_t batches, events;
  uint64_t refused_batches, refused_events;
  uint64_t damaged_places;
} ll_drained;

typedef struct ll_spool_drain {
  const char *directory;
  const char *url;         /* of the default route */
  const ll_routes *routes; /* of the others */
  const char *program;     /* only its segments; NULL: of all programs */
  bool other_namespaces;   /* also segments whose owner's pid means nothing here: the caller knows that it is dead */
  bool kept_too;           /* also what was refused or damaged before */
  const uint64_t *deadline_ns; /* read as time goes by; may be moved by another thread or a signal handler */
  void (*report)(void *ctx, const ll_drained *segment);
  void *ctx;

  uint64_t segments, skipped_live, failed;
} ll_spool_drain;

/* Drains what it finds, and counts it. False with one line in why when the directory cannot be read; one that does not
 * exist holds nothing. */
bool ll_spool_drain_all(ll_spool_drain *drain, char *why, size_t why_bytes);

#endif
