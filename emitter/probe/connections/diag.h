/* Asks the kernel about TCP sockets: NETLINK_SOCK_DIAG of one network namespace. */
#ifndef LIFELINE_PROBE_DIAG_H
#define LIFELINE_PROBE_DIAG_H

#include <linux/inet_diag.h>
#include <linux/tcp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One socket, as the kernel describes it. */
typedef struct diag_look {
  uint64_t cookie;
  uint32_t inode; /* 0 in notifications of an end */
  uint8_t family, state;
  struct inet_diag_sockid id;
  uint32_t unread, queued;
  bool has_info;
  struct tcp_info info; /* what an older kernel does not know is 0 */
  char congestion[16];
} diag_look;

typedef void (*diag_function)(void *ctx, const diag_look *look);

/* Which sockets a dump is about: those with a peer, or one that is closing. */
typedef enum diag_detail { DIAG_BARE, DIAG_INFO } diag_detail;

/* A socket for questions; -1 with errno. */
int diag_open(void);

/* A socket that gets a message for each TCP socket that is destroyed; -1 with errno (EPERM on kernels that demand
 * CAP_NET_ADMIN). */
int diag_open_ends(void);

/* Calls back for all connections. Returns 0 or an errno value; EINTR if the list changed meanwhile and may have gaps.
 */
int diag_dump(int fd, diag_detail detail, diag_function call, void *ctx);

/* Asks for some sockets by their addresses and cookies: a dump reads all of the host's sockets, this only these. Those
 * that are gone are not called back. */
int diag_ask(int fd, const diag_look *sockets, size_t count, diag_function call, void *ctx);

/* Reads what has arrived, without waiting. Returns 0, or ENOBUFS if messages were lost. */
int diag_read_ends(int fd, diag_function call, void *ctx);

/* One netlink message. False if it is no description of a TCP socket. */
bool diag_parse(const void *payload, size_t bytes, diag_look *look);

/* "10.0.0.1:80" or "[::1]:80"; IPv4 addresses in IPv6 are shown as IPv4. */
#define DIAG_END_BYTES 56
void diag_ends(const diag_look *look, char local[DIAG_END_BYTES], char remote[DIAG_END_BYTES]);

const char *diag_state_name(uint8_t state);

#endif
