#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "endpoint.h"
#include "receive.h"

enum { MAX_TRANSFERS = 16 };

struct server {
  const struct options *options;
  int root;
  int ended; /* eventfd: a transfer has ended */
  atomic_bool stopping;
  pthread_mutex_t lock;
  int sockets[MAX_TRANSFERS]; /* of the transfers that run, -1 where none does */
  unsigned running;
  bool any_failed;
};

struct session {
  struct server *server;
  int socket;
  unsigned slot;
};

static void *run_session(void *argument) {
  struct session *session = argument;
  struct server *server = session->server;
  bool ok = receive_transfer(server->options, &server->stopping, server->root, session->socket);
  pthread_mutex_lock(&server->lock);
  close(session->socket);
  server->sockets[session->slot] = -1;
  server->any_failed |= !ok;
  server->running--;
  eventfd_write(server->ended, 1);
  pthread_mutex_unlock(&server->lock);
  free(session);
  return NULL;
}

static void start_session(struct server *server, int socket) {
  struct session *session = malloc(sizeof *session);
  pthread_t thread;
  unsigned slot = 0;
  pthread_mutex_lock(&server->lock);
  while (server->sockets[slot] >= 0)
    slot++;
  if (session != NULL) *session = (struct session){server, socket, slot};
  if (session != NULL && pthread_create(&thread, NULL, run_session, session) == 0) {
    pthread_detach(thread);
    server->sockets[slot] = socket;
    server->running++;
  } else {
    fprintf(stderr, "remote-copy: serve: no memory or thread for another transfer\n");
    close(socket);
    free(session);
  }
  pthread_mutex_unlock(&server->lock);
}

/* Their sessions clean up and end; one that waits for its sender is woken. */
static void cut_sessions(struct server *server) {
  atomic_store(&server->stopping, true);
  pthread_mutex_lock(&server->lock);
  for (unsigned i = 0; i < MAX_TRANSFERS; i++)
    if (server->sockets[i] >= 0) shutdown(server->sockets[i], SHUT_RD);
  pthread_mutex_unlock(&server->lock);
}

static unsigned running(struct server *server) {
  pthread_mutex_lock(&server->lock);
  unsigned count = server->running;
  pthread_mutex_unlock(&server->lock);
  return count;
}

static void run_until_stopped(struct server *server, int listener, int signals) {
  bool accepting = true;
  while (accepting || running(server) > 0) {
    bool room = accepting && running(server) < MAX_TRANSFERS;
    struct pollfd ready[3] = {
        {.fd = room ? listener : -1, .events = POLLIN},
        {.fd = signals, .events = POLLIN},
        {.fd = server->ended, .events = POLLIN},
    };
    if (poll(ready, 3, -1) < 0) continue;
    if (ready[1].revents & POLLIN) {
      struct signalfd_siginfo info;
      if (read(signals, &info, sizeof info) == sizeof info) accepting = false;
      cut_sessions(server);
    }
    if (ready[2].revents & POLLIN) {
      eventfd_t count;
      eventfd_read(server->ended, &count);
    }
    if (accepting && ready[0].revents & POLLIN) {
      int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
      if (socket < 0) continue;
      start_session(server, socket);
      accepting = !server->options->once;
    }
  }
}

int serve(const struct options *options) {
  struct server server = {.options = options, .lock = PTHREAD_MUTEX_INITIALIZER};
  for (unsigned i = 0; i < MAX_TRANSFERS; i++)
    server.sockets[i] = -1;

  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop, NULL);
  signal(SIGPIPE, SIG_IGN); /* a --through command that ends early is an error of that file, not of the server */
  int signals = signalfd(-1, &stop, SFD_CLOEXEC);
  server.ended = eventfd(0, EFD_CLOEXEC);

  struct failure failure = FAILURE_INIT;
  server.root = open(options->into, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (server.root < 0) failure_set(&failure, "cannot open --into %s: %s", options->into, strerror(errno));
  int listener = failure_is_set(&failure) ? -1 : endpoint_listen(options->listen, &failure);
  if (listener < 0 || signals < 0 || server.ended < 0) {
    fprintf(stderr, "remote-copy: serve: %s\n", failure_is_set(&failure) ? failure.text : strerror(errno));
    return 1;
  }
  char name[128];
  endpoint_local_name(listener, name, sizeof name);
  printf(options->json ? "{\"role\":\"serve\",\"listening\":\"%s\"}\n" : "serve: listening on %s\n", name);
  fflush(stdout);

  run_until_stopped(&server, listener, signals);
  close(listener);
  close(signals);
  close(server.ended);
  close(server.root);
  return server.any_failed ? 1 : 0;
}
