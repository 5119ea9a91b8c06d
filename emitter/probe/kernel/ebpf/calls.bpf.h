/* System calls of watched threads, by what they do with what. One that fails is an error, and no operation: a read that
 * would block is not a fast one of no bytes. */
#ifndef KERNEL_EBPF_CALLS_H
#define KERNEL_EBPF_CALLS_H

#include "target.bpf.h"

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs *registers, long number) {
  if (number < 0 || number >= KERNEL_CALLS) return 0;
  const volatile struct kernel_call *call = described(number);
  __u32 verb = call->verb, by = call->by_descriptor;
  if (verb == KERNEL_VERB_NONE) return 0;
  struct task_struct *task = bpf_get_current_task_btf();
  struct thread *thread = thread_of(task);
  if (thread == NULL) return 0;
  __u64 argument[2] = {0, 0};
  __u32 same, target = KERNEL_TARGET_OTHER;
  bool known = call_of(task, &same, argument);
  thread->call_ns = 0;
  if (!known) return 0;
  __u64 descriptor = by == 2 ? argument[1] : argument[0];
  if (by != 0) target = target_of(task, descriptor);
  thread->call = number;
  thread->descriptor = by != 0 ? (__s32)descriptor : -1;
  thread->operation = KERNEL_OPERATION(target, verb);
  thread->call_ns = bpf_ktime_get_ns();
  return 0;
}

static __always_inline struct kernel_pair *call_pair(struct thread *thread, __u16 kind) {
  struct kernel_key key = {.process = thread->process, .kind = kind, .detail = thread->operation};
  return pair_of(&key);
}

static __always_inline void fold_with_square(struct kernel_cell *cell, __u64 value) {
  fold(cell, value);
  fold_square(cell, value);
}

static __always_inline void count_call(struct thread *thread, __u64 duration, long result) {
  __u32 verb = thread->operation % KERNEL_VERBS;
  struct kernel_pair *pair = call_pair(thread, KERNEL_KIND_CALL);
  if (pair == NULL) return;
  if (result < 0) {
    pair->first.errors++;
    return;
  }
  fold_with_square(&pair->first, duration);
  if (verb != KERNEL_VERB_READ && verb != KERNEL_VERB_WRITE) return;
  pair->first.nbytes += result;
  fold_with_square(&pair->second, result);
  pair = call_pair(thread, KERNEL_KIND_CALL_RATE);
  if (pair != NULL) fold_with_square(&pair->first, (__u64)result * 1000000000 / duration);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_leave, struct pt_regs *registers, long result) {
  struct task_struct *task = bpf_get_current_task_btf();
  struct thread *thread = known_thread(task);
  if (thread == NULL || thread->call_ns == 0) return 0;
  __u64 now = bpf_ktime_get_ns(), duration = elapsed(thread->call_ns, now);
  thread->call_ns = 0;
  if (duration == 0) duration = 1;
  count_call(thread, duration, result);
  struct kernel_single *single =
      single_of(KERNEL_SYSCALLS, thread->process, KERNEL_KIND_CALL, thread->operation, task->pid, now);
  if (single != NULL) {
    single->device = thread->call;
    single->first = duration;
    single->second = result;
    single->third = thread->descriptor;
    bpf_ringbuf_submit(single, 0);
  }
  return 0;
}

#endif
