/* The few members of the kernel's structures that the programs read. libbpf finds their offsets in the running kernel,
 * so that neither its headers nor its BTF are needed to build. */
#ifndef KERNEL_EBPF_KERNEL_H
#define KERNEL_EBPF_KERNEL_H

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct inode {
  unsigned short i_mode;
};

struct file {
  struct inode *f_inode;
  void *private_data;
};

struct fdtable {
  unsigned int max_fds;
  struct file **fd;
};

struct files_struct {
  struct fdtable *fdt;
};

typedef struct {
  int counter;
} atomic_t;

struct signal_struct {
  atomic_t live;
};

struct task_struct {
  unsigned int __state;
  unsigned in_iowait : 1;
  unsigned int pid;
  unsigned int tgid;
  char comm[16];
  struct files_struct *files;
  struct signal_struct *signal;
};

struct in6_addr {
  unsigned char bytes[16];
};

struct sock_common {
  unsigned int skc_daddr;
  unsigned int skc_rcv_saddr;
  unsigned short skc_dport;
  unsigned short skc_num;
  unsigned short skc_family;
  struct in6_addr skc_v6_daddr;
  struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
  struct sock_common __sk_common;
  unsigned short sk_type;
  unsigned char sk_shutdown;
};

struct socket {
  struct sock *sk;
};

struct gendisk {
  int major;
  int first_minor;
};

struct request_queue {
  struct gendisk *disk;
};

struct request {
  struct request_queue *q;
  unsigned int cmd_flags;
  unsigned int __data_len;
};

#pragma clang attribute pop

/* The registers of a thread in user space, under a name of ours: <asm/ptrace.h> has the same structure. */
struct pt_regs___x86 {
  unsigned long di, si, orig_ax, cs;
} __attribute__((preserve_access_index));

struct pt_regs___arm64 {
  unsigned long regs[31];
  int syscallno;
} __attribute__((preserve_access_index));

enum { TASK_INTERRUPTIBLE_ = 1, TASK_UNINTERRUPTIBLE_ = 2, TASK_STOPPED_ = 4, TASK_TRACED_ = 8, TASK_DEAD_ = 0x80 };

#endif
