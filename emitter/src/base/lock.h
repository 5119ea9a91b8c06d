/* The emitter's one lock: guards what its threads share, except for what only the harvester uses. */
#ifndef LIFELINE_LOCK_H
#define LIFELINE_LOCK_H

#include <signal.h>

/* Of the thread, from before it took the lock. */
typedef struct ll_saved_state {
  sigset_t signals;
  int cancellation;
  int error; /* errno */
} ll_saved_state;

/* Blocks all signals, so that no handler of this thread can need the lock meanwhile, and disables cancellation: an emit
 * may open files, and a thread cancelled there would never release the lock. ll_unlock restores both, and errno. */
void ll_lock(ll_saved_state *before);
void ll_unlock(const ll_saved_state *before);

/* In a forked child, where the lock's owner may be a thread that exists in the parent only. */
void ll_lock_renew(void);

#endif
