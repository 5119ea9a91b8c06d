/* Lines on standard error, if it still is one. A server may have put a client's connection there, in which a line of
 * ours would be part of the protocol. */
#ifndef LIFELINE_PRELOAD_SAY_H
#define LIFELINE_PRELOAD_SAY_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers what standard error is when the program starts. */
void io_say_begin(void);

/* Whether it is still the same, no connection to another machine, and has room: a line for which it has none is lost.
 */
bool io_may_say(void);

void io_say(const char *what, const char *more);

/* Whole lines. */
void io_say_lines(const char *lines, size_t bytes);

#endif
