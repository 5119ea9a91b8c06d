#include "link.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TICK_MS = 100, RETRY_FIRST_MS = 500, RETRY_MOST_MS = 5000, WRITE_DEADLINE_MS = 2000 };

struct nats_link {
  const sink_url *url;
  const sink_security *security;
  natsOptions *options;
  char *inbox;
  sink_report *report;
  link_callbacks callbacks;

  pthread_mutex_t publishing; /* held while connection is used or changed */
  natsConnection *connection;

  pthread_mutex_t mutex; /* the rest */
  pthread_cond_t changed;
  bool up;   /* the connection takes messages */
  bool lost; /* nats.c has given it up */
  bool closing;
  int callers; /* nats.c's promises to call back once more, on closed and on complete, and who has borrowed */
  bool ended;  /* the thread */
  bool left;   /* by link_close: the thread says that it has ended */
};

static void change(nats_link *link, bool *what, bool to) {
  pthread_mutex_lock(&link->mutex);
  *what = to;
  pthread_cond_broadcast(&link->changed);
  pthread_mutex_unlock(&link->mutex);
}

static bool is(nats_link *link, const bool *what) {
  pthread_mutex_lock(&link->mutex);
  bool value = *what;
  pthread_mutex_unlock(&link->mutex);
  return value;
}

static void announce_up(nats_link *link) {
  char server[256] = "";
  pthread_mutex_lock(&link->publishing);
  if (link->connection) natsConnection_GetConnectedUrl(link->connection, server, sizeof server);
  pthread_mutex_unlock(&link->publishing);
  change(link, &link->up, true);
  sink_report_state(link->report, LL_SINK_INFO, "nats: connected to %s", server);
  link->callbacks.event(link->callbacks.ctx, LINK_UP);
}

static void announce_down(nats_link *link) {
  change(link, &link->up, false);
  link->callbacks.event(link->callbacks.ctx, LINK_DOWN);
}

static void on_disconnected(natsConnection *connection, void *ctx) {
  (void)connection;
  nats_link *link = ctx;
  sink_report_withdraw(link->report); /* a server that ends takes its streams away first */
  if (!is(link, &link->closing))
    sink_report_state(link->report, LL_SINK_WARN, "nats: the connection to %s is lost; trying again", link->url->hosts);
  announce_down(link);
}

static void called(nats_link *link) {
  pthread_mutex_lock(&link->mutex);
  link->callers--;
  pthread_cond_broadcast(&link->changed);
  pthread_mutex_unlock(&link->mutex);
}

static void on_closed(natsConnection *connection, void *ctx) {
  (void)connection;
  nats_link *link = ctx;
  announce_down(link);
  change(link, &link->lost, true);
  called(link);
}

static void on_subscription_complete(void *ctx) {
  called(ctx);
}

static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *ctx) {
  (void)subscription;
  nats_link *link = ctx;
  const char *text = "";
  natsConnection_GetLastError(connection, &text);
  if (status != NATS_NOT_PERMITTED || !text) return;
  if (strstr(text, "\"$JS.")) return; /* of the control topic: whoever asked gets no answer, and tells */
  bool publish = strcasestr(text, "publish to") != NULL;
  sink_report_state(link->report, LL_SINK_ERROR, "nats: user %s may not %s %s",
                    link->security->user ? link->security->user : "(none)",
                    publish ? "publish to" : "subscribe to its inbox, so no batch is acknowledged:",
                    publish ? link->url->name : "_INBOX.>");
  if (publish) link->callbacks.event(link->callbacks.ctx, LINK_FORBIDDEN);
}

static void on_answer(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *ctx) {
  (void)connection;
  (void)subscription;
  nats_link *link = ctx;
  const char *subject = natsMsg_GetSubject(message);
  if (strlen(subject) > strlen(link->inbox) + 1)
    link->callbacks.answer(link->callbacks.ctx, subject + strlen(link->inbox) + 1, message);
  natsMsg_Destroy(message);
}

static natsStatus subscribe(nats_link *link, natsConnection *connection, natsSubscription **subscription) {
  char subject[128];
  snprintf(subject, sizeof subject, "%s.*", link->inbox);
  natsStatus status = natsConnection_Subscribe(subscription, connection, subject, on_answer, link);
  if (status != NATS_OK) return status;
  pthread_mutex_lock(&link->mutex);
  link->callers += 1; /* on_subscription_complete */
  pthread_mutex_unlock(&link->mutex);
  status = natsSubscription_SetOnCompleteCB(*subscription, on_subscription_complete, link);
  if (status != NATS_OK) called(link);
  return status;
}

static struct timespec after_ms(int ms) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_nsec += ms % 1000 * 1000000L;
  end.tv_sec += ms / 1000 + end.tv_nsec / 1000000000;
  end.tv_nsec %= 1000000000;
  return end;
}

static void wait_ms(nats_link *link, int ms, const bool *until) {
  struct timespec end = after_ms(ms);
  pthread_mutex_lock(&link->mutex);
  while (!link->closing && !*until)
    if (pthread_cond_timedwait(&link->changed, &link->mutex, &end) != 0) break;
  pthread_mutex_unlock(&link->mutex);
}

/* Lives with one connection until it is lost or the owner gives it up. */
static natsStatus live(nats_link *link) {
  natsConnection *connection = NULL;
  natsSubscription *subscription = NULL;
  natsStatus status = natsConnection_Connect(&connection, link->options);
  if (status != NATS_OK) {
    natsConnection_Destroy(connection);
    return status;
  }
  pthread_mutex_lock(&link->mutex);
  link->callers += 1; /* on_closed */
  link->lost = false;
  pthread_mutex_unlock(&link->mutex);
  status = subscribe(link, connection, &subscription);
  pthread_mutex_lock(&link->publishing);
  link->connection = connection;
  pthread_mutex_unlock(&link->publishing);
  if (status == NATS_OK) {
    announce_up(link);
    while (!is(link, &link->closing) && !is(link, &link->lost)) {
      wait_ms(link, TICK_MS, &link->lost);
      link->callbacks.event(link->callbacks.ctx, LINK_TICK);
    }
  }
  pthread_mutex_lock(&link->publishing);
  link->connection = NULL;
  pthread_mutex_unlock(&link->publishing);
  natsConnection_Close(connection);
  pthread_mutex_lock(&link->mutex);
  while (link->callers > 0)
    pthread_cond_wait(&link->changed, &link->mutex);
  pthread_mutex_unlock(&link->mutex);
  natsSubscription_Destroy(subscription);
  natsConnection_Destroy(connection);
  return status;
}

static void open_library(void) {
  struct sigaction pipe;
  sigaction(SIGPIPE, NULL, &pipe);
  sink_security_outlive_exit();
  nats_Open(-1);
  sigaction(SIGPIPE, &pipe, NULL);
}

void link_free(nats_link *link) {
  natsOptions_Destroy(link->options);
  free(link->inbox);
  pthread_cond_destroy(&link->changed);
  pthread_mutex_destroy(&link->mutex);
  pthread_mutex_destroy(&link->publishing);
  free(link);
}

static void *keep(void *ctx) {
  nats_link *link = ctx;
  const bool never = false;
  int pause_ms = RETRY_FIRST_MS;
  bool loss_told = false; /* that it cannot be reached either is no news then, but any other reason is */
  while (!is(link, &link->closing)) {
    natsStatus status = live(link);
    if (is(link, &link->closing)) break;
    if (status == NATS_OK) { /* it did live */
      loss_told = true;
      pause_ms = RETRY_FIRST_MS;
    } else {
      char why[256];
      bool cause = nats_explain(status, link->url, link->security, why, sizeof why);
      if (cause)
        sink_report_cause(link->report, "%s; trying again", why);
      else if (!loss_told)
        sink_report_symptom(link->report, "%s; trying again", why);
    }
    wait_ms(link, pause_ms, &never);
    pause_ms = pause_ms * 2 < RETRY_MOST_MS ? pause_ms * 2 : RETRY_MOST_MS;
  }
  nats_ReleaseThreadMemory();
  pthread_mutex_lock(&link->mutex);
  link->ended = true;
  bool left = link->left;
  pthread_cond_broadcast(&link->changed);
  pthread_mutex_unlock(&link->mutex);
  if (left) link->callbacks.end(link->callbacks.ctx);
  return NULL;
}

static bool set_callbacks(nats_link *link) {
  return natsOptions_SetDisconnectedCB(link->options, on_disconnected, link) == NATS_OK &&
         natsOptions_SetClosedCB(link->options, on_closed, link) == NATS_OK &&
         natsOptions_SetErrorHandler(link->options, on_error, link) == NATS_OK &&
         natsOptions_SetWriteDeadline(link->options, WRITE_DEADLINE_MS) == NATS_OK;
}

/* With all signals blocked. */
static bool start(nats_link *link, const char *name, char *error, size_t error_bytes) {
  open_library();
  link->options = nats_options_new(link->url, link->security, name, error, error_bytes);
  if (!link->options) return false;
  natsInbox *inbox = NULL;
  if (natsInbox_Create(&inbox) == NATS_OK) link->inbox = strdup(inbox);
  natsInbox_Destroy(inbox);
  pthread_t thread;
  if (!link->inbox || !set_callbacks(link) || pthread_create(&thread, NULL, keep, link) != 0) {
    snprintf(error, error_bytes, "nats: out of memory or threads");
    return false;
  }
  pthread_setname_np(thread, "lifeline-nats");
  pthread_detach(thread); /* link_close waits for it, but not for ever */
  return true;
}

nats_link *link_open(const sink_url *url, const sink_security *security, const char *name, sink_report *report,
                     const link_callbacks *callbacks, char *error, size_t error_bytes) {
  nats_link *link = calloc(1, sizeof *link);
  if (!link) {
    snprintf(error, error_bytes, "nats: out of memory");
    return NULL;
  }
  link->url = url;
  link->security = security;
  link->report = report;
  link->callbacks = *callbacks;
  pthread_mutex_init(&link->publishing, NULL);
  pthread_mutex_init(&link->mutex, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&link->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = start(link, name, error, error_bytes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!started) {
    link_free(link);
    return NULL;
  }
  return link;
}

const char *link_inbox(const nats_link *link) {
  return link->inbox;
}

int64_t link_max_payload(nats_link *link) {
  pthread_mutex_lock(&link->publishing);
  int64_t bytes = link->connection ? natsConnection_GetMaxPayload(link->connection) : 0;
  pthread_mutex_unlock(&link->publishing);
  return bytes;
}

bool link_is_up(nats_link *link) {
  return is(link, &link->up);
}

/* OpenSSL writes without MSG_NOSIGNAL, and the caller's thread may not have SIGPIPE blocked as the link's has. */
static natsStatus publish_quietly(natsConnection *connection, natsMsg *message) {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  natsStatus status = natsConnection_PublishMsg(connection, message);
  if (status != NATS_OK && !sigismember(&before, SIGPIPE) && sigpending(&pending) == 0 &&
      sigismember(&pending, SIGPIPE))
    sigtimedwait(&pipe, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

natsStatus link_publish(nats_link *link, natsMsg *message) {
  if (!link_is_up(link)) return NATS_CONNECTION_DISCONNECTED;
  pthread_mutex_lock(&link->publishing);
  natsStatus status = link->connection ? publish_quietly(link->connection, message) : NATS_CONNECTION_DISCONNECTED;
  pthread_mutex_unlock(&link->publishing);
  return status;
}

natsConnection *link_borrow(nats_link *link) {
  pthread_mutex_lock(&link->publishing);
  natsConnection *connection = link->connection;
  if (connection) {
    pthread_mutex_lock(&link->mutex);
    link->callers++;
    pthread_mutex_unlock(&link->mutex);
  }
  pthread_mutex_unlock(&link->publishing);
  return connection;
}

void link_return(nats_link *link) {
  called(link);
}

void link_close(nats_link *link, int timeout_ms) {
  struct timespec latest = after_ms(timeout_ms);
  pthread_mutex_lock(&link->mutex);
  link->closing = true;
  pthread_cond_broadcast(&link->changed);
  while (!link->ended)
    if (pthread_cond_timedwait(&link->changed, &link->mutex, &latest) != 0) break;
  bool ended = link->ended;
  link->left = !ended;
  pthread_mutex_unlock(&link->mutex);
  if (ended) link->callbacks.end(link->callbacks.ctx);
}
