/* Lifeline: typed, timestamped events for the cost of a clock read.
 *
 *   #include <lifeline/lifeline.h>
 *
 *   LL_EVENT(disk_read_end, "disk.read.end", LL_INFO, (u64, id, ""), (u32, nbytes, "B"));
 *
 *   void on_read(uint64_t block, uint32_t bytes_read) {
 *     ll_emit(disk_read_end, block, bytes_read);
 *   }
 *
 *   $ cc program.c $(pkg-config --cflags --libs lifeline) && LIFELINE_URL=nats://127.0.0.1:4222 ./a.out
 *
 * Declare, at file scope or in a header (equal declarations in several files are one event type):
 *
 *   LL_EVENT(ident, "name", level, (type, field, "unit"), ...)              up to 32 fields
 *   LL_EVENT_CONST(ident, "name", level, ((type, constant, "unit", value), ...), (type, field, "unit"), ...)
 *                                                                           and up to 8 constants, sent once per batch
 *
 * `type` is i32, i64, f32, f64, string, u32, u64, bool or bytes.
 *
 * Emit, from any thread:
 *
 *   ll_emit(ident, value, ...)     one value per field, type-checked by the compiler. Strings are `const char *` (NULL
 *                                  is empty), bytes are `ll_bytes`
 *   ll_event_is_on(ident)          0 while the type is off, to skip computing expensive values. 1 for a type that was
 *                                  never emitted
 *
 * An emit never fails, and never blocks under the default policy. It takes a lock, allocates or makes a system call
 * only on the first event of a thread or a type, when its ring grows, and to wake the sending thread: once per half
 * ring, or while the ring is full. An event that finds no room, or is larger than 32,768 bytes, is dropped and counted
 * (ll_stats). If LIFELINE_URL is not set, or LIFELINE=off is, instrumentation is off and an emit tests one flag.
 *
 * With LIFELINE_DISABLE defined, emits are type-checked and then compiled away: values are not evaluated, and the
 * program needs no library. Operations with a begin and an end: caliper.h. Types that are declared at run time:
 * dynamic.h. Sessions, which tie the events of several programs together: session.h. Threads, signal handlers, forks
 * and the end of the process: the end of this file.
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

/* Severity of an event type, in the order of FORMAT.md. */
typedef enum ll_level { LL_FATAL = 1, LL_ERROR, LL_WARN, LL_INFO, LL_DEBUG, LL_DEBUG1, LL_DEBUG2, LL_DEBUG3 } ll_level;

/* The value of a field of type `bytes`. Borrowed during the emit. */
typedef struct ll_bytes {
  const void *data;
  size_t size;
} ll_bytes;

/* What happens to an event when its thread's ring is full. */
typedef enum ll_policy {
  LL_POLICY_DEFAULT = 0,
  LL_DROP_NEWEST, /* the default: it is dropped and counted as dropped_ring_full */
  LL_BLOCK        /* the thread waits up to block_timeout_ms for room, then drops events until there is room again */
} ll_policy;

typedef enum ll_log_level { LL_LOG_ERROR, LL_LOG_WARN, LL_LOG_INFO } ll_log_level;

/* Called on any thread with one line without a newline, never with a secret. Must not block or call ll_*. */
typedef void (*ll_log_function)(void *ctx, ll_log_level level, const char *message);

/* Parameters of ll_init, and the list of all settings. A member that is zero or NULL is taken from the environment
 * variable named in its comment, then from the default after the semicolon. Strings are copied. Start from
 * LL_OPTIONS_INIT, so that a program built today works with later libraries: members are only added at the end.
 *
 * Variables without a member: LIFELINE=off switches everything off. LIFELINE_PLUGIN_DIR: the directory of the sinks, if
 * not the installed one. TRACEPARENT and LIFELINE_SESSION_DIR: see session.h. Credentials, which belong in no program:
 * LIFELINE_USER and LIFELINE_PASSWORD_FILE (or LIFELINE_PASSWORD), LIFELINE_NATS_CREDS, LIFELINE_TLS_CA,
 * LIFELINE_TLS_CERT, LIFELINE_TLS_KEY, LIFELINE_SIGNING_KEY_FILE. lifeline(7) describes each for those who run a
 * program. */
typedef struct ll_options {
  size_t size; /* of this structure; set by LL_OPTIONS_INIT */

  /* where events go, and whose they are */
  const char *url;    /* LIFELINE_URL; none: instrumentation is off */
  const char *routes; /* LIFELINE_ROUTES: "name=url,name=url"; none: further routes that activations may send events to,
                         at most 15, with names of 1 to 31 of a-z, 0-9 and -. They share half of the budget equally;
                         the budget must be at least 2 MiB plus 3 MiB per route */
  const char *program; /* LIFELINE_PROGRAM; the executable's name */
  const char *host;    /* LIFELINE_HOST; the machine's name */
  const char *context; /* LIFELINE_CONTEXT: "key=value,key=value", sent with every batch; none */

  /* what is emitted */
  const char *resolution; /* LIFELINE_RESOLUTION: rules such as "disk.* summary; * off level>=debug", in the syntax of
                             schemas/ACTIVATION.md; everything in full */
  const char *triggers;   /* LIFELINE_TRIGGERS: a file of such rules, read again within a second of a change; none */
  const char *never;      /* LIFELINE_NEVER: types that no request may switch on, "secret.*,audit.keys"; none */
  const char *max_for;    /* LIFELINE_MAX_FOR: the longest duration of a request from a file or a topic; 1d */
  unsigned max_rate;      /* LIFELINE_MAX_RATE: events per second of each type under such a request; no limit */

  /* memory and batches */
  const char *ring_dir;    /* LIFELINE_RING_DIR; /dev/shm/lifeline-<uid>, or $XDG_RUNTIME_DIR/lifeline if another user
                              owns that */
  size_t budget_bytes;     /* LIFELINE_BUDGET_BYTES; 64 MiB, at least 2 MiB: half for rings, half (at most 40 MiB) for
                              sealed batches, compressed. The default is at most a quarter of the memory limit of the
                              control group */
  size_t batch_bytes;      /* LIFELINE_BATCH_BYTES; 64 KiB, 4 KiB to 256 KiB: grows to 14 times that, at most 896 KiB,
                              while earlier batches wait for the broker */
  unsigned interval_ms;    /* LIFELINE_INTERVAL_MS; 500: the longest time that an event waits to be sent */
  const char *compression; /* LIFELINE_COMPRESSION: auto, none, lz4, zstd or compatible; auto */
  const char *clock;       /* LIFELINE_CLOCK: auto, tsc or monotonic; auto */

  /* full rings and the end of the program */
  ll_policy policy;          /* LIFELINE_POLICY: drop-newest or block; drop-newest */
  unsigned block_timeout_ms; /* LIFELINE_BLOCK_TIMEOUT_MS; 1000 */
  unsigned flush_timeout_ms; /* LIFELINE_FLUSH_TIMEOUT_MS: how long exit waits for acknowledgements; 5000, or 300 if the
                                broker was never reached */

  /* spool: batches that the sink does not take in time, on disk */
  const char *spool;      /* LIFELINE_SPOOL: its directory; none */
  uint64_t spool_bytes;   /* LIFELINE_SPOOL_BYTES; 1 GiB, at least 2 MiB: of the directory, for all programs together */
  const char *spool_full; /* LIFELINE_SPOOL_FULL: drop-oldest, drop-newest or block; drop-oldest */
  const char *spool_sync; /* LIFELINE_SPOOL_SYNC: interval (every second), never or always; interval */

  ll_log_function log; /* stderr */
  void *log_ctx;       /* passed to it */
} ll_options;

/* Counters since the start of this incarnation. `emitted` counts harvested and dropped events: after a successful
 * ll_flush it includes every event whose emit returned before the call. */
typedef struct ll_statistics {
  size_t size;    /* of this structure; set it before the call */
  int on;         /* 1 while events are taken */
  int crash_safe; /* 1 while the rings are in a file that survives the process */
  uint64_t emitted;

  /* dropped events, part of emitted */
  uint64_t dropped_ring_full;  /* no room in the thread's ring */
  uint64_t dropped_no_ring;    /* no ring free within the budget, too many types, or no room for a summary */
  uint64_t dropped_reentrant;  /* from a signal handler that interrupted an emit */
  uint64_t dropped_oversize;   /* larger than 32,768 bytes */
  uint64_t dropped_shutdown;   /* after ll_shutdown, or because the emitter could not start */
  uint64_t dropped_sink;       /* in batches that the sink refused for good */
  uint64_t dropped_spool_full; /* in batches for which the spool had no room */

  /* events left out on request, not part of emitted */
  uint64_t sampled_out;     /* by sample:N or LIFELINE_MAX_RATE */
  uint64_t below_threshold; /* by a threshold */
  uint64_t folded;          /* contained in summaries that were emitted */

  /* batches */
  uint64_t batches_sealed;
  uint64_t batches_acknowledged;
  uint64_t batches_in_flight; /* sealed, not yet acknowledged or refused */
  uint64_t spooled;           /* events that went through the spool */
} ll_statistics;

/* See ll_on_report. */
typedef void (*ll_report_function)(void *ctx, double tick_ns);

/* For ll_shutdown: flush_timeout_ms, as at exit. */
#define LL_AS_AT_EXIT (~0u)

#ifndef LIFELINE_DISABLE

/* Functions that return int return 0 or an errno value; they do not change errno. */

/* Starts the emitter with `options` (may be NULL) and the environment. Optional: the first emit starts it with the
 * environment alone, without waiting for the sink to open.
 *
 *   threads    any; of concurrent calls one starts the emitter, the others get EALREADY
 *   blocks     at most a second, while the sink opens; it does not wait for the broker. (In a constructor of a library
 *              being loaded by dlopen, the sink opens only after dlopen has returned)
 *   ownership  everything is copied except log_ctx, which must live as long as the process
 *   errors     EALREADY  the emitter runs, or ran, already
 *              EINVAL    a bad value or URL, or options not initialised with LL_OPTIONS_INIT
 *              ENOENT    the sink is not installed
 *              ENOMEM, EAGAIN  the system is out of memory or threads
 *
 * Returns 0 also if instrumentation is off. Errors except EALREADY are logged as one line, and the program may
 * continue: its events are counted as dropped_shutdown. */
LL_API int ll_init(const ll_options *options);

/* Seals and sends what all threads emitted before the call, and waits until the sink has acknowledged or refused it.
 *
 *   threads    any; several may wait at once
 *   blocks     at most timeout_ms milliseconds; 0 starts sending without waiting
 *   errors     ETIMEDOUT  not everything was acknowledged. Nothing is lost: sending continues
 *
 * Returns 0 if instrumentation is off or stopped. */
LL_API int ll_flush(unsigned timeout_ms);

/* Flushes, marks the end of the incarnation (FINAL) for readers, and stops the thread. Called at exit if the program
 * does not call it. The emitter cannot be started again: events emitted from now on, also while this waits, are counted
 * as dropped_shutdown. The last batch carries that counter as it was when it was sealed: what is counted later is in
 * ll_stats alone, and in no ledger.
 *
 *   threads    any; a second call waits for the first
 *   blocks     at most timeout_ms milliseconds, plus three seconds if the sink does not close; LL_AS_AT_EXIT waits for
 *              flush_timeout_ms
 *   errors     ETIMEDOUT  unacknowledged events stay in the ring file, where the program's next start or
 *                         lifeline-recover finds them, or in the spool; one line says so
 *
 * Returns 0 if instrumentation is off. */
LL_API int ll_shutdown(unsigned timeout_ms);

/* Fills in the structure, up to its `size`.
 *
 *   threads    any; wait-free, in time proportional to the number of rings. Counters are read one by one while other
 *              threads emit: they are exact only when no thread does */
LL_API void ll_stats(ll_statistics *statistics);

/* Registers a function that reports what the program itself has summed up, at the moments at which the library reports
 * summaries: at the end of their intervals (10 s unless a rule sets a shorter one, once there is any), at ll_flush, and
 * at the end. It runs on the library's thread, so that a program that hangs is reported, too, where the program's
 * descriptors are not valid. It may call ll_emit, ll_emit_values and ll_event_is_on, must not block, and gets the
 * number of nanoseconds per tick of ll_operation.began. NULL removes it; a call in progress may still be running then.
 *
 *   threads    any
 *   ownership  ctx must live as long as the process; a forked child keeps both
 *   errors     EBUSY  another function is registered */
LL_API int ll_on_report(ll_report_function function, void *ctx);

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
static inline int ll_on_report(ll_report_function function, void *ctx) {
  return (void)function, (void)ctx, 0;
}
static inline void ll_stats(ll_statistics *statistics) {
  ll_statistics none = {sizeof none, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  *statistics = none;
}

#endif

#define LL_OPTIONS_INIT                                                                                                \
  {                                                                                                                    \
    sizeof(ll_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, 0, 0, NULL, NULL,            \
        LL_POLICY_DEFAULT, 0, 0, NULL, 0, NULL, NULL, NULL, NULL                                                       \
  }

#ifdef __cplusplus
}
#endif

/* Threads. Any function may be called from any thread at any time. A thread's first event takes a ring from the pool,
 * which is returned when the thread ends. Emitting threads share nothing. The library starts one thread at the first
 * emit or at ll_init, one that logs, and one while it delivers what earlier runs left; sinks have threads of their own.
 * Where the system allows it (close_range or unshare), their descriptors are in a table of their own, not in the
 * program's. The library installs no signal handler, never ends the process, and prints only one line per error to
 * stderr, or passes it to the log callback, which is called with the program's descriptors. A line for which stderr, a
 * pipe that nobody reads, has no room is lost. A thread of asynchronous cancel type may not call the library.
 *
 * Descriptors. The thread that logs keeps the table of the thread which started the emitter. A program that leaves that
 * table (unshare with CLONE_FILES, close_range with CLOSE_RANGE_UNSHARE) leaves its files open there until ll_shutdown:
 * call that before. Under `lifeline run` a program without other threads need not: it keeps its table.
 *
 * Change of user. setuid and its like make the system call in every thread, the library's too, and libc aborts the
 * program if it succeeds in one and fails in another. Capabilities belong to threads: a program that keeps some over a
 * change of user (PR_SET_KEEPCAPS, SECBIT_NO_SETUID_FIXUP) keeps them in its own thread only. It has to make all these
 * calls before ll_init and its first event, or after ll_shutdown. Where all threads have the same capabilities, as
 * after setgid and setuid of a daemon that was root, nothing is to be done.
 *
 * Stacks. A thread that emits or measures needs 7 KB of free stack, one that starts the emitter 16 KB: in a program
 * whose threads have the smallest stacks, call ll_init in main. Log callbacks come on top of that.
 *
 * Signal handlers. A handler may call ll_emit once ll_init has returned and the thread has emitted before; likewise
 * ll_begin and ll_end (caliper.h) and ll_emit_values (dynamic.h); no other function. An event from a handler that
 * interrupted another emit is dropped and counted as dropped_reentrant. Such a handler must return: after a longjmp out
 * of it all later events of the thread are dropped_reentrant. Functions that wait leave the caller's signals unblocked:
 * a signal that ends the program ends it there, too.
 *
 * Processes:
 *  - before main, in constructors of static objects: events are emitted as usual;
 *  - fork, with or without threads: the child becomes an emitter of its own at its first event, with connections of its
 *    own; the parent's events are sent once, by the parent. A child that execs at once leaves nothing behind. A fork
 *    during the emitter's start waits until its libraries are loaded;
 *  - clone(2) as a fork, _Fork(3): as after fork, unless another thread held a lock of libc at that moment, so that the
 *    child cannot start threads, or the child cannot read /proc/self/task, so that it would not end with its main
 *    thread. Then its events stay in its ring file, for the next start or lifeline-recover, ll_flush returns ETIMEDOUT
 *    at once, and a full ring drops events. To find out, its first event takes up to a second, with a process that a
 *    wait for any child, of __WALL or __WCLONE, may meet. The library's threads make the parent a process
 *    of several threads: such a child may call only functions that are async-signal-safe, as _Fork(3) says. Another one,
 *    such as malloc, fork or pthread_create, waits for ever if one of these threads held its lock: use fork;
 *  - vfork, posix_spawn: no effect, since nothing may be called between them and exec;
 *  - exec: the rings stay in their file. The new program sends them if it is the same program, and an emitter;
 *    otherwise lifeline-recover does after the process has ended. Call ll_flush before, to send them now and to keep
 *    pending summaries;
 *  - the end of the main thread before others (pthread_exit), or of a child of clone(2): when the other threads have
 *    ended, too, the process ends within about a second, as it would without the library, and as exit does. Where /proc
 *    cannot be read, as after a chroot, instrumentation ends with the main thread, and logs a line;
 *  - daemon(3): a fork whose parent calls _exit: see both;
 *  - return from main, exit: ll_shutdown is called with flush_timeout_ms. Exit handlers registered after ll_init
 *    returned run before it; events from those that run later, and from static objects' destructors, are counted as
 *    dropped_shutdown;
 *  - _exit, quick_exit, abort, a fatal signal: unsent events are in the ring file; the program's next start or
 *    lifeline-recover sends them. A start whose URL names another destination leaves them, and says so. This covers the death of the process, not of the machine. Values waiting for a
 *    summary (of types at resolution `summary`, and of calipers) since the last lifeline.summary are lost, and are in
 *    no counter. The interval is 10 s unless a rule sets another; ll_flush ends it;
 *  - the end of a thread: its events are sent. Destructors of thread_local objects and of pthread keys may emit;
 *  - dlclose of a shared object that emits: its events are sent and its event types forgotten; it may be loaded again.
 *    Its threads must have left it. liblifeline itself stays loaded;
 *  - after ll_shutdown: counted as dropped_shutdown, for the cost of a function call.
 *
 * Limits of the system. Without a directory for the ring file, without space in it, with too many remains of earlier
 * runs in it (an eighth of the filesystem, 16 to 256 MiB, or of the control group's memory if that is less), without
 * /proc, or after the file was removed, everything works, but events do not survive a kill, and one line says so. If
 * the filesystem fills up later, events are dropped and counted; likewise before the memory limit of the control group
 * is reached. Without memory or threads instrumentation stays off and events are counted. A program that runs with
 * another user's privileges (set-user-ID) ignores the environment, and is off unless it calls ll_init with a URL. A
 * program that closes all descriptors after the sink was opened loses nothing, or, where the library's are not in a
 * table of their own, the connection to the broker, which is made again. */

#include <lifeline/detail/declare.h>

#endif
