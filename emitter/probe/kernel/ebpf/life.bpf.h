/* Processes come and go: children of watched ones are watched, too. */
#ifndef KERNEL_EBPF_LIFE_H
#define KERNEL_EBPF_LIFE_H

#include "state.bpf.h"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
  __u32 pid = parent->tgid, child_pid = child->tgid;
  __u32 *parent_number = pid != child_pid ? bpf_map_lookup_elem(&watched, &pid) : NULL;
  if (parent_number == NULL) return 0; /* a thread, or of no interest */
  struct kernel_process process = {.pid = child_pid, .parent = *parent_number};
  bpf_probe_read_kernel_str(process.program, sizeof process.program, child->comm);
  __u32 number = __sync_fetch_and_add(&last_process, 1) + 1;
  if (bpf_map_update_elem(&processes, &number, &process, BPF_NOEXIST) != 0) {
    lose(KERNEL_LOST_PROCESSES);
  } else if (bpf_map_update_elem(&watched, &child_pid, &number, BPF_ANY) != 0) {
    bpf_map_delete_elem(&processes, &number);
    lose(KERNEL_LOST_PROCESSES);
  }
  return 0;
}

static __always_inline struct kernel_process *process_of(struct task_struct *task) {
  __u32 pid = task->tgid;
  __u32 *number = bpf_map_lookup_elem(&watched, &pid);
  return number == NULL ? NULL : bpf_map_lookup_elem(&processes, number);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task) {
  struct kernel_process *process = process_of(task);
  if (process != NULL) bpf_probe_read_kernel_str(process->program, sizeof process->program, task->comm);
  return 0;
}

/* The last thread takes the process with it. Its cells stay until the probe has read them; its pid may be reused. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task) {
  __u32 pid = task->tgid;
  if (!(views & (KERNEL_SCHED | KERNEL_OFFCPU))) free_thread(task); /* else its last switch does */
  if (task->signal->live.counter != 0) return 0;
  struct kernel_process *process = process_of(task);
  if (process == NULL) return 0;
  process->ended = 1;
  bpf_map_delete_elem(&watched, &pid);
  return 0;
}

#endif
