/* Descriptors of the library and its sinks, in a process whose program knows nothing of them.
 *
 * A program may expect the lowest free number from open, count on 3 for the next file, or close all that it does not
 * know: then a sink would write into the program's next file. So the library's descriptors are moved to high numbers,
 * and the program cannot close or replace them: for it they do not exist. Where the system allows it, the library's
 * threads have a table of their own, and all this is about what other threads of it open. */
#ifndef LIFELINE_PRELOAD_OWN_H
#define LIFELINE_PRELOAD_OWN_H

#include <stdbool.h>

/* The calling thread's numbers are not the program's. */
bool io_own_is_apart(void);

/* Registers a descriptor that a thread of the library made, moved out of the program's way. Returns its new number;
 * negative ones as they are. */
int io_own_keep(int fd);

/* The library closes it. */
void io_own_forget(int fd);

bool io_own_is(int fd);

/* The first one from `from` on, at most `last`; -1: none. */
long io_own_next(unsigned from, unsigned last);

#endif
