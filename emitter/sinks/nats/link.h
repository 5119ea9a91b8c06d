/* A persistent NATS connection: a thread of its own connects, reads and reconnects. It blocks all signals. */
#ifndef LIFELINE_NATS_LINK_H
#define LIFELINE_NATS_LINK_H

#include "report.h"
#include "wire.h"

typedef struct nats_link nats_link;

typedef enum link_event {
  LINK_UP,
  LINK_DOWN,
  LINK_FORBIDDEN,   /* this user may not publish the batches */
  LINK_NO_CONSUMER, /* this user may not create the consumer that was asked for */
} link_event;

typedef struct link_callbacks {
  void *ctx;
  /* All from the link's own thread, never after end. */
  void (*event)(void *ctx, link_event event);
  /* Does what is due, and returns when it must be called next, by flight_now_ms; INT64_MAX: not by itself. Called while
   * connected, also after everything that was received and after link_wake: otherwise the thread sleeps. */
  int64_t (*tick)(void *ctx);
  /* A message on "<link_inbox>.<suffix>". */
  void (*answer)(void *ctx, const char *suffix, const wire_frame *message);
  /* A message of a subscription made by link_subscribe. */
  void (*message)(void *ctx, const wire_frame *message);
  /* Once, after link_close: the link is idle, and may be freed with the arguments of link_open. */
  void (*end)(void *ctx);
} link_callbacks;

/* The arguments must live as long as the link. On failure returns NULL and writes one line into error. */
nats_link *link_open(const sink_url *url, const sink_security *security, const char *name, sink_report *report,
                     const link_callbacks *callbacks, char *error, size_t error_bytes);

/* Random, hence unique, also among forked siblings. */
const char *link_inbox(const nats_link *link);

/* 0 while disconnected. */
int64_t link_max_payload(nats_link *link);

bool link_is_up(nats_link *link);

/* True if the link was ever up. */
bool link_was_up(nats_link *link);

typedef struct link_message {
  const char *subject;
  const char *reply;   /* NULL: none */
  const char *headers; /* "NATS/1.0\r\n...\r\n\r\n"; NULL: none */
  const void *data;
  size_t bytes;
} link_message;

/* False while disconnected. A connection that does not take the whole message is closed. Thread-safe. */
bool link_publish(nats_link *link, const link_message *message);

/* Makes the link's thread call tick, if connected: the server answers a PING. Thread-safe. */
void link_wake(nats_link *link);

/* Only for the link's own thread. A subscription ends with its connection at the latest; its number must be above 1. */
bool link_subscribe(nats_link *link, const char *subject, unsigned number);
void link_unsubscribe(nats_link *link, unsigned number);

/* True if the answer is the server's "503 No Responders". */
bool link_nobody_answers(const wire_frame *answer);

/* Closes after the server has received what was published, and calls end: before it returns, or from the link's own
 * thread if that is still busy after timeout_ms. */
void link_close(nats_link *link, int timeout_ms);

/* Only after end was called. */
void link_free(nats_link *link);

#endif
