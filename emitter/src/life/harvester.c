/* The harvester: the thread that seals and sends this process's batches. */
#include "base/apart.h"
#include "base/futex.h"
#include "base/log.h"
#include "base/threads.h"
#include "ending.h"
#include "life.h"
#include "resolution/resolution.h"
#include "resolution/triggers.h"
#include "ring/context.h"
#include "ring/pool.h"
#include "ring/producer.h"
#include "route/loss.h"
#include "route/recover.h"
#include "session.h"
#include "spool/spool_drain.h"
#include "summary/summary.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define MS UINT64_C(1000000)
#define NAP_MAX_NS (50 * MS)
#define CHILDREN_NS (5000 * MS) /* between looks for files of forked children */

static ll_life *const life = &ll_the_life;
static ll_emitter *const emitter = &ll_the_emitter;
static uint64_t recovery_deadline_ns; /* for recovering earlier runs; UINT64_MAX until the end of this one */
static bool is_apart;                 /* then its other thread looks at the end of the program */
static bool recovering;               /* a recovery thread is running; guarded by the lock */
static uint32_t forks_seen;           /* by the latest recovery, which */
static uint64_t recovered_ns;         /* began at that time */
static bool recovered_before;         /* one of this process has ended */
static bool others_live;              /* it left files of living processes; guarded by the lock */
static ll_control *control;           /* NULL when out of memory: the control topic is not watched */

/* Summaries go into the harvester's own ring. When it is full it is harvested; without a free slot the rest is reported
 * later. When a session has begun or ended, the summaries of the time before belong to the batches before, and the
 * change waits until all of them are reported. */
static void report_summaries(ll_report what) {
  ll_store *store = &emitter->store;
  uint64_t changes;
  bool changed = load_acquire(&store->header->context_changes) > store->summarised, all;
  if (changed) {
    what = LL_REPORT_ALL;
    ll_context_summary_begin(store, ll_ring_of_harvester(), &changes);
  }
  while (!(all = ll_summary_report(what)))
    if (ll_streams_advance(ll_streams_work(), 1) != LL_SEALED) break;
  ll_summary_report_others(what);
  if (changed && all) ll_context_summary_end(store, ll_ring_of_harvester(), changes); /* it may have grown */
}

/* Advances all routes to the current session, also those that have nothing to seal. Returns the routes that have to
 * seal before they can advance. */
static uint32_t follow_sessions(void) {
  ll_store *store = &emitter->store;
  uint32_t behind = 0;
  ll_sessions_tick();
  if (load_acquire(&store->header->context_changes) != store->summarised) report_summaries(LL_REPORT_ALL);
  for (uint32_t route = 0; route < store->header->route_count; route++) {
    ll_context_advance(store, route);
    behind |= (uint32_t)ll_context_is_behind(store, route) << route;
  }
  return behind;
}

/* The last summaries wait for room in the ring and for slots until the shutdown deadline. */
static void report_last_summaries(void) {
  static const struct timespec moment = {0, 5000000};
  while (!ll_summary_report(LL_REPORT_CLOSE)) {
    if (ll_streams_advance(ll_streams_work(), 1) == LL_SEALED) continue;
    if (ll_monotonic_ns() >= load_acquire(&life->stop_deadline_ns)) {
      ll_summary_give_up();
      return;
    }
    ll_pool_reclaim(&emitter->store);
    nanosleep(&moment, NULL);
  }
}

/* The positions published before a flush began, by ring. */
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

static void sleep_until(uint32_t seen_signal, uint64_t wake_ns) {
  uint64_t now = ll_monotonic_ns();
  if (now >= wake_ns) return;
  store_ordered(&emitter->sleeping, 1);
  futex_wait(&emitter->signal, seen_signal, wake_ns - now);
  store_ordered(&emitter->sleeping, 0);
}

/* A flush in progress: first its events are sealed, then those batches settle. */
typedef struct flush {
  uint64_t ticket; /* 0: none */
  bool sealed;
  uint64_t last[LL_ROUTES_MAX]; /* sequences, by route */
  marks seen;
} flush;

static void take_request(flush *current) {
  ll_saved_state before;
  ll_lock(&before);
  bool taken = current->ticket == 0 && life->flush_wanted > life->flush_done;
  if (taken) current->ticket = life->flush_wanted;
  ll_unlock(&before);
  if (!taken) return;
  current->sealed = false;
  report_summaries(LL_REPORT_ALL);
  mark(&emitter->store, &current->seen);
}

static void advance_flush(flush *current, ll_sealed sealed) {
  if (current->ticket == 0) return;
  if (!current->sealed && sealed != LL_NO_SLOT && sealed_up_to(&emitter->store, &current->seen)) {
    current->sealed = true;
    ll_streams_sequences(current->last);
  }
  if (!current->sealed || !ll_streams_settled(current->last)) return;
  ll_saved_state before;
  ll_lock(&before);
  life->flush_done = current->ticket;
  ll_tell_news();
  ll_unlock(&before);
  current->ticket = 0;
}

static uint64_t earlier(uint64_t one_ns, uint64_t other_ns) {
  return one_ns < other_ns ? one_ns : other_ns;
}

static void reap(void) {
  ll_producers_reap();
  ll_summary_reap();
}

/* Only the first of these files is a line of its own: a folder may have hundreds. */
static void report_recovered(void *ctx, const ll_recovered *file) {
  unsigned *troubles = ctx;
  bool ending = load_acquire(&recovery_deadline_ns) != UINT64_MAX;
  if (file->trouble == NULL || ending || (*troubles)++ > 0) return;
  ll_log(LL_LOG_WARN, "%s is not recovered: %s", file->path, file->trouble);
}

static void report_drained(void *unused, const ll_drained *segment) {
  (void)unused;
  bool ending = load_acquire(&recovery_deadline_ns) != UINT64_MAX;
  if (segment->trouble != NULL && !ending) ll_log(LL_LOG_WARN, "%s in the spool: %s", segment->name, segment->trouble);
}

static void drain_spool(void) {
  char why[512];
  if (life->config.streams.spool.directory[0] == '\0') return;
  ll_spool_drain drain = {.directory = life->config.streams.spool.directory,
                          .url = life->config.streams.url,
                          .routes = &life->config.streams.routes,
                          .program = life->config.streams.program,
                          .deadline_ns = &recovery_deadline_ns,
                          .report = report_drained};
  if (!ll_spool_drain_all(&drain, why, sizeof why)) ll_log(LL_LOG_WARN, "%s", why);
}

/* Recovers files of earlier runs of this program, concurrently with live events, until the end. */
static void *recover_earlier_runs(void *unused) {
  (void)unused;
  ll_tls_inside = 1;
  ll_apart_is_here();
  char why[512];
  bool again = recovered_before; /* what the first one has reported is not reported again */
  unsigned troubles = again;
  pthread_setname_np(pthread_self(), "lifeline-recov");
  ll_recovery recovery = {.directory = life->config.ring_dir,
                          .session_directory = life->config.session_ring_dir,
                          .url = life->config.streams.url,
                          .routes = &life->config.streams.routes,
                          .program = life->config.streams.program,
                          .own = emitter->store.path,
                          .deadline_ns = &recovery_deadline_ns,
                          .report = report_recovered,
                          .ctx = &troubles};
  if (!ll_recover(&recovery, why, sizeof why) && !again) ll_log(LL_LOG_WARN, "%s", why);
  if (troubles > 1 && !again)
    ll_log(LL_LOG_WARN, "%u more of them are not recovered; lifeline-recover says why", troubles - 1);
  if (!again) drain_spool();
  recovered_before = true;
  ll_saved_state before;
  ll_lock(&before);
  recovering = false;
  others_live = recovery.skipped_live > 0;
  ll_tell_news();
  ll_unlock(&before);
  return NULL;
}

static void start_recovery(void) {
  recovering = true;
  forks_seen = __atomic_load_n(&life->forks, __ATOMIC_RELAXED);
  recovered_ns = ll_monotonic_ns();
  if (ll_thread_start(recover_earlier_runs) != 0) recovering = false;
}

/* Files of forked children that left without a shutdown: their parent may live for years. */
static void look_for_children(void) {
  uint32_t forks = __atomic_load_n(&life->forks, __ATOMIC_RELAXED);
  if (forks == 0 || ll_monotonic_ns() - recovered_ns < CHILDREN_NS) return;
  ll_saved_state before;
  ll_lock(&before);
  bool wanted = !recovering && (forks != forks_seen || others_live);
  ll_unlock(&before);
  if (wanted) start_recovery();
}

static void run(ll_loss *loss) {
  static flush current; /* static because it is large; only one harvester exists */
  current.ticket = 0;
  uint64_t interval_ns = life->config.interval_ms * MS;
  uint64_t due_ns = ll_monotonic_ns() + interval_ns;
  uint64_t acknowledged = 0, nap_ns = MS;
  while (!load_acquire(&life->stop_wanted)) {
    uint32_t signal = load_ordered(&emitter->signal);
    take_request(&current);
    if (control != NULL) ll_control_apply(control, ll_monotonic_ns(), ll_resolution_control, NULL);
    ll_triggers_tick();
    ll_resolution_tick();
    uint64_t end_look_ns = is_apart ? UINT64_MAX : ll_ending_look();
    if (ll_monotonic_ns() >= due_ns) reap();
    if (ll_monotonic_ns() >= ll_summary_due_ns()) report_summaries(LL_REPORT_DUE);
    uint32_t behind = follow_sessions();
    bool crowded = __atomic_exchange_n(&emitter->crowded, 0, __ATOMIC_ACQUIRE) != 0; /* set by a producer */
    ll_work work = ll_streams_work();
    bool due = ll_monotonic_ns() >= due_ns;
    bool flushing = current.ticket != 0 && !current.sealed;
    uint32_t wanted = work.much | (work.some & behind);
    if (flushing || crowded || ll_pool_is_cluttered(&emitter->store)) wanted |= work.some;
    if (flushing) wanted |= ll_streams_with_news();
    /* While the sink is unreachable, small batches at each interval would only use up slots. */
    if (due) wanted |= (work.some | ll_streams_with_news()) & ~ll_streams_held_up();
    ll_sealed sealed = ll_streams_advance(work, wanted);
    ll_pool_replenish(&emitter->store);
    advance_flush(&current, sealed);
    ll_loss_look(loss, false);
    if (due) {
      ll_store_look(&emitter->store);
      look_for_children();
      due_ns = ll_monotonic_ns() + interval_ns;
    }
    if (sealed == LL_SEALED) continue; /* check again: many events may have arrived meanwhile */

    /* An acknowledgement wakes the harvester, unless the sink must be polled for it. */
    uint64_t known = ll_streams_acknowledged(), sequences[LL_ROUTES_MAX];
    nap_ns = known != acknowledged ? MS : nap_ns < NAP_MAX_NS ? nap_ns * 2 : nap_ns;
    acknowledged = known;
    ll_streams_sequences(sequences);
    bool waiting = !ll_streams_settled(sequences);
    uint64_t nap_until = ll_monotonic_ns() + nap_ns;
    uint64_t wake_ns =
        earlier(due_ns, earlier(ll_summary_due_ns(), earlier(ll_triggers_due_ns(), ll_resolution_due_ns())));
    if (control != NULL) wake_ns = earlier(wake_ns, ll_control_due_ns(control));
    wake_ns = earlier(earlier(wake_ns, work.look_ns), end_look_ns);
    sleep_until(signal, waiting ? earlier(nap_until, wake_ns) : wake_ns);
  }
}

static void announce_opening(int error) {
  ll_saved_state before;
  ll_lock(&before);
  life->opened = true;
  life->open_error = error;
  ll_tell_news();
  ll_unlock(&before);
}

/* Without a sink: counts the events emitted meanwhile, and stops the emitter. */
static void give_up(void) {
  ll_producers_close();
  ll_streams_discard();
  ll_store_remove(&emitter->store);
}

static void wait_for_recovery(void) {
  ll_saved_state before;
  ll_lock(&before);
  while (recovering)
    ll_wait_for_news(&before, UINT64_MAX);
  ll_unlock(&before);
}

/* A thread that is suspended in its last emit for longer than the shutdown waits will publish into a ring that is no
 * longer read. Then the file stays, so that the next start finds the event. Returns true in that case. */
static bool leave_to_the_late(void) {
  bool quiet = ll_producers_are_quiet(); /* checked first: events published until then are seen */
  if (quiet && ll_streams_work().some == 0) return false;
  ll_log(LL_LOG_WARN,
         load_acquire(&emitter->store.crash_safe)
             ? "a thread was inside an emit during the shutdown; its event is kept in %s for the next start or "
               "lifeline-recover"
             : "a thread was inside an emit during the shutdown; its event is lost: there is no ring file %s",
         emitter->store.path);
  return true;
}

static void deliver(void) {
  store_release(&recovery_deadline_ns, UINT64_MAX);
  recovering = recovered_before = false; /* a forked child inherits the parent's values */
  if (load_acquire(&emitter->store.crash_safe) || emitter->store.cluttered) start_recovery();
  control = ll_streams_watch();
  ll_loss loss = {.spooled = life->config.streams.spool.directory[0] != '\0'};
  run(&loss);
  follow_sessions();                         /* changes just before the end */
  ll_summary_report_others(LL_REPORT_CLOSE); /* before the close: it emits like any thread */
  ll_producers_close();
  emitter->store.summarised = UINT64_MAX; /* from now on all goes out in order */
  report_last_summaries();
  ll_streams_end end = ll_streams_finish(&life->stop_deadline_ns, life->unreached_deadline_ns);
  life->end = end;
  ll_loss_look(&loss, true);
  ll_control_free(control);
  if (end.left != LL_LEFT_IN_FILE && !leave_to_the_late())
    ll_store_remove(&emitter->store);
  else if (ll_producers_are_quiet())
    ll_store_trim(&emitter->store);
  /* A sink that accepted the live events will accept recovered ones: even short runs must be able to recover. */
  uint64_t end_ns = end.left != LL_LEFT_NOTHING ? 0
                    : end.reached               ? load_acquire(&life->stop_deadline_ns)
                                                : life->unreached_deadline_ns;
  store_release(&recovery_deadline_ns, end_ns);
  wait_for_recovery();
}

static void *harvester(void *unused) {
  (void)unused;
  ll_tls_inside = 1;
  pthread_setname_np(pthread_self(), "lifeline");
  is_apart = ll_apart_begin(ll_ending_look);
  ll_ending_hold(is_apart);
  ll_pool_replenish(&emitter->store); /* before opening the sink, which may resolve names */
  ll_triggers_begin(life->config.activations.triggers);
  int error = ll_streams_open();
  /* Registered again, after the exit handlers of the sink's libraries, so that ours runs before theirs. And before
   * ll_init returns: exit handlers that the program registers later run before ours. */
  if (error == 0) ll_flush_at_exit();
  announce_opening(error);
  if (error == 0)
    deliver();
  else
    give_up();
  ll_saved_state before;
  ll_lock(&before);
  store_release(&emitter->state, LL_EMITTER_STOPPED);
  life->stopped = true;
  life->flush_done = life->flush_wanted;
  ll_tell_news();
  ll_unlock(&before);
  ll_ending_release();
  ll_apart_end();
  return NULL;
}

int ll_harvester_start(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals go to its own threads */
  int error = ll_thread_start(harvester);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}
