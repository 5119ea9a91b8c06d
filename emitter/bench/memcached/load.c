/* bench-memcached-load: a client of memcached with several connections. Each has one request on its way and sends the
 * next one when it is answered; every reply is compared with the expected one. */
#include "options.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "Usage: bench-memcached-load --port N [--connections N] [--requests N]\n"
    "\n"
    "Sends --requests from --connections (32) at once, nine gets to a set, of 65,536 keys with values of 100 bytes.\n"
    "Without --requests it stores each of these values once. Prints the requests, and the seconds from the first one "
    "to\n"
    "the last reply, as JSON.\n";

enum { KEYS = 1 << 16, VALUE_BYTES = 100, DIGITS = 8, CONNECTIONS_MAX = 512, BUFFER = 256, SET_IN = 10 };

/* The keys' digits are written over the zeros. */
static const char get_line[] = "get 00000000\r\n";
static const char set_line[] = "set 00000000 0 0 100\r\n";
static const char value_line[] = "VALUE 00000000 0 100\r\n";
static const char stored[] = "STORED\r\n";
static const char end[] = "\r\nEND\r\n";

typedef struct connection {
  int fd;
  size_t expected, got;
  char reply[BUFFER], received[BUFFER];
} connection;

static connection connections[CONNECTIONS_MAX];

static void write_digits(char *at, uint32_t key) {
  for (int i = DIGITS - 1; i >= 0; i--, key /= 10)
    at[i] = (char)('0' + key % 10);
}

static size_t append(char *buffer, size_t at, const char *text, size_t length) {
  memcpy(buffer + at, text, length);
  return at + length;
}

/* The line that a buffer begins with. Its key follows `prefix` bytes. */
static size_t begin_with(char *buffer, const char *line, size_t length, size_t prefix, uint32_t key) {
  append(buffer, 0, line, length);
  write_digits(buffer + prefix, key);
  return length;
}

static size_t append_value(char *buffer, size_t at, uint32_t key) {
  memset(buffer + at, 'a' + (int)(key % 26), VALUE_BYTES);
  return at + VALUE_BYTES;
}

/* An odd factor: 65,536 numbers in a row name every key once. */
static uint32_t key_of(uint64_t number) {
  return (uint32_t)(number * 2654435761u) % KEYS;
}

static bool ask(connection *asking, uint32_t key, bool set) {
  char request[BUFFER];
  size_t length;
  if (set) {
    length = begin_with(request, set_line, sizeof set_line - 1, strlen("set "), key);
    length = append_value(request, length, key);
    length = append(request, length, "\r\n", 2);
    asking->expected = append(asking->reply, 0, stored, sizeof stored - 1);
  } else {
    length = begin_with(request, get_line, sizeof get_line - 1, strlen("get "), key);
    size_t reply = begin_with(asking->reply, value_line, sizeof value_line - 1, strlen("VALUE "), key);
    asking->expected = append(asking->reply, append_value(asking->reply, reply, key), end, sizeof end - 1);
  }
  asking->got = 0;
  return send(asking->fd, request, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* 1 if the reply is complete, 0 if more is to come, -1 if it is not the expected one. */
static int receive(connection *asking) {
  ssize_t got = recv(asking->fd, asking->received + asking->got, sizeof asking->received - asking->got, 0);
  if (got <= 0) return -1;
  asking->got += (size_t)got;
  if (asking->got < asking->expected) return 0;
  return asking->got == asking->expected && memcmp(asking->received, asking->reply, asking->got) == 0 ? 1 : -1;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Seconds until all requests are answered, negative after an error. Every `set_in`-th is a set. */
static double run(int poll, uint64_t count, uint64_t requests, unsigned set_in) {
  struct epoll_event ready[CONNECTIONS_MAX];
  uint64_t asked = 0, answered = 0;
  double began = seconds_now();
  for (; asked < count && asked < requests; asked++)
    if (!ask(&connections[asked], key_of(asked), asked % set_in == 0)) return -1;
  while (answered < requests) {
    int found = epoll_wait(poll, ready, CONNECTIONS_MAX, -1);
    for (int i = 0; i < found; i++) {
      connection *answering = ready[i].data.ptr;
      int complete = receive(answering);
      if (complete < 0) return -1;
      if (complete == 0) continue;
      answered++;
      if (asked == requests) continue;
      if (!ask(answering, key_of(asked), asked % set_in == 0)) return -1;
      asked++;
    }
  }
  return seconds_now() - began;
}

static bool connect_all(int poll, uint64_t count, uint16_t port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  const int on = 1;
  for (uint64_t i = 0; i < count; i++) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct epoll_event readable = {.events = EPOLLIN, .data = {.ptr = &connections[i]}};
    connections[i].fd = fd;
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        epoll_ctl(poll, EPOLL_CTL_ADD, fd, &readable) != 0)
      return false;
  }
  return true;
}

int main(int argc, char **argv) {
  static const struct option names[] = {{"port", required_argument, NULL, 'p'},
                                        {"connections", required_argument, NULL, 'c'},
                                        {"requests", required_argument, NULL, 'r'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  uint64_t port = 0, count = 32, requests = 0;
  bool legal = true;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'p': legal = legal && parse_number(optarg, 1, UINT16_MAX, &port); break;
    case 'c': legal = legal && parse_number(optarg, 1, CONNECTIONS_MAX, &count); break;
    case 'r': legal = legal && parse_number(optarg, 1, UINT32_MAX, &requests); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  if (!legal || port == 0 || optind != argc) {
    fputs("bench-memcached-load: wrong usage (try --help)\n", stderr);
    return 2;
  }
  int poll = epoll_create1(EPOLL_CLOEXEC);
  double seconds = -1;
  if (poll >= 0 && connect_all(poll, count, (uint16_t)port))
    seconds = requests == 0 ? run(poll, count, KEYS, 1) : run(poll, count, requests, SET_IN);
  if (seconds < 0) {
    fputs("bench-memcached-load: a connection failed, or a reply is not the expected one\n", stderr);
    return 1;
  }
  printf("{\"requests\":%" PRIu64 ",\"seconds\":%.6f}\n", requests == 0 ? KEYS : requests, seconds);
  return 0;
}
