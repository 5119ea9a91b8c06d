/* Memory that threads may still be reading while they are inside of an emit. */
#ifndef LIFELINE_RETIRE_H
#define LIFELINE_RETIRE_H

#include <stdbool.h>

/* Frees the memory, which new emits do not find any more, once all that are under way have ended. With the core's lock
 * held. Without memory for the note it is kept for ever. */
void ll_retire(const void *memory);

/* Frees what can be freed by now. Never waits. True while something is left. With the core's lock held. */
bool ll_retire_sweep(void);

/* In a forked child, whose parent's threads are not there. What is retired stays allocated. */
void ll_retire_forget(void);

#endif
