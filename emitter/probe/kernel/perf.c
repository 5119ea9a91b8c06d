/* The source for kernels without eBPF or BTF, and for those who may only use perf: a record of each switch, wake-up,
 * fork and exit of the whole machine, added up here. It costs more than eBPF, and tells only whether a wait was
 * interruptible. */
#include "base/clock.h"
#include "family.h"
#include "keymap.h"
#include "perfring.h"
#include "source.h"
#include "tracepoint.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES_MAX = 4096, THREADS_MAX = 1 << 20, SUMS_MAX = 1 << 16 };

/* States of a thread that leaves its CPU, as the tracepoint shows them. */
enum {
  STATE_UNINTERRUPTIBLE = 2,
  STATE_STOPPED = 4,
  STATE_TRACED = 8,
  STATE_DEAD = 0x10 | 0x20,
  STATE_PREEMPTED = 0x100
};

enum { SWITCH, WAKEUP, WAKEUP_NEW, TRACEPOINTS };

typedef struct thread {
  uint32_t process; /* its number */
  uint16_t reason, after;
  uint64_t blocked_ns, ready_ns;
  uint64_t since_ns; /* an earlier record of its end is of an earlier thread */
} thread;

typedef struct member {
  struct kernel_process process;
  uint64_t start; /* process_start; 0: it had ended when that was looked up */
  uint32_t threads;
} member;

typedef struct perf {
  perfring ring;
  uint64_t ids[TRACEPOINTS];
  tracepoint_field previous, state, next, woken, woken_new;
  keymap numbers; /* of processes, by pid */
  keymap members; /* by number */
  keymap threads; /* by id */
  keymap sums;
  unsigned singles;
  uint32_t last_number;
  uint64_t lost[KERNEL_LOSSES];
  const kernel_taker *taker; /* during a drain or read */
} perf;

static struct kernel_key key_of(uint32_t id) {
  return (struct kernel_key){.process = id};
}

/* --- processes and threads --- */

static void add_thread(perf *self, uint32_t id, uint32_t number, uint64_t since_ns) {
  struct kernel_key own = key_of(id), owner = key_of(number);
  member *process = keymap_find(&self->members, &owner);
  if (process == NULL) return;
  thread *made = keymap_make(&self->threads, &own);
  if (made == NULL) {
    self->lost[KERNEL_LOST_THREADS]++;
    return;
  }
  if (made->process == number) return;
  *made = (thread){.process = number, .since_ns = since_ns}; /* perhaps of an earlier thread, whose end was not seen */
  process->threads++;
}

static int add_process(perf *self, uint32_t pid, uint32_t parent, uint32_t *number) {
  struct kernel_key by_pid = key_of(pid);
  uint32_t *known = keymap_find(&self->numbers, &by_pid);
  if (known != NULL) {
    *number = *known;
    return EEXIST;
  }
  struct kernel_key by_number = key_of(++self->last_number);
  member *made = keymap_make(&self->members, &by_number);
  known = made == NULL ? NULL : keymap_make(&self->numbers, &by_pid);
  if (known == NULL) {
    keymap_remove(&self->members, &by_number);
    self->lost[KERNEL_LOST_PROCESSES]++;
    return ENOSPC;
  }
  *number = *known = self->last_number;
  made->process = (struct kernel_process){.pid = pid, .parent = parent};
  made->start = process_start(pid);
  process_read_program(pid, made->process.program);
  return 0;
}

static void end_process(perf *self, uint32_t pid, member *process) {
  struct kernel_key by_pid = key_of(pid);
  process->process.ended = 1; /* the next read hands over the rest, and removes it */
  keymap_remove(&self->numbers, &by_pid);
}

/* Unless it is still there. */
static void forget(void *opened, uint32_t pid) {
  perf *self = opened;
  struct kernel_key by_pid = key_of(pid);
  const uint32_t *number = keymap_find(&self->numbers, &by_pid);
  if (number == NULL) return;
  struct kernel_key by_number = key_of(*number);
  member *process = keymap_find(&self->members, &by_number);
  if (process == NULL || (process_lives(pid) && process->start == process_start(pid))) return;
  end_process(self, pid, process);
}

static int watch(void *opened, uint32_t pid, uint32_t *number) {
  perf *self = opened;
  char path[64];
  uint64_t now_ns = ll_now_ns(CLOCK_MONOTONIC);
  snprintf(path, sizeof path, "/proc/%u/task", pid);
  DIR *all = opendir(path);
  if (all == NULL) return ESRCH;
  forget(self, pid); /* if it was another process with this number */
  int error =
      process_lives(pid) ? add_process(self, pid, 0, number) : ESRCH; /* the end of a zombie is never reported */
  for (struct dirent *entry; error == 0 && (entry = readdir(all)) != NULL;)
    if (isdigit((unsigned char)entry->d_name[0]))
      add_thread(self, (uint32_t)strtoul(entry->d_name, NULL, 10), *number, now_ns);
  closedir(all);
  return error;
}

/* Process, parent; thread, parent's thread. */
static void on_fork(perf *self, const uint32_t ids[4], uint64_t at_ns) {
  struct kernel_key parent = key_of(ids[1]);
  const uint32_t *known = keymap_find(&self->numbers, &parent);
  uint32_t number;
  if (known == NULL) return;
  number = *known;
  if (ids[0] != ids[1] && add_process(self, ids[0], number, &number) == ENOSPC) return;
  add_thread(self, ids[2], number, at_ns);
}

static void on_exit_of(perf *self, const uint32_t ids[4], uint64_t at_ns) {
  struct kernel_key by_id = key_of(ids[2]);
  const thread *ends = keymap_find(&self->threads, &by_id);
  if (ends == NULL || at_ns < ends->since_ns) return;
  struct kernel_key by_number = key_of(ends->process);
  member *process = keymap_find(&self->members, &by_number);
  keymap_remove(&self->threads, &by_id);
  if (process == NULL || --process->threads > 0 || process->process.ended != 0) return;
  end_process(self, ids[0], process);
}

/* A program's name changes at an exec. */
static void on_name(perf *self, const perf_record *record) {
  uint32_t ids[2];
  if (record->bytes <= sizeof ids) return;
  memcpy(ids, record->data, sizeof ids);
  struct kernel_key by_pid = key_of(ids[0]);
  const uint32_t *number = keymap_find(&self->numbers, &by_pid);
  if (number == NULL || ids[0] != ids[1]) return;
  struct kernel_key by_number = key_of(*number);
  member *process = keymap_find(&self->members, &by_number);
  if (process != NULL)
    snprintf(process->process.program, sizeof process->process.program, "%.*s", (int)(record->bytes - sizeof ids),
             (const char *)record->data + sizeof ids);
}

/* --- times --- */

/* The clock of records may step back a little when the time is adjusted. */
static uint64_t elapsed(uint64_t from, uint64_t to) {
  return to > from ? to - from : 0;
}

static void fold(perf *self, uint32_t process, uint16_t kind, uint16_t detail, uint64_t value) {
  struct kernel_key key = {.process = process, .kind = kind, .detail = detail};
  kernel_sum *sum = keymap_make(&self->sums, &key);
  if (sum == NULL) {
    self->lost[KERNEL_LOST_VALUES]++;
    return;
  }
  int bucket = value == 0 ? 0 : 63 - __builtin_clzll(value);
  if (sum->count == 0 || value < sum->min) sum->min = value;
  if (value > sum->max) sum->max = value;
  sum->count++;
  sum->sum += value;
  sum->histogram[bucket < KERNEL_BUCKETS ? bucket : KERNEL_BUCKETS - 1]++;
}

static void leave(perf *self, uint32_t id, uint64_t state, uint64_t now) {
  struct kernel_key key = key_of(id);
  thread *left = keymap_find(&self->threads, &key);
  if (left == NULL || (state & STATE_DEAD) != 0) return;
  if (left->ready_ns != 0 || left->blocked_ns != 0)
    self->lost[KERNEL_LOST_VALUES]++; /* it ran, and no record says so */
  bool preempted = state == 0 || (state & STATE_PREEMPTED) != 0;
  left->after = preempted ? KERNEL_AFTER_PREEMPTION : KERNEL_AFTER_WAKEUP;
  left->reason = (state & (STATE_STOPPED | STATE_TRACED)) != 0 ? KERNEL_REASON_STOPPED
                 : (state & STATE_UNINTERRUPTIBLE) != 0        ? KERNEL_REASON_KERNEL
                                                               : KERNEL_REASON_UNKNOWN;
  left->ready_ns = preempted ? now : 0;
  left->blocked_ns = preempted ? 0 : now;
}

static void run(perf *self, uint32_t id, unsigned cpu, uint64_t now) {
  struct kernel_key key = key_of(id);
  thread *runs = keymap_find(&self->threads, &key);
  if (runs == NULL || runs->ready_ns == 0) return;
  thread was = *runs;
  runs->ready_ns = runs->blocked_ns = 0;
  key = key_of(was.process);
  const member *process = keymap_find(&self->members, &key);
  if (process == NULL) { /* it has ended, as far as anyone could see */
    key = key_of(id);
    keymap_remove(&self->threads, &key);
    return;
  }
  uint64_t blocked = was.blocked_ns != 0 ? elapsed(was.blocked_ns, was.ready_ns) : 0;
  uint64_t ready = elapsed(was.ready_ns, now);
  fold(self, was.process, KERNEL_KIND_RUNQUEUE, was.after, ready);
  if (was.blocked_ns != 0) fold(self, was.process, KERNEL_KIND_WAIT, was.reason, blocked);
  if ((self->singles & (KERNEL_SCHED | KERNEL_OFFCPU)) == 0) return;
  struct kernel_single single = {.kind = KERNEL_KIND_WAIT, .detail = was.reason, .process = was.process};
  single.thread = id;
  single.cpu = cpu;
  single.at_ns = now;
  single.first = blocked;
  single.second = ready;
  single.third = was.after;
  self->taker->single(self->taker->ctx, &process->process, &single);
}

static void wake(perf *self, uint32_t id, bool is_new, uint64_t now) {
  struct kernel_key key = key_of(id);
  thread *woken = keymap_find(&self->threads, &key);
  if (woken != NULL && woken->ready_ns == 0 && (is_new || woken->blocked_ns != 0)) woken->ready_ns = now;
}

static void on_sample(perf *self, const perf_record *record) {
  const tracepoint_field common_type = {NULL, 0, 2};
  uint64_t id = tracepoint_value(record->data, record->bytes, &common_type);
#define VALUE(field) tracepoint_value(record->data, record->bytes, &self->field)
  if (id == self->ids[SWITCH]) {
    leave(self, (uint32_t)VALUE(previous), VALUE(state), record->at_ns);
    run(self, (uint32_t)VALUE(next), record->cpu, record->at_ns);
  } else if (id == self->ids[WAKEUP]) {
    wake(self, (uint32_t)VALUE(woken), false, record->at_ns);
  } else if (id == self->ids[WAKEUP_NEW]) {
    wake(self, (uint32_t)VALUE(woken_new), true, record->at_ns);
  }
#undef VALUE
}

/* After a gap no state is known. */
static int forget_state(void *ctx, const struct kernel_key *key, void *entry) {
  (void)ctx, (void)key;
  ((thread *)entry)->blocked_ns = ((thread *)entry)->ready_ns = 0;
  return 1;
}

static void on_record(void *ctx, const perf_record *record) {
  perf *self = ctx;
  uint32_t ids[4] = {0};
  uint64_t lost[2];
  switch (record->type) {
  case PERF_RECORD_SAMPLE: on_sample(self, record); break;
  case PERF_RECORD_FORK:
  case PERF_RECORD_EXIT:
    if (record->bytes < sizeof ids) break;
    memcpy(ids, record->data, sizeof ids);
    if (record->type == PERF_RECORD_FORK)
      on_fork(self, ids, record->at_ns);
    else
      on_exit_of(self, ids, record->at_ns);
    break;
  case PERF_RECORD_COMM: on_name(self, record); break;
  case PERF_RECORD_LOST:
    if (record->bytes < sizeof lost) break;
    memcpy(lost, record->data, sizeof lost);
    self->lost[KERNEL_LOST_SINGLES] += lost[1];
    keymap_keep(&self->threads, forget_state, NULL);
    break;
  default: break;
  }
}

/* --- the source --- */

static void close_perf(void *opened) {
  perf *self = opened;
  perfring_close(&self->ring);
  keymap_free(&self->numbers);
  keymap_free(&self->members);
  keymap_free(&self->threads);
  keymap_free(&self->sums);
  free(self);
}

static bool describe(perf *self, char *why, size_t why_bytes) {
  char tracefs[512];
  tracepoint_field of_switch[] = {{"prev_pid", 0, 0}, {"prev_state", 0, 0}, {"next_pid", 0, 0}};
  tracepoint_field pid = {"pid", 0, 0}, pid_new = {"pid", 0, 0};
  if (!tracefs_find(tracefs, sizeof tracefs, why, why_bytes) ||
      !tracepoint_read(tracefs, "sched/sched_switch", &self->ids[SWITCH], of_switch, 3, why, why_bytes) ||
      !tracepoint_read(tracefs, "sched/sched_wakeup", &self->ids[WAKEUP], &pid, 1, why, why_bytes) ||
      !tracepoint_read(tracefs, "sched/sched_wakeup_new", &self->ids[WAKEUP_NEW], &pid_new, 1, why, why_bytes))
    return false;
  self->previous = of_switch[0];
  self->state = of_switch[1];
  self->next = of_switch[2];
  self->woken = pid;
  self->woken_new = pid_new;
  return true;
}

static int open_perf(unsigned *views, void **opened, char *why, size_t why_bytes) {
  if (process_is_in_namespace()) {
    snprintf(why, why_bytes, "the probe runs in a PID namespace, and tracepoints show the PIDs of the machine");
    return ENOTSUP;
  }
  perf *self = calloc(1, sizeof *self);
  if (self == NULL) return ENOMEM;
  (void)views;
  keymap_init(&self->numbers, sizeof(uint32_t), PROCESSES_MAX);
  keymap_init(&self->members, sizeof(member), PROCESSES_MAX);
  keymap_init(&self->threads, sizeof(thread), THREADS_MAX);
  keymap_init(&self->sums, sizeof(kernel_sum), SUMS_MAX);
  self->ring.poll = -1;
  int error = describe(self, why, why_bytes) ? 0 : ENOTSUP;
  if (error == 0) error = perfring_open(&self->ring, self->ids, TRACEPOINTS, why, why_bytes);
  if (error != 0)
    close_perf(self);
  else
    *opened = self;
  return error;
}

static void drain(void *opened, const kernel_taker *taker) {
  perf *self = opened;
  self->taker = taker;
  perfring_drain(&self->ring, on_record, self);
}

static int take_member(void *ctx, const struct kernel_key *key, void *entry) {
  const perf *self = ctx;
  const member *of = entry;
  self->taker->process(self->taker->ctx, key->process, &of->process);
  return 1;
}

static int take_sum(void *ctx, const struct kernel_key *key, void *entry) {
  perf *self = ctx;
  struct kernel_key by_number = key_of(key->process);
  const member *of = keymap_find(&self->members, &by_number);
  if (of != NULL) self->taker->sum(self->taker->ctx, &of->process, key, entry);
  return 0;
}

static int lives(void *ctx, const struct kernel_key *key, void *entry) {
  const perf *self = ctx;
  if (((const member *)entry)->process.ended == 0) return 1;
  self->taker->ended(self->taker->ctx, key->process);
  return 0;
}

static void read_perf(void *opened, const kernel_taker *taker) {
  perf *self = opened;
  drain(self, taker);
  keymap_keep(&self->members, take_member, self);
  keymap_keep(&self->sums, take_sum, self);
  keymap_keep(&self->members, lives, self);
}

static int descriptor(void *opened) {
  return ((const perf *)opened)->ring.poll;
}

static void set_singles(void *opened, unsigned views) {
  ((perf *)opened)->singles = views;
}

static void losses(void *opened, uint64_t lost[KERNEL_LOSSES]) {
  memcpy(lost, ((const perf *)opened)->lost, sizeof((const perf *)opened)->lost);
}

const kernel_source kernel_perf = {
    .abi = KERNEL_SOURCE_ABI,
    .name = "perf",
    .views = KERNEL_SCHED | KERNEL_OFFCPU,
    .settle_ns = PERF_SETTLE_NS,
    .open = open_perf,
    .watch = watch,
    .forget = forget,
    .read = read_perf,
    .descriptor = descriptor,
    .drain = drain,
    .set_singles = set_singles,
    .losses = losses,
    .close = close_perf,
};
