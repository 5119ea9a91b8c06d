/* The control topic on NATS: a KV bucket, watched by a consumer of its stream that the server pushes from. All calls
 * but nats_watch_start are for the link's own thread. */
#ifndef LIFELINE_NATS_BUCKET_H
#define LIFELINE_NATS_BUCKET_H

#include "control_topic.h"
#include "link.h"
#include "names.h"

#define NATS_WATCH_SUFFIX "control-" /* of the inbox, and a number: the answer to the request for a consumer */

typedef enum nats_watch_state { WATCH_RESTS, WATCH_ASKED, WATCH_READS } nats_watch_state;

typedef struct nats_watch {
  sink_control *control;
  nats_link *link;
  bool wanted; /* set by another thread */
  nats_watch_state state;
  unsigned number;   /* of the reading, and of its subscription */
  uint64_t expected; /* the consumer's next message */
  bool complete;     /* what the bucket held was read; what comes are changes */
  int64_t due_ms;    /* when the next step is taken: an attempt, or giving this one up */
} nats_watch;

/* From now on reads what the bucket holds, then its changes; all again after each reconnect, and when something was
 * missed, since the server's end of a watch does not outlive the server. Nothing if control is off. */
void nats_watch_start(nats_watch *watch);

void nats_watch_up(nats_watch *watch);
void nats_watch_down(nats_watch *watch);
void nats_watch_tick(nats_watch *watch);
void nats_watch_answer(nats_watch *watch, const char *suffix, const wire_frame *answer);
void nats_watch_message(nats_watch *watch, const wire_frame *message);

#endif
