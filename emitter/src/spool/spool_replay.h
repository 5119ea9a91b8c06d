/* One segment of the spool on its way to a sink: which of its batches are handed over, and what became of each.
 *
 * The segment is in memory as a whole, so that the sink reads the batches where they lie and no descriptor is open
 * meanwhile. One thread hands over; answers come on any thread.
 */
#ifndef LIFELINE_SPOOL_REPLAY_H
#define LIFELINE_SPOOL_REPLAY_H

#include "sink/sink.h"
#include "spool_files.h"

/* A token of a replay: this in its low 16 bits, where the token of a slot has its index. */
#define LL_REPLAY_TOKEN 0xffffu

typedef struct ll_replay_record {
  uint32_t offset, bytes;
  uint32_t events;
  uint32_t state; /* ll_replay_state, changed by answers */
  uint64_t sequence;
} ll_replay_record;

typedef struct ll_replay {
  char name[LL_SPOOL_NAME_MAX];
  ll_spool_content content;
  ll_replay_record *records;
  uint32_t count;
  uint32_t next;    /* to hand over */
  uint32_t again;   /* the sink asked for some of them once more */
  uint32_t round;   /* of the token, so that an answer to an earlier segment is known as such */
  uint32_t flying;  /* handed over, not answered */
  uint32_t refused; /* batches */
  uint32_t damaged, torn, mended;
  uint64_t damaged_events; /* of those whose header still told */
} ll_replay;

/* Takes the content over, also on failure. Returns 0 or ENOMEM. `round` sets this segment's answers apart from others'.
 */
int ll_replay_start(ll_replay *replay, const char *name, ll_spool_content *content, uint32_t round);
void ll_replay_free(ll_replay *replay);

typedef enum ll_replayed { LL_REPLAYED, LL_REPLAY_NOTHING, LL_REPLAY_BUSY } ll_replayed;

/* Hands one batch over, if there is one that the sink should have (again). */
ll_replayed ll_replay_send(ll_replay *replay, const ll_sink_plugin *plugin, ll_sink *sink);

/* True when the answer was to a batch of this segment. */
bool ll_replay_answer(ll_replay *replay, uint64_t token, ll_sink_outcome outcome);

/* Every batch is delivered or refused. */
bool ll_replay_done(const ll_replay *replay);

/* Events in the batches that the sink refused, or that it has taken. */
uint64_t ll_replay_events(const ll_replay *replay, bool refused);
uint32_t ll_replay_delivered(const ll_replay *replay);

#endif
