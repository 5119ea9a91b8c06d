/* The emitter's outgoing streams, one for each route, as the harvester works them.
 *
 * A declared route that nothing was ever sent to costs a look per interval: its sink is opened, and its memory taken,
 * when its first event is seen. One whose sink cannot be opened has its events counted as dropped_shutdown, and the
 * others go on.
 */
#ifndef LIFELINE_STREAMS_H
#define LIFELINE_STREAMS_H

#include "harvest.h"
#include "route.h"
#include "sink/routes.h"

typedef enum ll_stream_state {
  LL_STREAM_UNUSED,
  LL_STREAM_OPEN,
  LL_STREAM_FAILED, /* to open */
} ll_stream_state;

typedef struct ll_stream {
  uint32_t state; /* ll_stream_state; what follows may be looked at by other threads once it is open */
  ll_harvest harvest;
  ll_route route;
  uint64_t batches_sealed;
} ll_stream;

typedef struct ll_stream_settings {
  char url[4096];   /* of the default route */
  ll_routes routes; /* the others */
  char program[256];
  char host[256];
  const char *compression; /* auto, none, lz4 or zstd */
  size_t batch_bytes;
  ll_spool_settings spool;
} ll_stream_settings;

/* Begins anew, with nothing open. The settings stay where they are. */
void ll_streams_start(const ll_stream_settings *settings);

/* Opens the default route's stream, and makes sure that the others' sinks are installed. Returns 0 or an errno value,
 * which has been logged. */
int ll_streams_open(void);

/* Which routes have work: bit by bit, by number. */
typedef struct ll_work {
  uint32_t some; /* events wait in a ring of theirs */
  uint32_t much; /* a full batch, or a ring that is half full */
} ll_work;
ll_work ll_streams_work(void);

/* Seals one batch of each open stream in `wanted`, after opening those that have events for the first time; sends what
 * there is; lets acknowledgements in. LL_SEALED if any was sealed, else LL_NO_SLOT if any has no slot. */
ll_sealed ll_streams_advance(ll_work work, uint32_t wanted);

/* Routes of which only counters moved, whatever their rings hold. */
uint32_t ll_streams_with_news(void);

/* Routes whose sink has not yet taken all that is sealed: more batches would get there no sooner. */
uint32_t ll_streams_held_up(void);

/* True when a route has no slot left. */
bool ll_streams_starved(void);

/* The counters of FORMAT.md as they are now, over all routes. Any thread. */
void ll_streams_counters(uint64_t counters[LL_COUNTERS]);

/* Batches that were sealed, that were acknowledged, and that wait for it. Any thread. */
uint64_t ll_streams_sealed(void);
uint64_t ll_streams_acknowledged(void);
uint32_t ll_streams_in_flight(void);

/* True when no batch up to these sequences, by route, waits for its acknowledgement. */
bool ll_streams_settled(const uint64_t sequences[LL_ROUTES_MAX]);
void ll_streams_sequences(uint64_t sequences[LL_ROUTES_MAX]);

typedef enum ll_left {
  LL_LEFT_NOTHING,  /* all is delivered */
  LL_LEFT_IN_SPOOL, /* the rest: nobody needs the ring file any more */
  LL_LEFT_IN_FILE,
} ll_left;

typedef struct ll_streams_end {
  ll_left left;
  uint32_t undelivered; /* batches, by then */
  bool reached;         /* the default route's sink had a connection */
} ll_streams_end;

/* Delivers the rest before the deadline, which another thread may move, or for a sink that never had a connection
 * before unreached_ns; closes the sinks. What is left then goes into the spool, if there is one with room. */
ll_streams_end ll_streams_finish(const uint64_t *deadline_ns, uint64_t unreached_ns);

/* Nothing can be sent at all: what was emitted meanwhile is counted. */
void ll_streams_discard(void);

/* Has the default route's sink read its control topic. Returns NULL without memory for it. */
ll_control *ll_streams_watch(void);

#endif
