/* One NATS connection that is kept: a thread of its own connects, and connects again when the connection is lost.
 * nats.c could do the latter by itself, but then nobody learns why it does not succeed: a certificate that has expired,
 * say.
 *
 * nats.c ignores SIGPIPE for the whole process and starts threads that would take the program's signals. So the thread
 * blocks all signals, which nats.c's threads inherit, and puts SIGPIPE's disposition back.
 */
#ifndef LIFELINE_NATS_LINK_H
#define LIFELINE_NATS_LINK_H

#include <nats/nats.h>
#include <pthread.h>

#include "options.h"
#include "report.h"

typedef struct nats_link nats_link;

typedef enum link_event { LINK_UP, LINK_DOWN, LINK_FORBIDDEN, LINK_TICK } link_event;

typedef struct link_callbacks {
  void *ctx;
  /* From nats.c's threads or the link's own, never after end. LINK_TICK comes every 100 ms. */
  void (*event)(void *ctx, link_event event);
  /* A message on "<link_inbox>.<rest>"; suffix is that rest. */
  void (*answer)(void *ctx, const char *suffix, natsMsg *message);
  /* Once, after link_close: the link does nothing any more, and may be freed with what was passed to link_open. */
  void (*end)(void *ctx);
} link_callbacks;

/* What is passed must live as long as the link. On failure returns NULL and writes one line into error. */
nats_link *link_open(const sink_url *url, const sink_security *security, const char *name, sink_report *report,
                     const link_callbacks *callbacks, char *error, size_t error_bytes);

const char *link_inbox(const nats_link *link);

/* 0 while there is no connection. */
int64_t link_max_payload(nats_link *link);

bool link_is_up(nats_link *link);

/* NATS_CONNECTION_DISCONNECTED while there is no connection. */
natsStatus link_publish(nats_link *link, natsMsg *message);

/* The connection, for another thread; NULL while there is none. It is closed, but not freed, before it is returned. */
natsConnection *link_borrow(nats_link *link);
void link_return(nats_link *link);

/* Closes, which sets free whoever waits for the server on a borrowed connection, and calls end: before it returns, or
 * on the link's own thread if nats.c's threads still are at work after timeout_ms. */
void link_close(nats_link *link, int timeout_ms);

/* Of one that has ended, and that nobody will borrow from. */
void link_free(nats_link *link);

#endif
