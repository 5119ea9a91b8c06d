/* The receiving side of one transfer: one thread receives, one writes the disk, with a bounded queue between them. */
#ifndef REMOTE_COPY_RECEIVE_H
#define REMOTE_COPY_RECEIVE_H

#include <stdbool.h>

#include "options.h"

/* The socket stays the caller's to close; root is the directory that everything goes below. Prints the result; true when every file
 * arrived whole. */
bool receive_transfer(const struct options *options, int root, int socket);

#endif
