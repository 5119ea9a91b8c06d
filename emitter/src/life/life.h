/* State shared by the program's calls and the harvester: requests and their results. */
#ifndef LIFELINE_LIFE_H
#define LIFELINE_LIFE_H

#include "base/lock.h"
#include "config.h"
#include "ring/emitter.h"
#include "route/streams.h"

#include <signal.h>

typedef struct ll_life {
  ll_config config;
  bool opened; /* or failed to open */
  int open_error;
  bool stopped;
  uint64_t flush_wanted, flush_done; /* tickets */
  uint32_t stop_wanted;
  uint64_t stop_deadline_ns;
  uint64_t unreached_deadline_ns; /* the same, for sinks that never had a connection */
  ll_streams_end end;             /* what the shutdown left undelivered, and where */
  uint32_t forks;                 /* children forked so far */
  bool alone;                     /* without a harvester: see stray.h */
  sigset_t signals;               /* blocked by the thread that started the emitter */
  uint32_t news; /* futex word: changes, with the lock held, with each of the above and when the recovery ends */
} ll_life;

extern ll_life ll_the_life;

/* With the lock held: wakes all threads that wait for news. */
void ll_tell_news(void);

/* With the lock held, which is released meanwhile: waits for news, for at most timeout_ns; may return early. The
 * thread's signals are not blocked here, so that Ctrl-C ends a program whose broker is unreachable. */
void ll_wait_for_news(ll_saved_state *before, uint64_t timeout_ns);

/* Registers the shutdown at exit, which runs before all handlers registered earlier. */
void ll_flush_at_exit(void);

/* Starts the harvester's thread. Returns 0 or EAGAIN. */
int ll_harvester_start(void);

ll_fork_sensitive *ll_fork_sensitive_memory(void);

#endif
