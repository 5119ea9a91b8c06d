/* Delivers the segments of dead processes in a spool directory, one by one, and removes delivered ones.
 *
 * Skips segments whose owner is alive or that another drain has claimed. May be killed and restarted at any time:
 * batches of the current segment that were already delivered are then sent again, and consumers discard duplicates.
 */
#ifndef LIFELINE_SPOOL_DRAIN_H
#define LIFELINE_SPOOL_DRAIN_H

#include "sink/routes.h"
#include "spool_files.h"

typedef struct ll_drained {
  const char *name;
  bool complete;       /* every intact batch is delivered, and the segment is gone or kept as damaged */
  const char *trouble; /* the fault, if something was not delivered */
  uint64_t batches, events;
  uint64_t refused_batches, refused_events;
  uint64_t damaged_places;
} ll_drained;

typedef struct ll_spool_drain {
  const char *directory;
  const char *url;         /* of the default route */
  const ll_routes *routes; /* of the other routes */
  const char *program;     /* only its segments; NULL: those of all programs */
  bool other_namespaces;   /* also segments with an owner in another pid namespace: the caller knows that it is dead */
  bool kept_too;           /* also segments that were refused or damaged before */
  const uint64_t *deadline_ns; /* read repeatedly; may be changed by another thread or a signal handler */
  void (*report)(void *ctx, const ll_drained *segment);
  void *ctx;

  uint64_t segments, skipped_live, failed;
} ll_spool_drain;

/* Drains all segments found, and counts them. False with one line in why when the directory cannot be read; a missing
 * directory counts as empty. */
bool ll_spool_drain_all(ll_spool_drain *drain, char *why, size_t why_bytes);

#endif
