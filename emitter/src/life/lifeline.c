/* Lifecycle of the emitter: started once, by the first caller; stopped once; restarted in a forked child. */
#include "base/apart.h"
#include "base/futex.h"
#include "base/loading.h"
#include "base/log.h"
#include "base/threads.h"
#include "ending.h"
#include "life.h"
#include "resolution/resolution.h"
#include "ring/producer.h"
#include "session.h"
#include "sink/destination.h"
#include "stray.h"
#include "summary/summary.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ll_life ll_the_life;
static ll_life *const life = &ll_the_life;
static ll_emitter *const emitter = &ll_the_emitter;

enum {
  CLOSE_GRACE_MS = 3000, /* upper bound for closing a sink, with a margin */
  UNREACHED_MS = 300,    /* wait for a first connection at the end of a program: longer ones would seldom help */
  OPEN_WAIT_MS = 1000, /* for the sink: in a constructor of a library being loaded it cannot be loaded, since the caller
                          holds the loader's lock */
};

#define MS UINT64_C(1000000)

void ll_tell_news(void) {
  store_release(&life->news, life->news + 1);
  futex_wake(&life->news, INT_MAX);
}

void ll_wait_for_news(ll_saved_state *before, uint64_t timeout_ns) {
  uint32_t heard = life->news;
  ll_unlock(before);
  futex_wait(&life->news, heard, timeout_ns);
  ll_enter(); /* a signal handler may have forked: the child has a new lock */
  ll_lock(before);
}

/* False when the deadline has passed. With the lock held. */
static bool wait_until(ll_saved_state *before, uint64_t deadline_ns) {
  uint64_t now_ns = ll_monotonic_ns();
  if (now_ns >= deadline_ns) return false;
  ll_wait_for_news(before, deadline_ns - now_ns);
  return true;
}

static uint64_t from_now(uint64_t timeout_ms) {
  return ll_monotonic_ns() + timeout_ms * MS;
}

static void put_counted(uint8_t **to, const char *text) {
  uint16_t count = (uint16_t)strlen(text);
  memcpy(*to, &count, sizeof count);
  memcpy(*to + sizeof count, text, count);
  *to += sizeof count + count;
}

static void describe_emitter(const ll_config *config) {
  ll_file_header *header = emitter->store.header;
  uint8_t *at = emitter->store.identity;
  put_counted(&at, config->streams.host);
  put_counted(&at, config->streams.program);
  header->names_bytes = (uint32_t)(at - emitter->store.identity);
  memcpy(at, config->context, config->context_bytes);
  header->context_bytes = config->context_bytes;
  header->context_count = config->context_count;
  header->clock = config->clock;
  ll_sessions_start();
  memcpy(header->spool, config->streams.spool.directory, sizeof header->spool);
  ll_destination(config->streams.url, header->destinations[0]);
  for (uint32_t i = 0; i < config->streams.routes.count; i++)
    ll_destination(config->streams.routes.urls[i], header->destinations[1 + i]);
  ll_calibrate(&header->calibrations[0], config->clock);
}

/* Starts a new incarnation with the current config. With the lock held. Returns 0 or a logged errno value. */
static int start_incarnation(void) {
  const ll_config *config = &life->config;
  char why[512] = "";
  uint8_t incarnation[16];
  ll_random(incarnation, sizeof incarnation);
  int error = ll_store_create(&emitter->store, config->ring_dir, config->streams.program, config->budget_bytes,
                              incarnation, why, sizeof why);
  if (error != 0) {
    ll_log(LL_LOG_ERROR, "out of memory at the start; the program continues, and its events are counted as dropped");
    return error;
  }
  emitter->store.limited = config->memory_limit != UINT64_MAX;
  ll_store_deal(&emitter->store, config->streams.routes.count, config->streams.routes.names);
  describe_emitter(config);
  emitter->store.header->routes[0].dropped_reentrant =
      __atomic_exchange_n(&emitter->dropped_in_child, 0, __ATOMIC_RELAXED);
  ll_types_save(&emitter->types, &emitter->store);
  ll_store_publish(&emitter->store, why, sizeof why);
  if (!emitter->store.crash_safe) ll_log(LL_LOG_WARN, "events do not survive a crash of this program: %s", why);
  emitter->closing = 0;
  life->opened = life->stopped = false;
  life->stop_wanted = 0;
  life->end = (ll_streams_end){.left = LL_LEFT_NOTHING};
  life->flush_wanted = life->flush_done = 0;
  ll_streams_start(&config->streams);
  life->alone = !ll_ending_has_begun() && !(ll_ending_can_be_seen() && ll_stray_may_start_threads());
  emitter->policy = life->alone ? LL_DROP_NEWEST : config->policy;
  store_release(&emitter->sensitive->alive, 1);
  error = life->alone ? 0 : ll_harvester_start();
  if (error == 0 && !life->alone) ll_ending_wait_held();
  if (error == 0) return 0;
  ll_log(LL_LOG_ERROR,
         "the emitter's thread cannot be started; the program continues, and its events are counted as dropped");
  ll_store_remove(&emitter->store);
  return error;
}

/* With the lock held. */
static int start(const ll_options *options) {
  char why[512] = "";
  if (options != NULL) ll_log_to(options->log, options->log_ctx);
  if (!ll_config_load(&life->config, options, why, sizeof why) ||
      (life->config.on && !ll_resolution_start(&life->config.activations, why, sizeof why))) {
    ll_log(LL_LOG_ERROR, "%s; the program continues, and its events are counted as dropped", why);
    store_release(&emitter->state, LL_EMITTER_STOPPED);
    return EINVAL;
  }
  if (!life->config.on) {
    store_release(&emitter->state, LL_EMITTER_OFF);
    return 0;
  }
  emitter->clock = life->config.clock;
  emitter->block_timeout_ms = life->config.block_timeout_ms;
  ll_producers_make_key();
  emitter->sensitive = ll_fork_sensitive_memory();
  int error = emitter->sensitive != NULL ? ll_types_create(&emitter->types) : ENOMEM;
  if (error == 0) error = start_incarnation();
  if (error == 0) ll_flush_at_exit();
  store_release(&emitter->state, error == 0 ? LL_EMITTER_ON : LL_EMITTER_STOPPED);
  return error;
}

static bool is_forked_child(void) {
  return load_acquire(&emitter->state) == LL_EMITTER_ON && !ll_is_alive();
}

/* Restarts the emitter in a forked child. The inherited lock may be held by a thread of the parent; the parent keeps
 * its harvester, sink and rings. The types stay, since their numbers are in the child's memory. The wiped memory is
 * never freed: the thread that forked may still point to its producer there, and must not share it with another
 * thread. */
static void restart_in_child(void) {
  ll_fork_sensitive *wiped = load_acquire(&emitter->sensitive);
  if (!compare_and_swap_u32(&wiped->restarting, 0, 1)) {
    while (is_forked_child())
      futex_wait(&wiped->restarting, 1, MS);
    return;
  }
  ll_lock_renew();
  ll_loading_renew();
  ll_threads_forget();
  ll_apart_forget();
  emitter->signal = emitter->sleeping = emitter->room = emitter->waiting_for_room = 0;
  ll_saved_state before;
  ll_lock(&before);
  life->signals = before.signals;
  ll_fork_sensitive *sensitive = ll_fork_sensitive_memory();
  if (sensitive != NULL) {
    sensitive->restarting = 1;
    store_release(&emitter->sensitive, sensitive);
  }
  char why[512];
  ll_resolution_start(&life->config.activations, why, sizeof why); /* valid, since it was for the parent */
  if (sensitive == NULL || start_incarnation() != 0) store_release(&emitter->state, LL_EMITTER_STOPPED);
  ll_unlock(&before);
}

static ll_emitter_state start_or_restart(void) {
  if (is_forked_child()) restart_in_child();
  ll_saved_state before;
  ll_lock(&before);
  if (load_relaxed(&emitter->state) == LL_EMITTER_NEW) {
    life->signals = before.signals;
    start(NULL);
  }
  ll_unlock(&before);
  return (ll_emitter_state)load_acquire(&emitter->state);
}

static void thread_ends(void) {
  ll_summary_thread_ends();
  ll_admit_thread_ends();
}

const ll_above_ring ll_above = {start_or_restart, ll_resolution_adopt, thread_ends};

int ll_init(const ll_options *options) {
  if (is_forked_child()) restart_in_child();
  ll_saved_state before;
  ll_lock(&before);
  int error = EALREADY;
  if (load_relaxed(&emitter->state) == LL_EMITTER_NEW) {
    life->signals = before.signals;
    error = start(options);
  }
  if (error == 0 && load_relaxed(&emitter->state) == LL_EMITTER_ON) {
    uint64_t deadline_ns = from_now(OPEN_WAIT_MS);
    while (!life->opened && !life->alone && wait_until(&before, deadline_ns)) {
    }
    if (life->opened) error = life->open_error;
  }
  ll_unlock(&before);
  return error;
}

/* True only for this process's own emitter, not for the parent's. */
static bool is_running(void) {
  return load_acquire(&emitter->state) == LL_EMITTER_ON && ll_is_alive();
}

int ll_flush(unsigned timeout_ms) {
  if (!is_running()) return 0;
  if (life->alone) return ETIMEDOUT;
  uint64_t deadline_ns = from_now(timeout_ms);
  ll_saved_state before;
  ll_lock(&before);
  uint64_t ticket = ++life->flush_wanted;
  ll_wake_harvester();
  while (life->flush_done < ticket && !life->stopped && wait_until(&before, deadline_ns)) {
  }
  bool late = life->stopped ? life->end.left != LL_LEFT_NOTHING : life->flush_done < ticket;
  ll_unlock(&before);
  return late ? ETIMEDOUT : 0;
}

/* Logs what a shutdown leaves undelivered, and where. With the lock held. */
static void report_left(void) {
  uint32_t batches = life->stopped ? life->end.undelivered : ll_streams_in_flight();
  char what[80] = "the sink does not close; events that it did not accept";
  if (life->alone)
    snprintf(what, sizeof what, "a child of clone or _Fork has no thread that sends its events; they");
  else if (life->stopped && batches == 0)
    snprintf(what, sizeof what, "there is no room for a batch of the last events; they");
  else if (batches > 0)
    snprintf(what, sizeof what, "events are not acknowledged yet (%u batch%s); they", batches, batches > 1 ? "es" : "");
  if (life->stopped && life->end.left == LL_LEFT_IN_SPOOL)
    ll_log(LL_LOG_WARN, "%s are kept in the spool %s for the next start, lifeline-recover or lifeline-spool drain",
           what, life->config.streams.spool.directory);
  else if (load_acquire(&emitter->store.crash_safe))
    ll_log(LL_LOG_WARN, "%s are kept in %s for the next start or lifeline-recover", what, emitter->store.path);
  else
    ll_log(LL_LOG_WARN, "%s are lost with this process: there is no ring file %s", what, emitter->store.path);
}

static int shut_down(unsigned timeout_ms) {
  bool as_at_exit = timeout_ms == LL_AS_AT_EXIT;
  ll_saved_state before;
  if (load_relaxed(&emitter->dropped_in_child) > 0) ll_enter(); /* so that a batch counts them */
  /* Under the lock, since another thread's first emit may be starting the emitter. */
  if (load_acquire(&emitter->state) == LL_EMITTER_NEW) {
    ll_lock(&before);
    if (load_relaxed(&emitter->state) == LL_EMITTER_NEW) store_release(&emitter->state, LL_EMITTER_STOPPED);
    ll_unlock(&before);
  }
  if (!is_running()) return 0;
  if (as_at_exit) timeout_ms = life->config.flush_timeout_ms;
  bool patient = !as_at_exit || life->config.patient;
  uint64_t deadline_ns = from_now((uint64_t)timeout_ms + CLOSE_GRACE_MS);
  ll_lock(&before);
  if (life->stop_wanted == 0) {
    life->unreached_deadline_ns = patient ? UINT64_MAX : from_now(UNREACHED_MS);
    store_release(&life->stop_deadline_ns, from_now(timeout_ms));
    store_release(&life->stop_wanted, 1);
    ll_wake_harvester();
    if (life->alone) ll_producers_close();
  }
  while (!life->stopped && !life->alone && wait_until(&before, deadline_ns)) {
  }
  bool left = !life->stopped || life->end.left != LL_LEFT_NOTHING;
  if (left) report_left();
  ll_unlock(&before);
  ll_sessions_close();
  return left ? ETIMEDOUT : 0;
}

/* The caller may be a second one, whose first still waits for the threads. */
int ll_shutdown(unsigned timeout_ms) {
  int result = shut_down(timeout_ms);
  if (load_acquire(&emitter->state) == LL_EMITTER_STOPPED && ll_is_alive()) ll_threads_wait();
  return result;
}

/* The process ends: nobody asks for its threads any more. */
static void at_exit(void) {
  if (is_running() || load_relaxed(&emitter->dropped_in_child) > 0) shut_down(LL_AS_AT_EXIT);
}

void ll_flush_at_exit(void) {
  atexit(at_exit);
}

void ll_stats(ll_statistics *statistics) {
  ll_statistics now = {.size = sizeof now};
  uint32_t state = load_acquire(&emitter->state);
  bool started = (state == LL_EMITTER_ON || state == LL_EMITTER_STOPPED) && ll_is_alive();
  if (started) {
    uint64_t counters[LL_COUNTERS];
    ll_streams_counters(counters);
    now.emitted = counters[LL_COUNT_EMITTED];
    now.dropped_ring_full = counters[LL_COUNT_RING_FULL];
    now.dropped_no_ring = counters[LL_COUNT_NO_RING];
    now.dropped_reentrant = counters[LL_COUNT_REENTRANT];
    now.dropped_oversize = counters[LL_COUNT_OVERSIZE];
    now.dropped_shutdown = counters[LL_COUNT_SHUTDOWN];
    now.dropped_spool_full = counters[LL_COUNT_SPOOL_FULL];
    now.dropped_sink = counters[LL_COUNT_SINK];
    now.sampled_out = counters[LL_COUNT_SAMPLED_OUT];
    now.below_threshold = counters[LL_COUNT_BELOW_THRESHOLD];
    now.folded = counters[LL_COUNT_FOLDED];
    now.spooled = counters[LL_COUNT_SPOOLED];
    now.batches_sealed = ll_streams_sealed();
    now.batches_acknowledged = ll_streams_acknowledged();
    now.batches_in_flight = ll_streams_in_flight();
    now.on = state == LL_EMITTER_ON;
    now.crash_safe = load_acquire(&emitter->store.crash_safe);
  }
  uint64_t stopped = load_relaxed(&emitter->dropped_stopped);
  now.emitted += stopped;
  now.dropped_shutdown += stopped;
  uint64_t in_child = load_relaxed(&emitter->dropped_in_child);
  now.emitted += in_child;
  now.dropped_reentrant += in_child;
  size_t known = statistics->size;
  memcpy(statistics, &now, known < sizeof now ? known : sizeof now);
  statistics->size = known;
}
