/* The ring directory belongs to the user alone, and is entered without following links. */
#ifndef LIFELINE_DIRECTORY_H
#define LIFELINE_DIRECTORY_H

#include <stddef.h>

/* Opens `path`, and makes it first (0700) when it does not exist. Returns a descriptor, or -1 with one line in why. */
int ll_directory_open(const char *path, char *why, size_t why_bytes);

#endif
