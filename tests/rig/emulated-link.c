/* Joins two network namespaces by an emulated long link, for kernels without netem.
 *
 * Each namespace gets a TUN device. One thread per direction takes the packets that its namespace sends and hands them
 * to the other one, as a link would: the sender's queue, then the time on the wire, then the way.
 *
 *       namespace A                                                              namespace B
 *   [ TUN device ] -> queue (limited) -> rate (a packet after the other) -> loss -> delay -> [ TUN device ]
 *
 * A lost packet has taken its time on the wire. Packets never overtake each other. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char HELP[] =
    "Joins two network namespaces by an emulated long link.\n"
    "\n"
    "Usage: emulated-link [OPTION]... NAMESPACE=ADDRESS/BITS NAMESPACE=ADDRESS/BITS\n"
    "\n"
    "  --delay MS       one way (0)\n"
    "  --rate MBIT      megabits per second, IP headers included (1000)\n"
    "  --loss PERCENT   of the packets, at random and independent of each other (0)\n"
    "  --queue KB       before the link; more is dropped (a round trip at the rate, at least 256)\n"
    "  --mtu BYTES      (1500)\n"
    "  --seed N         of the losses (1)\n"
    "\n"
    "Creates the device `link0` in both namespaces, which must exist in /run/netns, and prints `ready`.\n"
    "Then each line of standard input changes one value for both directions, from now on: `loss 0.01`,\n"
    "`delay 50`, `rate 100`; it is answered by the line and the time, in nanoseconds since 1970. Ends\n"
    "with its input, or by a signal, and then prints a line of JSON per direction. Needs root. Exit\n"
    "status: 0, 1 after an error, 2 for a mistake in the command line.\n";

enum { DEVICE_QUEUE = 20000, MTU_MAX = 65000, SLACK_BYTES = 64 << 20 };
#define NS_PER_S 1000000000.0

/* What may change while packets are under way. */
static _Atomic int64_t the_delay_ns;
static _Atomic double the_bytes_per_ns;
static _Atomic uint64_t the_loss; /* a packet whose random number is below is lost */
static _Atomic bool the_end;

typedef struct packet {
  int64_t due;
  uint32_t size; /* 0: the next packet is at the start of the buffer */
  uint8_t bytes[];
} packet;

typedef struct direction {
  pthread_t thread;
  const char *from, *to; /* namespaces, for the report */
  int in, out;           /* TUN devices */
  uint32_t mtu;
  uint64_t queue_bytes;
  uint64_t random;
  uint8_t *buffer; /* of packets under way, a ring */
  size_t size, head, tail;
  uint64_t packets, bytes, lost, queue_full, device_full;
  int64_t latest_ns; /* how much later than due a packet left, at most */
} direction;

static _Noreturn void die(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("emulated-link: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  exit(status);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Room for a packet of the largest size at the head; NULL if there is none. */
static packet *room(direction *way) {
  size_t needed = sizeof(packet) + way->mtu;
  if (way->head >= way->tail) {
    if (way->size - way->head >= needed + sizeof(packet)) return (packet *)(void *)(way->buffer + way->head);
    if (way->tail <= needed) return NULL;
    ((packet *)(void *)(way->buffer + way->head))->size = 0;
    way->head = 0;
  }
  return way->tail - way->head > needed ? (packet *)(void *)(way->buffer + way->head) : NULL;
}

static size_t stride(uint32_t size) {
  return (sizeof(packet) + size + 7) & ~(size_t)7;
}

static packet *oldest(direction *way) {
  if (way->tail == way->head) {
    way->tail = way->head = 0;
    return NULL;
  }
  packet *first = (packet *)(void *)(way->buffer + way->tail);
  if (first->size != 0) return first;
  way->tail = 0;
  return way->tail == way->head ? NULL : (packet *)(void *)way->buffer;
}

/* Takes what the namespace has sent; `free_at` is when the wire has sent what is queued. */
static void take(direction *way, int64_t *free_at) {
  for (int burst = 0; burst < 64; burst++) {
    packet *next = room(way);
    uint8_t nowhere[1];
    ssize_t got = next != NULL ? read(way->in, next->bytes, way->mtu) : read(way->in, nowhere, sizeof nowhere);
    if (got < 0) return;
    int64_t now = now_ns();
    double bytes_per_ns = atomic_load_explicit(&the_bytes_per_ns, memory_order_relaxed);
    int64_t waiting = *free_at > now ? *free_at - now : 0;
    if (next == NULL || (double)waiting * bytes_per_ns > (double)way->queue_bytes) {
      way->queue_full++;
      continue;
    }
    *free_at = now + waiting + (int64_t)((double)got / bytes_per_ns);
    if (next_random(&way->random) < atomic_load_explicit(&the_loss, memory_order_relaxed)) {
      way->lost++;
      continue;
    }
    next->due = *free_at + atomic_load_explicit(&the_delay_ns, memory_order_relaxed);
    next->size = (uint32_t)got;
    way->head += stride(next->size);
    way->packets++;
    way->bytes += (uint64_t)got;
  }
}

/* Hands on what is due; returns the nanoseconds until the next packet is, -1 if there is none. */
static int64_t hand_on(direction *way) {
  for (;;) {
    packet *first = oldest(way);
    if (first == NULL) return -1;
    int64_t now = now_ns();
    if (first->due > now) return first->due - now;
    if (now - first->due > way->latest_ns) way->latest_ns = now - first->due;
    if (write(way->out, first->bytes, first->size) < 0 && errno != EINTR) way->device_full++;
    way->tail += stride(first->size);
  }
}

static void *run(void *argument) {
  direction *way = argument;
  int64_t free_at = 0;
  prctl(PR_SET_TIMERSLACK, 1UL);
  while (!atomic_load(&the_end)) {
    int64_t left = hand_on(way);
    if (left < 0 || left > 100000000) left = 100000000; /* looks for the end ten times a second */
    struct timespec limit = {0, left};
    struct pollfd input = {way->in, POLLIN, 0};
    if (ppoll(&input, 1, &limit, NULL) > 0) take(way, &free_at);
  }
  return NULL;
}

/* --- devices
 * ---------------------------------------------------------------------------------------------------------- */

static void enter(const char *name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "/run/netns/%s", name);
  int space = open(path, O_RDONLY | O_CLOEXEC);
  if (space < 0)
    die(1, "the network namespace %s cannot be opened: %s; create it with `ip netns add`", path, strerror(errno));
  if (setns(space, CLONE_NEWNET) != 0) die(1, "the network namespace %s cannot be entered: %s", name, strerror(errno));
  close(space);
}

static void set(int socket_fd, unsigned long request, const char *what, struct ifreq *to) {
  if (ioctl(socket_fd, request, to) != 0) die(1, "%s of %s cannot be set: %s", what, to->ifr_name, strerror(errno));
}

static void bring_up(int socket_fd, const char *name) {
  struct ifreq device = {0};
  strcpy(device.ifr_name, name);
  device.ifr_flags = IFF_UP | IFF_RUNNING;
  set(socket_fd, SIOCSIFFLAGS, "the state", &device);
}

/* Its router solicitations would be counted among the packets. Without IPv6 in the kernel there is nothing to do. */
static void no_ipv6(void) {
  int setting = open("/proc/sys/net/ipv6/conf/link0/disable_ipv6", O_WRONLY | O_CLOEXEC);
  if (setting < 0) return;
  if (write(setting, "1", 1) != 1) die(1, "IPv6 cannot be switched off on link0: %s", strerror(errno));
  close(setting);
}

/* Creates link0 with an address such as 192.0.2.1/24 in the namespace. */
static int create(const char *space, char *address, int mtu) {
  enter(space);
  int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (tun < 0) die(1, "/dev/net/tun cannot be opened: %s", strerror(errno));
  struct ifreq device = {.ifr_name = "link0", .ifr_flags = IFF_TUN | IFF_NO_PI};
  set(tun, TUNSETIFF, "the kind", &device);
  no_ipv6();

  char *slash = strchr(address, '/');
  char *rest = slash;
  long bits = slash != NULL ? strtol(slash + 1, &rest, 10) : -1;
  struct sockaddr_in at = {.sin_family = AF_INET};
  if (slash != NULL) *slash = 0;
  if (bits < 1 || bits > 30 || *rest != 0 || inet_pton(AF_INET, address, &at.sin_addr) != 1)
    die(2, "'%s' is not an address such as 192.0.2.1/24", address);
  int plain = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (plain < 0) die(1, "a socket cannot be made: %s", strerror(errno));
  memcpy(&device.ifr_addr, &at, sizeof at);
  set(plain, SIOCSIFADDR, "the address", &device);
  at.sin_addr.s_addr = htonl(~UINT32_C(0) << (32 - bits));
  memcpy(&device.ifr_netmask, &at, sizeof at);
  set(plain, SIOCSIFNETMASK, "the netmask", &device);
  device.ifr_mtu = mtu;
  set(plain, SIOCSIFMTU, "the MTU", &device);
  device.ifr_qlen = DEVICE_QUEUE; /* a burst waits here until it is read; the link's own queue is limited by --queue */
  set(plain, SIOCSIFTXQLEN, "the queue", &device);
  bring_up(plain, "link0");
  bring_up(plain, "lo");
  close(plain);
  return tun;
}

/* --- options, input and report
 * ------------------------------------------------------------------------------------------ */

static double number(const char *name, const char *text, double least, double most) {
  char *rest;
  double value = strtod(text, &rest);
  if (rest == text || *rest != 0 || !(value >= least && value <= most))
    die(2, "%s: '%s' is not a number from %g to %g", name, text, least, most);
  return value;
}

/* Returns false for an unknown name. */
static bool change(const char *name, const char *value) {
  if (strcmp(name, "delay") == 0) {
    atomic_store(&the_delay_ns, (int64_t)(number(name, value, 0, 10000) * 1e6));
  } else if (strcmp(name, "rate") == 0) {
    atomic_store(&the_bytes_per_ns, number(name, value, 0.001, 1e6) * 1e6 / 8 / NS_PER_S);
  } else if (strcmp(name, "loss") == 0) {
    double part = number(name, value, 0, 100) / 100;
    atomic_store(&the_loss, part >= 1 ? UINT64_MAX : (uint64_t)ldexp(part, 64));
  } else {
    return false;
  }
  return true;
}

static void follow_input(void) {
  char line[128], name[32], value[32];
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (sscanf(line, "%31s %31s", name, value) != 2 || !change(name, value)) {
      fprintf(stderr, "emulated-link: '%.100s' is none of `loss PERCENT`, `delay MS` and `rate MBIT`\n", line);
      continue;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("%s %s %lld%09ld\n", name, value, (long long)now.tv_sec, now.tv_nsec);
    fflush(stdout);
  }
}

/* The read of the input fails from now on. */
static void on_signal(int number_of_signal) {
  (void)number_of_signal;
  close(STDIN_FILENO);
}

static void report(const direction *way) {
  printf("{\"from\": \"%s\", \"to\": \"%s\", \"packets\": %llu, \"bytes\": %llu, \"lost\": %llu, \"queue_full\": %llu, "
         "\"device_full\": %llu, \"latest_us\": %.0f}\n",
         way->from, way->to, (unsigned long long)way->packets, (unsigned long long)way->bytes,
         (unsigned long long)way->lost, (unsigned long long)way->queue_full, (unsigned long long)way->device_full,
         (double)way->latest_ns / 1000);
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"delay", 1, 0, 'd'}, {"rate", 1, 0, 'r'}, {"loss", 1, 0, 'l'}, {"queue", 1, 0, 'q'},
      {"mtu", 1, 0, 'm'},   {"seed", 1, 0, 's'}, {"help", 0, 0, 'h'}, {0}};
  double queue_kb = -1;
  uint64_t seed = 1;
  int mtu = 1500;
  change("rate", "1000");
  for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
    switch (option) {
    case 'd': change("delay", optarg); break;
    case 'r': change("rate", optarg); break;
    case 'l': change("loss", optarg); break;
    case 'q': queue_kb = number("--queue", optarg, 1, 1e6); break;
    case 'm': mtu = (int)number("--mtu", optarg, 576, MTU_MAX); break;
    case 's': seed = (uint64_t)number("--seed", optarg, 0, 1e9); break;
    case 'h': fputs(HELP, stdout); return 0;
    default: return 2;
    }
  }
  if (argc - optind != 2) die(2, "two NAMESPACE=ADDRESS/BITS are expected (try --help)");

  double bytes_per_ns = the_bytes_per_ns;
  double round_trip = 2 * (double)the_delay_ns * bytes_per_ns;
  uint64_t queue_bytes = (uint64_t)(queue_kb > 0 ? queue_kb * 1000 : fmax(round_trip, 256e3));
  direction ways[2];
  memset(ways, 0, sizeof ways);
  int tuns[2];
  char *spaces[2];
  for (int i = 0; i < 2; i++) {
    spaces[i] = argv[optind + i];
    char *address = strchr(spaces[i], '=');
    if (address == NULL || strcspn(spaces[i], "/\"\\=") != (size_t)(address - spaces[i]))
      die(2, "'%s' is not NAMESPACE=ADDRESS/BITS", spaces[i]);
    *address++ = 0;
    tuns[i] = create(spaces[i], address, mtu);
  }
  for (int i = 0; i < 2; i++) {
    direction *way = &ways[i];
    way->from = spaces[i], way->to = spaces[!i];
    way->in = tuns[i], way->out = tuns[!i];
    way->mtu = (uint32_t)mtu;
    way->queue_bytes = queue_bytes;
    way->random = seed * 2 + (uint64_t)i;
    /* Small packets take more room than on the wire, and rate and delay may be raised. Untouched, it costs nothing. */
    way->size = ((size_t)(2 * (round_trip + (double)queue_bytes)) + SLACK_BYTES) & ~(size_t)7;
    way->buffer = malloc(way->size);
    if (way->buffer == NULL) die(1, "%zu bytes for packets under way are not available", way->size);
  }
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, NULL); /* in the threads; main gets them */
  sigaction(SIGINT, &(struct sigaction){.sa_handler = on_signal}, NULL);
  sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_signal}, NULL);
  for (int i = 0; i < 2; i++) {
    int error = pthread_create(&ways[i].thread, NULL, run, &ways[i]);
    if (error != 0) die(1, "a thread cannot be started: %s", strerror(error));
  }
  pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
  puts("ready");
  fflush(stdout);
  follow_input();
  atomic_store(&the_end, true);
  for (int i = 0; i < 2; i++) {
    pthread_join(ways[i].thread, NULL);
    report(&ways[i]);
    free(ways[i].buffer);
  }
  return 0;
}
