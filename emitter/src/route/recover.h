/* Recovery: a later process delivers the contents of a dead emitter's ring file exactly once.
 *
 *  1. Claim the file: its owner is dead, and so is any process that recovered it before. Validate it; a damaged one is
 *     set aside, and a copy with what can be read takes its place (salvage.h).
 *  2. Sealed batches were taken from the rings, even if the tails had not moved yet: tail = max(tail, to).
 *  3. Send the sealed batches again, byte-identical; consumers discard duplicates.
 *  4. Seal the rest as the same incarnation's next batches, RECOVERED, the last one FINAL. They are in the same file,
 *     so that after a killed recovery the next one simply restarts at step 1.
 *  5. Remove the file when everything is acknowledged.
 *
 * Steps 3 and 4 are done for all routes of the file concurrently, each with the sink that the recovering process itself
 * declares for a route of that name: the file only says where they are meant to go. Events of an undeclared route stay,
 * and so does the file; a program's start also leaves those that are meant for another broker.
 */
#ifndef LIFELINE_RECOVER_H
#define LIFELINE_RECOVER_H

#include "sink/routes.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct ll_recovered {
  const char *path;
  bool complete; /* everything is delivered, and the file is removed */
  bool damaged;  /* parts could not be read: see salvage.h */
  char damage[160];
  const char *trouble; /* the reason, if not complete */
  uint64_t batches_resent, events_resent;
  uint64_t batches_new, events_new;
} ll_recovered;

typedef struct ll_recovery {
  const char *directory;
  const char *session_directory; /* searched as well; NULL or empty: none */
  const char *url;               /* of the default route */
  const ll_routes *routes;       /* of the other routes */
  const char *program;           /* only its files; NULL: those of all programs */
  const char *own;               /* the ring file of this process's own emitter, which uses the same sinks and logs
                                    their errors itself; NULL: none */
  bool other_namespaces;       /* also files with an owner in another pid namespace: the caller knows that it is dead */
  const uint64_t *deadline_ns; /* read repeatedly; may be changed by another thread */
  void (*report)(void *ctx, const ll_recovered *file);
  void *ctx;

  uint64_t files, skipped_live, failed;
} ll_recovery;

/* Recovers all files found, and counts them. False with one line in why when a directory cannot be read; a missing
 * directory counts as empty. */
bool ll_recover(ll_recovery *recovery, char *why, unsigned why_bytes);

#endif
