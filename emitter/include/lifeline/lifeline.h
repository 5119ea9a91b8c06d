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
 *    the harvester) and on a thread's first event. An event that finds no room is dropped and counted: see ll_stats.
 *  - The library starts one thread, at the first emit or at ll_init. It installs no signal handler, and prints nothing
 *    but one line per trouble to stderr, or to the log callback of ll_options.
 *  - A child after fork() is an emitter of its own, from its first event on.
 *
 * Every function may be called from any thread, and none of them from a signal handler. ll_emit may be called from a
 * signal handler once ll_init has returned and the thread has emitted before; an event from a handler that interrupted
 * another emit is dropped and counted as dropped_reentrant.
 *
 * Functions that return int return 0, or the errno value that says what went wrong.
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

/* What ll_init may be told. A member that is zero is taken from the environment variable beside it, then from the
 * default. Strings are copied. Start from LL_OPTIONS_INIT, so that a program built today works with the library of
 * tomorrow. */
typedef struct ll_options {
  size_t size;               /* of this structure; set by LL_OPTIONS_INIT */
  const char *url;           /* LIFELINE_URL; none: instrumentation is off */
  const char *ring_dir;      /* LIFELINE_RING_DIR; /dev/shm/lifeline-<uid> */
  size_t budget_bytes;       /* LIFELINE_BUDGET_BYTES; 64 MiB, at least 2 MiB: rings and sealed batches together */
  size_t batch_bytes;        /* LIFELINE_BATCH_BYTES; 64 KiB, 4 KiB to 256 KiB: grows fourfold under load */
  unsigned interval_ms;      /* LIFELINE_INTERVAL_MS; 1000: no event waits longer before it is sent */
  ll_policy policy;          /* LIFELINE_POLICY: drop-newest or block */
  unsigned block_timeout_ms; /* LIFELINE_BLOCK_TIMEOUT_MS; 1000 */
  const char *compression;   /* LIFELINE_COMPRESSION: auto, none, lz4 or zstd */
  const char *clock;         /* LIFELINE_CLOCK: auto, tsc or monotonic */
  const char *program;       /* LIFELINE_PROGRAM; the executable's name */
  const char *host;          /* LIFELINE_HOST; the machine's name */
  const char *context;       /* LIFELINE_CONTEXT: "key=value,key=value", travels with every batch */
  unsigned flush_timeout_ms; /* LIFELINE_FLUSH_TIMEOUT_MS; 5000: how long exit may wait for acknowledgements */
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
  uint64_t dropped_no_ring;   /* no ring to be had within the budget, or too many types */
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

#ifndef LIFELINE_DISABLE

/* Starts the emitter. Optional: the first emit does the same with the environment's settings, without waiting for the
 * sink to open. `options` may be NULL. Returns 0 also when instrumentation is off; EALREADY when the emitter runs
 * already; EINVAL for a bad value or URL; ENOENT for a sink that is not installed; ENOMEM or EAGAIN when the system
 * gives no memory or thread. An error has been logged as one line, and the program may go on: its events are counted
 * as dropped_shutdown. Waits for the sink to open, which does not wait for a broker. */
LL_API int ll_init(const ll_options *options);

/* Seals what all threads have emitted before this call, sends it, and waits until the sink has acknowledged or refused
 * all of it. Returns ETIMEDOUT after timeout_ms: nothing is lost by that, sending goes on. 0 when instrumentation is
 * off. */
LL_API int ll_flush(unsigned timeout_ms);

/* Flushes, tells the readers that no more will come (FINAL), and stops the thread. Events emitted from now on are
 * counted as dropped_shutdown. What is not acknowledged after timeout_ms stays in the ring file, where the next start
 * of the program or lifeline-recover finds it; a line says so, and ETIMEDOUT is returned. Called at exit if the program
 * does not. */
LL_API int ll_shutdown(unsigned timeout_ms);

/* Fills in the counters. Never blocks. */
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
