/* A child that no fork handler has seen, of clone(2) or _Fork(3): threads of its parent, the library's too, may have
 * held locks of libc, and nobody releases the copies. pthread_create would wait for them without end. A child of
 * which that is true gets no harvester: its events stay in its ring file, for recovery. */
#ifndef LIFELINE_STRAY_H
#define LIFELINE_STRAY_H

#include <stdbool.h>

/* Whether the calling process can start a thread and load libraries. Tried out by a process with a copy of the locks,
 * which has a second at most. With the program's signals blocked. */
bool ll_stray_may_start_threads(void);

#endif
