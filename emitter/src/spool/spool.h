/* The spool of one route: sealed batches that the sink does not take in time lie on disk until it does.
 *
 *   slot --(written, synced as the policy says)--> segment --(all acknowledged)--> gone
 *                                                     \----(no room: the oldest)--> given up, counted
 *
 * One thread (the harvester) puts, sends and gives up; answers come on any thread. What to know before changing it:
 *
 *  - A batch is in its slot until the spool has it, so it may be in both for a moment, and after a crash it is sent
 *    twice: consumers absorb repeats. It is never in neither.
 *  - A batch that was handed to the sink and came back may have arrived all the same. Such a batch is never given up,
 *    nor is a segment that holds one: else it would be archived and counted as dropped.
 *  - What is given up is counted exactly, even when the process is killed meanwhile. The ring file first announces what
 *    will go, and the totals after that (ll_spool_books); one rename, or the freeing of the slot, gives it up; then the
 *    totals are stored. A recovery that finds the announcement checks whether the batches are gone.
 *  - After FINAL nothing is given up any more: FINAL's counters are the last word.
 *  - No descriptor is open between two calls, and within one it is checked before each write: see ringfile.h. (A mapped
 *    file would need none; but then a failing disk kills the program, by SIGBUS, where a write only fails.)
 *  - A full or vanished disk is no reason to lose anything: batches stay in their slots, as without a spool, until it
 *    works again.
 */
#ifndef LIFELINE_SPOOL_H
#define LIFELINE_SPOOL_H

#include "ring/slots.h"
#include "spool_replay.h"

/* What becomes of batches that the full spool has no room for. */
typedef enum ll_spool_full { LL_SPOOL_DROP_OLDEST, LL_SPOOL_DROP_NEWEST, LL_SPOOL_BLOCK } ll_spool_full;

/* When the spool's files are synced: what a crash of the machine, not of the process, may cost. */
typedef enum ll_spool_sync { LL_SPOOL_SYNC_INTERVAL, LL_SPOOL_SYNC_NEVER, LL_SPOOL_SYNC_ALWAYS } ll_spool_sync;

typedef struct ll_spool_settings {
  char directory[LL_SPOOL_PATH_MAX]; /* absolute; empty: there is no spool */
  uint64_t bytes;
  ll_spool_full full;
  ll_spool_sync sync;
} ll_spool_settings;

typedef struct ll_spool_segment {
  uint32_t number;
  bool offered; /* the sink was handed a batch of it, or it was handed one that is in here */
  uint64_t first_sequence;
  uint64_t events;
  uint32_t batches;
} ll_spool_segment;

typedef struct ll_spool {
  const ll_spool_settings *settings; /* NULL: there is no spool */
  ll_store *store;
  ll_spool_books *books;
  ll_segment_identity identity; /* with the number of the newest segment */
  size_t segment_bytes;
  bool closing; /* FINAL is sealed */

  ll_spool_segment *segments; /* oldest first */
  size_t count, room;
  uint32_t batches; /* in all of them */

  bool writing; /* the newest may take more */
  size_t used;  /* of its bytes */
  dev_t device;
  ino_t inode;
  bool unsynced;
  uint64_t sync_at_ns;

  bool replaying; /* the oldest */
  ll_replay replay;
  uint32_t round;

  int trouble; /* errno value, already told */
  bool full_told;
  uint64_t retry_at_ns;
} ll_spool;

/* settings, host and program must outlive the spool. */
void ll_spool_start(ll_spool *spool, const ll_spool_settings *settings, ll_store *store, uint32_t route,
                    const char *host, const char *program);

/* Frees the memory. What lies in the directory stays for whoever comes next. The sink must have answered everything. */
void ll_spool_stop(ll_spool *spool);

/* A slot whose batch the sink does not hold at this moment. */
typedef struct ll_spool_candidate {
  uint64_t sequence;
  uint32_t slot;
  bool offered; /* it did once */
} ll_spool_candidate;

/* Moves these slots' batches into the spool, as far as that is possible, and frees the slots. What the policy says when
 * there is no room may be to give some up. Returns how many slots are free now. */
unsigned ll_spool_put(ll_spool *spool, const ll_spool_candidate *candidates, unsigned count);

/* Hands the sink one batch of the spool's oldest segment. */
ll_replayed ll_spool_send(ll_spool *spool, const ll_sink_plugin *plugin, ll_sink *sink);
bool ll_spool_answer(ll_spool *spool, uint64_t token, ll_sink_outcome outcome);

/* Removes what is delivered, and syncs when it is time. */
void ll_spool_tick(ll_spool *spool);

/* True when the spool holds no batch up to this sequence. */
bool ll_spool_settled(const ll_spool *spool, uint64_t sequence);

/* Batches that the spool holds. Any thread. */
uint32_t ll_spool_batches(const ll_spool *spool);

#endif
