#include "session.h"

#include "base/announce.h"
#include "base/atomics.h"
#include "base/log.h"
#include "base/traceparent.h"
#include "base/utf8.h"
#include "life.h"
#include "ring/context.h"
#include "route/streams.h"

#include <errno.h>
#include <lifeline/dynamic.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 255, SAMPLED = 1 };

typedef struct open_session {
  ll_session session;
  pid_t owner; /* a forked child inherits the entry, not the session's end */
  bool announced;
} open_session;

/* Guarded by the lock, which is held during a fork. */
static open_session sessions[LL_SESSIONS_MAX]; /* in order of their begin */
static unsigned count;
static bool late; /* the file's context is not the innermost session's: there was no place for the change */

/* Guards the announcements' files, which the lock must not: they may be on a disk that hangs. Taken before the lock. */
static pthread_mutex_t announcing = PTHREAD_MUTEX_INITIALIZER;

static ll_emitter *const emitter = &ll_the_emitter;

/* --- the context of the batches --- */

static void put_text(ll_context *context, const char *text) {
  uint16_t bytes = (uint16_t)strlen(text);
  memcpy(context->at + context->bytes, &bytes, sizeof bytes);
  memcpy(context->at + context->bytes + sizeof bytes, text, bytes);
  context->bytes += (uint32_t)sizeof bytes + bytes;
}

static void put_pair(ll_context *context, const char *key, const char *value) {
  put_text(context, key);
  put_text(context, value);
  context->count++;
}

/* Of the innermost session; empty without one, when the fixed part of the context applies. */
static ll_context context_now(void) {
  ll_context context = {0};
  char id[LL_SESSION_ID_TEXT], trace[LL_TRACEPARENT_BYTES];
  if (count == 0) return context;
  const ll_session *innermost = &sessions[count - 1].session;
  ll_session_id_text(innermost->id, id);
  put_pair(&context, "session", id);
  if (!ll_session_id_is_zero(innermost->parent)) {
    ll_session_id_text(innermost->parent, id);
    put_pair(&context, "parent", id);
  }
  ll_traceparent_format(innermost, trace);
  put_pair(&context, "traceparent", trace);
  return context;
}

static void change_context(void) {
  ll_context context = context_now();
  store_relaxed(&late, !ll_context_change(&emitter->store, &context));
}

void ll_sessions_start(void) {
  ll_context context = context_now();
  ll_context_start(&emitter->store, &context);
  store_relaxed(&late, false);
}

/* Stuck routes lose sessions of the events that they hold, so that the others keep theirs. Returns those that did. */
static uint32_t skip(uint32_t stuck) {
  uint32_t skipped = 0;
  for (uint32_t route = 0; stuck >> route != 0; route++)
    if ((stuck >> route & 1) != 0) skipped |= (uint32_t)ll_context_skip(&emitter->store, route) << route;
  return skipped;
}

/* One line per process is enough. */
static void tell_skipped(uint32_t routes) {
  static bool told;
  if (routes == 0 || told) return;
  told = true;
  ll_log(LL_LOG_WARN, "route \"%s\" takes no batches; its oldest events will be without their session",
         emitter->store.header->routes[__builtin_ctz(routes)].name);
}

void ll_sessions_tick(void) {
  ll_saved_state before;
  uint32_t stuck = ll_streams_stuck(), skipped;
  if (!load_relaxed(&late) && stuck == 0) return;
  ll_lock(&before);
  skipped = skip(stuck);
  if (late) change_context();
  ll_unlock(&before);
  tell_skipped(skipped); /* without the lock: a log may block */
}

/* --- events --- */

static ll_value bytes_of(const uint8_t *bytes, size_t size) {
  return (ll_value){.bytes = {bytes, size}};
}

static ll_value text_of(const char *text) {
  return (ll_value){.bytes = {text, strlen(text)}};
}

static void emit_start(const ll_session *session, const char *name) {
  static const ll_dynamic_field fields[] = {
      {LL_BYTES, "id", ""}, {LL_BYTES, "parent", ""}, {LL_STRING, "name", ""}, {LL_STRING, "traceparent", ""}};
  ll_dynamic *type;
  char trace[LL_TRACEPARENT_BYTES];
  ll_traceparent_format(session, trace);
  size_t parent_bytes = ll_session_id_is_zero(session->parent) ? 0 : sizeof session->parent;
  const ll_value values[] = {bytes_of(session->id, sizeof session->id), bytes_of(session->parent, parent_bytes),
                             text_of(name), text_of(trace)};
  if (ll_declare("session.start", LL_INFO, fields, 4, &type) == 0) ll_emit_values(type, values, 4);
}

static void emit_end(const ll_session *session, bool ok) {
  static const ll_dynamic_field fields[] = {{LL_BYTES, "id", ""}, {LL_BOOL, "ok", ""}};
  ll_dynamic *type;
  const ll_value values[] = {bytes_of(session->id, sizeof session->id), {.u64 = ok}};
  if (ll_declare("session.end", LL_INFO, fields, 2, &type) == 0) ll_emit_values(type, values, 2);
}

/* --- begin and end --- */

/* With the lock, or before any session is open. */
static void set_parent(ll_session *session) {
  const ll_session *outer = count > 0 ? &sessions[count - 1].session : &ll_the_life.config.session;
  memset(session->parent, 0, sizeof session->parent);
  if (memcmp(outer->id, session->id, sizeof session->id) != 0)
    memcpy(session->parent, outer->id, sizeof session->parent);
}

/* Joins the trace as a new span of it, or makes an ID. */
static void identify(ll_session *session, const char *traceparent) {
  if (ll_traceparent_parse(traceparent, session) != 0) {
    ll_random(session->id, sizeof session->id);
    session->flags = SAMPLED;
  }
  ll_random(session->span, sizeof session->span);
  session->id[15] |= ll_session_id_is_zero(session->id);
  session->span[7] |= 1; /* neither may be zero */
}

static void clean(const char *name, char *text, size_t text_bytes) {
  snprintf(text, text_bytes, "%s", name != NULL ? name : "");
  ll_make_utf8(text);
}

static bool push(const ll_session *session) {
  if (count == LL_SESSIONS_MAX) return false;
  sessions[count++] = (open_session){.session = *session, .owner = getpid()};
  change_context();
  ll_wake_harvester(); /* so that it applies the change soon */
  return true;
}

/* The entry of that session, or NULL. With the lock. */
static open_session *find(const ll_session *session) {
  for (unsigned i = 0; i < count; i++)
    if (memcmp(sessions[i].session.id, session->id, sizeof session->id) == 0 &&
        memcmp(sessions[i].session.span, session->span, sizeof session->span) == 0)
      return &sessions[i];
  return NULL;
}

/* A thread that was cancelled in between would never let go. Returns what end_announcing restores. */
static ll_cancellation begin_announcing(void) {
  ll_cancellation cancellation;
  ll_cancellation_off(&cancellation);
  pthread_mutex_lock(&announcing);
  return cancellation;
}

static void end_announcing(ll_cancellation cancellation) {
  pthread_mutex_unlock(&announcing);
  ll_cancellation_restore(&cancellation);
}

void ll_sessions_after_fork(void) {
  static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  announcing = fresh;
}

static void announce(const ll_session *session, const char *name) {
  static bool told; /* one line per process is enough */
  char why[512];
  ll_saved_state before;
  ll_cancellation cancellation = begin_announcing();
  bool announced = ll_announce(session->id, name, why, sizeof why);
  ll_lock(&before);
  open_session *open = find(session);
  if (open != NULL) open->announced |= announced;
  ll_unlock(&before);
  end_announcing(cancellation);
  if (!announced && !__atomic_exchange_n(&told, true, __ATOMIC_RELAXED)) ll_log(LL_LOG_WARN, "%s", why);
}

/* Two open sessions of one trace share a file, which the last one removes: the other takes it over. With the lock. */
static bool is_taken_over(const ll_session *session) {
  for (unsigned i = 0; i < count; i++) {
    if (sessions[i].owner != getpid() || memcmp(sessions[i].session.id, session->id, sizeof session->id) != 0) continue;
    sessions[i].announced = true;
    return true;
  }
  return false;
}

int ll_session_begin(ll_session *session, const char *name, const char *traceparent) {
  char text[NAME_MAX_BYTES + 1];
  ll_saved_state before;
  bool on = ll_enter() == LL_EMITTER_ON;
  clean(name, text, sizeof text);
  identify(session, traceparent);
  ll_lock(&before);
  set_parent(session);
  bool room = !on || push(session);
  ll_unlock(&before);
  if (!room) return ENOSPC;
  if (!on) return 0;
  announce(session, text);
  emit_start(session, text);
  return 0;
}

int ll_session_end(const ll_session *session, int ok) {
  ll_saved_state before;
  if (ll_enter() != LL_EMITTER_ON) return 0;
  ll_lock(&before);
  open_session *open = find(session);
  bool ours = open != NULL && open->owner == getpid(), announced = ours && open->announced;
  if (ours) open->owner = 0; /* only one call ends it */
  ll_unlock(&before);
  if (open == NULL) return EINVAL;
  if (ours) emit_end(session, ok != 0); /* the last event of its context */
  ll_cancellation cancellation = begin_announcing();
  ll_lock(&before);
  open = find(session);
  if (open != NULL) {
    memmove(open, open + 1, (size_t)(sessions + count - (open + 1)) * sizeof *open);
    count--;
    change_context();
    ll_wake_harvester();
  }
  bool over = announced && !is_taken_over(session);
  ll_unlock(&before);
  if (over) ll_announce_end(session->id);
  end_announcing(cancellation);
  return 0;
}

void ll_sessions_close(void) {
  ll_saved_state before;
  ll_session ended[LL_SESSIONS_MAX];
  unsigned announced = 0;
  ll_cancellation cancellation = begin_announcing();
  ll_lock(&before);
  for (unsigned i = 0; i < count; i++)
    if (sessions[i].owner == getpid() && sessions[i].announced) {
      sessions[i].announced = false;
      ended[announced++] = sessions[i].session;
    }
  ll_unlock(&before);
  while (announced > 0)
    ll_announce_end(ended[--announced].id);
  end_announcing(cancellation);
}
