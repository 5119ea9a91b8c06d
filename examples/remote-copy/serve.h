/* The server: accepts senders, each with its own pair of threads, until it is stopped. */
#ifndef REMOTE_COPY_SERVE_H
#define REMOTE_COPY_SERVE_H

#include "options.h"

/* Runs until SIGTERM or SIGINT, or with --once for one transfer; the process's exit status. */
int serve(const struct options *options);

#endif
