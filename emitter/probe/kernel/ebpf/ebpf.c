/* The source that has the kernel add up: programs at its tracepoints, whose cells are read here. A shared object of its
 * own, so that the probe starts on machines without libbpf. */
#include "../calls.h"
#include "../family.h"
#include "../keymap.h"
#include "../source.h"
#include "object.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  FIRST_EPOCH = 2,
  ENDED_AND_READ = 2,
  SLOTS_LEAST = 1 << 15, /* of threads; with 64 bytes each */
  SLOTS_MOST = 1 << 18,
  DRAIN_MOST = 1 << 14, /* more than the ring holds: what was there at the start is read */
  LOOKS_MOST = 16,      /* at a pair, until all of a value is seen */
};

typedef struct ebpf {
  object programs;
  unsigned views;
  int watched, processes, places, pairs, free_places;
  uint32_t *epoch, *singles, *last_process, *generation;
  uint64_t *lost;
  struct ring_buffer *ring;
  int cpus;
  struct kernel_pair *percpu; /* room for one pair of each */
  keymap before;              /* pair by key: what the last read found */
  keymap sums;                /* kernel_sum by key, during a read: several pairs make one */
  const kernel_taker *taker;  /* during a drain or read */
  uint32_t drained;           /* by this drain */
} ebpf;

typedef struct pair {
  kernel_sum first, second;
} pair;

static void close_all(void *opened) {
  ebpf *self = opened;
  ring_buffer__free(self->ring);
  if (self->programs.programs != NULL) object_close(&self->programs);
  keymap_free(&self->before);
  keymap_free(&self->sums);
  free(self->percpu);
  free(self);
}

/* --- opening --- */

/* A power of two that has a slot for each id, if ids are small enough. */
static uint32_t thread_slots(void) {
  uint32_t slots = SLOTS_LEAST, most = SLOTS_MOST;
  FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
  if (file == NULL || fscanf(file, "%u", &most) != 1 || most > SLOTS_MOST) most = SLOTS_MOST;
  if (file != NULL) fclose(file);
  while (slots < most)
    slots *= 2;
  return slots;
}

static int find_variables(ebpf *self, unsigned view_mask) {
  uint32_t *views = object_variable(&self->programs, "views", sizeof *views), slots = thread_slots();
  uint32_t *mask = object_variable(&self->programs, "thread_mask", sizeof *mask);
  struct kernel_call *calls = object_variable(&self->programs, "calls", sizeof *calls * KERNEL_CALLS);
  self->epoch = object_variable(&self->programs, "epoch", sizeof *self->epoch);
  self->singles = object_variable(&self->programs, "singles", sizeof *self->singles);
  self->last_process = object_variable(&self->programs, "last_process", sizeof *self->last_process);
  self->generation = object_variable(&self->programs, "generation", sizeof *self->generation);
  self->lost = object_variable(&self->programs, "lost", sizeof *self->lost * KERNEL_LOSSES);
  uint32_t *sees_starts = object_variable(&self->programs, "sees_starts", sizeof *sees_starts);
  if (views == NULL || mask == NULL || sees_starts == NULL || calls == NULL || self->epoch == NULL ||
      self->singles == NULL || self->last_process == NULL || self->generation == NULL || self->lost == NULL)
    return EINVAL;
  *views = self->views = view_mask;
  *self->epoch = FIRST_EPOCH;
  *mask = slots - 1;
  *sees_starts = object_has(&self->programs, "block_io_start");
  calls_describe(calls);
  return object_resize(&self->programs, "threads", slots);
}

static int on_single(void *ctx, void *data, size_t bytes) {
  ebpf *self = ctx;
  const struct kernel_single *single = data;
  struct kernel_process process = {0};
  if (bytes < sizeof *single || self->taker == NULL) return 0;
  bpf_map_lookup_elem(self->processes, &single->process, &process);
  self->taker->single(self->taker->ctx, &process, single);
  return ++self->drained < DRAIN_MOST ? 0 : -E2BIG; /* else libbpf would read as long as records come */
}

static int open_programs(ebpf *self, unsigned *views, char *why, size_t why_bytes) {
  char refused[600] = "";
  int error = object_open(&self->programs, views, why, why_bytes);
  if (error == 0 && find_variables(self, *views) != 0) {
    snprintf(why, why_bytes, "the eBPF programs belong to another version of Lifeline");
    return EINVAL;
  }
  if (error == 0 && (error = object_load(&self->programs, refused, sizeof refused)) != 0)
    snprintf(why, why_bytes, "%s", refused);
  if (error != 0) return error;
  self->watched = object_map(&self->programs, "watched");
  self->processes = object_map(&self->programs, "processes");
  self->places = object_map(&self->programs, "places");
  self->pairs = object_map(&self->programs, "pairs");
  self->free_places = object_map(&self->programs, "free_places");
  self->cpus = libbpf_num_possible_cpus();
  self->percpu = self->cpus > 0 ? calloc((size_t)self->cpus, sizeof *self->percpu) : NULL;
  self->ring = ring_buffer__new(object_map(&self->programs, "ring"), on_single, self, NULL);

  for (uint32_t place = KERNEL_PAIRS; place > 0; place--)
    if (bpf_map_update_elem(self->free_places, NULL, &place, BPF_ANY) != 0) break;
  if (self->percpu != NULL && self->ring != NULL) return 0;
  snprintf(why, why_bytes, "no memory to read the eBPF programs' maps");
  return ENOMEM;
}

static int open_ebpf(unsigned *views, void **opened, char *why, size_t why_bytes) {
  if (process_is_in_namespace()) {
    snprintf(why, why_bytes, "the probe runs in a PID namespace, and eBPF programs see the PIDs of the machine");
    return ENOTSUP;
  }
  ebpf *self = calloc(1, sizeof *self);
  if (self == NULL) return ENOMEM;
  keymap_init(&self->before, sizeof(pair), UINT32_MAX);
  keymap_init(&self->sums, sizeof(kernel_sum), UINT32_MAX);
  int error = open_programs(self, views, why, why_bytes);
  if (error != 0)
    close_all(self);
  else
    *opened = self;
  return error;
}

/* --- which processes --- */

/* Only if no program has seen the end. If the pid is in use again, one has. */
static void forget(void *opened, uint32_t pid) {
  const ebpf *self = opened;
  struct kernel_process process;
  uint32_t number;
  if (process_lives(pid)) return;
  if (bpf_map_lookup_elem(self->watched, &pid, &number) != 0) return;
  bpf_map_delete_elem(self->watched, &pid);
  if (bpf_map_lookup_elem(self->processes, &number, &process) != 0 || process.ended != 0) return;
  process.ended = 1;
  bpf_map_update_elem(self->processes, &number, &process, BPF_EXIST);
}

static int watch(void *opened, uint32_t pid, uint32_t *number) {
  const ebpf *self = opened;
  struct kernel_process process = {.pid = pid};
  if (bpf_map_lookup_elem(self->watched, &pid, number) == 0) return EEXIST;
  *number = __atomic_add_fetch(self->last_process, 1, __ATOMIC_RELAXED);
  process_read_program(pid, process.program);
  if (bpf_map_update_elem(self->processes, number, &process, BPF_NOEXIST) != 0) return ENOSPC;
  if (bpf_map_update_elem(self->watched, &pid, number, BPF_NOEXIST) != 0) {
    int error = errno; /* EEXIST: it was forked by a watched one just now */
    bpf_map_delete_elem(self->processes, number);
    return error == EEXIST && bpf_map_lookup_elem(self->watched, &pid, number) == 0 ? EEXIST : ENOSPC;
  }
  __atomic_add_fetch(self->generation, 1, __ATOMIC_RELEASE);
  if (process_lives(pid)) return 0; /* from now on the programs see its end */
  bpf_map_delete_elem(self->watched, &pid);
  bpf_map_delete_elem(self->processes, number);
  return ESRCH;
}

/* --- reading ---
 *
 * Minimum and maximum are those of both banks, since values that came after the banks were changed are in this read,
 * too. The next one finds them again: the histogram, which is exact, tells how small and how large they can be.
 * Programs add values while cells are read: a pair is looked at again until its sums and histograms agree.
 */

static void add_extremes(kernel_sum *to, bool first, uint64_t min, uint64_t max) {
  if (first || min < to->min) to->min = min;
  if (max > to->max) to->max = max;
}

static void add_cell(kernel_sum *to, const struct kernel_cell *cell, uint32_t epoch) {
  to->count += cell->count;
  to->sum += cell->sum;
  to->nbytes += cell->nbytes;
  to->errors += cell->errors;
  to->squares += (double)cell->square_high * 18446744073709551616.0 + (double)cell->square_low;
  for (int i = 0; i < 2; i++)
    if (cell->extremes[i].epoch - epoch <= 1)
      add_extremes(to, to->max == 0, cell->extremes[i].min, cell->extremes[i].max);
  for (int i = 0; i < KERNEL_BUCKETS; i++)
    to->histogram[i] += cell->histogram[i];
}

static uint64_t within(uint64_t value, int bucket) {
  uint64_t least = bucket == 0 ? 0 : UINT64_C(1) << bucket, most = (UINT64_C(2) << bucket) - 1;
  if (bucket == KERNEL_BUCKETS - 1) most = UINT64_MAX;
  return value < least ? least : value > most ? most : value;
}

/* False: count and histogram disagree, since a value was being added during the look. */
static bool bound_extremes(kernel_sum *of) {
  int first = KERNEL_BUCKETS - 1, last = 0;
  uint64_t count = 0;
  for (int i = 0; i < KERNEL_BUCKETS; i++) {
    if (of->histogram[i] == 0) continue;
    if (i < first) first = i;
    last = i;
    count += of->histogram[i];
  }
  if (count != of->count) return false;
  if (count == 0) return true;
  if (count == 1) of->min = of->max = of->sum;
  of->min = within(of->min, first);
  of->max = within(of->max, last);
  return true;
}

/* False: as above. */
static bool difference(const kernel_sum *now, const kernel_sum *before, kernel_sum *made) {
  *made = *now;
  made->count -= before->count;
  made->sum -= before->sum;
  made->nbytes -= before->nbytes;
  made->errors -= before->errors;
  made->squares -= before->squares;
  for (int i = 0; i < KERNEL_BUCKETS; i++) /* the kernel's side has 32 bits, which wrap */
    made->histogram[i] = (uint32_t)(made->histogram[i] - before->histogram[i]);
  return bound_extremes(made);
}

/* Adds a sum to those of the same kind. Without memory its values are lost, and counted. */
static void add_sum(ebpf *self, struct kernel_key key, enum kernel_kind kind, unsigned detail, const kernel_sum *sum) {
  if (sum->count == 0 && sum->errors == 0 && sum->nbytes == 0) return;
  key.kind = (uint16_t)kind;
  key.detail = (uint16_t)detail;
  kernel_sum *to = keymap_make(&self->sums, &key);
  if (to == NULL) {
    __atomic_fetch_add(&self->lost[KERNEL_LOST_VALUES], sum->count, __ATOMIC_RELAXED);
    return;
  }
  if (sum->count > 0) add_extremes(to, to->count == 0, sum->min, sum->max);
  to->count += sum->count;
  to->sum += sum->sum;
  to->nbytes += sum->nbytes;
  to->errors += sum->errors;
  to->squares += sum->squares;
  for (int i = 0; i < KERNEL_BUCKETS; i++)
    to->histogram[i] += sum->histogram[i];
}

static void add_pair(ebpf *self, const struct kernel_key *key, const kernel_sum *first, const kernel_sum *second) {
  switch (key->kind) {
  case KERNEL_KIND_SWITCH:
    if (self->views & KERNEL_SCHED) add_sum(self, *key, KERNEL_KIND_RUNQUEUE, key->detail >> 8, first);
    if (self->views & KERNEL_OFFCPU) add_sum(self, *key, KERNEL_KIND_WAIT, key->detail & 0xff, second);
    break;
  case KERNEL_KIND_CALL:
    add_sum(self, *key, KERNEL_KIND_CALL, key->detail, first);
    add_sum(self, *key, KERNEL_KIND_CALL_BYTES, key->detail, second);
    break;
  default: add_sum(self, *key, key->kind, key->detail, first);
  }
}

/* Puts the place of a process that has ended back, cleared on all CPUs. */
static void free_place(ebpf *self, const struct kernel_key *key, uint32_t place) {
  memset(self->percpu, 0, (size_t)self->cpus * sizeof *self->percpu);
  bpf_map_delete_elem(self->places, key);
  bpf_map_update_elem(self->pairs, &place, self->percpu, BPF_ANY);
  bpf_map_update_elem(self->free_places, NULL, &place, BPF_ANY);
  keymap_remove(&self->before, key);
}

/* False: the kernel did not answer. */
static bool look_at(ebpf *self, uint32_t place, uint32_t epoch, pair *now) {
  if (bpf_map_lookup_elem(self->pairs, &place, self->percpu) != 0) return false;
  *now = (pair){.first = {.count = 0}};
  for (int i = 0; i < self->cpus; i++) {
    add_cell(&now->first, &self->percpu[i].first, epoch);
    add_cell(&now->second, &self->percpu[i].second, epoch);
  }
  return true;
}

/* False: its process is gone, and so is the pair. */
static bool read_pair(ebpf *self, const struct kernel_key *key, uint32_t epoch) {
  struct kernel_process process;
  pair now;
  uint32_t place;
  if (bpf_map_lookup_elem(self->places, key, &place) != 0) return true;
  if (bpf_map_lookup_elem(self->processes, &key->process, &process) != 0) {
    free_place(self, key, place);
    return false;
  }
  pair *before = keymap_make(&self->before, key);
  if (before == NULL) return true; /* no memory: the next read finds the same values, and more */
  kernel_sum first, second;
  bool whole = false;
  for (int i = 0; i < LOOKS_MOST && !whole; i++) {
    if (!look_at(self, place, epoch, &now)) return true;
    bool first_is = difference(&now.first, &before->first, &first);
    bool second_is = difference(&now.second, &before->second, &second);
    whole = (first_is && second_is) || key->kind == KERNEL_KIND_RETRANSMIT; /* which has no values */
  }
  if (!whole) return true; /* the next read finds these values, too */
  *before = now;
  add_pair(self, key, &first, &second);
  return true;
}

static int take_sum(void *ctx, const struct kernel_key *key, void *entry) {
  const ebpf *self = ctx;
  struct kernel_process process;
  if (bpf_map_lookup_elem(self->processes, &key->process, &process) == 0)
    self->taker->sum(self->taker->ctx, &process, key, entry);
  return 0;
}

/* A process that has ended stays for one more read: its last thread may still be on its way out. */
static void read_processes(const ebpf *self, const kernel_taker *taker) {
  struct kernel_process process;
  uint32_t number, next, *at = NULL;
  while (bpf_map_get_next_key(self->processes, at, &next) == 0) {
    bool known = bpf_map_lookup_elem(self->processes, &next, &process) == 0;
    if (known && process.ended == ENDED_AND_READ) {
      bpf_map_delete_elem(self->processes, &next);
      taker->ended(taker->ctx, next);
      continue; /* from the same key again */
    }
    if (known) taker->process(taker->ctx, next, &process);
    if (known && process.ended != 0) {
      process.ended = ENDED_AND_READ;
      bpf_map_update_elem(self->processes, &next, &process, BPF_EXIST);
    }
    number = next;
    at = &number;
  }
}

static void read_cells(void *opened, const kernel_taker *taker) {
  ebpf *self = opened;
  struct kernel_key key, next, *at = NULL;
  read_processes(self, taker);
  uint32_t epoch = __atomic_fetch_add(self->epoch, 1, __ATOMIC_SEQ_CST);
  while (bpf_map_get_next_key(self->places, at, &next) == 0) {
    if (!read_pair(self, &next, epoch)) continue; /* from the same key again */
    key = next;
    at = &key;
  }
  self->taker = taker;
  keymap_keep(&self->sums, take_sum, self);
  self->taker = NULL;
}

static int descriptor(void *opened) {
  return ring_buffer__epoll_fd(((ebpf *)opened)->ring);
}

static void drain(void *opened, const kernel_taker *taker) {
  ebpf *self = opened;
  self->taker = taker;
  self->drained = 0;
  ring_buffer__consume(self->ring);
  self->taker = NULL;
}

static void set_singles(void *opened, unsigned views) {
  __atomic_store_n(((ebpf *)opened)->singles, views, __ATOMIC_RELAXED);
}

static void losses(void *opened, uint64_t lost[KERNEL_LOSSES]) {
  for (int i = 0; i < KERNEL_LOSSES; i++)
    lost[i] = __atomic_load_n(&((ebpf *)opened)->lost[i], __ATOMIC_RELAXED);
}

__attribute__((visibility("default"))) const kernel_source KERNEL_SOURCE_ENTRY = {
    .abi = KERNEL_SOURCE_ABI,
    .name = "ebpf",
    .views = KERNEL_SCHED | KERNEL_OFFCPU | KERNEL_BLOCK | KERNEL_NET | KERNEL_SYSCALLS,
    .open = open_ebpf,
    .watch = watch,
    .forget = forget,
    .read = read_cells,
    .descriptor = descriptor,
    .drain = drain,
    .set_singles = set_singles,
    .losses = losses,
    .close = close_all,
};
