/* The program's stacks may be small, down to PTHREAD_STACK_MIN: what needs more than a page runs on one of its own. */
#ifndef LIFELINE_PRELOAD_STACK_H
#define LIFELINE_PRELOAD_STACK_H

#include <stdbool.h>

/* Calls the function in this thread, with all signals blocked: a handler would get the same stack. Async-signal-safe;
 * also in the child of a vfork. False: there is no memory, and it was not called. */
bool io_on_own_stack(void (*function)(void *), void *argument);

#endif
