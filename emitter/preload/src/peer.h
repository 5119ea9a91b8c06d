/* Names of sockets. */
#ifndef LIFELINE_PRELOAD_PEER_H
#define LIFELINE_PRELOAD_PEER_H

#include <stdbool.h>
#include <sys/socket.h>

enum { IO_PEER_BYTES = 160 };

/* Writes the name of the socket's peer:
 *
 *   10.0.0.7:5432           a connection made here
 *   :80 from 10.0.0.7       an accepted one: without the peer's port, which is another one for each connection
 *   :80                     a listening socket, or one for datagrams without a peer
 *   /run/a.sock             an AF_UNIX socket
 *
 * True for a path, which may be redacted. */
bool io_peer(int fd, bool accepted, char name[IO_PEER_BYTES]);

/* The same for a connection to this address. False: it is no internet address. */
bool io_peer_at(const struct sockaddr *to, socklen_t bytes, char name[IO_PEER_BYTES]);

#endif
