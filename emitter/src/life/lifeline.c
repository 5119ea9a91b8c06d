/* The life of the emitter: started once, by whoever comes first; stopped once; new in a forked child. */
#include "base/atomics.h"
#include "base/futex.h"
#include "base/log.h"
#include "core.h"
#include "resolution/resolution.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ll_core ll_the_core = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum {
  CLOSE_GRACE_MS = 3000, /* what a sink may take to close, and some */
  UNREACHED_MS = 300, /* for a connection, at the end of a program that never had one: the ring file keeps the events */
  OPEN_WAIT_MS = 1000, /* in a constructor of a library that is just being loaded, the sink cannot be: the caller holds
                          the loader's lock */
};

#define MS UINT64_C(1000000)

void ll_core_lock(ll_disturbances *before) {
  sigset_t all;
  before->error = errno;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before->signals);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->cancellation);
  pthread_mutex_lock(&ll_the_core.lock);
}

void ll_core_unlock(const ll_disturbances *before) {
  pthread_mutex_unlock(&ll_the_core.lock);
  pthread_setcancelstate(before->cancellation, NULL);
  pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
  errno = before->error;
}

void ll_core_tell(void) {
  store_release(&ll_the_core.news, ll_the_core.news + 1);
  futex_wake(&ll_the_core.news, INT_MAX);
}

void ll_core_wait_for_news(ll_disturbances *before, uint64_t timeout_ns) {
  uint32_t heard = ll_the_core.news;
  ll_core_unlock(before);
  futex_wait(&ll_the_core.news, heard, timeout_ns);
  ll_core_enter(); /* a handler may have forked, and a child's lock is another one */
  ll_core_lock(before);
}

/* False when the time is over. With the lock held. */
static bool wait_until(ll_disturbances *before, uint64_t deadline_ns) {
  uint64_t now_ns = ll_monotonic_ns();
  if (now_ns >= deadline_ns) return false;
  ll_core_wait_for_news(before, deadline_ns - now_ns);
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

static void describe_emitter(ll_core *core) {
  ll_file_header *header = core->store.header;
  uint8_t *at = core->store.identity;
  put_counted(&at, core->config.host);
  put_counted(&at, core->config.program);
  header->names_bytes = (uint32_t)(at - core->store.identity);
  memcpy(at, core->config.context, core->config.context_bytes);
  header->context_bytes = core->config.context_bytes;
  header->context_count = core->config.context_count;
  header->clock = core->config.clock;
  memcpy(header->spool, core->config.spool.directory, sizeof header->spool);
  ll_calibrate(&header->calibrations[0], core->config.clock);
}

/* A new incarnation, with what config says. With the lock held. Returns 0 or an errno value, which has been logged. */
static int start_incarnation(ll_core *core) {
  char why[512] = "";
  uint8_t incarnation[16];
  ll_random(incarnation, sizeof incarnation);
  int error = ll_store_create(&core->store, core->config.ring_dir, core->config.program, core->config.budget_bytes,
                              incarnation, why, sizeof why);
  if (error != 0) {
    ll_log(LL_LOG_ERROR, "no memory to start; the program runs on, and its events are counted as dropped");
    return error;
  }
  ll_store_deal(&core->store, core->config.routes.count, core->config.routes.names);
  describe_emitter(core);
  ll_types_save(&core->types, &core->store);
  ll_store_publish(&core->store, why, sizeof why);
  if (!core->store.crash_safe) ll_log(LL_LOG_WARN, "events do not survive a crash of this program: %s", why);
  core->closing = 0;
  core->opened = core->stopped = false;
  core->stop_wanted = 0;
  core->undelivered = 0;
  core->flush_wanted = core->flush_done = 0;
  memset(core->streams, 0, sizeof core->streams);
  store_release(&core->sensitive->alive, 1);
  error = ll_harvester_start();
  if (error == 0) return 0;
  ll_log(LL_LOG_ERROR, "no thread to start with; the program runs on, and its events are counted as dropped");
  ll_store_remove(&core->store);
  return error;
}

/* With the lock held. */
static int start(ll_core *core, const ll_options *options) {
  char why[512] = "";
  if (options != NULL) ll_log_to(options->log, options->log_ctx);
  if (!ll_config_load(&core->config, options, why, sizeof why)) {
    ll_log(LL_LOG_ERROR, "%s; the program runs on, and its events are counted as dropped", why);
    store_release(&core->state, LL_CORE_STOPPED);
    return EINVAL;
  }
  if (!core->config.on) {
    store_release(&core->state, LL_CORE_OFF);
    return 0;
  }
  if (!ll_resolution_start(&core->config, why, sizeof why)) {
    ll_log(LL_LOG_ERROR, "%s; the program runs on, and its events are counted as dropped", why);
    store_release(&core->state, LL_CORE_STOPPED);
    return EINVAL;
  }
  core->sensitive = ll_fork_sensitive_memory();
  int error = core->sensitive != NULL ? ll_types_create(&core->types) : ENOMEM;
  if (error == 0) error = start_incarnation(core);
  if (error == 0) ll_flush_at_exit();
  store_release(&core->state, error == 0 ? LL_CORE_ON : LL_CORE_STOPPED);
  return error;
}

static bool is_forked_child(const ll_core *core) {
  return load_acquire(&core->state) == LL_CORE_ON && load_acquire(&load_acquire(&core->sensitive)->alive) == 0;
}

/* The parent's lock may be held by a thread that is not here; its thread, sink and rings are its own. The types stay:
 * their numbers are in this program's memory. So does the wiped memory, for good: the thread that forked may still
 * point to its producer in there, and must not meet another thread's. */
static void restart_in_child(ll_core *core) {
  static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  ll_fork_sensitive *wiped = load_acquire(&core->sensitive);
  if (!compare_and_swap_u32(&wiped->restarting, 0, 1)) {
    while (is_forked_child(core))
      futex_wait(&wiped->restarting, 1, MS);
    return;
  }
  core->lock = fresh;
  core->signal = core->sleeping = core->room = core->waiting_for_room = 0;
  ll_disturbances before;
  ll_core_lock(&before);
  ll_fork_sensitive *sensitive = ll_fork_sensitive_memory();
  if (sensitive != NULL) {
    sensitive->restarting = 1;
    store_release(&core->sensitive, sensitive);
  }
  char why[512];
  ll_resolution_start(&core->config, why, sizeof why); /* which was good for the parent */
  if (sensitive == NULL || start_incarnation(core) != 0) store_release(&core->state, LL_CORE_STOPPED);
  ll_core_unlock(&before);
}

ll_core_state ll_core_enter(void) {
  ll_core *core = &ll_the_core;
  if (is_forked_child(core)) restart_in_child(core);
  ll_core_state state = load_acquire(&core->state);
  if (state != LL_CORE_NEW) return state;
  ll_disturbances before;
  ll_core_lock(&before);
  if (load_relaxed(&core->state) == LL_CORE_NEW) start(core, NULL);
  ll_core_unlock(&before);
  return load_acquire(&core->state);
}

int ll_init(const ll_options *options) {
  ll_core *core = &ll_the_core;
  if (is_forked_child(core)) restart_in_child(core);
  ll_disturbances before;
  ll_core_lock(&before);
  int error = load_relaxed(&core->state) == LL_CORE_NEW ? start(core, options) : EALREADY;
  if (error == 0 && load_relaxed(&core->state) == LL_CORE_ON) {
    uint64_t deadline_ns = from_now(OPEN_WAIT_MS);
    while (!core->opened && wait_until(&before, deadline_ns)) {
    }
    if (core->opened) error = core->open_error;
  }
  ll_core_unlock(&before);
  return error;
}

/* Only the emitter that this process runs, and not the one that its parent ran. */
static bool is_running(const ll_core *core) {
  return load_acquire(&core->state) == LL_CORE_ON && load_acquire(&core->sensitive->alive) != 0;
}

int ll_flush(unsigned timeout_ms) {
  ll_core *core = &ll_the_core;
  if (!is_running(core)) return 0;
  uint64_t deadline_ns = from_now(timeout_ms);
  ll_disturbances before;
  ll_core_lock(&before);
  uint64_t ticket = ++core->flush_wanted;
  ll_wake_harvester();
  while (core->flush_done < ticket && wait_until(&before, deadline_ns)) {
  }
  int error = core->flush_done < ticket ? ETIMEDOUT : core->undelivered > 0 ? ETIMEDOUT : 0;
  ll_core_unlock(&before);
  return error;
}

/* One line for what a shutdown leaves behind, and where. With the lock held. */
static void report_left(const ll_core *core) {
  uint32_t batches = core->stopped ? core->undelivered : ll_streams_in_flight(core);
  char what[80] = "the sink does not end; events that it did not take";
  if (batches > 0)
    snprintf(what, sizeof what, "events are not acknowledged yet (%u batch%s); they", batches, batches > 1 ? "es" : "");
  if (core->stopped && core->left == LL_LEFT_IN_SPOOL)
    ll_log(LL_LOG_WARN, "%s wait in the spool %s for the next start, lifeline-recover or lifeline-spool drain", what,
           core->config.spool.directory);
  else if (core->store.crash_safe)
    ll_log(LL_LOG_WARN, "%s wait in %s for the next start or lifeline-recover", what, core->store.path);
  else
    ll_log(LL_LOG_WARN, "%s are lost with this process: there is no ring file %s", what, core->store.path);
}

int ll_shutdown(unsigned timeout_ms) {
  ll_core *core = &ll_the_core;
  bool as_at_exit = timeout_ms == LL_AS_AT_EXIT;
  ll_disturbances before;
  if (load_acquire(&core->state) == LL_CORE_NEW) { /* or in the middle of its start, by another thread's first emit */
    ll_core_lock(&before);
    if (load_relaxed(&core->state) == LL_CORE_NEW) store_release(&core->state, LL_CORE_STOPPED);
    ll_core_unlock(&before);
  }
  if (!is_running(core)) return 0;
  if (as_at_exit) timeout_ms = core->config.flush_timeout_ms;
  bool patient = !as_at_exit || core->config.patient || !core->store.crash_safe;
  uint64_t deadline_ns = from_now((uint64_t)timeout_ms + CLOSE_GRACE_MS);
  ll_core_lock(&before);
  if (core->stop_wanted == 0) {
    core->unreached_deadline_ns = patient ? UINT64_MAX : from_now(UNREACHED_MS);
    store_release(&core->stop_deadline_ns, from_now(timeout_ms));
    store_release(&core->stop_wanted, 1);
    ll_wake_harvester();
  }
  while (!core->stopped && wait_until(&before, deadline_ns)) {
  }
  bool left = !core->stopped || core->undelivered > 0;
  if (left) report_left(core);
  ll_core_unlock(&before);
  return left ? ETIMEDOUT : 0;
}

static void at_exit(void) {
  if (is_running(&ll_the_core)) ll_shutdown(LL_AS_AT_EXIT);
}

void ll_flush_at_exit(void) {
  atexit(at_exit);
}

void ll_stats(ll_statistics *statistics) {
  ll_core *core = &ll_the_core;
  ll_statistics now = {.size = sizeof now};
  ll_core_state state = load_acquire(&core->state);
  bool started = (state == LL_CORE_ON || state == LL_CORE_STOPPED) && core->sensitive != NULL &&
                 load_acquire(&core->sensitive->alive) != 0;
  if (started) {
    uint64_t counters[LL_COUNTERS];
    ll_streams_counters(core, counters);
    now.emitted = counters[0];
    now.dropped_ring_full = counters[1];
    now.dropped_no_ring = counters[2];
    now.dropped_reentrant = counters[3];
    now.dropped_oversize = counters[4];
    now.dropped_shutdown = counters[5];
    now.dropped_spool_full = counters[6];
    now.dropped_sink = counters[7];
    now.sampled_out = counters[8];
    now.below_threshold = counters[9];
    now.folded = counters[10];
    now.spooled = counters[11];
    now.batches_sealed = ll_streams_sealed(core);
    now.batches_acknowledged = ll_streams_acknowledged(core);
    now.batches_in_flight = ll_streams_in_flight(core);
    now.on = state == LL_CORE_ON;
    now.crash_safe = core->store.crash_safe;
  }
  uint64_t stopped = load_relaxed(&core->dropped_stopped);
  now.emitted += stopped;
  now.dropped_shutdown += stopped;
  size_t known = statistics->size;
  memcpy(statistics, &now, known < sizeof now ? known : sizeof now);
  statistics->size = known;
}
