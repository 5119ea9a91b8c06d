/* The sending side: one thread reads the disk, one sends, with a bounded queue between them. */
#ifndef REMOTE_COPY_SEND_H
#define REMOTE_COPY_SEND_H

#include "options.h"

/* Copies all files; the process's exit status. */
int send_files(const struct options *options);

#endif
