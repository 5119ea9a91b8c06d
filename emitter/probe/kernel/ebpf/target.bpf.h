/* What a descriptor of a thread is, and what the thread waits for. */
#ifndef KERNEL_EBPF_TARGET_H
#define KERNEL_EBPF_TARGET_H

#include "state.bpf.h"

enum { FILE_TYPE = 0170000, FIFO = 0010000, CHARACTER = 0020000, BLOCK = 0060000, REGULAR = 0100000, SOCKET = 0140000 };
enum { INET = 2, INET6 = 10 };

static __always_inline __u32 target_of(struct task_struct *task, __u64 descriptor) {
  struct files_struct *of_task = task->files;
  if (of_task == NULL) return KERNEL_TARGET_OTHER;
  struct fdtable *table = of_task->fdt;
  if (table == NULL || descriptor >= table->max_fds) return KERNEL_TARGET_OTHER;
  struct file **files = table->fd, *file = NULL;
  bpf_probe_read_kernel(&file, sizeof file, files + descriptor);
  unsigned short mode = BPF_CORE_READ(file, f_inode, i_mode) & FILE_TYPE;
  if (mode == REGULAR || mode == BLOCK) return KERNEL_TARGET_DISK;
  if (mode == FIFO) return KERNEL_TARGET_PIPE;
  if (mode == CHARACTER) return KERNEL_TARGET_DEVICE;
  if (mode != SOCKET) return KERNEL_TARGET_OTHER;
  struct socket *socket = BPF_CORE_READ(file, private_data);
  unsigned short family = BPF_CORE_READ(socket, sk, __sk_common.skc_family);
  return family == INET || family == INET6 ? KERNEL_TARGET_NET : KERNEL_TARGET_LOCAL;
}

static __always_inline __u32 reason_of_target(__u32 target) {
  switch (target) {
  case KERNEL_TARGET_DISK: return KERNEL_REASON_DISK;
  case KERNEL_TARGET_NET: return KERNEL_REASON_NETWORK;
  case KERNEL_TARGET_LOCAL: return KERNEL_REASON_LOCAL;
  case KERNEL_TARGET_PIPE: return KERNEL_REASON_PIPE;
  case KERNEL_TARGET_DEVICE: return KERNEL_REASON_DEVICE;
  default: return KERNEL_REASON_OTHER;
  }
}

/* The compiler must not know that the number is in range, or it would remove what tells the verifier so. */
static __always_inline const volatile struct kernel_call *described(__u64 number) {
  barrier_var(number);
  return &calls[number & (KERNEL_CALLS - 1)];
}

/* The system call that the thread is in, and its first two arguments. False: none, or of a 32-bit program. */
static __always_inline bool call_of(struct task_struct *task, __u32 *number, __u64 argument[2]) {
#if defined(__TARGET_ARCH_x86)
  struct pt_regs___x86 *registers = (void *)bpf_task_pt_regs(task);
  *number = registers->orig_ax;
  argument[0] = registers->di;
  argument[1] = registers->si;
  return registers->cs != 0x23 && *number < KERNEL_CALLS;
#elif defined(__TARGET_ARCH_arm64)
  struct pt_regs___arm64 *registers = (void *)bpf_task_pt_regs(task);
  *number = registers->syscallno;
  argument[0] = registers->regs[0];
  argument[1] = registers->regs[1];
  return *number < KERNEL_CALLS;
#else
#error "registers of this architecture are not known here"
#endif
}

/* A wait for a disk is known to the kernel; any other one by the system call in which it happens, and by its
 * descriptor. (On x86 a page fault of the program looks like a system call of a small number, but such a fault waits
 * for a disk, or uninterruptibly.) */
static __always_inline __u32 reason_of(struct task_struct *task, unsigned int state) {
  __u64 argument[2];
  __u32 number;
  if (BPF_CORE_READ_BITFIELD(task, in_iowait)) return KERNEL_REASON_DISK;
  if (state & (TASK_STOPPED_ | TASK_TRACED_)) return KERNEL_REASON_STOPPED;
  if (state & TASK_UNINTERRUPTIBLE_) return KERNEL_REASON_KERNEL;
  if (!call_of(task, &number, argument)) return KERNEL_REASON_OTHER;
  const volatile struct kernel_call *call = described(number);
  __u32 by = call->by_descriptor;
  if (by == 0) return call->reason;
  return reason_of_target(target_of(task, by == 1 ? argument[0] : argument[1]));
}

#endif
