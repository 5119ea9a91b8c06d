#include "targets.h"

#include <errno.h>
#include <lifeline/events.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FREE UINT64_C(0)
#define BUSY UINT64_C(1)

static const io_settings *settings;
static io_table *own, *of_run; /* NULL: none */
static io_table *active;       /* where new targets go */
static bool wiped_by_kernel;
static char program[IO_PROGRAM_BYTES];

static io_table *table_of(io_target target) {
  return (target.slot & IO_OF_RUN) != 0 ? of_run : own;
}

static uint32_t index_of(io_target target) {
  return target.slot & (IO_OF_RUN - 1u);
}

static io_target target_in(const io_table *table, uint32_t slot, uint16_t generation) {
  return (io_target){(uint16_t)(slot | (table == of_run ? IO_OF_RUN : 0)), generation};
}

bool io_targets_attach(const io_settings *given) {
  settings = given;
  if (settings->targets == 0 || *settings->page == '\0') return false;
  const char *name = secure_getenv("LIFELINE_PROGRAM");
  snprintf(program, sizeof program, "%s", name != NULL && *name != '\0' ? name : program_invocation_short_name);
  active = of_run = io_table_open(settings->page);
  return of_run != NULL;
}

io_table *io_targets_of_run(void) {
  return of_run;
}

/* A file outlives the process: the run's agent reports what a killed one has left. */
static io_table *make(void) {
  if (of_run != NULL) {
    char path[IO_PAGE_BYTES + 40];
    snprintf(path, sizeof path, "%s.%d.%lx", settings->page, (int)getpid(), (unsigned long)io_table_now());
    io_table *made = io_table_make(path, settings);
    if (made != NULL) return made;
  }
  void *memory =
      mmap(NULL, sizeof(io_table), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  io_table *made = memory;
  io_table_begin(made, settings);
  uintptr_t first = ((uintptr_t)made->sums + 4095) & ~(uintptr_t)4095;
  wiped_by_kernel = madvise((void *)first, (uintptr_t)(made + 1) - first, MADV_WIPEONFORK) == 0;
  return made;
}

bool io_targets_create(const io_settings *given) {
  settings = given;
  if (settings->targets == 0) return true;
  io_table *made = make();
  if (made == NULL) return false;
  own = made;
  __atomic_store_n(&active, made, __ATOMIC_RELEASE);
  return true;
}

/* The parent's file is not the child's: it stays mapped, since an operation that a handler interrupted may end there.
 */
void io_targets_after_fork(void) {
  if (of_run != NULL) {
    active = of_run;
    own = NULL;
    return;
  }
  if (own == NULL) return;
  memset(own->sums, 0, wiped_by_kernel ? 4096 : sizeof own->sums); /* the kernel wipes whole pages */
  own->reported_ns = io_table_now();
}

/* --- names --- */

static uint16_t generation_of(const io_slot *at) {
  return __atomic_load_n(&at->generation, __ATOMIC_ACQUIRE);
}

static io_table *current(void) {
  return __atomic_load_n(&active, __ATOMIC_ACQUIRE);
}

static io_target all_others(const io_table *table, io_kind kind) {
  return target_in(table, (uint32_t)kind, 0);
}

static bool claim(io_table *table, uint64_t *key, uint32_t most) {
  uint64_t vacant = FREE;
  if (__atomic_fetch_add(&table->used, 1, __ATOMIC_RELAXED) < most &&
      __atomic_compare_exchange_n(key, &vacant, BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return true;
  __atomic_fetch_sub(&table->used, 1, __ATOMIC_RELAXED);
  return false;
}

/* Names of different programs are different targets in the run's table, also if they are not reported. */
static uint64_t key_for(const io_table *table, io_kind kind, const char *name) {
  uint64_t key_of_kind[2] = {table->secret_key[0] ^ kind, table->secret_key[1]};
  if (table == of_run) key_of_kind[0] ^= io_hash(key_of_kind, program, strlen(program));
  return io_hash(key_of_kind, name, strlen(name)) | 2;
}

/* Adds it if there are fewer than `most`. */
static io_target find(io_kind kind, const char *name, bool secret, uint32_t most) {
  io_table *table = current();
  bool hidden = table == NULL || settings->names == IO_NAMES_NONE;
  if (table == NULL || (hidden && table != of_run)) return all_others(table, kind);
  uint64_t key = key_for(table, kind, hidden ? "" : name);
  uint32_t first = IO_KINDS + (uint32_t)(key >> 32) % IO_BUCKETS * IO_BUCKET;
  for (uint32_t i = first; i < first + IO_BUCKET; i++) {
    if (__atomic_load_n(&table->keys[i], __ATOMIC_ACQUIRE) != key) continue;
    io_target found = target_in(table, i, generation_of(&table->slots[i]));
    if (__atomic_load_n(&table->keys[i], __ATOMIC_ACQUIRE) == key) return found; /* not forgotten meanwhile */
  }
  for (uint32_t i = first; i < first + IO_BUCKET; i++) {
    io_slot *at = &table->slots[i];
    if (__atomic_load_n(&table->keys[i], __ATOMIC_RELAXED) != FREE || !claim(table, &table->keys[i], most)) continue;
    at->kind = (uint8_t)kind;
    __atomic_store_n(&at->introduced, 0, __ATOMIC_RELAXED);
    io_name(settings, name, secret, at->name);
    memcpy(at->program, program, sizeof at->program);
    io_target made = target_in(table, i, generation_of(at));
    __atomic_store_n(&table->keys[i], key, __ATOMIC_RELEASE);
    return made;
  }
  return all_others(table, kind);
}

io_target io_target_find(io_kind kind, const char *name, bool secret) {
  return find(kind, name, secret, settings != NULL ? settings->targets : 0);
}

bool io_target_expect(io_target *target, io_kind kind, const char *name, bool secret) {
  *target = find(kind, name, secret, settings != NULL ? settings->targets / 2 : 0);
  return index_of(*target) >= IO_KINDS || current() == NULL || settings->names == IO_NAMES_NONE;
}

bool io_target_is_secret(const char *path) {
  return io_is_redacted(settings, path);
}

bool io_target_is_current(io_target target) {
  const io_table *table = table_of(target);
  if (table != current()) return false;
  return table == NULL ||
         (index_of(target) < IO_SLOTS && generation_of(&table->slots[index_of(target)]) == target.generation);
}

bool io_target_introduce(io_target target, const char **kind, const char **name) {
  static const char *const kinds[IO_KINDS] = {"", "disk", "net", "pipe", "other"};
  io_table *table = table_of(target);
  if (table == NULL || !io_target_is_current(target)) return false;
  io_slot *at = &table->slots[index_of(target)];
  if (__atomic_exchange_n(&at->introduced, 1, __ATOMIC_RELAXED) != 0) return false;
  *kind = kinds[at->kind];
  *name = at->name;
  return true;
}

/* --- sums --- */

/* Threads of one process, and processes, spread over the copies. */
io_sums *io_target_sums(io_target target, io_way way) {
  static uint32_t threads;
  static __thread uint32_t shard __attribute__((tls_model("initial-exec"))); /* its number and 1 */
  io_table *table = table_of(target);
  if (table == NULL) return NULL;
  if (__builtin_expect(shard == 0, 0)) {
    uint32_t first = of_run != NULL ? (uint32_t)getpid() : 0;
    shard = (first + __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED)) % IO_SHARDS + 1;
  }
  return &table->sums[index_of(target)][way][shard - 1];
}

io_sums *io_target_begin(io_target *target, io_kind kind, io_way way) {
  io_sums *mine = io_target_sums(*target, way);
  if (mine == NULL) return NULL;
  io_table *table = table_of(*target);
  __atomic_fetch_add(&mine->open, 1, __ATOMIC_SEQ_CST);
  if (__builtin_expect(
          __atomic_load_n(&table->slots[index_of(*target)].generation, __ATOMIC_SEQ_CST) == target->generation, 1))
    return mine;
  io_target_end(mine);
  *target = all_others(table, kind);
  mine = io_target_sums(*target, way);
  __atomic_fetch_add(&mine->open, 1, __ATOMIC_SEQ_CST);
  return mine;
}

static void tell(const io_report *now) {
  ll_emit(io_target, now->slot, now->operation, now->name, now->interval_ns, now->sums.count, now->sums.nbytes,
          io_report_duration(now), io_report_longest(now), now->sums.again, now->sums.errors, (uint32_t)now->sums.open);
}

void io_targets_report(double tick_ns) {
  if (own == NULL) return;
  own->tick_ns = tick_ns;
  io_table_report(own, tick_ns, tell);
}
