/* bench-writev: the least processor time that messages into JetStream can cost their sender: one writev each, and a
 * read of the acknowledgements whenever as many are outstanding as the sink allows. It speaks just enough of NATS'
 * protocol. */
#include "options.h"
#include "payload.h"
#include "timing.h"

#include <getopt.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static const char usage[] =
    "Usage: bench-writev --url nats://HOST:PORT --subject SUBJECT [--messages N] [--bytes N]\n"
    "\n"
    "Prints messages, bytes, seconds and processor time until the last acknowledgement as JSON.\n"
    "--messages (4000) of --bytes (262144).\n";

enum { BYTES_MAX = 960000, IN_FLIGHT = 64 };

static _Noreturn void die(const char *what) {
  fprintf(stderr, "bench-writev: %s\n", what);
  exit(1);
}

static int connect_to(const char *url) {
  char host[256], port[16];
  struct addrinfo wanted = {.ai_socktype = SOCK_STREAM}, *found;
  if (sscanf(url, "nats://%255[^:]:%15[0-9]", host, port) != 2) die("the URL must be nats://HOST:PORT");
  if (getaddrinfo(host, port, &wanted, &found) != 0) die("unknown host");
  int fd = socket(found->ai_family, SOCK_STREAM, 0);
  if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0) die("no connection");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  freeaddrinfo(found);
  return fd;
}

static void send_all(int fd, struct iovec *parts, int count) {
  while (count > 0) {
    ssize_t written = writev(fd, parts, count);
    if (written <= 0) die("the connection was lost");
    for (; count > 0 && (size_t)written >= parts->iov_len; parts++, count--)
      written -= (ssize_t)parts->iov_len;
    if (count == 0) return;
    parts->iov_base = (char *)parts->iov_base + written;
    parts->iov_len -= (size_t)written;
  }
}

/* Reads what there is, or waits for it. An acknowledgement is two lines: "MSG ..." and {"stream":...}; an error begins
 * with -ERR or {"error". Returns the number of acknowledgements. */
static uint64_t read_answers(int fd) {
  static char begin[4]; /* of the current line, which may continue in the next read */
  static size_t length;
  char text[65536];
  ssize_t bytes = recv(fd, text, sizeof text, 0);
  uint64_t acknowledged = 0;
  if (bytes <= 0) die("the connection was lost");
  for (ssize_t i = 0; i < bytes; i++) {
    if (text[i] == '\n') length = 0;
    if (text[i] == '\n' || length == sizeof begin) continue;
    begin[length++] = text[i];
    if (length < sizeof begin) continue;
    if (memcmp(begin, "-ERR", 4) == 0 || memcmp(begin, "{\"er", 4) == 0) die("the server refused a message");
    acknowledged += memcmp(begin, "{\"st", 4) == 0;
  }
  return acknowledged;
}

static void publish(int fd, const char *subject, uint64_t messages, char *data, size_t bytes) {
  static const char hello[] = "CONNECT {\"verbose\":false}\r\nSUB _INBOX.bench-writev 1\r\n";
  char line[512];
  size_t length = (size_t)snprintf(line, sizeof line, "PUB %s _INBOX.bench-writev %zu\r\n", subject, bytes);
  if (length >= sizeof line) die("the subject is too long");
  send_all(fd, &(struct iovec){(void *)(uintptr_t)hello, sizeof hello - 1}, 1);
  for (uint64_t sent = 0, acknowledged = 0; acknowledged < messages;) {
    if (sent < messages && sent - acknowledged < IN_FLIGHT) {
      send_all(fd, (struct iovec[]){{line, length}, {data, bytes}, {(void *)(uintptr_t) "\r\n", 2}}, 3);
      sent++;
    } else {
      acknowledged += read_answers(fd);
    }
  }
}

int main(int argc, char **argv) {
  static const struct option names[] = {
      {"url", required_argument, NULL, 'u'},      {"subject", required_argument, NULL, 's'},
      {"messages", required_argument, NULL, 'm'}, {"bytes", required_argument, NULL, 'b'},
      {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
  static uint8_t data[BYTES_MAX];
  uint64_t messages = 4000, bytes = 262144;
  const char *url = NULL, *subject = NULL;
  bool legal = true;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'u': url = optarg; break;
    case 's': subject = optarg; break;
    case 'm': legal = legal && parse_number(optarg, 1, 1u << 30, &messages); break;
    case 'b': legal = legal && parse_number(optarg, 1, BYTES_MAX, &bytes); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  if (!legal || url == NULL || subject == NULL || optind != argc) {
    fputs("bench-writev: wrong usage (try --help)\n", stderr);
    return 2;
  }
  payload_fill(data, bytes);
  int fd = connect_to(url);
  uint64_t began = now_ns(), cpu_began = cpu_ns();
  publish(fd, subject, messages, (char *)data, bytes);
  printf("{\"messages\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"seconds\":%.6f,\"cpu_seconds\":%.6f}\n", messages, bytes,
         (double)(now_ns() - began) / 1e9, (double)(cpu_ns() - cpu_began) / 1e9);
  close(fd);
  return 0;
}
