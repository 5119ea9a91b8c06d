/* The source without rights: what /proc says of each thread. Only totals: how long it ran and was ready to run
 * (schedstat), and how often it gave up its CPU (status). What was neither is the time that it was blocked. A thread
 * that begins or ends within an interval is counted from its first to its last look. */
#include "base/clock.h"
#include "family.h"
#include "keymap.h"
#include "source.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES_MAX = 4096, THREADS_MAX = 1 << 20 };

typedef struct thread {
  uint64_t seen_ns, ran_ns, ready_ns, slices, waits;
  uint64_t look; /* of the last look */
} thread;

typedef struct member {
  struct kernel_process process;
  uint64_t start; /* process_start */
} member;

typedef struct proc {
  keymap members; /* by number */
  keymap numbers; /* of those that have their pid, by pid */
  keymap threads; /* thread by id and number of the process */
  uint32_t last_number;
  uint64_t look, lost_threads, lost_processes;
  const kernel_taker *taker; /* during a read */
} proc;

static struct kernel_key key_of(uint32_t id) {
  return (struct kernel_key){.process = id};
}

/* The text of a file below /proc/PID/task, closed by a 0. */
static bool read_text(int folder, const char *name, char *text, size_t bytes) {
  int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t length = read(file, text, bytes - 1);
  close(file);
  text[length > 0 ? length : 0] = '\0';
  return length > 0;
}

static int open_proc(unsigned *views, void **opened, char *why, size_t why_bytes) {
  char text[128];
  if (!read_text(AT_FDCWD, "/proc/self/schedstat", text, sizeof text)) {
    snprintf(why, why_bytes,
             "/proc/self/schedstat cannot be read: the kernel was built without it, or /proc is absent");
    return ENOTSUP;
  }
  proc *self = calloc(1, sizeof *self);
  if (self == NULL) return ENOMEM;
  (void)views;
  keymap_init(&self->members, sizeof(member), PROCESSES_MAX);
  keymap_init(&self->numbers, sizeof(uint32_t), PROCESSES_MAX);
  keymap_init(&self->threads, sizeof(thread), THREADS_MAX);
  *opened = self;
  return 0;
}

static void close_proc(void *opened) {
  proc *self = opened;
  keymap_free(&self->members);
  keymap_free(&self->numbers);
  keymap_free(&self->threads);
  free(self);
}

/* --- threads --- */

static bool look_at(int folder, const char *id, thread *seen) {
  char path[64], text[4096];
  unsigned long long ran, ready, slices, waits;
  snprintf(path, sizeof path, "%.20s/schedstat", id);
  if (!read_text(folder, path, text, sizeof text) || sscanf(text, "%llu %llu %llu", &ran, &ready, &slices) != 3)
    return false;
  snprintf(path, sizeof path, "%.20s/status", id);
  if (!read_text(folder, path, text, sizeof text)) return false;
  const char *line = strstr(text, "\nvoluntary_ctxt_switches:");
  if (line == NULL || sscanf(line, "\nvoluntary_ctxt_switches: %llu", &waits) != 1) return false;
  *seen = (thread){
      .seen_ns = ll_now_ns(CLOCK_MONOTONIC), .ran_ns = ran, .ready_ns = ready, .slices = slices, .waits = waits};
  return true;
}

/* False: it is seen for the first time, or is another thread with the same id. */
static bool is_same(const thread *now, const thread *before) {
  return before->seen_ns != 0 && now->ran_ns >= before->ran_ns && now->ready_ns >= before->ready_ns &&
         now->slices >= before->slices && now->waits >= before->waits;
}

/* Adds what happened since the last look. Clocks of the kernel's accounting differ a little: no time is negative. */
static void add(const thread *now, const thread *before, kernel_sum *runqueue, kernel_sum *waits) {
  uint64_t whole = now->seen_ns - before->seen_ns, ran = now->ran_ns - before->ran_ns;
  uint64_t ready = now->ready_ns - before->ready_ns;
  runqueue->count += now->slices - before->slices;
  runqueue->sum += ready;
  waits->count += now->waits - before->waits;
  if (whole > ran + ready) waits->sum += whole - ran - ready;
}

static bool look_at_threads(proc *self, uint32_t pid, uint32_t number, kernel_sum *runqueue, kernel_sum *waits) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/task", pid);
  DIR *all = opendir(path);
  bool any = false;
  if (all == NULL) return false;
  for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
    thread now;
    if (!isdigit((unsigned char)entry->d_name[0]) || !look_at(dirfd(all), entry->d_name, &now)) continue;
    struct kernel_key key = {.process = (uint32_t)strtoul(entry->d_name, NULL, 10), .device = number};
    thread *before = keymap_make(&self->threads, &key);
    any = true;
    if (before == NULL) {
      self->lost_threads++;
      continue;
    }
    if (is_same(&now, before)) add(&now, before, runqueue, waits);
    now.look = self->look;
    *before = now;
  }
  closedir(all);
  return any;
}

/* --- processes --- */

static int add_process(proc *self, uint32_t pid, uint32_t parent, uint32_t *number) {
  struct kernel_key by_pid = key_of(pid);
  kernel_sum ignored = {0};
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
    self->lost_processes++;
    return ENOSPC;
  }
  *number = *known = self->last_number;
  *made = (member){.process = {.pid = pid, .parent = parent}, .start = process_start(pid)};
  process_read_program(pid, made->process.program);
  if (look_at_threads(self, pid, *number, &ignored, &ignored)) return 0;
  keymap_remove(&self->members, &by_number);
  keymap_remove(&self->numbers, &by_pid);
  return ESRCH;
}

/* Unless it is still there. The next read hands over the rest. */
static void forget(void *opened, uint32_t pid) {
  proc *self = opened;
  struct kernel_key by_pid = key_of(pid);
  const uint32_t *number = keymap_find(&self->numbers, &by_pid);
  if (number == NULL) return;
  struct kernel_key by_number = key_of(*number);
  const member *known = keymap_find(&self->members, &by_number);
  if (known == NULL || known->start != process_start(pid)) keymap_remove(&self->numbers, &by_pid);
}

static int watch(void *opened, uint32_t pid, uint32_t *number) {
  forget(opened, pid); /* if it was another process with this number */
  return add_process(opened, pid, 0, number);
}

/* Repeated until there are no new ones: a child may come before its parent in the list. */
static void follow_children(proc *self) {
  family pids = {0}, parents = {0};
  family_read(&pids, &parents);
  for (bool any = true; any;) {
    any = false;
    for (uint32_t i = 0; i < pids.count; i++) {
      struct kernel_key parent = key_of(parents.pids[i]);
      const uint32_t *known = parents.pids[i] == 0 ? NULL : keymap_find(&self->numbers, &parent);
      uint32_t number;
      if (known == NULL) continue;
      any = add_process(self, pids.pids[i], *known, &number) == 0 || any;
      parents.pids[i] = 0;
    }
  }
  family_free(&pids);
  family_free(&parents);
}

static int take_process(void *ctx, const struct kernel_key *key, void *entry) {
  proc *self = ctx;
  const struct kernel_process *process = &((const member *)entry)->process;
  kernel_sum runqueue = {.is_total = true}, waits = {.is_total = true};
  uint32_t number = key->process;
  struct kernel_key by_pid = key_of(process->pid), kind = {.process = number, .kind = KERNEL_KIND_RUNQUEUE};
  self->taker->process(self->taker->ctx, number, process);
  forget(self, process->pid);
  const uint32_t *owner = keymap_find(&self->numbers, &by_pid);
  bool lives = owner != NULL && *owner == number && look_at_threads(self, process->pid, number, &runqueue, &waits);
  if (runqueue.count != 0 || runqueue.sum != 0) self->taker->sum(self->taker->ctx, process, &kind, &runqueue);
  kind.kind = KERNEL_KIND_WAIT;
  kind.detail = KERNEL_REASON_UNKNOWN;
  if (waits.count != 0 || waits.sum != 0) self->taker->sum(self->taker->ctx, process, &kind, &waits);
  if (lives) return 1;
  if (owner != NULL && *owner == number) keymap_remove(&self->numbers, &by_pid);
  self->taker->ended(self->taker->ctx, number);
  return 0;
}

static int was_seen(void *ctx, const struct kernel_key *key, void *entry) {
  (void)key;
  return ((const thread *)entry)->look == ((const proc *)ctx)->look;
}

static void read_proc(void *opened, const kernel_taker *taker) {
  proc *self = opened;
  self->taker = taker;
  self->look++;
  follow_children(self);
  keymap_keep(&self->members, take_process, self);
  keymap_keep(&self->threads, was_seen, self);
}

/* --- what it cannot do --- */

static int descriptor(void *opened) {
  (void)opened;
  return -1;
}

static void drain(void *opened, const kernel_taker *taker) {
  (void)opened, (void)taker;
}

static void set_singles(void *opened, unsigned views) {
  (void)opened, (void)views;
}

static void losses(void *opened, uint64_t lost[KERNEL_LOSSES]) {
  lost[KERNEL_LOST_THREADS] = ((const proc *)opened)->lost_threads;
  lost[KERNEL_LOST_PROCESSES] = ((const proc *)opened)->lost_processes;
}

const kernel_source kernel_proc = {
    .abi = KERNEL_SOURCE_ABI,
    .name = "proc",
    .views = KERNEL_SCHED | KERNEL_OFFCPU,
    .open = open_proc,
    .watch = watch,
    .forget = forget,
    .read = read_proc,
    .descriptor = descriptor,
    .drain = drain,
    .set_singles = set_singles,
    .losses = losses,
    .close = close_proc,
};
