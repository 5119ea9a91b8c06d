/* The receiving side of one transfer: one thread receives, one writes the disk, with a bounded queue between them. */
#ifndef REMOTE_COPY_RECEIVE_H
#define REMOTE_COPY_RECEIVE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "options.h"

/* The socket stays the caller's to close; root is the directory that everything goes below. Prints the result; true
 * when every file arrived whole. Once stopping is set it gives up and removes the file that it was at. */
bool receive_transfer(const struct options *options, const atomic_bool *stopping, int root, int socket);

#endif
