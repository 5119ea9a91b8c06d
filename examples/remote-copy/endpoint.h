/* TCP endpoints from HOST:PORT, and back. IPv6 addresses stand in brackets. */
#ifndef REMOTE_COPY_ENDPOINT_H
#define REMOTE_COPY_ENDPOINT_H

#include <stddef.h>

#include "failure.h"

/* Both return a socket, or -1 with the reason in failure. */
int endpoint_connect(const char *host_port, int timeout_seconds, struct failure *failure);
int endpoint_listen(const char *host_port, struct failure *failure);

/* Sends and receives that make no progress for this long fail. */
void endpoint_set_timeout(int fd, int timeout_seconds);

void endpoint_local_name(int fd, char *text, size_t text_bytes);
void endpoint_peer_name(int fd, char *text, size_t text_bytes);

#endif
