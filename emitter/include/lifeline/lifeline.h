/* Lifeline: typed, timestamped events at the price of reading the clock.
 *
 *   LL_EVENT(disk_read_end, "disk.read.end", LL_INFO, (u64, id, ""), (u32, nbytes, "B"));   // at file scope
 *   ...
 *   ll_emit(disk_read_end, block, bytes_read);
 *
 * Caveats, before anything else:
 *  - LIFELINE_URL says where the events go. Without it (or with LIFELINE=off) instrumentation is off, and an emit costs
 *    the test of one flag.
 *  - An emit never fails, never blocks under the default policy, and makes no system call but every half ring (to wake
 *    the harvester) and on the first event of a thread or a type. An event that finds no room is dropped and counted:
 *    see ll_stats.
 *  - The library starts one thread, at the first emit or at ll_init, and a second one while there is something to
 *    deliver that earlier runs left; sinks for brokers have threads and connections of their own. It installs no signal
 *    handler, keeps no other descriptor open, never ends the process, and prints nothing but one line per trouble to
 *    stderr, or to the log callback of ll_options.
 *
 * Functions that return int return 0, or the errno value that says what went wrong; errno itself is not touched.
 *
 * Threads. Every function may be called from any thread at any time. A thread needs no preparation: its first event
 * takes a ring of the pool, which goes back when the thread has ended. Threads share nothing when they emit.
 *
 * Signal handlers. ll_emit may be called from one once ll_init has returned and the thread has emitted before; so may
 * ll_begin and ll_end (caliper.h) and ll_emit_values (dynamic.h). An event from a handler that interrupted another emit
 * is dropped and counted as dropped_reentrant. Nothing else may be called from a handler. A handler that interrupted an
 * emit must return to it: after a longjmp out of there all further events of the thread are dropped_reentrant.
 * Functions that wait do so with the caller's own signals: one that ends the program ends it there, too.
 *
 * The life of a process, and what becomes of events:
 *  - before main, in constructors of static objects: emitted as any other;
 *  - fork, with or without threads: the child is an emitter of its own, from its first event on, with connections of
 * its own; what the parent emitted before is sent once, by the parent. A child that executes another program at once
 *    leaves no trace. While the emitter loads its libraries, at its start, a fork waits for that;
 *  - vfork, posix_spawn: nothing happens, since nothing may be called between them and exec;
 *  - exec: the rings stay behind in their file. The process' new program sends them when it is the same program, and
 *    an emitter; otherwise lifeline-recover does, when the process has ended. Flush before, to have it sooner, and to
 *    keep what was to be summarised;
 *  - daemon(3): a fork whose parent leaves by _exit: see both;
 *  - return from main, exit: ll_shutdown is called, with flush_timeout_ms. Exit handlers that were registered after
 *    ll_init returned run before it; events of earlier ones, and of static objects' destructors, come too late when
 *    they run after it, and are counted as dropped_shutdown;
 *  - _exit, quick_exit, abort, a signal that kills: what was not sent is in the ring file, and the next start of the
 *    program or lifeline-recover sends it. This covers the death of the process, not that of the machine. Nor does it
 *    cover what was to be summarised: values (of types at resolution `summary`, and of calipers) that came since the
 *    last lifeline.summary are lost with the process, and are in no counter. An interval is 10 s where no rule says
 *    another, and ll_flush ends it;
 *  - the end of a thread: its events are sent. Destructors of thread_local objects and of pthread keys may emit;
 *  - dlclose of a shared object that emits: its events are sent, its event types forgotten; it may come again. Its
 *    threads must have left it. liblifeline itself stays;
 *  - after ll_shutdown: counted as dropped_shutdown, at the price of a function call.
 *
 * Poor surroundings: without a directory for the ring file, without room in it, with too much in it that earlier runs
 * left (an eighth of the filesystem, 16 to 256 MiB), or without /proc, everything works but does not survive a kill,
 * and a line says so; so it is once somebody has removed the file. A filesystem that fills up later costs counted
 * events. Without memory or threads instrumentation stays off, and events are counted. A program that runs with another
 * user's privileges (set-user-ID) ignores the environment, and is off unless it calls ll_init with a URL. A program
 * that closes all of its descriptors, once the sink is open, loses nothing but a connection to the broker, which is
 * made anew.
 */
#ifndef LIFELINE_LIFELINE_H
#define LIFELINE_LIFELINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LL_API __attribute__((visibility("default")))

#define LL_VERSION_MAJOR 0
#define LL_VERSION_MINOR 1
#define LL_VERSION_PATCH 0

/* How much an event type matters; the order is that of FORMAT.md. */
typedef enum ll_level { LL_FATAL = 1, LL_ERROR, LL_WARN, LL_INFO, LL_DEBUG, LL_DEBUG1, LL_DEBUG2, LL_DEBUG3 } ll_level;

/* The value of a field of type `bytes`. Borrowed for the time of the emit. */
typedef struct ll_bytes {
  const void *data;
  size_t size;
} ll_bytes;

/* What happens to an event that finds its thread's ring full. */
typedef enum ll_policy {
  LL_POLICY_DEFAULT = 0,
  LL_DROP_NEWEST, /* the default: it is dropped, and counted as dropped_ring_full */
  LL_BLOCK        /* its thread waits for room, at most block_timeout_ms; then as above until there is room again */
} ll_policy;

typedef enum ll_log_level { LL_LOG_ERROR, LL_LOG_WARN, LL_LOG_INFO } ll_log_level;

/* Called with one line without a newline, never with a secret. Any thread; must not block or call ll_*. */
typedef void (*ll_log_function)(void *ctx, ll_log_level level, const char *message);

/* What ll_init may be told, and the one list of all settings: a member that is zero or NULL is taken from the
 * environment variable that stands first in its comment, then from the default behind the semicolon. Strings are
 * copied. Start from LL_OPTIONS_INIT, so that a program built today works with the library of tomorrow; members are
 * only ever added, at the end.
 *
 * Variables without a member: LIFELINE=off switches everything off. LIFELINE_PLUGIN_DIR: where sinks are loaded from
 * instead of the directory that they were installed in. LIFELINE_USER and LIFELINE_PASSWORD_FILE (or
 * LIFELINE_PASSWORD), LIFELINE_NATS_CREDS, LIFELINE_TLS_CA, LIFELINE_TLS_CERT, LIFELINE_TLS_KEY,
 * LIFELINE_SIGNING_KEY_FILE: credentials, which belong in no program. lifeline(7) explains each in the words of those
 * who run a program. */
typedef struct ll_options {
  size_t size;               /* of this structure; set by LL_OPTIONS_INIT */
  const char *url;           /* LIFELINE_URL; none: instrumentation is off */
  const char *ring_dir;      /* LIFELINE_RING_DIR; /dev/shm/lifeline-<uid>, or $XDG_RUNTIME_DIR/lifeline where another
                                user has made that */
  size_t budget_bytes;       /* LIFELINE_BUDGET_BYTES; 64 MiB, at least 2 MiB: half for rings, half (at
                                most 40 MiB) for sealed batches, compressed */
  size_t batch_bytes;        /* LIFELINE_BATCH_BYTES; 64 KiB, 4 KiB to 256 KiB: grows fourfold under load */
  unsigned interval_ms;      /* LIFELINE_INTERVAL_MS; 1000: no event waits longer before it is sent */
  ll_policy policy;          /* LIFELINE_POLICY: drop-newest or block */
  unsigned block_timeout_ms; /* LIFELINE_BLOCK_TIMEOUT_MS; 1000 */
  const char *compression;   /* LIFELINE_COMPRESSION: auto, none, lz4 or zstd */
  const char *clock;         /* LIFELINE_CLOCK: auto, tsc or monotonic */
  const char *program;       /* LIFELINE_PROGRAM; the executable's name */
  const char *host;          /* LIFELINE_HOST; the machine's name */
  const char *context;       /* LIFELINE_CONTEXT: "key=value,key=value", travels with every batch */
  unsigned flush_timeout_ms; /* LIFELINE_FLUSH_TIMEOUT_MS: how long exit may wait for acknowledgements; 5000, or 300
                                where there never was a connection to the broker and the ring file keeps the events */
  ll_log_function log;       /* stderr */
  void *log_ctx;
  const char *routes; /* LIFELINE_ROUTES: "name=url,name=url"; other routes that activations may send events to, at most
                         15, with names of 1 to 31 of a-z, 0-9 and -. Half of the budget is theirs, in equal shares; it
                         must be 2 MiB and 3 MiB more for each of them */
  const char *spool;  /* LIFELINE_SPOOL: a directory on disk, for what the sink does not take in time; none */
  uint64_t spool_bytes;   /* LIFELINE_SPOOL_BYTES; 1 GiB, at least 2 MiB: of the directory, all programs together */
  const char *spool_full; /* LIFELINE_SPOOL_FULL: drop-oldest, drop-newest or block */
  const char *spool_sync; /* LIFELINE_SPOOL_SYNC: interval (each second), never or always */
  const char *resolution; /* LIFELINE_RESOLUTION: what is emitted, "disk.* summary; * off level>=debug", as
                             schemas/ACTIVATION.md says; everything in full */
  const char *triggers;   /* LIFELINE_TRIGGERS: a file of such lines, which is looked at each second; none */
  const char *never;      /* LIFELINE_NEVER: types that nobody may switch on, "secret.*,audit.keys"; none */
  const char *max_for;    /* LIFELINE_MAX_FOR: how long a request from a file or a topic may last; 1d */
  unsigned max_rate;      /* LIFELINE_MAX_RATE: events per second of each type under such a request; no limit */
} ll_options;

/* Counters since the start of this incarnation. emitted holds what has been harvested so far and what was dropped:
 * after a successful ll_flush it holds every event whose emit had returned before. */
typedef struct ll_statistics {
  size_t size; /* of this structure; set it before the call */
  uint64_t emitted;
  uint64_t dropped_ring_full; /* no room in the thread's ring */
  uint64_t dropped_no_ring;   /* no ring to be had within the budget, too many types, or no room to summarise in */
  uint64_t dropped_reentrant; /* from a signal handler that interrupted an emit */
  uint64_t dropped_oversize;  /* larger than 32,768 bytes */
  uint64_t dropped_shutdown;  /* after ll_shutdown, or because the emitter could not start */
  uint64_t dropped_sink;      /* in batches that the sink refused for good */
  uint64_t batches_sealed;
  uint64_t batches_acknowledged;
  uint64_t batches_in_flight;  /* sealed, not yet acknowledged or refused */
  int on;                      /* 1 while events are taken */
  int crash_safe;              /* 1 when the rings are in a file that a recovery can read */
  uint64_t dropped_spool_full; /* in batches that the full spool had no room for */
  uint64_t spooled;            /* went through the spool */
  uint64_t sampled_out;        /* left out on purpose, by sample:N or LIFELINE_MAX_RATE; not part of emitted */
  uint64_t below_threshold;    /* the same, by a threshold */
  uint64_t folded;             /* the same, since they are in summaries that were emitted */
} ll_statistics;

/* For ll_shutdown: as long as exit would wait. */
#define LL_AS_AT_EXIT (~0u)

#ifndef LIFELINE_DISABLE

/* Starts the emitter with what `options`, which may be NULL, and the environment say. Optional: the first emit does the
 * same with the environment alone, without waiting for the sink to open.
 *
 *   threads    any; when several call at once, one starts it and the others get EALREADY
 *   blocks     while the sink opens, which does not wait for a broker: at most a second. (In a constructor of a library
 *              that dlopen is just loading, a sink can only be opened once that returns)
 *   ownership  everything is copied but log_ctx, which must live as long as the process
 *   errors     EALREADY  it runs, or ran, already
 *              EINVAL    a bad value or URL, or options that were not begun with LL_OPTIONS_INIT
 *              ENOENT    the sink is not installed
 *              ENOMEM, EAGAIN  the system gives no memory, or no thread
 *
 * 0 also when instrumentation is off. An error but EALREADY has been logged as one line, and the program may go on: its
 * events are counted as dropped_shutdown. */
LL_API int ll_init(const ll_options *options);

/* Seals what all threads have emitted before this call, sends it, and waits until the sink has acknowledged or refused
 * all of it.
 *
 *   threads    any; several may wait at once
 *   blocks     for at most timeout_ms milliseconds; 0 asks and does not wait
 *   errors     ETIMEDOUT  not everything was acknowledged. Nothing is lost by that: sending goes on
 *
 * 0 when instrumentation is off, or stopped. */
LL_API int ll_flush(unsigned timeout_ms);

/* Flushes, tells the readers that no more will come (FINAL), and stops the thread. Called at exit if the program does
 * not. There is no way back: events emitted from now on, also while this waits, are counted as dropped_shutdown.
 *
 *   threads    any; a second call waits for the first
 *   blocks     for at most timeout_ms milliseconds, and three seconds more when the sink does not close;
 *              LL_AS_AT_EXIT: what flush_timeout_ms says
 *   errors     ETIMEDOUT  what is not acknowledged stays in the ring file, where the next start of the program or
 *                         lifeline-recover finds it, or in the spool; a line says so
 *
 * 0 when instrumentation is off. */
LL_API int ll_shutdown(unsigned timeout_ms);

/* Fills in as much of the structure as its size says that there is.
 *
 *   threads    any; wait-free, but for the number of rings that it sums over. Counters are read one after the other,
 *              while other threads go on: they are exact where nobody emits */
LL_API void ll_stats(ll_statistics *statistics);

#else

static inline int ll_init(const ll_options *options) {
  return (void)options, 0;
}
static inline int ll_flush(unsigned timeout_ms) {
  return (void)timeout_ms, 0;
}
static inline int ll_shutdown(unsigned timeout_ms) {
  return (void)timeout_ms, 0;
}
static inline void ll_stats(ll_statistics *statistics) {
  ll_statistics none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  none.size = sizeof none;
  *statistics = none;
}

#endif

#define LL_OPTIONS_INIT                                                                                                \
  {                                                                                                                    \
    sizeof(ll_options), NULL, NULL, 0, 0, 0, LL_POLICY_DEFAULT, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL,  \
        NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0                                                                 \
  }

#ifdef __cplusplus
}
#endif

#include <lifeline/detail/declare.h>

#endif
