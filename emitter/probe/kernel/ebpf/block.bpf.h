/* Requests to disks, attributed to the process on whose behalf they were made, if it made them itself: what the kernel
 * writes back later belongs to nobody. */
#ifndef KERNEL_EBPF_BLOCK_H
#define KERNEL_EBPF_BLOCK_H

#include "state.bpf.h"

struct issue {
  __u32 process;
  __u32 thread;
  __u64 since_ns; /* from the issue on; before it, and without one, from the start */
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 8192);
  __type(key, __u64);
  __type(value, struct issue);
} requests SEC(".maps");

const volatile __u32 sees_starts; /* set before the programs are loaded: on_request is among them */

static __always_inline void begin_request(struct request *request) {
  __u64 id = (__u64)request, who = bpf_get_current_pid_tgid();
  __u32 pid = who >> 32;
  if (bpf_map_delete_elem(&requests, &id) == 0) lose(KERNEL_LOST_REQUESTS); /* its last end was not seen */
  __u32 *process = bpf_map_lookup_elem(&watched, &pid);
  if (process == NULL) return;
  struct issue issue = {.process = *process, .thread = (__u32)who, .since_ns = bpf_ktime_get_ns()};
  if (bpf_map_update_elem(&requests, &id, &issue, BPF_ANY) != 0) lose(KERNEL_LOST_REQUESTS);
}

/* In the thread that made the request; from Linux 6.5 on. */
SEC("tp_btf/block_io_start")
int BPF_PROG(on_request, struct request *request) {
  begin_request(request);
  return 0;
}

static __always_inline __u16 operation_of(struct request *request) {
  switch (request->cmd_flags & 0xff) {
  case 0: return KERNEL_REQUEST_READ;
  case 2: return KERNEL_REQUEST_FLUSH;
  case 3: return KERNEL_REQUEST_DISCARD;
  default: return KERNEL_REQUEST_WRITE;
  }
}

/* In the same thread, unless an I/O scheduler or a full queue held the request: it is nobody's if its start was not
 * that of a watched process, but flushes have no start. */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_issue, struct request *request) {
  __u64 id = (__u64)request;
  struct issue *issue = bpf_map_lookup_elem(&requests, &id);
  if (issue != NULL)
    issue->since_ns = bpf_ktime_get_ns();
  else if (!sees_starts || operation_of(request) == KERNEL_REQUEST_FLUSH)
    begin_request(request);
  return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_complete, struct request *request, unsigned char error, unsigned int nbytes) {
  __u64 id = (__u64)request, now = bpf_ktime_get_ns();
  struct issue *issue = bpf_map_lookup_elem(&requests, &id);
  if (issue == NULL) return 0;
  struct kernel_key key = {.process = issue->process, .kind = KERNEL_KIND_BLOCK, .detail = operation_of(request)};
  key.device = request->q->disk->major << 20 | request->q->disk->first_minor;
  struct kernel_pair *pair = pair_of(&key);
  if (pair != NULL) pair->first.nbytes += nbytes;
  if (nbytes < request->__data_len) return 0; /* the rest is still under way */
  __u64 latency = elapsed(issue->since_ns, now);
  if (pair != NULL) {
    fold(&pair->first, latency);
    pair->first.errors += error != 0;
  }
  struct kernel_single *single =
      single_of(KERNEL_BLOCK, issue->process, KERNEL_KIND_BLOCK, key.detail, issue->thread, now);
  if (single != NULL) {
    single->device = key.device;
    single->first = latency;
    single->second = nbytes;
    single->third = error;
    bpf_ringbuf_submit(single, 0);
  }
  bpf_map_delete_elem(&requests, &id);
  return 0;
}

#endif
