#include "diag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Of the kernel's numbers of states, which are the same in all families. */
enum {
  ESTABLISHED = 1,
  SYN_SENT,
  SYN_RECV,
  FIN_WAIT1,
  FIN_WAIT2,
  TIME_WAIT,
  CLOSED,
  CLOSE_WAIT,
  LAST_ACK,
  LISTEN,
  CLOSING,
  STATES
};

enum { ASKED_AT_ONCE = 16, ANSWER_MS = 1000, RECEIVE_BYTES = 1 << 20 };

/* TIME_WAIT is no socket any more; LISTEN and SYN_RECV have no TCP_INFO of a transfer. */
#define STATES_WANTED                                                                                                  \
  (1u << ESTABLISHED | 1u << SYN_SENT | 1u << FIN_WAIT1 | 1u << FIN_WAIT2 | 1u << CLOSE_WAIT | 1u << LAST_ACK |        \
   1u << CLOSING)

typedef struct question {
  struct nlmsghdr header;
  struct inet_diag_req_v2 request;
} question;

_Static_assert(sizeof(question) % NLMSG_ALIGNTO == 0, "questions follow each other in one datagram");

const char *diag_state_name(uint8_t state) {
  static const char *const names[STATES] = {
      [ESTABLISHED] = "established", [SYN_SENT] = "syn-sent",     [SYN_RECV] = "syn-received",
      [FIN_WAIT1] = "fin-wait-1",    [FIN_WAIT2] = "fin-wait-2",  [TIME_WAIT] = "time-wait",
      [CLOSED] = "closed",           [CLOSE_WAIT] = "close-wait", [LAST_ACK] = "last-ack",
      [LISTEN] = "listen",           [CLOSING] = "closing"};
  return state > 0 && state < STATES ? names[state] : "unknown";
}

int diag_open(void) {
  int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  int bytes = RECEIVE_BYTES, one = 1;
  if (fd < 0) return -1;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes); /* best effort */
  setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof one);
  return fd;
}

int diag_open_ends(void) {
  struct sockaddr_nl address = {.nl_family = AF_NETLINK,
                                .nl_groups =
                                    1u << (SKNLGRP_INET_TCP_DESTROY - 1) | 1u << (SKNLGRP_INET6_TCP_DESTROY - 1)};
  int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
  int bytes = 4 * RECEIVE_BYTES, error;
  if (fd < 0) return -1;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
  /* bind, not NETLINK_ADD_MEMBERSHIP: a socket without an address gets no multicast from the kernel, whose is 0. */
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  return fd;
}

static void ask_one(question *one, uint8_t family, diag_detail detail, uint16_t flags, uint32_t number) {
  *one = (question){
      .header = {.nlmsg_len = sizeof *one,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
                 .nlmsg_seq = number},
      .request = {.sdiag_family = family,
                  .sdiag_protocol = IPPROTO_TCP,
                  .idiag_states = STATES_WANTED,
                  .idiag_ext = detail == DIAG_INFO ? 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1) : 0}};
}

static int send_all(int fd, const void *data, size_t bytes) {
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  ssize_t sent;
  do
    sent = sendto(fd, data, bytes, 0, (struct sockaddr *)&kernel, sizeof kernel);
  while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)bytes ? 0 : errno;
}

bool diag_parse(const void *payload, size_t bytes, diag_look *look) {
  struct inet_diag_msg message;
  if (bytes < sizeof message) return false;
  memcpy(&message, payload, sizeof message);
  if (message.idiag_family != AF_INET && message.idiag_family != AF_INET6) return false;
  *look = (diag_look){.cookie = (uint64_t)message.id.idiag_cookie[1] << 32 | message.id.idiag_cookie[0],
                      .inode = message.idiag_inode,
                      .family = message.idiag_family,
                      .state = message.idiag_state,
                      .id = message.id,
                      .unread = message.idiag_rqueue,
                      .queued = message.idiag_wqueue};
  const char *at = (const char *)payload + NLMSG_ALIGN(sizeof message), *end = (const char *)payload + bytes;
  while (end - at >= (ptrdiff_t)sizeof(struct rtattr)) {
    struct rtattr attribute;
    memcpy(&attribute, at, sizeof attribute);
    if (attribute.rta_len < sizeof attribute || attribute.rta_len > end - at) break;
    size_t size = attribute.rta_len - sizeof attribute;
    const char *value = at + sizeof attribute;
    if (attribute.rta_type == INET_DIAG_INFO) {
      memcpy(&look->info, value, size < sizeof look->info ? size : sizeof look->info);
      look->has_info = true;
    } else if (attribute.rta_type == INET_DIAG_CONG) {
      memcpy(look->congestion, value, size < sizeof look->congestion ? size : sizeof look->congestion - 1);
    }
    if ((ptrdiff_t)RTA_ALIGN(attribute.rta_len) > end - at) break;
    at += RTA_ALIGN(attribute.rta_len);
  }
  return true;
}

typedef struct answers {
  unsigned ended; /* errors and ends of dumps */
  unsigned looks;
  bool interrupted;
  int error;
} answers;

/* Handles the messages of one datagram. Those of an earlier question, which was given up, are skipped. */
static void handle(const char *data, size_t bytes, uint32_t number, diag_function call, void *ctx, answers *got) {
  while (bytes >= sizeof(struct nlmsghdr)) {
    struct nlmsghdr header;
    diag_look look;
    memcpy(&header, data, sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > bytes) return;
    const char *payload = data + NLMSG_HDRLEN;
    size_t size = header.nlmsg_len - NLMSG_HDRLEN;
    if (number == 0 || header.nlmsg_seq == number) {
      if (header.nlmsg_flags & NLM_F_DUMP_INTR) got->interrupted = true;
      if (header.nlmsg_type == NLMSG_DONE) got->ended++;
      if (header.nlmsg_type == NLMSG_ERROR) {
        int code = 0;
        if (size >= sizeof code) memcpy(&code, payload, sizeof code);
        got->error = -code;
        got->ended++;
      }
      if (header.nlmsg_type == SOCK_DIAG_BY_FAMILY && diag_parse(payload, size, &look)) {
        got->looks++;
        call(ctx, &look);
      }
    }
    size_t step = NLMSG_ALIGN(header.nlmsg_len);
    if (step > bytes) return;
    data += step;
    bytes -= step;
  }
}

static int receive(int fd, uint32_t number, diag_function call, void *ctx, answers *got) {
  static char data[64 * 1024] __attribute__((aligned(8)));
  struct sockaddr_nl from;
  socklen_t from_bytes = sizeof from;
  ssize_t bytes = recvfrom(fd, data, sizeof data, MSG_DONTWAIT, (struct sockaddr *)&from, &from_bytes);
  if (bytes < 0) return errno;
  if (from_bytes == sizeof from && from.nl_pid == 0) handle(data, (size_t)bytes, number, call, ctx, got);
  return 0;
}

/* The kernel answers while it takes the question, or at the next read: waiting means that something is wrong. */
static int wait_for_answer(int fd) {
  struct pollfd readable = {.fd = fd, .events = POLLIN};
  int ready = poll(&readable, 1, ANSWER_MS);
  return ready > 0 || (ready < 0 && errno == EINTR) ? 0 : ETIMEDOUT;
}

static uint32_t next_number(void) {
  static uint32_t number;
  return ++number != 0 ? number : ++number;
}

static int dump_family(int fd, uint8_t family, diag_detail detail, diag_function call, void *ctx, bool *interrupted) {
  question one;
  answers got = {0, 0, false, 0};
  uint32_t number = next_number();
  ask_one(&one, family, detail, NLM_F_DUMP, number);
  int error = send_all(fd, &one, sizeof one);
  while (error == 0 && got.ended == 0) {
    error = receive(fd, number, call, ctx, &got);
    if (error == EAGAIN) error = wait_for_answer(fd);
    if (error == EINTR) error = 0;
  }
  *interrupted = *interrupted || got.interrupted;
  return error != 0 ? error : got.error;
}

int diag_dump(int fd, diag_detail detail, diag_function call, void *ctx) {
  bool interrupted = false;
  int error = dump_family(fd, AF_INET, detail, call, ctx, &interrupted);
  int other = error == 0 ? dump_family(fd, AF_INET6, detail, call, ctx, &interrupted) : 0;
  if (error == 0 && other != ENOENT) error = other; /* a kernel without IPv6 */
  return error == 0 && interrupted ? EINTR : error;
}

static int ask_some(int fd, const diag_look *sockets, size_t count, diag_function call, void *ctx) {
  question some[ASKED_AT_ONCE];
  answers got = {0, 0, false, 0};
  uint32_t number = next_number();
  for (size_t i = 0; i < count; i++) {
    ask_one(&some[i], sockets[i].family, DIAG_INFO, 0, number);
    some[i].request.id = sockets[i].id;
  }
  int error = send_all(fd, some, count * sizeof some[0]);
  while (error == 0 && got.ended + got.looks < count) { /* each is answered by one message */
    error = receive(fd, number, call, ctx, &got);
    if (error == EAGAIN) error = wait_for_answer(fd);
    if (error == EINTR) error = 0;
  }
  return error;
}

int diag_ask(int fd, const diag_look *sockets, size_t count, diag_function call, void *ctx) {
  int error = 0;
  for (size_t done = 0; done < count && error == 0; done += ASKED_AT_ONCE)
    error = ask_some(fd, sockets + done, count - done < ASKED_AT_ONCE ? count - done : ASKED_AT_ONCE, call, ctx);
  return error;
}

int diag_read_ends(int fd, diag_function call, void *ctx) {
  answers got = {0, 0, false, 0};
  for (int i = 0; i < 4096; i++) { /* the rest at the next time: other samples are due, too */
    int error = receive(fd, 0, call, ctx, &got);
    if (error == EAGAIN) return 0;
    if (error != 0 && error != EINTR) return error;
  }
  return 0;
}

static void end_name(uint8_t family, const void *address, uint16_t port, char name[DIAG_END_BYTES]) {
  struct in6_addr six;
  char text[INET6_ADDRSTRLEN] = "?";
  memcpy(&six, address, sizeof six);
  bool mapped = family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six);
  if (mapped || family == AF_INET)
    inet_ntop(AF_INET, (const char *)address + (mapped ? 12 : 0), text, sizeof text);
  else
    inet_ntop(AF_INET6, address, text, sizeof text);
  snprintf(name, DIAG_END_BYTES, mapped || family == AF_INET ? "%s:%u" : "[%s]:%u", text, (unsigned)ntohs(port));
}

void diag_ends(const diag_look *look, char local[DIAG_END_BYTES], char remote[DIAG_END_BYTES]) {
  end_name(look->family, look->id.idiag_src, look->id.idiag_sport, local);
  end_name(look->family, look->id.idiag_dst, look->id.idiag_dport, remote);
}
