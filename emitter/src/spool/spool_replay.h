/* Sends one segment of the spool to a sink, and tracks the state of each batch.
 *
 * The whole segment is in memory, so that the sink reads the batches in place and no descriptor stays open. One thread
 * sends; answers come on any thread.
 */
#ifndef LIFELINE_SPOOL_REPLAY_H
#define LIFELINE_SPOOL_REPLAY_H

#include "sink/sink.h"
#include "spool_files.h"

/* The low 16 bits of a replay's token, where the token of a slot has its index. */
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
  uint32_t next;    /* next record to send */
  uint32_t again;   /* the sink asked to send some of them again */
  uint32_t round;   /* part of the token, to recognise answers to earlier segments */
  uint32_t flying;  /* sent, not answered */
  uint32_t refused; /* batches */
  uint32_t damaged, torn, mended;
  uint64_t damaged_events; /* of damaged records with an intact header */
} ll_replay;

/* Takes ownership of the content, even on failure. Returns 0 or ENOMEM. `round` distinguishes this segment's answers
 * from others'. */
int ll_replay_start(ll_replay *replay, const char *name, ll_spool_content *content, uint32_t round);
void ll_replay_free(ll_replay *replay);

typedef enum ll_replayed { LL_REPLAYED, LL_REPLAY_NOTHING, LL_REPLAY_BUSY } ll_replayed;

/* Sends one batch, if one waits to be sent (again). */
ll_replayed ll_replay_send(ll_replay *replay, const ll_sink_plugin *plugin, ll_sink *sink);

/* True when the answer was to a batch of this segment. */
bool ll_replay_answer(ll_replay *replay, uint64_t token, ll_sink_outcome outcome);

/* True when every batch is delivered or refused. */
bool ll_replay_done(const ll_replay *replay);

/* Number of events in the batches that the sink refused, or that it accepted. */
uint64_t ll_replay_events(const ll_replay *replay, bool refused);
uint32_t ll_replay_delivered(const ll_replay *replay);

#endif
