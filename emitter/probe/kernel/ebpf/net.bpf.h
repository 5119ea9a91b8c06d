/* How long received data waits in a socket for its program, and segments that TCP sends again. A socket belongs to the
 * watched process that last sent or received on it; before that it is nobody's. */
#ifndef KERNEL_EBPF_NET_H
#define KERNEL_EBPF_NET_H

#include "target.bpf.h"

enum { OUT_OF_BAND = 1, PEEK = 2, ERROR_QUEUE = 0x2000 }; /* flags of calls that leave the data */
enum { STREAM = 1, RECEIVE_SHUTDOWN = 1, NOTHING_YET = 11 };

struct socket_state {
  __u64 cookie; /* of the socket: the kernel uses the address of a closed one again */
  __u32 process;
  __u32 unused;
  __u64 ready_ns; /* when the oldest unread data arrived; 0: none */
};

/* By address. The least recently used ones make room: a closed socket needs no program that forgets it. */
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 16384);
  __type(key, __u64);
  __type(value, struct socket_state);
} sockets SEC(".maps");

static __always_inline bool is_network(const struct sock *sock) {
  unsigned short family = BPF_CORE_READ(sock, __sk_common.skc_family);
  return family == INET || family == INET6;
}

static __always_inline struct socket_state *known_socket(const struct sock *sock) {
  __u64 id = (__u64)sock;
  struct socket_state *state = bpf_map_lookup_elem(&sockets, &id);
  return state != NULL && state->cookie == bpf_get_socket_cookie((void *)sock) ? state : NULL;
}

static __always_inline struct socket_state *own_socket(const struct sock *sock) {
  __u64 id = (__u64)sock;
  __u32 pid = bpf_get_current_pid_tgid() >> 32;
  __u32 *process = bpf_map_lookup_elem(&watched, &pid);
  if (process == NULL || !is_network(sock)) return NULL;
  struct socket_state *state = known_socket(sock);
  if (state != NULL) {
    state->process = *process;
    return state;
  }
  struct socket_state made = {.cookie = bpf_get_socket_cookie((void *)sock), .process = *process};
  if (bpf_map_update_elem(&sockets, &id, &made, BPF_ANY) != 0) lose(KERNEL_LOST_REQUESTS);
  return NULL;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, const struct sock *sock) {
  own_socket(sock);
  return 0;
}

/* Whether there is nothing unread any more, as far as a call can tell. Errors do not, nor does a read of 0 bytes. The
 * end of a stream makes a socket ready, too. */
static __always_inline bool has_read(const struct sock *sock, int result, int flags) {
  if (flags & (OUT_OF_BAND | PEEK | ERROR_QUEUE)) return false;
  if (result != 0) return result > 0 || result == -NOTHING_YET;
  return BPF_CORE_READ(sock, sk_type) != STREAM || (BPF_CORE_READ(sock, sk_shutdown) & RECEIVE_SHUTDOWN);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, const struct sock *sock, int result, int flags) {
  struct socket_state *state = own_socket(sock);
  if (state == NULL || !has_read(sock, result, flags)) return 0;
  __u64 ready = state->ready_ns, now = bpf_ktime_get_ns();
  state->ready_ns = 0;
  if (ready == 0 || result <= 0) return 0;
  struct kernel_key key = {.process = state->process, .kind = KERNEL_KIND_RECEIVE};
  struct kernel_pair *pair = pair_of(&key);
  if (pair == NULL) return 0;
  fold(&pair->first, elapsed(ready, now));
  pair->first.nbytes += result;
  return 0;
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(on_data_ready, const struct sock *sock) {
  struct socket_state *state = known_socket(sock);
  if (state != NULL && state->ready_ns == 0) state->ready_ns = bpf_ktime_get_ns();
  return 0;
}

static __always_inline void copy_v4(struct kernel_end *end, __u32 address) {
  __builtin_memset(end->address, 0, 10);
  end->address[10] = end->address[11] = 0xff;
  __builtin_memcpy(end->address + 12, &address, 4);
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(on_retransmit, const struct sock *sock) {
  struct socket_state *state = known_socket(sock);
  if (state == NULL) return 0;
  struct kernel_key key = {.process = state->process, .kind = KERNEL_KIND_RETRANSMIT};
  struct kernel_pair *pair = pair_of(&key);
  if (pair != NULL) pair->first.count++;
  struct kernel_single *single =
      single_of(KERNEL_NET, state->process, KERNEL_KIND_RETRANSMIT, 0, 0, bpf_ktime_get_ns());
  if (single == NULL) return 0;
  if (BPF_CORE_READ(sock, __sk_common.skc_family) == INET6) {
    BPF_CORE_READ_INTO(&single->local.address, sock, __sk_common.skc_v6_rcv_saddr);
    BPF_CORE_READ_INTO(&single->peer.address, sock, __sk_common.skc_v6_daddr);
  } else {
    copy_v4(&single->local, BPF_CORE_READ(sock, __sk_common.skc_rcv_saddr));
    copy_v4(&single->peer, BPF_CORE_READ(sock, __sk_common.skc_daddr));
  }
  single->local.port = BPF_CORE_READ(sock, __sk_common.skc_num);
  single->peer.port = __builtin_bswap16(BPF_CORE_READ(sock, __sk_common.skc_dport));
  bpf_ringbuf_submit(single, 0);
  return 0;
}

#endif
