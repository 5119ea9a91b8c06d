/* The one emitter of this process: what its threads share. */
#ifndef LIFELINE_CORE_H
#define LIFELINE_CORE_H

#include "config.h"
#include "route/streams.h"

#include <lifeline/lifeline.h>
#include <pthread.h>
#include <signal.h>

typedef enum ll_core_state {
  LL_CORE_NEW,
  LL_CORE_OFF, /* nobody asked for events */
  LL_CORE_ON,
  LL_CORE_STOPPED, /* shut down, or could not start: events are counted, and that is all */
} ll_core_state;

/* Zeroed by the kernel in a forked child, whoever forked and however: a child's first emit finds its limit at 0, and
 * `alive` tells why. */
typedef struct ll_fork_sensitive {
  uint64_t alive;
  uint32_t restarting; /* by one of a child's threads: the others wait for it. Also a futex word */
  ll_producer producers[LL_RINGS_MAX];
} ll_fork_sensitive;

typedef struct ll_core {
  pthread_mutex_t lock;     /* of all that is not for the harvester alone; taken with signals blocked */
  uint32_t state;           /* ll_core_state */
  uint32_t closing;         /* producers find no room any more */
  uint64_t dropped_stopped; /* counted while there is no file to count in */
  ll_config config;
  ll_types types;
  ll_store store;
  ll_fork_sensitive *sensitive;
  uint32_t producers_used;

  /* The harvester's. */
  pthread_t thread;
  bool opened; /* or failed to */
  int open_error;
  bool stopped;
  uint64_t flush_wanted, flush_done; /* tickets */
  uint32_t stop_wanted;
  uint64_t stop_deadline_ns;
  uint64_t unreached_deadline_ns;   /* the same, for sinks that never had a connection */
  bool reached;                     /* at the end: the default route's sink had one */
  uint64_t recovery_deadline_ns;    /* of what earlier runs left: the end of this one */
  bool recovering;                  /* a thread works on them; with the lock */
  ll_stream streams[LL_ROUTES_MAX]; /* by route; 0 is the default */
  uint32_t undelivered;             /* batches that the stop left behind, */
  ll_left left;                     /* and where */
  ll_control *control;              /* NULL without memory: then the control topic is not watched */

  /* Futex words. `signal` moves when the harvester should look; `room` when it has made room; `news`, with the lock,
   * when it has opened, flushed or stopped, or has done with what earlier runs left. */
  uint32_t signal, sleeping;
  uint32_t crowded; /* a producer has begun the second half of its ring: all that is published is to be sealed */
  uint32_t room, waiting_for_room;
  uint32_t news;
} ll_core;

extern ll_core ll_the_core;

/* The state, after starting what has to be started: the emitter itself, or its new incarnation in a forked child. */
ll_core_state ll_core_enter(void);

/* What a thread had on before it took the lock. */
typedef struct ll_disturbances {
  sigset_t signals;
  int cancellation;
  int error; /* errno */
} ll_disturbances;

/* Locks with all signals blocked, so that no handler of this thread can want the lock meanwhile, and without
 * cancellation: an emit opens files at times, and a thread that was cancelled there would take the lock with it. What
 * that does to errno is undone with the lock. */
void ll_core_lock(ll_disturbances *before);
void ll_core_unlock(const ll_disturbances *before);

/* With the lock: wakes all who wait for news. */
void ll_core_tell(void);

/* With the lock, which is given back meanwhile: until there are news, for at most timeout_ns. Whoever waits here has
 * its own signals, so that Ctrl-C ends a program whose broker is away. Returns early for any reason. */
void ll_core_wait_for_news(ll_disturbances *before, uint64_t timeout_ns);

void ll_wake_harvester(void);

/* Has the emitter shut down at exit, before anything that was put there earlier. */
void ll_flush_at_exit(void);

/* Makes the harvester's thread. Returns 0 or EAGAIN. */
int ll_harvester_start(void);

/* Takes all room from all producers, and waits until no emit is under way: what is published now is all there will be.
 */
void ll_producers_close(void);

/* False while a thread is held up in the middle of an emit: what it publishes will still come. */
bool ll_producers_are_quiet(void);

ll_fork_sensitive *ll_fork_sensitive_memory(void);

#endif
