/* The emitter's outgoing streams, one per route, as used by the harvester.
 *
 * An unused route costs one check per interval: its sink is opened and its memory allocated when its first event is
 * seen. If the sink cannot be opened, the route's events are counted as dropped_shutdown, and the other routes
 * continue.
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
  uint32_t state; /* ll_stream_state; once open, other threads may read the following members */
  ll_harvest harvest;
  ll_route route;
  uint64_t batches_sealed;
  uint64_t sealed_ns; /* when the latest was; 0 before the first */
} ll_stream;

typedef struct ll_stream_settings {
  char url[4096];   /* of the default route */
  ll_routes routes; /* the other routes */
  char program[256];
  char host[256];
  const char *compression; /* auto, none, lz4, zstd or compatible */
  size_t batch_bytes;
  ll_spool_settings spool;
} ll_stream_settings;

/* Resets all streams, with none open. The settings must stay valid. */
void ll_streams_start(const ll_stream_settings *settings);

/* Opens the default route's stream, and checks that the sinks of the other routes are installed. Returns 0 or an errno
 * value, which has been logged. */
int ll_streams_open(void);

/* Routes with work: bitmaps by route number. */
typedef struct ll_work {
  uint32_t some;    /* events wait in a ring */
  uint32_t much;    /* a full batch, or a ring that is half full */
  uint64_t look_ns; /* when a full batch that still grows is to be sealed; UINT64_MAX if there is none */
} ll_work;
ll_work ll_streams_work(void);

/* Opens streams that have their first events; seals one batch of each open stream in `wanted`; sends batches; processes
 * acknowledgements. Returns LL_SEALED if any was sealed, else LL_NO_SLOT if any has no slot. */
ll_sealed ll_streams_advance(ll_work work, uint32_t wanted);

/* Routes that may have counters to report, whether or not their rings hold events. */
uint32_t ll_streams_with_news(void);

/* Routes whose sink has not yet accepted all sealed batches: sealing more would not deliver sooner. */
uint32_t ll_streams_held_up(void);

/* True when a route has no slot left. */
bool ll_streams_starved(void);

/* The routes that have no slot left while another one goes on. */
uint32_t ll_streams_stuck(void);

/* The current counters of FORMAT.md, summed over all routes. Any thread. */
void ll_streams_counters(uint64_t counters[LL_COUNTERS]);

/* Numbers of batches sealed, acknowledged, and waiting for acknowledgement. Any thread. */
uint64_t ll_streams_sealed(void);
uint64_t ll_streams_acknowledged(void);
uint32_t ll_streams_in_flight(void);

/* True when no batch up to these sequences, by route, waits for its acknowledgement. */
bool ll_streams_settled(const uint64_t sequences[LL_ROUTES_MAX]);
void ll_streams_sequences(uint64_t sequences[LL_ROUTES_MAX]);

typedef enum ll_left {
  LL_LEFT_NOTHING,  /* everything is delivered */
  LL_LEFT_IN_SPOOL, /* the rest is there: the ring file is no longer needed */
  LL_LEFT_IN_FILE,
} ll_left;

typedef struct ll_streams_end {
  ll_left left;
  uint32_t undelivered; /* number of batches at that point */
  bool reached;         /* the default route's sink had a connection */
} ll_streams_end;

/* Delivers the rest before the deadline, which another thread may change, or, for a sink that never had a connection,
 * before unreached_ns; then closes the sinks and moves what is left into the spool, if there is one with room. */
ll_streams_end ll_streams_finish(const uint64_t *deadline_ns, uint64_t unreached_ns);

/* Discards and counts emitted events when nothing can be sent. */
void ll_streams_discard(void);

/* Makes the default route's sink read its control topic. Returns NULL when out of memory. */
ll_control *ll_streams_watch(void);

#endif
