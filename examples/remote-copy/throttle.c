/* Limits the rate of a pipe or a TCP connection.
 *
 * It reads no faster than it may write, so the side before it feels the back-pressure of a slow disk or network and
 * not of a delay that it could know of. */
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char HELP[] =
    "Lets bytes through no faster than a rate.\n"
    "\n"
    "Usage: throttle pipe --rate MB_PER_S                       from standard input to standard output\n"
    "       throttle relay --rate MB_PER_S --port PORT          from a free port of 127.0.0.1, which the first line "
    "of\n"
    "                                                           output names, to PORT, one connection after another\n";

enum { CHUNK_BYTES = 16 << 10 };

static _Noreturn void die(int status, const char *what) {
  fprintf(stderr, "throttle: %s\n", what);
  exit(status);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool write_all(int fd, const char *data, size_t nbytes) {
  while (nbytes > 0) {
    ssize_t written = write(fd, data, nbytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    data += written;
    nbytes -= (size_t)written;
  }
  return true;
}

/* Each chunk costs its time at the rate. Time that was not used is lost after 10 ms, so that a pause earns no burst. */
static bool pass(int from, int to, double bytes_per_ns) {
  static _Thread_local char chunk[CHUNK_BYTES];
  int64_t due = now_ns();
  for (;;) {
    ssize_t got = read(from, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    if (!write_all(to, chunk, (size_t)got)) return false;
    int64_t now = now_ns(), oldest = now - 10 * 1000 * 1000;
    if (due < oldest) due = oldest;
    due += bytes_per_ns > 0 ? (int64_t)((double)got / bytes_per_ns) : 0;
    if (due > now) {
      struct timespec until = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000};
      while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
    }
  }
}

static struct sockaddr_in loopback(unsigned short port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

struct backward {
  int from, to;
};

/* What the receiver answers goes back unhindered. */
static void *pass_back(void *argument) {
  struct backward *way = argument;
  pass(way->from, way->to, 0);
  shutdown(way->to, SHUT_WR);
  return NULL;
}

static void relay_connection(int near, unsigned short port, double bytes_per_ns) {
  struct sockaddr_in address = loopback(port);
  int far = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 64 << 10;
  pthread_t thread;
  struct backward way = {far, near};
  /* a small buffer, lest the relay take in megabytes at full speed before anyone feels it */
  setsockopt(near, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  if (far < 0 || connect(far, (struct sockaddr *)&address, sizeof address) != 0 ||
      pthread_create(&thread, NULL, pass_back, &way) != 0) {
    fprintf(stderr, "throttle: cannot reach port %u: %s\n", port, strerror(errno));
  } else {
    pass(near, far, bytes_per_ns);
    shutdown(far, SHUT_WR);
    pthread_join(thread, NULL);
  }
  if (far >= 0) close(far);
  close(near);
}

static _Noreturn void relay(unsigned short port, double bytes_per_ns) {
  struct sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &length) != 0)
    die(1, strerror(errno));
  printf("throttle: listening on 127.0.0.1:%u\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    int near = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (near >= 0) relay_connection(near, port, bytes_per_ns);
  }
}

int main(int argc, char **argv) {
  static const struct option OPTIONS[] = {{"rate", required_argument, NULL, 'r'},
                                          {"port", required_argument, NULL, 'p'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  const char *verb = argc > 1 ? argv[1] : "";
  double megabytes = 0;
  long port = 0;
  int option;
  while ((option = getopt_long(argc, argv, "h", OPTIONS, NULL)) != -1) {
    if (option == 'h') {
      fputs(HELP, stdout);
      return 0;
    }
    if (option == 'r') megabytes = strtod(optarg, NULL);
    if (option == 'p') port = strtol(optarg, NULL, 10);
  }
  if (!(megabytes >= 0.1 && megabytes <= 1e6)) die(2, "--rate takes megabytes per second, 0.1 to 1000000; see --help");
  signal(SIGPIPE, SIG_IGN);
  double bytes_per_ns = megabytes * 1e6 / 1e9;
  if (strcmp(verb, "pipe") == 0) return pass(STDIN_FILENO, STDOUT_FILENO, bytes_per_ns) ? 0 : 1;
  if (strcmp(verb, "relay") != 0) die(2, "say pipe or relay; see --help");
  if (port < 1 || port > 65535) die(2, "--port takes 1 to 65535; see --help");
  relay((unsigned short)port, bytes_per_ns);
}
