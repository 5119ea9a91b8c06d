/* Moves events from rings to sealed slots: seals and advances tails as in slots.h, for a live emitter and for a
 * recovery. */
#ifndef LIFELINE_HARVEST_H
#define LIFELINE_HARVEST_H

#include "batch/batch.h"

typedef struct ll_harvest {
  ll_store *store;
  uint32_t route; /* its number; all other members concern this route only */
  const ll_types *types;
  ll_compressor *compressor; /* owned */
  ll_batch *batch;           /* owned */
  size_t batch_bytes;        /* target size of the records of a batch, unless more are waiting */
  size_t total_limit;        /* the sink's limit for a batch */
  uint64_t sequence;         /* of the latest seal */
  uint64_t events;           /* in all batches so far */
  uint64_t dropped_sink;
  uint64_t reported;   /* sum of the counters, except emitted, in the latest batch */
  uint64_t looked;     /* full tick of the latest look at the rings */
  uint32_t first_ring; /* first ring to gather, for fairness */
  bool live;           /* a live emitter, whose clock can be read */
  bool finished;       /* FINAL is sealed */
  bool doubted;        /* it was reported that times are a guess */
} ll_harvest;

typedef enum ll_sealed {
  LL_SEALED,
  LL_NOTHING_TO_SEAL,
  LL_NO_SLOT, /* all slots wait for acknowledgement */
} ll_sealed;

/* Continues from the state of the file's slots. Takes ownership of `compressor`, even on failure. Returns 0 or
 * ENOMEM. */
int ll_harvest_start(ll_harvest *harvest, ll_store *store, uint32_t route, const ll_types *types,
                     ll_compressor *compressor, size_t batch_bytes, bool live);
void ll_harvest_free(ll_harvest *harvest);

/* How far a batch grows beyond `batch_bytes` while more records wait. */
size_t ll_harvest_growth(size_t batch_bytes);

/* Seals one batch of the rings' events, or an empty one when only counters changed. `flags` may request FINAL, which is
 * set only if the batch leaves nothing behind; that batch may be empty. */
ll_sealed ll_harvest_seal(ll_harvest *harvest, uint32_t flags);

/* True when nothing is left to report or to send: FINAL is sealed and everything acknowledged, or the route was never
 * used. */
bool ll_harvest_is_done(const ll_harvest *harvest);

/* Discards the contents of the rings, and returns the number of events. */
uint64_t ll_harvest_discard(ll_harvest *harvest);

/* True while a refused batch is not included in the counters of a later one. */
bool ll_harvest_has_refusals(const ll_harvest *harvest);

/* Bytes published and not yet sealed. */
uint64_t ll_harvest_pending(const ll_harvest *harvest);

/* The current values of all counters. */
void ll_harvest_counters(const ll_harvest *harvest, uint64_t counters[LL_COUNTERS]);

#endif
