#include "emit.h"

_Atomic uint64_t emit_count;
bool emit_is_on;

#ifdef LIFELINE_DISABLE

void emit_begin(void) {}

void emit_socket_sample(int fd, uint64_t block_id) {
  (void)fd;
  (void)block_id;
}

#else

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

void emit_begin(void) {
  ll_statistics statistics = {.size = sizeof statistics};
  ll_init(NULL);
  ll_stats(&statistics);
  emit_is_on = statistics.on;
}

void emit_socket_sample(int fd, uint64_t block_id) {
  int unsent = 0, unread = 0;
  struct tcp_info info = {0};
  socklen_t length = sizeof info;
  if (!emit_is_on) return;
  ioctl(fd, SIOCOUTQ, &unsent);
  ioctl(fd, SIOCINQ, &unread);
  getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length);
  EMIT(net_socket, block_id, (uint32_t)unsent, (uint32_t)unread, info.tcpi_rtt, info.tcpi_total_retrans);
}

#endif
