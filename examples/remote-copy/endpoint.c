#include "endpoint.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOST_BYTES = 256, PORT_BYTES = 16 };

static bool split(const char *host_port, char host[HOST_BYTES], char port[PORT_BYTES]) {
  const char *colon = strrchr(host_port, ':');
  if (colon == NULL || colon == host_port || colon[1] == '\0') return false;
  const char *first = host_port, *end = colon;
  if (*first == '[' && end[-1] == ']') {
    first++;
    end--;
  } else if (memchr(first, ':', (size_t)(end - first)) != NULL) {
    return false; /* an IPv6 address without brackets */
  }
  size_t host_length = (size_t)(end - first);
  if (host_length == 0 || host_length >= HOST_BYTES || strlen(colon + 1) >= PORT_BYTES) return false;
  memcpy(host, first, host_length);
  host[host_length] = '\0';
  strcpy(port, colon + 1);
  return true;
}

static struct addrinfo *resolve(const char *host_port, int flags, struct failure *failure) {
  char host[HOST_BYTES], port[PORT_BYTES];
  if (!split(host_port, host, port)) {
    failure_set(failure, "%s is not HOST:PORT", host_port);
    return NULL;
  }
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
  struct addrinfo *found = NULL;
  int error = getaddrinfo(host, port, &hints, &found);
  if (error != 0) {
    failure_set(failure, "cannot resolve %s: %s", host_port, gai_strerror(error));
    return NULL;
  }
  return found;
}

int endpoint_connect(const char *host_port, int timeout_seconds, struct failure *failure) {
  struct addrinfo *found = resolve(host_port, 0, failure);
  int fd = -1, error = 0;
  for (struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next) {
    fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (fd >= 0) {
      endpoint_set_timeout(fd, timeout_seconds);
      if (connect(fd, a->ai_addr, a->ai_addrlen) == 0) break;
    }
    error = errno == EINPROGRESS ? ETIMEDOUT : errno;
    if (fd >= 0) close(fd);
    fd = -1;
  }
  if (found != NULL && fd < 0) failure_set(failure, "cannot connect to %s: %s", host_port, strerror(error));
  if (found != NULL) freeaddrinfo(found);
  return fd;
}

int endpoint_listen(const char *host_port, struct failure *failure) {
  struct addrinfo *found = resolve(host_port, AI_PASSIVE, failure);
  if (found == NULL) return -1;
  int on = 1;
  int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol);
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 16) != 0) {
    failure_set(failure, "cannot listen on %s: %s", host_port, strerror(errno));
    if (fd >= 0) close(fd);
    fd = -1;
  }
  freeaddrinfo(found);
  return fd;
}

void endpoint_set_timeout(int fd, int timeout_seconds) {
  struct timeval timeout = {.tv_sec = timeout_seconds};
  int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

typedef int name_of(int fd, struct sockaddr *address, socklen_t *length);

static void describe(int fd, name_of *name, char *text, size_t text_bytes) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  char host[HOST_BYTES], port[PORT_BYTES];
  if (name(fd, (struct sockaddr *)&address, &length) != 0 ||
      getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    snprintf(text, text_bytes, "?");
  else
    snprintf(text, text_bytes, address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

void endpoint_local_name(int fd, char *text, size_t text_bytes) {
  describe(fd, getsockname, text, text_bytes);
}
void endpoint_peer_name(int fd, char *text, size_t text_bytes) {
  describe(fd, getpeername, text, text_bytes);
}
