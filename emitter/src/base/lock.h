/* The emitter's only lock. It guards all state shared between threads, except what only the harvester uses. */
#ifndef LIFELINE_LOCK_H
#define LIFELINE_LOCK_H

#include "cancellation.h"

#include <signal.h>
#include <stdbool.h>

/* The thread's state before it took the lock. */
typedef struct ll_saved_state {
  sigset_t signals;
  ll_cancellation cancellation;
  int error; /* errno */
} ll_saved_state;

/* Under the lock nothing may wait for anybody else: no log line (ll_log keeps it until ll_unlock), no function of the
 * program, no allocation once the emitter runs, no file that can block.
 *
 * Blocks all signals, so that no signal handler on this thread can need the lock, and disables cancellation: an emit
 * may open files, and a thread cancelled there would never release the lock. ll_unlock restores both, and errno. */
void ll_lock(ll_saved_state *before);
void ll_unlock(const ll_saved_state *before);

/* Whether this thread holds it. */
bool ll_lock_is_held(void);

/* Reinitializes the lock in a forked child: its owner may be a thread that exists only in the parent. */
void ll_lock_renew(void);

#endif
