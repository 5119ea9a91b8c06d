/* Sessions: named spans of interest, such as a transfer, that tie together the events of several programs and hosts.
 *
 *   ll_session transfer;
 *   ll_session_begin(&transfer, "nightly copy", NULL);
 *   ... everything that this process emits now belongs to the session
 *   ll_session_end(&transfer, 1);
 *
 * A session has an ID of 16 bytes, which is also the trace ID of a W3C traceparent. While it is open, every batch of
 * the process names it in its context (`session`, `parent`, `traceparent`), the event session.start and later
 * session.end are emitted, and a file in the session directory (LIFELINE_SESSION_DIR, see lifeline(7)) announces it to
 * lifeline-probe on the same host. The console and the archive's views `sessions` and `session_events` show all that
 * belongs to it.
 *
 * Scope. A session is one of the process, not of a thread. A session that begins while another one is open is its
 * child: batches name the one that began last and has not ended. Sessions may end in any order. At most 16 are open in
 * a process: they are meant for spans of seconds and more, since each begin and end makes the emitter close its current
 * batch. The requests of a busy server are spans of another kind: give their event types a field `session` (bytes) with
 * an ID from ll_traceparent_parse. It takes precedence over the batch's session.
 *
 * Other processes. A program whose environment has TRACEPARENT, or LIFELINE_CONTEXT with session=ID, belongs to that
 * session from its start: `lifeline session -- COMMAND` sets both. The library never changes the environment. A program
 * that starts children in its session sets TRACEPARENT for them, to the text of ll_traceparent_format, and sends the
 * same text as the header `traceparent` to servers. A forked child belongs to the sessions that were open at the fork,
 * but they end in the parent: ll_session_end in the child only makes the child leave them.
 */
#ifndef LIFELINE_SESSION_H
#define LIFELINE_SESSION_H

#include <lifeline/lifeline.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ll_session {
  uint8_t id[16];     /* never all zero */
  uint8_t parent[16]; /* ID of the enclosing session; all zero: none */
  uint8_t span[8];    /* parent-id of the traceparent; never all zero */
  uint8_t flags;      /* trace-flags of the traceparent; 1: sampled */
} ll_session;

/* Bytes of a traceparent with its NUL. */
#define LL_TRACEPARENT_BYTES 56

#define LL_SESSIONS_MAX 16

#ifndef LIFELINE_DISABLE

/* Begins a session, and starts the emitter if it is not running. Events emitted after the call are in its batches.
 *
 *   name         shown to people; at most 255 bytes, NULL: none. Copied
 *   traceparent  of the trace to join, as a header or TRACEPARENT gives it: its trace ID becomes the session's. NULL or
 *                invalid: a new ID
 *   threads      any; not from a signal handler
 *   blocks       for a file of 100 bytes in the session directory; never for the sink, unless the policy is `block`. If
 *                very many begins and ends precede it within a second, the batches' context follows late; the events'
 *                times are right
 *   errors       ENOSPC  LL_SESSIONS_MAX sessions are open: nothing is announced or emitted
 *
 * *session is filled in also on error and while instrumentation is off, so that it can always be passed on. */
LL_API int ll_session_begin(ll_session *session, const char *name, const char *traceparent);

/* Ends a session of ll_session_begin. `ok`: whether what it was about succeeded. Threads and blocking as for begin.
 * EINVAL: it is not open. Sessions still open at the end of the program have no session.end. */
LL_API int ll_session_end(const ll_session *session, int ok);

/* Fills in id, span and flags from a traceparent, checked strictly as the W3C recommendation says: lower-case
 * hexadecimal digits, no zero IDs, version 00 or a later one that begins like it. EINVAL: it is not one, or NULL; then
 * *session is all zero. Async-signal-safe. */
LL_API int ll_traceparent_parse(const char *text, ll_session *session);

/* Writes the traceparent of the session, version 00. Async-signal-safe. */
LL_API void ll_traceparent_format(const ll_session *session, char text[LL_TRACEPARENT_BYTES]);

#else

static inline int ll_session_begin(ll_session *session, const char *name, const char *traceparent) {
  const ll_session none = {{0}, {0}, {0}, 0};
  (void)name, (void)traceparent;
  *session = none;
  return 0;
}
static inline int ll_session_end(const ll_session *session, int ok) {
  return (void)session, (void)ok, 0;
}
static inline int ll_traceparent_parse(const char *text, ll_session *session) {
  const ll_session none = {{0}, {0}, {0}, 0};
  (void)text;
  *session = none;
  return 22; /* EINVAL */
}
static inline void ll_traceparent_format(const ll_session *session, char text[LL_TRACEPARENT_BYTES]) {
  (void)session;
  *text = '\0';
}

#endif

#ifdef __cplusplus
}
#endif

#endif
