/* The two events of a request to memcached, whose text protocol calls these functions in the copies that
 * scripts/build memcached makes, where memcached.h comes first. How they are emitted is in events.h of one of the
 * folders lifeline, lttng and otel. */
#ifndef BENCH_MEMCACHED_REQUEST_H
#define BENCH_MEMCACHED_REQUEST_H

#include "events.h"

/* Once the line of a command is read and split. */
static inline void request_begins(const conn *c, const char *command, size_t key_bytes) {
  emit_request_begin(c->sfd, command, (uint32_t)key_bytes);
}

/* Once the reply is ready to be sent. Its first word is the status: VALUE, END, STORED ... */
static inline void request_ends(const conn *c) {
  const mc_resp *reply = c->resp;
  if (reply == NULL) return; /* there was no memory for one, and the connection ends */
  char status[16];
  size_t length = 0, most = sizeof status - 1;
  if (reply->iovcnt == 0)
    most = 0;
  else if (reply->iov[0].iov_len < most)
    most = reply->iov[0].iov_len;
  for (const char *text = reply->iov[0].iov_base; length < most && text[length] > ' '; length++)
    status[length] = text[length];
  status[length] = '\0';
  emit_request_end(c->sfd, status, (uint32_t)reply->tosend);
}

#endif
