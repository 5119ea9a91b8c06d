#include "peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

typedef union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  struct sockaddr_un local;
} address;

enum { HOST_BYTES = INET6_ADDRSTRLEN + 2 };

/* A v4 address in v6 form is the same peer. */
static void write_host(const address *at, char host[HOST_BYTES]) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (at->any.sa_family == AF_INET) {
    inet_ntop(AF_INET, &at->v4.sin_addr, text, sizeof text);
  } else if (IN6_IS_ADDR_V4MAPPED(&at->v6.sin6_addr)) {
    inet_ntop(AF_INET, &at->v6.sin6_addr.s6_addr[12], text, sizeof text);
  } else {
    inet_ntop(AF_INET6, &at->v6.sin6_addr, text, sizeof text);
    snprintf(host, HOST_BYTES, "[%s]", text);
    return;
  }
  snprintf(host, HOST_BYTES, "%s", text);
}

static unsigned port_of(const address *at) {
  return ntohs(at->any.sa_family == AF_INET ? at->v4.sin_port : at->v6.sin6_port);
}

static bool is_internet(const address *at) {
  return at->any.sa_family == AF_INET || at->any.sa_family == AF_INET6;
}

/* An abstract name begins with a 0. */
static bool write_path(const address *at, socklen_t bytes, char *name) {
  size_t room = bytes > offsetof(struct sockaddr_un, sun_path) ? bytes - offsetof(struct sockaddr_un, sun_path) : 0;
  const char *path = at->local.sun_path;
  if (at->any.sa_family != AF_UNIX || room == 0 || (path[0] == '\0' && room == 1)) return false;
  bool abstract = path[0] == '\0';
  snprintf(name, IO_PEER_BYTES, "%s%.*s", abstract ? "@" : "", (int)room - abstract, path + abstract);
  return true;
}

bool io_peer(int fd, bool accepted, char name[IO_PEER_BYTES]) {
  address peer = {0}, own = {0};
  char host[HOST_BYTES];
  socklen_t peer_bytes = sizeof peer, own_bytes = sizeof own;
  bool connected = getpeername(fd, &peer.any, &peer_bytes) == 0;
  if (connected && is_internet(&peer) && !accepted) {
    write_host(&peer, host);
    snprintf(name, IO_PEER_BYTES, "%s:%u", host, port_of(&peer));
    return false;
  }
  if (connected && write_path(&peer, peer_bytes, name)) return true;
  if (getsockname(fd, &own.any, &own_bytes) == 0 && is_internet(&own)) {
    if (connected) write_host(&peer, host);
    snprintf(name, IO_PEER_BYTES, connected ? ":%u from %s" : ":%u", port_of(&own), host);
    return false;
  }
  if (write_path(&own, own_bytes, name)) return true;
  snprintf(name, IO_PEER_BYTES, "socket");
  return false;
}

bool io_peer_at(const struct sockaddr *to, socklen_t bytes, char name[IO_PEER_BYTES]) {
  address peer = {0};
  char host[HOST_BYTES];
  if (to == NULL || bytes < sizeof(sa_family_t)) return false;
  memcpy(&peer, to, bytes < sizeof peer ? bytes : sizeof peer);
  if (!is_internet(&peer)) return false;
  write_host(&peer, host);
  snprintf(name, IO_PEER_BYTES, "%s:%u", host, port_of(&peer));
  return true;
}
