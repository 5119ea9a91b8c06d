/* What the programs know: the watched processes, the state of their threads, and the cells. */
#ifndef KERNEL_EBPF_STATE_H
#define KERNEL_EBPF_STATE_H

#include "../cells.h"
#include "kernel.bpf.h"

/* Set before the programs are loaded. */
const volatile __u32 views;
const volatile __u32 thread_mask;
const volatile struct kernel_call calls[KERNEL_CALLS];

/* Set while they run. */
__u32 epoch;        /* of minima and maxima: which bank is filled; from 2 on, since that of an empty cell is 0 */
__u32 singles;      /* views of which single events are wanted */
__u32 last_process; /* number of the newest process */
__u32 generation;   /* changes when a process is watched that was not forked by a watched one */
__u64 lost[KERNEL_LOSSES];

/* A thread of a watched process. A cache line. */
struct thread {
  __u32 id;      /* 0: the slot is free */
  __u32 process; /* 0: it was not watched in this generation, so that nobody needs to look it up again */
  __u16 reason;
  __u16 after;
  __u32 call;
  __u64 blocked_ns; /* when it left its CPU to wait; 0: it did not */
  __u64 ready_ns;   /* when it became ready to run; 0: it runs, or waits */
  __u64 call_ns;    /* when it entered a system call of a measured kind; 0: none */
  __s32 descriptor;
  __u32 operation;
  __u32 last_detail; /* of the switch that was added up last, and its place */
  __u32 last_place;  /* 0: none */
  __u32 generation;
  __u32 unused;
};

/* By the lower bits of the thread's id. The kernel's storage for tasks would serve, too, at 30 ns for each look. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1); /* the loader makes it as large as ids are, within reason */
  __type(key, __u32);
  __type(value, struct thread);
} threads SEC(".maps");

/* Numbers of watched processes by pid. Sizes of maps are those for small machines; the loader may change them. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u32);
  __type(value, __u32);
} watched SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u32);
  __type(value, struct kernel_process);
} processes SEC(".maps");

/* Where the pair of a key is in `pairs`. An array is looked up inline; so who remembers the place pays less than a
 * hash. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, KERNEL_PAIRS);
  __type(key, struct kernel_key);
  __type(value, __u32);
} places SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, KERNEL_PAIRS + 1); /* 0 is none */
  __type(key, __u32);
  __type(value, struct kernel_pair);
} pairs SEC(".maps");

/* Places that are free; the reader puts those of processes that have ended back, cleared. */
struct {
  __uint(type, BPF_MAP_TYPE_STACK);
  __uint(max_entries, KERNEL_PAIRS);
  __type(value, __u32);
} free_places SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 20);
} ring SEC(".maps");

/* The kernel's clock for programs may step back a little when the time is adjusted. */
static __always_inline __u64 elapsed(__u64 from, __u64 to) {
  return to > from ? to - from : 0;
}

static __always_inline void lose(enum kernel_loss what) {
  __sync_fetch_and_add(&lost[what], 1);
}

/* --- processes and threads --- */

static __always_inline struct thread *slot_of(struct task_struct *task) {
  __u32 slot = task->pid & thread_mask;
  return bpf_map_lookup_elem(&threads, &slot);
}

/* NULL: its process is not watched, or the thread has not been seen. */
static __always_inline struct thread *known_thread(struct task_struct *task) {
  struct thread *thread = slot_of(task);
  return thread != NULL && thread->id == task->pid && thread->process != 0 ? thread : NULL;
}

/* The same, which makes the state of a thread at first sight. */
static __always_inline struct thread *thread_of(struct task_struct *task) {
  struct thread *thread = slot_of(task);
  if (thread == NULL) return NULL;
  bool is_own = thread->id == task->pid;
  if (is_own && thread->process != 0) return thread;
  if (is_own && thread->generation == generation) return NULL;
  __u32 pid = task->tgid;
  __u32 *process = bpf_map_lookup_elem(&watched, &pid);
  if (!is_own && thread->id != 0 && thread->process != 0) { /* of another thread, which is watched */
    if (process != NULL) lose(KERNEL_LOST_THREADS);
    return NULL;
  }
  *thread = (struct thread){.id = task->pid, .process = process != NULL ? *process : 0, .generation = generation};
  return process != NULL ? thread : NULL;
}

/* After a thread's last switch, and before its first one. */
static __always_inline void free_thread(struct task_struct *task) {
  struct thread *thread = slot_of(task);
  if (thread != NULL && thread->id == task->pid) thread->id = thread->process = 0;
}

/* --- cells --- */

/* 0: there is no room, which is counted, or the process has ended. */
static __always_inline __u32 place_of(const struct kernel_key *key) {
  __u32 *place = bpf_map_lookup_elem(&places, key), made, process = key->process;
  if (place != NULL) return *place;
  if (bpf_map_lookup_elem(&processes, &process) == NULL) return 0;
  if (bpf_map_pop_elem(&free_places, &made) != 0) {
    lose(KERNEL_LOST_VALUES);
    return 0;
  }
  if (bpf_map_update_elem(&places, key, &made, BPF_NOEXIST) == 0) return made;
  bpf_map_push_elem(&free_places, &made, 0); /* another CPU was faster, or holds the bucket */
  place = bpf_map_lookup_elem(&places, key);
  if (place == NULL) lose(KERNEL_LOST_VALUES);
  return place != NULL ? *place : 0;
}

static __always_inline struct kernel_pair *pair_at(__u32 place) {
  return place != 0 ? bpf_map_lookup_elem(&pairs, &place) : NULL;
}

static __always_inline struct kernel_pair *pair_of(const struct kernel_key *key) {
  return pair_at(place_of(key));
}

static __always_inline __u32 bucket_of(__u64 value) {
  __u32 bucket = 0;
  if (value >> 32) value >>= 32, bucket += 32;
  if (value >> 16) value >>= 16, bucket += 16;
  if (value >> 8) value >>= 8, bucket += 8;
  if (value >> 4) value >>= 4, bucket += 4;
  if (value >> 2) value >>= 2, bucket += 2;
  if (value >> 1) bucket += 1;
  return bucket < KERNEL_BUCKETS ? bucket : KERNEL_BUCKETS - 1;
}

static __always_inline void fold(struct kernel_cell *cell, __u64 value) {
  __u32 now = epoch;
  struct kernel_extreme *extreme = &cell->extremes[now & 1];
  cell->count++;
  cell->sum += value;
  if (extreme->epoch != now) {
    extreme->epoch = now;
    extreme->min = extreme->max = value;
  } else {
    if (value < extreme->min) extreme->min = value;
    if (value > extreme->max) extreme->max = value;
  }
  cell->histogram[bucket_of(value)]++;
}

/* Adds the square of the value, below 2^48, to 128 bits. */
static __always_inline void fold_square(struct kernel_cell *cell, __u64 value) {
  __u64 high = (value >> 32) & 0xffff, low = value & 0xffffffff;
  __u64 middle = 2 * high * low, add = low * low + (middle << 32);
  cell->square_high += high * high + (middle >> 32) + (add < low * low);
  cell->square_low += add;
  cell->square_high += cell->square_low < add;
}

/* --- single events --- */

/* A record to fill in and submit; NULL if nobody wants it, or the ring is full. */
static __always_inline struct kernel_single *single_of(enum kernel_view view, __u32 process, __u16 kind, __u16 detail,
                                                       __u32 thread, __u64 at_ns) {
  if ((singles & view) == 0) return NULL;
  struct kernel_single *single = bpf_ringbuf_reserve(&ring, sizeof *single, 0);
  if (single == NULL) {
    lose(KERNEL_LOST_SINGLES);
    return NULL;
  }
  single->kind = kind;
  single->detail = detail;
  single->process = process;
  single->thread = thread;
  single->cpu = bpf_get_smp_processor_id();
  single->at_ns = at_ns;
  single->device = 0;
  return single;
}

#endif
