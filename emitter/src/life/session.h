/* The sessions that this process has open: the public functions are in lifeline/session.h. */
#ifndef LIFELINE_LIFE_SESSION_H
#define LIFELINE_LIFE_SESSION_H

#include <stdbool.h>

/* Gives a new ring file the context of the innermost open session. With the lock. */
void ll_sessions_start(void);

/* Publishes a change of the context that found no place before. Called by the harvester. */
void ll_sessions_tick(void);

/* Removes the announcements of what is still open. */
void ll_sessions_close(void);

/* In a forked child, whose parent's threads may have been announcing. Async-signal-safe. */
void ll_sessions_after_fork(void);

#endif
