#include "scripted_nats.h"

#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { LOOK_MS = 10, SLOW_BYTES = 12500, SLOW_PAUSE_NS = 50000000, SECOND_NS = 1000000000 };

static const char greeting[] = "INFO {\"server_id\":\"X\",\"version\":\"2.10.0\",\"proto\":1,\"headers\":true,"
                               "\"max_payload\":1048576,\"jetstream\":true}\r\n";

static void say(FILE *out, const scripted_nats *server, const char *subject, const char *text) {
  fprintf(out, "MSG %s %s %zu\r\n%s\r\n", subject, server->subscription, strlen(text), text);
}

/* Returns false to close the connection. */
static bool answer_batch(scripted_nats *server, FILE *out, const char *reply) {
  static const char acknowledged[] = "{\"stream\":\"LIFELINE\",\"seq\":1}";
  static const char duplicate[] = "{\"stream\":\"LIFELINE\",\"seq\":1,\"duplicate\": true}";
  static const char nobody[] = "NATS/1.0 503\r\n\r\n";
  if (server->batches == 0) snprintf(server->first_reply, sizeof server->first_reply, "%s", reply);
  unsigned number = server->batches++;
  bool open = true;
  switch (number < server->answer_count ? server->answers[number] : server->afterwards) {
  case SAYS_NOTHING: break;
  case ACKNOWLEDGES: say(out, server, reply, acknowledged); break;
  case HAS_IT_ALREADY: say(out, server, reply, duplicate); break;
  case HAD_THE_PREVIOUS_ALREADY:
    say(out, server, server->previous_reply, duplicate);
    say(out, server, reply, acknowledged);
    break;
  case ACKNOWLEDGES_THE_FIRST: say(out, server, server->first_reply, acknowledged); break;
  case HAS_NO_RESPONDERS:
    fprintf(out, "HMSG %s %s %zu %zu\r\n%s\r\n", reply, server->subscription, sizeof nobody - 1, sizeof nobody - 1,
            nobody);
    break;
  case CLOSES_THE_CONNECTION: open = false; break;
  case SAYS_WHY_AND_CLOSES:
    fputs("-ERR 'Maximum Payload Violation'\r\n", out);
    open = false;
    break;
  }
  snprintf(server->previous_reply, sizeof server->previous_reply, "%s", reply);
  return open;
}

/* Sleeps until the next instant of a schedule, so that its delays do not add up. */
static void keep_pace(struct timespec *instant) {
  instant->tv_nsec += SLOW_PAUSE_NS;
  instant->tv_sec += instant->tv_nsec / SECOND_NS;
  instant->tv_nsec %= SECOND_NS;
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, instant, NULL);
}

/* Parses PUB or HPUB: subject, reply, [header bytes], bytes. */
static bool take_message(scripted_nats *server, FILE *in, FILE *out, char *line) {
  char *words[5] = {NULL}, *rest = NULL;
  unsigned count = 0;
  for (char *word = strtok_r(line, " \r\n", &rest); word && count < 5; word = strtok_r(NULL, " \r\n", &rest))
    words[count++] = word;
  if (count < 4) return false;
  struct timespec instant;
  clock_gettime(CLOCK_MONOTONIC, &instant);
  for (long left = atol(words[count - 1]) + 2; left > 0; left--) {
    if (fgetc(in) == EOF) return false;
    if (server->is_slow && left % SLOW_BYTES == 0) keep_pace(&instant);
  }
  pthread_mutex_lock(&server->mutex);
  bool open = true;
  if (strcmp(words[1], "$JS.API.STREAM.NAMES") == 0) {
    server->questions++;
    if (server->streams) say(out, server, words[2], server->streams);
  } else {
    open = answer_batch(server, out, words[2]);
  }
  pthread_mutex_unlock(&server->mutex);
  return open;
}

static void listen_only(scripted_nats *server, int connection) {
  char bytes[SCRIPTED_LINE_BYTES];
  ssize_t count = read(connection, bytes, sizeof bytes);
  pthread_mutex_lock(&server->mutex);
  server->login_bytes = count > 0 ? (size_t)count : 0;
  memcpy(server->login, bytes, server->login_bytes);
  pthread_mutex_unlock(&server->mutex);
  unsigned char alert[] = {21, 3, 3, 0, 2, 2, server->alert}; /* a fatal alert record of TLS 1.2 */
  if (server->alert != 0) send(connection, alert, sizeof alert, MSG_NOSIGNAL);
}

static void talk_without_end(int connection) {
  static const char nothing[] = "PING\r\nINFO {}\r\n";
  while (send(connection, nothing, sizeof nothing - 1, MSG_NOSIGNAL) > 0) {
  }
}

/* Lets little of a batch fit into the sockets, as on a real link: both belong to this process. */
static void shrink_buffers(int connection) {
  struct sockaddr_in client, own;
  socklen_t size = sizeof client;
  assert_int_equal(getpeername(connection, (struct sockaddr *)&client, &size), 0);
  setsockopt(connection, SOL_SOCKET, SO_RCVBUF, &(int){16 << 10}, sizeof(int));
  for (int fd = 0; fd < 1024; fd++) {
    size = sizeof own;
    if (getsockname(fd, (struct sockaddr *)&own, &size) == 0 && own.sin_family == AF_INET &&
        own.sin_port == client.sin_port)
      setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){16 << 10}, sizeof(int));
  }
}

static void speak(scripted_nats *server, int connection) {
  char line[SCRIPTED_LINE_BYTES];
  if (server->is_slow) shrink_buffers(connection);
  FILE *in = fdopen(connection, "r"), *out = fdopen(dup(connection), "w");
  server->batches = 0;
  fputs(server->greeting ? server->greeting : greeting, out);
  fflush(out);
  if (server->listens) listen_only(server, connection);
  if (server->talks) talk_without_end(connection);
  while (!server->listens && !server->talks && fflush(out) == 0 && fgets(line, sizeof line, in)) {
    if (strncmp(line, "CONNECT ", 8) == 0) {
      pthread_mutex_lock(&server->mutex);
      snprintf(server->login, sizeof server->login, "%s", line);
      pthread_mutex_unlock(&server->mutex);
      if (server->refuses) fputs("-ERR 'Authorization Violation'\r\n", out);
      if (server->refuses) break;
    }
    if (strncmp(line, "PING", 4) == 0) fputs("PONG\r\n", out);
    if (strncmp(line, "SUB ", 4) == 0)
      snprintf(server->subscription, sizeof server->subscription, "%.*s", (int)strcspn(strrchr(line, ' ') + 1, "\r\n"),
               strrchr(line, ' ') + 1);
    bool message = strncmp(line, "PUB ", 4) == 0 || strncmp(line, "HPUB ", 5) == 0;
    if (message && !take_message(server, in, out, line)) break;
  }
  fclose(in);
  fclose(out);
}

static void *serve(void *of) {
  scripted_nats *server = of;
  while (!__atomic_load_n(&server->ending, __ATOMIC_ACQUIRE)) {
    struct pollfd ready = {.fd = server->listener, .events = POLLIN};
    if (poll(&ready, 1, LOOK_MS) != 1) continue;
    int connection = accept(server->listener, NULL, NULL);
    if (connection < 0) continue;
    __atomic_add_fetch(&server->connections, 1, __ATOMIC_ACQ_REL);
    speak(server, connection);
  }
  return NULL;
}

void scripted_nats_start(scripted_nats *server) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  pthread_mutex_init(&server->mutex, NULL);
  /* Nonblocking: if a connection is reset between poll and accept, accept would wait for the next one. */
  server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  assert_int_equal(bind(server->listener, (struct sockaddr *)&address, size), 0);
  assert_int_equal(listen(server->listener, 16), 0);
  assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &size), 0);
  server->port = ntohs(address.sin_port);
  assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

void scripted_nats_turn(scripted_nats *server, scripted_answer afterwards) {
  pthread_mutex_lock(&server->mutex);
  server->answer_count = 0;
  server->afterwards = afterwards;
  pthread_mutex_unlock(&server->mutex);
}

void scripted_nats_stop(scripted_nats *server) {
  __atomic_store_n(&server->ending, true, __ATOMIC_RELEASE);
  pthread_join(server->thread, NULL);
  close(server->listener);
}
