/* The ring and spool directories must be owned by the user and are opened without following symbolic links. */
#ifndef LIFELINE_DIRECTORY_H
#define LIFELINE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

/* Opens `path`; with `make`, creates it first (0700) if it does not exist. `kind` names it in messages. Returns a
 * descriptor, or -1 with one line in why and errno set. */
int ll_directory_open(const char *path, const char *kind, bool make, char *why, size_t why_bytes);

#endif
