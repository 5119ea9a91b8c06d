/* The directories of rings and spool belong to the user alone, and are entered without following links. */
#ifndef LIFELINE_DIRECTORY_H
#define LIFELINE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

/* Opens `path`, and makes it first (0700) when it does not exist and `make` says so. `kind` names it in messages.
 * Returns a descriptor, or -1 with one line in why and errno set. */
int ll_directory_open(const char *path, const char *kind, bool make, char *why, size_t why_bytes);

#endif
