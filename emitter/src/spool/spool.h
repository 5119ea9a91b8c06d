/* The spool of one route: keeps sealed batches on disk while the sink does not accept them.
 *
 *   slot --(written, synced as the policy says)--> segment --(all acknowledged)--> gone
 *                                                     \----(no room: the oldest)--> discarded, counted
 *
 * One thread (the harvester) puts, sends and discards; answers come on any thread. Invariants:
 *
 *  - A batch stays in its slot until the spool has it. It may briefly be in both, and is then sent twice after a crash:
 *    consumers discard duplicates. It is always in at least one.
 *  - A batch that the sink returned may have arrived anyway. Such a batch, and a segment that contains one, is never
 *    discarded: otherwise it could be both archived and counted as dropped.
 *  - Discarded events are counted exactly, even if the process is killed meanwhile. First the ring file announces what
 *    will be discarded, and the resulting totals (ll_spool_books); then one rename, or freeing the slot, discards it;
 *    then the totals are stored. A recovery that finds the announcement checks whether the batches are gone.
 *  - After FINAL nothing is discarded: FINAL's counters are final.
 *  - No descriptor is open between two calls, and within a call it is checked before each write: see ringfile.h. (A
 *    mapped file would need none, but then a failing disk would kill the program by SIGBUS, where a write only fails.)
 *  - A full or missing disk loses nothing: batches stay in their slots, as without a spool, until it works again.
 */
#ifndef LIFELINE_SPOOL_H
#define LIFELINE_SPOOL_H

#include "ring/slots.h"
#include "spool_replay.h"

/* What happens to batches when the spool is full. */
typedef enum ll_spool_full { LL_SPOOL_DROP_OLDEST, LL_SPOOL_DROP_NEWEST, LL_SPOOL_BLOCK } ll_spool_full;

/* When the spool's files are synced, which limits what a crash of the machine (not of the process) can lose. */
typedef enum ll_spool_sync { LL_SPOOL_SYNC_INTERVAL, LL_SPOOL_SYNC_NEVER, LL_SPOOL_SYNC_ALWAYS } ll_spool_sync;

typedef struct ll_spool_settings {
  char directory[LL_SPOOL_PATH_MAX]; /* absolute; empty: no spool */
  uint64_t bytes;
  ll_spool_full full;
  ll_spool_sync sync;
} ll_spool_settings;

typedef struct ll_spool_segment {
  uint32_t number;
  bool offered; /* the sink was handed a batch of this segment, from here or from its slot */
  uint64_t first_sequence;
  uint64_t events;
  uint32_t batches;
} ll_spool_segment;

typedef struct ll_spool {
  const ll_spool_settings *settings; /* NULL: no spool */
  ll_store *store;
  ll_spool_books *books;
  ll_segment_identity identity; /* with the number of the newest segment */
  size_t segment_bytes;
  bool closing; /* FINAL is sealed */

  ll_spool_segment *segments; /* oldest first */
  size_t count, room;
  uint32_t batches; /* in all segments */

  bool writing; /* the newest segment may take more */
  size_t used;  /* bytes used in the newest segment */
  dev_t device;
  ino_t inode;
  bool unsynced;
  uint64_t sync_at_ns;

  bool replaying; /* the oldest segment */
  ll_replay replay;
  uint32_t round;

  int trouble; /* errno value, already logged */
  bool full_told;
  uint64_t retry_at_ns;
} ll_spool;

/* settings, host and program must outlive the spool. */
void ll_spool_start(ll_spool *spool, const ll_spool_settings *settings, ll_store *store, uint32_t route,
                    const char *host, const char *program);

/* The largest batch that fits into a segment, which is smaller in a small spool; without a spool, the largest batch. */
size_t ll_spool_batch_most(const ll_spool *spool);

/* Frees the memory. The files stay for a later recovery. The sink must have answered all batches. */
void ll_spool_stop(ll_spool *spool);

/* A slot whose batch the sink does not hold at present. */
typedef struct ll_spool_candidate {
  uint64_t sequence;
  uint32_t slot;
  bool offered; /* the sink held it before */
} ll_spool_candidate;

/* Moves these slots' batches into the spool, as far as possible, and frees the slots. When there is no room, the policy
 * may discard some. Returns how many slots became free. */
unsigned ll_spool_put(ll_spool *spool, const ll_spool_candidate *candidates, unsigned count);

/* Sends one batch of the spool's oldest segment to the sink. */
ll_replayed ll_spool_send(ll_spool *spool, const ll_sink_plugin *plugin, ll_sink *sink);
bool ll_spool_answer(ll_spool *spool, uint64_t token, ll_sink_outcome outcome);

/* Removes delivered segments, and syncs when due. */
void ll_spool_tick(ll_spool *spool);

/* True when the spool holds no batch up to this sequence. */
bool ll_spool_settled(const ll_spool *spool, uint64_t sequence);

/* Number of batches in the spool. Any thread. */
uint32_t ll_spool_batches(const ll_spool *spool);

#endif
