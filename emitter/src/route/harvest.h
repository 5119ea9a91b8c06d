/* From rings to sealed slots: steps 2 to 4 of the protocol in slots.h, for a live emitter and for a recovery alike. */
#ifndef LIFELINE_HARVEST_H
#define LIFELINE_HARVEST_H

#include "batch/batch.h"

typedef struct ll_harvest {
  ll_store *store;
  uint32_t route; /* its number; all that follows is of this route alone */
  const ll_types *types;
  ll_compressor *compressor; /* owned */
  ll_batch *batch;           /* owned */
  size_t batch_bytes;        /* of records, when there is no hurry */
  size_t total_limit;        /* what the sink takes */
  uint64_t sequence;         /* of the latest seal */
  uint64_t events;           /* in all batches so far */
  uint64_t dropped_sink;
  uint64_t reported;   /* sum of the counters that the latest batch told of, but for emitted */
  uint32_t first_ring; /* to begin with: each gets its turn */
  bool live;           /* the clock may be read; a dead emitter's can not */
  bool finished;       /* FINAL is sealed */
} ll_harvest;

typedef enum ll_sealed {
  LL_SEALED,
  LL_NOTHING_TO_SEAL,
  LL_NO_SLOT, /* all wait for acknowledgement */
} ll_sealed;

/* Goes on where the file's slots say. `compressor` is taken over, also on failure. Returns 0 or ENOMEM. */
int ll_harvest_start(ll_harvest *harvest, ll_store *store, uint32_t route, const ll_types *types,
                     ll_compressor *compressor, size_t batch_bytes, bool live);
void ll_harvest_free(ll_harvest *harvest);

/* Seals one batch of what the rings hold, if only to tell of counters that changed. `flags` may ask for FINAL, which is
 * granted to a batch that leaves nothing behind, be it empty. */
ll_sealed ll_harvest_seal(ll_harvest *harvest, uint32_t flags);

/* True when nothing is left to tell or to send: FINAL is sealed and all is acknowledged, or nothing ever was. */
bool ll_harvest_is_done(const ll_harvest *harvest);

/* Forgets what the rings hold, and returns how many events that were. */
uint64_t ll_harvest_discard(ll_harvest *harvest);

/* True while a refused batch is not in the counters of a later one. */
bool ll_harvest_has_refusals(const ll_harvest *harvest);

/* Bytes published and not yet sealed. */
uint64_t ll_harvest_pending(const ll_harvest *harvest);

/* All counters as they are now. */
void ll_harvest_counters(const ll_harvest *harvest, uint64_t counters[LL_COUNTERS]);

#endif
