/* The control topic on NATS: a KV bucket, watched by a push consumer of its stream. Only the link's thread may call
 * these functions, except nats_watch_start. */
#ifndef LIFELINE_NATS_BUCKET_H
#define LIFELINE_NATS_BUCKET_H

#include "control_topic.h"
#include "link.h"
#include "names.h"

#define NATS_WATCH_SUFFIX "control-" /* inbox suffix of the answer to a consumer request, followed by a number */

typedef enum nats_watch_state { WATCH_RESTS, WATCH_ASKED, WATCH_READS } nats_watch_state;

typedef struct nats_watch {
  sink_control *control;
  nats_link *link;
  bool wanted; /* set by another thread */
  nats_watch_state state;
  unsigned number;   /* of this attempt and its subscription */
  uint64_t expected; /* next consumer sequence */
  bool complete;     /* the bucket's contents were read; later messages are changes */
  int64_t due_ms;    /* time of the next attempt, or timeout of this one */
} nats_watch;

/* Starts reading the bucket's contents, then its changes. Reads everything again after a reconnect or a missed message,
 * since the consumer is lost with its server. No-op if control is off. */
void nats_watch_start(nats_watch *watch);

void nats_watch_up(nats_watch *watch);
void nats_watch_down(nats_watch *watch);

/* The server, which does not answer forbidden requests, has said so by itself. */
void nats_watch_forbidden(nats_watch *watch);

/* Begins, or gives up what took too long. Returns when it must be called next. */
int64_t nats_watch_tick(nats_watch *watch);

void nats_watch_answer(nats_watch *watch, const char *suffix, const wire_frame *answer);
void nats_watch_message(nats_watch *watch, const wire_frame *message);

#endif
