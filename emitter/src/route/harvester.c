/* The harvester: the one thread that seals, sends, and sleeps. */
#include "base/atomics.h"
#include "base/futex.h"
#include "base/log.h"
#include "life/core.h"
#include "loss.h"
#include "recover.h"
#include "resolution/resolution.h"
#include "resolution/triggers.h"
#include "ring/pool.h"
#include "spool/spool_drain.h"
#include "summary/summary.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define MS UINT64_C(1000000)
#define NAP_MAX_NS (50 * MS)

/* Each signal counts: who signals after we looked makes the futex return at once. */
void ll_wake_harvester(void) {
  ll_core *core = &ll_the_core;
  __atomic_fetch_add(&core->signal, 1, __ATOMIC_SEQ_CST);
  if (load_ordered(&core->sleeping) != 0) futex_wake(&core->signal, 1);
}

/* Summaries go into our own ring. When that is full it is harvested; when there is no slot either, what is left is told
 * another time. */
static void report_summaries(ll_core *core, ll_report what) {
  while (!ll_summary_report(what))
    if (ll_streams_advance(core, ll_streams_work(core), 1) != LL_SEALED) return;
}

/* The last ones wait for a ring and for slots as long as the end may take. */
static void report_last_summaries(ll_core *core) {
  static const struct timespec moment = {0, 5000000};
  while (!ll_summary_report(LL_REPORT_CLOSE)) {
    if (ll_streams_advance(core, ll_streams_work(core), 1) == LL_SEALED) continue;
    if (ll_monotonic_ns() >= load_acquire(&core->stop_deadline_ns)) {
      ll_summary_give_up();
      return;
    }
    ll_pool_reclaim(&core->store);
    nanosleep(&moment, NULL);
  }
}

/* What was published before a flush or the end began, ring by ring. */
typedef struct marks {
  uint32_t count;
  uint64_t head[LL_RINGS_MAX];
} marks;

static void mark(const ll_store *store, marks *seen) {
  seen->count = load_acquire(&store->header->ring_count);
  for (uint32_t i = 0; i < seen->count; i++)
    seen->head[i] = load_acquire(&store->rings[i].head);
}

static bool sealed_up_to(const ll_store *store, const marks *seen) {
  for (uint32_t i = 0; i < seen->count; i++)
    if (load_relaxed(&store->rings[i].tail) < seen->head[i]) return false;
  return true;
}

static void sleep_until(ll_core *core, uint32_t seen_signal, uint64_t wake_ns) {
  uint64_t now = ll_monotonic_ns();
  if (now >= wake_ns) return;
  store_ordered(&core->sleeping, 1);
  futex_wait(&core->signal, seen_signal, wake_ns - now);
  store_ordered(&core->sleeping, 0);
}

/* A flush in progress: first its events are sealed, then those batches settle. */
typedef struct flush {
  uint64_t ticket; /* 0: none */
  bool sealed;
  uint64_t last[LL_ROUTES_MAX]; /* sequences, by route */
  marks seen;
} flush;

static void take_request(ll_core *core, flush *current) {
  ll_disturbances before;
  ll_core_lock(&before);
  bool taken = current->ticket == 0 && core->flush_wanted > core->flush_done;
  if (taken) current->ticket = core->flush_wanted;
  ll_core_unlock(&before);
  if (!taken) return;
  current->sealed = false;
  report_summaries(core, LL_REPORT_ALL);
  mark(&core->store, &current->seen);
}

static void advance_flush(ll_core *core, flush *current, ll_sealed sealed) {
  if (current->ticket == 0) return;
  if (!current->sealed && sealed != LL_NO_SLOT && sealed_up_to(&core->store, &current->seen)) {
    current->sealed = true;
    ll_streams_sequences(core, current->last);
  }
  if (!current->sealed || !ll_streams_settled(core, current->last)) return;
  ll_disturbances before;
  ll_core_lock(&before);
  core->flush_done = current->ticket;
  ll_core_tell();
  ll_core_unlock(&before);
  current->ticket = 0;
}

static uint64_t earlier(uint64_t one_ns, uint64_t other_ns) {
  return one_ns < other_ns ? one_ns : other_ns;
}

static void run(ll_core *core, ll_loss *loss) {
  static flush current; /* large, and there is one harvester */
  current.ticket = 0;
  uint64_t interval_ns = core->config.interval_ms * MS;
  uint64_t due_ns = ll_monotonic_ns() + interval_ns;
  uint64_t acknowledged = 0, nap_ns = MS;
  while (!load_acquire(&core->stop_wanted)) {
    uint32_t signal = load_ordered(&core->signal);
    take_request(core, &current);
    if (core->control != NULL) ll_control_apply(core->control, ll_monotonic_ns(), ll_resolution_control, core);
    ll_triggers_tick();
    ll_resolution_tick();
    if (ll_monotonic_ns() >= ll_summary_due_ns()) report_summaries(core, LL_REPORT_DUE);
    bool crowded = __atomic_exchange_n(&core->crowded, 0, __ATOMIC_ACQUIRE) != 0; /* a producer says so */
    ll_work work = ll_streams_work(core);
    bool due = ll_monotonic_ns() >= due_ns;
    bool flushing = current.ticket != 0 && !current.sealed;
    uint32_t wanted = work.much;
    if (flushing || crowded || ll_pool_is_cluttered(&core->store)) wanted |= work.some;
    if (flushing) wanted |= ll_streams_with_news(core);
    /* While the sink is away a batch at each interval, however small, would only use up slots. */
    if (due) wanted |= (work.some | ll_streams_with_news(core)) & ~ll_streams_held_up(core);
    ll_sealed sealed = ll_streams_advance(core, work, wanted);
    ll_pool_replenish(&core->store);
    advance_flush(core, &current, sealed);
    ll_loss_look(loss, core, false);
    if (due) {
      ll_store_look(&core->store);
      due_ns = ll_monotonic_ns() + interval_ns;
    }
    if (sealed == LL_SEALED) continue; /* look again: much may have come meanwhile */

    /* An acknowledgement wakes us, unless the sink needs to be polled for it. */
    uint64_t known = ll_streams_acknowledged(core), sequences[LL_ROUTES_MAX];
    nap_ns = known != acknowledged ? MS : nap_ns < NAP_MAX_NS ? nap_ns * 2 : nap_ns;
    acknowledged = known;
    ll_streams_sequences(core, sequences);
    bool waiting = !ll_streams_settled(core, sequences);
    uint64_t nap_until = ll_monotonic_ns() + nap_ns;
    uint64_t wake_ns =
        earlier(due_ns, earlier(ll_summary_due_ns(), earlier(ll_triggers_due_ns(), ll_resolution_due_ns())));
    if (core->control != NULL) wake_ns = earlier(wake_ns, ll_control_due_ns(core->control));
    sleep_until(core, signal, waiting ? earlier(nap_until, wake_ns) : wake_ns);
  }
}

static void control_has_news(void *ctx) {
  (void)ctx;
  ll_wake_harvester();
}

/* An emitter without memory for it does without the control topic. */
static void watch_control(ll_core *core) {
  core->control = ll_control_create(control_has_news, NULL);
  if (core->control != NULL) ll_route_watch(&core->streams[0].route, core->control);
}

static void announce_opening(ll_core *core, int error) {
  ll_disturbances before;
  ll_core_lock(&before);
  core->opened = true;
  core->open_error = error;
  ll_core_tell();
  ll_core_unlock(&before);
}

/* Nothing to send to: what was emitted meanwhile is counted, and the emitter stops. */
static void give_up(ll_core *core) {
  ll_producers_close();
  ll_streams_discard(core);
  ll_store_remove(&core->store);
}

static void report_recovered(void *ctx, const ll_recovered *file) {
  const ll_core *core = ctx;
  bool ending = load_acquire(&core->recovery_deadline_ns) != UINT64_MAX;
  if (file->trouble != NULL && !ending) ll_log(LL_LOG_WARN, "%s is not recovered: %s", file->path, file->trouble);
}

static void report_drained(void *ctx, const ll_drained *segment) {
  const ll_core *core = ctx;
  bool ending = load_acquire(&core->recovery_deadline_ns) != UINT64_MAX;
  if (segment->trouble != NULL && !ending) ll_log(LL_LOG_WARN, "%s in the spool: %s", segment->name, segment->trouble);
}

static void drain_spool(ll_core *core) {
  char why[512];
  if (core->config.spool.directory[0] == '\0') return;
  ll_spool_drain drain = {.directory = core->config.spool.directory,
                          .url = core->config.url,
                          .routes = &core->config.routes,
                          .program = core->config.program,
                          .deadline_ns = &core->recovery_deadline_ns,
                          .report = report_drained,
                          .ctx = core};
  if (!ll_spool_drain_all(&drain, why, sizeof why)) ll_log(LL_LOG_WARN, "%s", why);
}

/* What earlier runs of this program left behind, beside the live events, until the end. */
static void *recover_earlier_runs(void *unused) {
  (void)unused;
  ll_core *core = &ll_the_core;
  char why[512];
  pthread_setname_np(pthread_self(), "lifeline-recov");
  ll_recovery recovery = {.directory = core->config.ring_dir,
                          .session_directory = core->config.session_ring_dir,
                          .url = core->config.url,
                          .routes = &core->config.routes,
                          .program = core->config.program,
                          .own = core->store.path,
                          .deadline_ns = &core->recovery_deadline_ns,
                          .report = report_recovered,
                          .ctx = core};
  if (!ll_recover(&recovery, why, sizeof why)) ll_log(LL_LOG_WARN, "%s", why);
  drain_spool(core);
  ll_disturbances before;
  ll_core_lock(&before);
  core->recovering = false;
  ll_core_tell();
  ll_core_unlock(&before);
  return NULL;
}

/* Detached: a program that leaves by _exit leaves no thread that nobody joined. */
static void start_recovery(ll_core *core) {
  pthread_t thread;
  core->recovering = true;
  if (pthread_create(&thread, NULL, recover_earlier_runs, NULL) == 0)
    pthread_detach(thread);
  else
    core->recovering = false;
}

static void wait_for_recovery(ll_core *core) {
  ll_disturbances before;
  ll_core_lock(&before);
  while (core->recovering)
    ll_core_wait_for_news(&before, UINT64_MAX);
  ll_core_unlock(&before);
}

/* A thread that is held up in its last emit for longer than anybody waits will publish into a ring that nobody looks at
 * any more: then the file stays, for the next start to find the event in it. True if it does. */
static bool leave_to_the_late(ll_core *core) {
  bool quiet = ll_producers_are_quiet(); /* before the look: what was published until then is seen */
  if (quiet && ll_streams_work(core).some == 0) return false;
  ll_log(LL_LOG_WARN,
         core->store.crash_safe
             ? "a thread was held up in an emit beyond the shutdown; its event waits in %s for the next start or "
               "lifeline-recover"
             : "a thread was held up in an emit beyond the shutdown; its event is lost: there is no ring file %s",
         core->store.path);
  return true;
}

static void deliver(ll_core *core) {
  store_release(&core->recovery_deadline_ns, UINT64_MAX);
  core->recovering = false; /* a forked child has the parent's */
  if (core->store.crash_safe || core->store.cluttered) start_recovery(core);
  watch_control(core);
  ll_loss loss = {0};
  run(core, &loss);
  ll_producers_close();
  report_last_summaries(core);
  core->left = ll_streams_finish(core);
  ll_loss_look(&loss, core, true);
  ll_control_free(core->control);
  if (core->left != LL_LEFT_IN_FILE && !leave_to_the_late(core))
    ll_store_remove(&core->store);
  else if (ll_producers_are_quiet())
    ll_store_trim(&core->store);
  /* A sink that took ours will take theirs: short runs must be able to recover, too. */
  uint64_t end_ns = core->left != LL_LEFT_NOTHING ? 0
                    : core->reached               ? load_acquire(&core->stop_deadline_ns)
                                                  : core->unreached_deadline_ns;
  store_release(&core->recovery_deadline_ns, end_ns);
  wait_for_recovery(core);
}

static void *harvester(void *unused) {
  (void)unused;
  ll_core *core = &ll_the_core;
  pthread_setname_np(pthread_self(), "lifeline");
  ll_pool_replenish(&core->store); /* before the sink: that may have to look up names */
  ll_triggers_begin(core->config.activations.triggers);
  int error = ll_streams_open(core);
  /* Again: after what the sink's libraries have put there, so before it at exit. And before ll_init returns: exit
   * handlers that the program registers then come before ours. */
  if (error == 0) ll_flush_at_exit();
  announce_opening(core, error);
  if (error == 0)
    deliver(core);
  else
    give_up(core);
  ll_disturbances before;
  ll_core_lock(&before);
  store_release(&core->state, LL_CORE_STOPPED);
  core->stopped = true;
  core->flush_done = core->flush_wanted;
  ll_core_tell();
  ll_core_unlock(&before);
  return NULL;
}

int ll_harvester_start(void) {
  ll_core *core = &ll_the_core;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals are for its own threads */
  int error = pthread_create(&core->thread, NULL, harvester, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) pthread_detach(core->thread);
  return error;
}
