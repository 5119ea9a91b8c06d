/* What eBPF programs and the probe share: views, kinds of measurements, cells, single records. Plain C types only,
 * since both compilers read it.
 *
 * A *cell* is the sum of all values of one kind, of one process. Cells only grow: the reader takes differences, so that
 * nothing is lost between a look and a reset. Minimum and maximum cannot be differences: they have two banks, and
 * each read has the other one begin anew.
 */
#ifndef KERNEL_CELLS_H
#define KERNEL_CELLS_H

#include <linux/types.h>

/* What can be asked for, as bits of a mask. */
enum kernel_view {
  KERNEL_SCHED = 1,
  KERNEL_OFFCPU = 2,
  KERNEL_BLOCK = 4,
  KERNEL_NET = 8,
  KERNEL_SYSCALLS = 16,
};

enum kernel_kind {
  KERNEL_KIND_RUNQUEUE = 1, /* detail: kernel_after */
  KERNEL_KIND_WAIT,         /* detail: kernel_reason */
  KERNEL_KIND_BLOCK,        /* detail: kernel_request_operation; device */
  KERNEL_KIND_RECEIVE,
  KERNEL_KIND_RETRANSMIT,
  KERNEL_KIND_CALL,       /* detail: kernel_operation; the value is the duration */
  KERNEL_KIND_CALL_BYTES, /* the same operations; the value is the number of bytes */
  KERNEL_KIND_CALL_RATE,  /* the same; the value is bytes per second */
  KERNEL_KIND_SWITCH,     /* in a pair: the two first ones; detail: KERNEL_SWITCH */
};

#define KERNEL_SWITCH(after, reason) ((after) << 8 | (reason))

/* Why a thread was ready to run without running. */
enum kernel_after { KERNEL_AFTER_WAKEUP, KERNEL_AFTER_PREEMPTION };

/* What a blocked thread waited for. */
enum kernel_reason {
  KERNEL_REASON_OTHER,
  KERNEL_REASON_DISK,
  KERNEL_REASON_NETWORK,
  KERNEL_REASON_LOCAL,
  KERNEL_REASON_PIPE,
  KERNEL_REASON_DEVICE,
  KERNEL_REASON_LOCK,
  KERNEL_REASON_SLEEP,
  KERNEL_REASON_POLL,
  KERNEL_REASON_CHILD,
  KERNEL_REASON_SIGNAL,
  KERNEL_REASON_URING,
  KERNEL_REASON_KERNEL,
  KERNEL_REASON_STOPPED,
  KERNEL_REASON_UNKNOWN,
  KERNEL_REASONS
};

enum kernel_request_operation {
  KERNEL_REQUEST_READ,
  KERNEL_REQUEST_WRITE,
  KERNEL_REQUEST_FLUSH,
  KERNEL_REQUEST_DISCARD
};

/* What a descriptor is. */
enum kernel_target {
  KERNEL_TARGET_OTHER,
  KERNEL_TARGET_DISK,
  KERNEL_TARGET_NET,
  KERNEL_TARGET_LOCAL,
  KERNEL_TARGET_PIPE,
  KERNEL_TARGET_DEVICE,
  KERNEL_TARGETS
};

/* What a system call does with it. */
enum kernel_verb {
  KERNEL_VERB_NONE,
  KERNEL_VERB_READ,
  KERNEL_VERB_WRITE,
  KERNEL_VERB_SYNC,
  KERNEL_VERB_CONNECT,
  KERNEL_VERB_ACCEPT,
  KERNEL_VERB_POLL,
  KERNEL_VERBS
};

/* A kind of operation: a target and a verb in one detail. */
#define KERNEL_OPERATION(target, verb) ((target)*KERNEL_VERBS + (verb))

/* A system call: what it does, and why a thread waits in it. */
struct kernel_call {
  __u8 verb;
  __u8 reason;        /* if by_descriptor is 0 */
  __u8 by_descriptor; /* 1: its first argument is a descriptor, which tells what it waits for; 2: its second is */
  __u8 unused;
};
enum { KERNEL_CALLS = 512 };

struct kernel_key {
  __u32 process; /* number of the process, which is never reused, unlike its pid */
  __u16 kind;
  __u16 detail;
  __u32 device; /* major << 20 | minor; 0 of all but requests */
};

enum { KERNEL_BUCKETS = 40 }; /* bucket b counts values from 2^b to below 2^(b+1); the last one all larger ones, too */

struct kernel_extreme {
  __u32 epoch;
  __u32 unused;
  __u64 min, max;
};

struct kernel_cell {
  __u64 count;
  __u64 sum;
  __u64 square_low, square_high; /* sum of the squares, 128 bits; only of system calls */
  __u64 nbytes;
  __u64 errors;
  struct kernel_extreme extremes[2];
  __u32 histogram[KERNEL_BUCKETS];
};

/* Two cells that are found by one look-up: of KERNEL_KIND_SWITCH run queue and wait, of KERNEL_KIND_CALL duration and
 * bytes; of all others only the first is used. */
struct kernel_pair {
  struct kernel_cell first, second;
};

struct kernel_process {
  __u32 pid;
  __u32 parent; /* number of the watched process that forked it; 0: none */
  __u32 ended;
  __u32 unused;
  char program[16];
};

enum { KERNEL_PAIRS = 4096 }; /* of all watched processes */

/* Records that found no room, since the programs were loaded. */
enum kernel_loss {
  KERNEL_LOST_SINGLES,   /* the ring of single records is full */
  KERNEL_LOST_VALUES,    /* too many kinds of processes; a time off the CPU whose end was not seen */
  KERNEL_LOST_THREADS,   /* no memory for a thread's state */
  KERNEL_LOST_PROCESSES, /* too many processes: a child is not watched */
  KERNEL_LOST_REQUESTS,  /* too many requests, sockets under way */
  KERNEL_LOSSES
};

/* A single event. The meaning of the numbers depends on the kind:
 *   KERNEL_KIND_WAIT        detail reason, first waited_ns, second ready_ns, third kernel_after
 *   KERNEL_KIND_BLOCK       detail operation, device, first latency_ns, second nbytes, third error
 *   KERNEL_KIND_CALL        detail operation, device system call, first duration_ns, second result, third descriptor
 *   KERNEL_KIND_RETRANSMIT  local and peer */
struct kernel_end {
  __u8 address[16]; /* IPv6, or IPv4 mapped into it */
  __u16 port;
  __u16 unused[3];
};

struct kernel_single {
  __u16 kind;
  __u16 detail;
  __u32 process;
  __u32 thread;
  __u32 cpu;
  __u64 at_ns; /* CLOCK_MONOTONIC */
  __u64 first, second;
  __s64 third;
  __u32 device;
  __u32 unused;
  struct kernel_end local, peer;
};

#endif
