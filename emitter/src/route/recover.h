/* Recovery: what a dead emitter left in its ring file is delivered, exactly once, by whoever comes next.
 *
 *  1. Own the file: its owner is dead, and so is whoever recovered it before.
 *  2. Sealed batches were taken from the rings, whether or not the tails had moved yet: tail = max(tail, to).
 *  3. Send the sealed batches again, byte-identical; consumers absorb what they have already.
 *  4. Seal the rest as the same incarnation's next batches, RECOVERED, the last one FINAL. They lie in the same file,
 *     so that a recovery which is killed leaves nothing but step 1 to the next.
 *  5. Remove the file when all is acknowledged.
 *
 * Steps 3 and 4 are taken for each route of the file, side by side, each to the sink that the recovering process itself
 * declares for a route of that name: a file from the past says where nothing goes. Events of a route that is not
 * declared stay, and the file with them.
 */
#ifndef LIFELINE_RECOVER_H
#define LIFELINE_RECOVER_H

#include "sink/routes.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct ll_recovered {
  const char *path;
  bool complete;       /* all is delivered, and the file is gone */
  const char *trouble; /* when it is not */
  uint64_t batches_resent, events_resent;
  uint64_t batches_new, events_new;
} ll_recovered;

typedef struct ll_recovery {
  const char *directory;
  const char *session_directory; /* looked into as well; NULL or empty: there is none */
  const char *url;               /* of the default route */
  const ll_routes *routes;       /* of the others */
  const char *program;           /* only its files; NULL: of all programs */
  const char *own;               /* the ring file of this process's own emitter, with the same sinks, whose trouble it
                                    tells itself; NULL: there is none */
  bool other_namespaces;         /* also files whose owner's pid means nothing here: the caller knows that it is dead */
  const uint64_t *deadline_ns;   /* read as time goes by; may be moved by another thread */
  void (*report)(void *ctx, const ll_recovered *file);
  void *ctx;

  uint64_t files, skipped_live, failed;
} ll_recovery;

/* Recovers what it finds, and counts it. False with one line in why when a directory cannot be read; one that does
 * not exist holds nothing. */
bool ll_recover(ll_recovery *recovery, char *why, unsigned why_bytes);

#endif
