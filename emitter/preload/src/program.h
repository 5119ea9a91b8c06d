/* What a preload can measure, found out from the program's file. */
#ifndef LIFELINE_TOOLS_PROGRAM_H
#define LIFELINE_TOOLS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it is a file with the right to execute it. */
bool program_is_executable(const char *file);

/* The file that execvp would execute. False, and an empty name: there is none. */
bool program_find(const char *name, char *file, size_t file_bytes);

/* NULL, or why a preload does not measure it, with the remedy. A file that cannot be read counts as measurable: the
 * loader knows better. `harmful`: with a preload it would not even start. Allocates nothing, and
 * calls nothing that the preload wraps or that is a cancellation point. */
const char *program_unmeasurable(const char *file, bool *harmful);

/* From 1s to 1h, as rules want it. */
bool is_interval(const char *text);

#endif
