/* Run queue latency and waits. A thread that leaves its CPU is either ready (preempted), or blocked until a wake-up
 * makes it ready. Both times are added up when it runs again, so that they partition its time off the CPU.
 *
 * (The scheduler records when a thread became ready, too, but its clock may stand still until a thread that was woken
 * on an idle CPU runs: such latencies, which include the CPU's own wake-up, would be 0.)
 */
#ifndef KERNEL_EBPF_SCHED_H
#define KERNEL_EBPF_SCHED_H

#include "target.bpf.h"

static __always_inline void leave(struct thread *thread, struct task_struct *task, bool preempt, __u64 now) {
  if (thread->ready_ns != 0 || thread->blocked_ns != 0) lose(KERNEL_LOST_VALUES); /* it ran, and nobody saw it */
  unsigned int state = preempt ? 0 : task->__state; /* one that was about to block has not yet */
  if (state == 0) {
    thread->after = KERNEL_AFTER_PREEMPTION;
    thread->reason = 0;
    thread->blocked_ns = 0;
    thread->ready_ns = now;
  } else {
    thread->after = KERNEL_AFTER_WAKEUP;
    thread->reason = views & KERNEL_OFFCPU ? reason_of(task, state) : 0;
    thread->ready_ns = 0;
    thread->blocked_ns = now;
  }
}

/* Most threads wait for the same again and again. */
static __always_inline struct kernel_pair *pair_of_switch(struct thread *thread) {
  struct kernel_key key = {.process = thread->process, .kind = KERNEL_KIND_SWITCH};
  key.detail = KERNEL_SWITCH(thread->after, thread->reason);
  if (thread->last_place == 0 || thread->last_detail != key.detail) {
    thread->last_place = place_of(&key);
    thread->last_detail = key.detail;
  }
  return pair_at(thread->last_place);
}

static __always_inline void single_switch(struct thread *thread, struct task_struct *task, __u64 blocked, __u64 ready,
                                          __u64 now) {
  struct kernel_single *single =
      single_of(KERNEL_SCHED | KERNEL_OFFCPU, thread->process, KERNEL_KIND_WAIT, thread->reason, task->pid, now);
  if (single == NULL) return;
  single->first = blocked;
  single->second = ready;
  single->third = thread->after;
  bpf_ringbuf_submit(single, 0);
}

static __always_inline void run(struct thread *thread, struct task_struct *task, __u64 now) {
  __u64 since = thread->ready_ns, left = thread->blocked_ns;
  if (since == 0) return; /* it became ready before it was watched */
  __u64 ready = elapsed(since, now), blocked = left != 0 ? elapsed(left, since) : 0;
  thread->ready_ns = thread->blocked_ns = 0;
  struct kernel_pair *pair = pair_of_switch(thread);
  if (pair != NULL) {
    fold(&pair->first, ready);
    if (left != 0) fold(&pair->second, blocked);
  }
  if (singles & (KERNEL_SCHED | KERNEL_OFFCPU)) single_switch(thread, task, blocked, ready, now);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *previous, struct task_struct *next) {
  __u64 now = 0;
  if (previous->__state & TASK_DEAD_) {
    free_thread(previous);
  } else if (previous->pid != 0) {
    struct thread *leaving = thread_of(previous);
    if (leaving != NULL) leave(leaving, previous, preempt, now = bpf_ktime_get_ns());
  }
  if (next->pid != 0) {
    struct thread *running = known_thread(next);
    if (running != NULL) run(running, next, now != 0 ? now : bpf_ktime_get_ns());
  }
  return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task) {
  struct thread *thread = known_thread(task);
  if (thread != NULL && thread->blocked_ns != 0 && thread->ready_ns == 0) thread->ready_ns = bpf_ktime_get_ns();
  return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task) {
  free_thread(task);
  struct thread *thread = thread_of(task);
  if (thread == NULL) return 0;
  thread->after = KERNEL_AFTER_WAKEUP;
  thread->reason = 0;
  thread->ready_ns = bpf_ktime_get_ns();
  return 0;
}

#endif
