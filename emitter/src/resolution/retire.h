/* Memory of shapings, which threads inside an emit may still be reading.
 *
 * Not from malloc, which is not async-signal-safe: the first emit of a type may come from a signal handler.
 */
#ifndef LIFELINE_RETIRE_H
#define LIFELINE_RETIRE_H

#include "shaping.h"

/* Returns a zeroed shaping; NULL when out of memory. With the lock held, like all functions here. */
ll_shaping *ll_shaping_take(void);

/* Frees a shaping that was never published. */
void ll_shaping_give_back(ll_shaping *shaping);

/* Frees a shaping that new emits can no longer find, once all emits under way have ended. */
void ll_retire(ll_shaping *shaping);

/* Frees retired shapings that are no longer in use. Never waits. True while some are left. */
bool ll_retire_sweep(void);

/* In a forked child, which lacks the parent's other threads: abandons retired shapings without freeing them. */
void ll_retire_forget(void);

#endif
