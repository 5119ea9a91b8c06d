/* One NATS connection that is kept: a thread of its own connects, reads, and connects again when the connection is
 * lost. It has all signals blocked.
 */
#ifndef LIFELINE_NATS_LINK_H
#define LIFELINE_NATS_LINK_H

#include "report.h"
#include "wire.h"

typedef struct nats_link nats_link;

typedef enum link_event { LINK_UP, LINK_DOWN, LINK_FORBIDDEN, LINK_TICK } link_event;

typedef struct link_callbacks {
  void *ctx;
  /* All from the link's own thread, never after end. LINK_TICK comes every 100 ms while there is a connection. */
  void (*event)(void *ctx, link_event event);
  /* A message on "<link_inbox>.<suffix>". */
  void (*answer)(void *ctx, const char *suffix, const wire_frame *message);
  /* A message of a subscription made by link_subscribe. */
  void (*message)(void *ctx, const wire_frame *message);
  /* Once, after link_close: the link does nothing any more, and may be freed with what was passed to link_open. */
  void (*end)(void *ctx);
} link_callbacks;

/* What is passed must live as long as the link. On failure returns NULL and writes one line into error. */
nats_link *link_open(const sink_url *url, const sink_security *security, const char *name, sink_report *report,
                     const link_callbacks *callbacks, char *error, size_t error_bytes);

/* Random, so that nobody else has it: no forked sibling either. */
const char *link_inbox(const nats_link *link);

/* 0 while there is no connection. */
int64_t link_max_payload(nats_link *link);

bool link_is_up(nats_link *link);

/* Whether it ever was. */
bool link_was_up(nats_link *link);

typedef struct link_message {
  const char *subject;
  const char *reply;   /* NULL: none */
  const char *headers; /* "NATS/1.0\r\n...\r\n\r\n"; NULL: none */
  const void *data;
  size_t bytes;
} link_message;

/* False while there is no connection; a connection that does not take it all is at its end. Any thread. */
bool link_publish(nats_link *link, const link_message *message);

/* For the link's own thread. A subscription ends with its connection at the latest; its number is above 1. */
bool link_subscribe(nats_link *link, const char *subject, unsigned number);
void link_unsubscribe(nats_link *link, unsigned number);

/* True of an answer that says that nobody listens. */
bool link_nobody_answers(const wire_frame *answer);

/* Closes, once the server has taken what was published, and calls end: before it returns, or on the link's own thread
 * if that is still at work after timeout_ms. */
void link_close(nats_link *link, int timeout_ms);

/* Of one that has ended. */
void link_free(nats_link *link);

#endif
