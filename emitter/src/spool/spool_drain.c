#include "spool_drain.h"

#include "base/apart.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/log.h"
#include "sink/plugin.h"
#include "spool_replay.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { POLL_MS = 5, RETRY_PAUSE_MS = 100 };

/* The sink for one incarnation and route: a sink announces the origin of its batches to the broker once, when it
 * opens. */
typedef struct carrier {
  const ll_sink_plugin *plugin;
  ll_sink *sink; /* NULL: closed */
  ll_sink_host host;
  ll_segment_identity identity;
  ll_replay *replay; /* the segment being delivered */
  uint32_t retry_wanted;
} carrier;

static void log_for_sink(void *ctx, ll_sink_log_level level, const char *message) {
  (void)ctx;
  ll_apart_is_here();
  ll_log((ll_log_level)level, "%s", message);
}

static void done(void *ctx, uint64_t token, ll_sink_outcome outcome, const char *why) {
  carrier *with = ctx;
  (void)why;
  if (outcome == LL_SINK_RETRY) store_release(&with->retry_wanted, 1);
  ll_replay_answer(with->replay, token, outcome);
}

static void close_carrier(carrier *with) {
  if (with->sink != NULL) with->plugin->close(with->sink);
  with->sink = NULL;
}

/* False with a line in why. */
static bool open_carrier(carrier *with, const ll_spool_drain *drain, ll_replay *replay, char *why, size_t why_bytes) {
  const ll_segment_identity *identity = &replay->content.identity;
  with->replay = replay;
  if (with->sink != NULL && identity->route == with->identity.route &&
      memcmp(identity->incarnation, with->identity.incarnation, sizeof identity->incarnation) == 0)
    return true;
  close_carrier(with);
  with->identity = *identity;
  const char *url = ll_routes_url(drain->routes, identity->route_name, drain->url);
  if (url == NULL) {
    snprintf(why, why_bytes, "it belongs to route \"%s\", which is not declared here (LIFELINE_ROUTES or --route)",
             with->identity.route_name);
    return false;
  }
  with->host = (ll_sink_host){.url = url,
                              .host_name = with->identity.host,
                              .program = with->identity.program,
                              .ctx = with,
                              .log = log_for_sink,
                              .done = done};
  memcpy(with->host.incarnation, identity->incarnation, sizeof with->host.incarnation);
  with->plugin = ll_sink_plugin_for(url, why, why_bytes);
  if (with->plugin != NULL) with->sink = ll_sink_open(with->plugin, &with->host, why, why_bytes);
  return with->sink != NULL;
}

/* False when the deadline has passed. */
static bool carry(carrier *with, const uint64_t *deadline_ns) {
  static const struct timespec moment = {0, 1000000};
  uint64_t retry_at_ns = 0;
  while (!ll_replay_done(with->replay)) {
    uint64_t now = ll_monotonic_ns();
    if (now >= load_acquire(deadline_ns)) return false;
    if (__atomic_exchange_n(&with->retry_wanted, 0, __ATOMIC_ACQUIRE) != 0) retry_at_ns = now + RETRY_PAUSE_MS * MS;
    while (now >= retry_at_ns && load_acquire(&with->retry_wanted) == 0 &&
           ll_replay_send(with->replay, with->plugin, with->sink) == LL_REPLAYED) {
    }
    if (ll_replay_done(with->replay)) break;
    uint64_t began = ll_monotonic_ns();
    with->plugin->poll(with->sink, POLL_MS);
    if (ll_monotonic_ns() - began < MS) nanosleep(&moment, NULL);
  }
  return true;
}

/* Removes or renames a segment whose batches are all answered; its name may change. Returns NULL, or the fault. */
static const char *put_away(int directory, ll_replay *replay) {
  ll_spool_kind kind = replay->refused > 0 ? LL_SPOOL_REFUSED : LL_SPOOL_DAMAGED;
  char kept[LL_SPOOL_NAME_MAX];
  if (replay->refused == 0 && replay->damaged == 0)
    return unlinkat(directory, replay->name, 0) == 0 ? NULL : "it is delivered, but cannot be removed";
  ll_spool_renamed(replay->name, kind, kept);
  if (strcmp(kept, replay->name) != 0 && renameat(directory, replay->name, directory, kept) != 0)
    return "it cannot be renamed";
  memcpy(replay->name, kept, sizeof kept);
  return replay->refused > 0 ? "the sink refuses some of its batches; it is kept as .refused"
                             : "it is damaged; its intact batches were delivered, and it is kept as .damaged";
}

/* Returns 0; EBUSY when a live process uses it; ENOENT when it is gone; otherwise an error, with a line in why. */
static int claim(const ll_spool_drain *drain, int directory, const char *name, ll_spool_content *content, char *why,
                 size_t why_bytes) {
  ll_spool_access access = drain->other_namespaces ? LL_SPOOL_CLAIM_ANYWHERE : LL_SPOOL_CLAIM;
  int error = ll_spool_content_read(directory, name, access, content, why, why_bytes);
  if (error != EINVAL) return error;
  /* Incomplete: its creator died, or is still writing it. */
  int unborn = ll_spool_remove_unborn(directory, name);
  if (unborn != EINVAL) return unborn == 0 ? ENOENT : EBUSY;
  return ll_spool_content_read(directory, name, access, content, why, why_bytes);
}

/* Sends the claimed segment to its sink. Stores the result in `segment`. */
static void deliver(const ll_spool_drain *drain, int directory, ll_replay *replay, carrier *with, ll_drained *segment,
                    char *why, size_t why_bytes) {
  bool answered = false;
  if (open_carrier(with, drain, replay, why, why_bytes)) {
    answered = carry(with, drain->deadline_ns);
    if (!answered) {
      close_carrier(with); /* returns the batches that it holds */
      snprintf(why, why_bytes, "the timeout expired before everything was acknowledged; run it again");
    }
  }
  if (answered) segment->trouble = put_away(directory, replay);
  if (segment->trouble != NULL) ll_spool_give_back(directory, replay->name);
  segment->complete = answered && replay->refused == 0;
  segment->batches = ll_replay_delivered(replay);
  segment->events = ll_replay_events(replay, false);
  segment->refused_batches = replay->refused;
  segment->refused_events = ll_replay_events(replay, true);
  segment->damaged_places = replay->damaged;
}

static void drain_segment(ll_spool_drain *drain, int directory, const ll_spool_file *file, carrier *with) {
  ll_spool_content content;
  ll_replay replay;
  char why[512] = "";
  int error = claim(drain, directory, file->name, &content, why, sizeof why);
  if (error == EBUSY) drain->skipped_live++;
  if (error == EBUSY || error == ENOENT) return; /* another drain was faster */
  ll_drained segment = {.name = file->name, .trouble = why};
  if (error == 0 && ll_replay_start(&replay, file->name, &content, 0) != 0) {
    snprintf(why, sizeof why, "no memory");
    error = ENOMEM;
  }
  if (error == 0) {
    deliver(drain, directory, &replay, with, &segment, why, sizeof why);
    ll_replay_free(&replay);
  }
  drain->segments++;
  drain->failed += segment.trouble != NULL;
  if (drain->report != NULL) drain->report(drain->ctx, &segment);
}

bool ll_spool_drain_all(ll_spool_drain *drain, char *why, size_t why_bytes) {
  if (access(drain->directory, F_OK) != 0 && errno == ENOENT) return true;
  int directory = ll_spool_directory_open(drain->directory, false, why, why_bytes);
  if (directory < 0) return false;
  ll_spool_listing listing;
  int error = ll_spool_listing_read(directory, drain->program, &listing);
  if (error != 0) snprintf(why, why_bytes, "spool directory %s cannot be read: %s", drain->directory, strerror(error));
  carrier with = {.sink = NULL};
  for (size_t i = 0; error == 0 && i < listing.count && ll_monotonic_ns() < load_acquire(drain->deadline_ns); i++) {
    const ll_spool_file *file = &listing.files[i];
    bool kept = file->kind == LL_SPOOL_REFUSED || file->kind == LL_SPOOL_DAMAGED;
    if (file->kind == LL_SPOOL_WAITING || (kept && drain->kept_too)) drain_segment(drain, directory, file, &with);
  }
  close_carrier(&with);
  ll_spool_listing_free(&listing);
  close(directory);
  return error == 0;
}
