/* The memory of shapings, which threads may still be reading while they are inside of an emit.
 *
 * It is the library's own: the first emit of a type may come from a signal handler, which malloc does not serve.
 */
#ifndef LIFELINE_RETIRE_H
#define LIFELINE_RETIRE_H

#include "shaping.h"

/* All zero. NULL without memory. With the lock held, as all of these. */
ll_shaping *ll_shaping_take(void);

/* Nobody has seen it. */
void ll_shaping_give_back(ll_shaping *shaping);

/* Gives back, once all emits that are under way have ended, what new ones do not find any more. */
void ll_retire(ll_shaping *shaping);

/* Gives back what can be by now. Never waits. True while something is left. */
bool ll_retire_sweep(void);

/* In a forked child, whose parent's threads are not there. What is retired stays as it is. */
void ll_retire_forget(void);

#endif
