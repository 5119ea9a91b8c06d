/* liblifeline, which only a process that is an emitter needs: it is loaded then, not by the loader at the start. */
#ifndef LIFELINE_PRELOAD_LIBRARY_H
#define LIFELINE_PRELOAD_LIBRARY_H

#include <stdbool.h>

/* Loads it in this thread. False, and a line says so: it cannot be loaded. */
bool io_library_load(void);

/* Whether it is there. The first call of a process has a thread load it, since this one must not wait for the loader:
 * one that is in a constructor may be waiting for this one. */
bool io_library_is_there(void);

/* A fork waits for a load, a second at most: a child would inherit a library that is half initialized. */
void io_library_before_fork(void);
void io_library_after_fork_in_parent(void);
void io_library_after_fork_in_child(void);

#endif
