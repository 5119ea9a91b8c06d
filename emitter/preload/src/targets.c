#include "targets.h"

#include "base/untouched.h"

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
static io_table *table; /* NULL: none */
static bool is_of_run, wiped_by_kernel;
static char program[IO_PROGRAM_BYTES];

/* Of the slots, by the number of the interval and the generation in which this process has told their names. */
static uint32_t introduced[IO_SLOTS];
static uint16_t interval = 1;

static __thread uint32_t counted[IO_CALIPERS]
    __attribute__((tls_model("initial-exec"))); /* by the thread, in which report */

bool io_targets_attach(const io_settings *given) {
  settings = given;
  if (*settings->page == '\0') return false;
  const char *name = secure_getenv("LIFELINE_PROGRAM");
  snprintf(program, sizeof program, "%s", name != NULL && *name != '\0' ? name : program_invocation_short_name);
  table = io_table_open(settings->page);
  return is_of_run = table != NULL;
}

io_table *io_targets_of_run(void) {
  return is_of_run ? table : NULL;
}

bool io_targets_create(const io_settings *given) {
  settings = given;
  if (settings->targets == 0) return true;
  table = ll_untouched(sizeof *table);
  if (table == NULL) return false;
  io_table_begin(table, settings);
  uintptr_t first = ((uintptr_t)table->sums + 4095) & ~(uintptr_t)4095;
  wiped_by_kernel = madvise((void *)first, (uintptr_t)(table + 1) - first, MADV_WIPEONFORK) == 0;
  return true;
}

void io_targets_after_fork(void) {
  interval++; /* the child tells the names, too */
  memset(counted, 0, sizeof counted);
  if (table == NULL || is_of_run) return;
  memset(table->sums, 0, wiped_by_kernel ? 4096 : sizeof table->sums); /* the kernel wipes whole pages */
  table->reported_ns = io_table_now();
  io_table_after_fork(table);
}

/* --- names --- */

static uint16_t generation_of(const io_slot *at) {
  return __atomic_load_n(&at->generation, __ATOMIC_ACQUIRE);
}

static io_target all_others(io_kind kind) {
  return (io_target){(uint16_t)kind, 0};
}

static bool claim(uint64_t *key, uint32_t most) {
  uint64_t vacant = FREE;
  if (__atomic_fetch_add(&table->used, 1, __ATOMIC_RELAXED) < most &&
      __atomic_compare_exchange_n(key, &vacant, BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return true;
  __atomic_fetch_sub(&table->used, 1, __ATOMIC_RELAXED);
  return false;
}

/* Names of different programs are different targets in the run's table, also if they are not reported. */
static uint64_t key_for(io_kind kind, const char *name) {
  uint64_t key_of_kind[2] = {table->secret_key[0] ^ kind, table->secret_key[1]};
  if (is_of_run) key_of_kind[0] ^= io_hash(key_of_kind, program, strlen(program));
  return io_hash(key_of_kind, name, strlen(name)) | 2;
}

/* Adds it if there are fewer than `most`. */
static io_target find(io_kind kind, const char *name, bool secret, uint32_t most) {
  bool hidden = table == NULL || settings->names == IO_NAMES_NONE;
  if (table == NULL || (hidden && !is_of_run)) return all_others(kind);
  uint64_t key = key_for(kind, hidden ? "" : name);
  uint32_t first = IO_KINDS + (uint32_t)(key >> 32) % IO_BUCKETS * IO_BUCKET;
  for (uint32_t i = first; i < first + IO_BUCKET; i++) {
    if (__atomic_load_n(&table->keys[i], __ATOMIC_ACQUIRE) != key) continue;
    io_target found = {(uint16_t)i, generation_of(&table->slots[i])};
    if (__atomic_load_n(&table->keys[i], __ATOMIC_ACQUIRE) == key) return found; /* not forgotten meanwhile */
  }
  for (uint32_t i = first; i < first + IO_BUCKET; i++) {
    io_slot *at = &table->slots[i];
    if (__atomic_load_n(&table->keys[i], __ATOMIC_RELAXED) != FREE || !claim(&table->keys[i], most)) continue;
    at->kind = (uint8_t)kind;
    io_name(settings, name, secret, at->name);
    memcpy(at->program, program, sizeof at->program);
    io_target made = {(uint16_t)i, generation_of(at)};
    __atomic_store_n(&table->keys[i], key, __ATOMIC_RELEASE);
    return made;
  }
  return all_others(kind);
}

io_target io_target_find(io_kind kind, const char *name, bool secret) {
  return find(kind, name, secret, settings != NULL ? settings->targets : 0);
}

bool io_target_expect(io_target *target, io_kind kind, const char *name, bool secret) {
  *target = find(kind, name, secret, settings != NULL ? settings->targets / 2 : 0);
  return target->slot >= IO_KINDS || table == NULL || settings->names == IO_NAMES_NONE;
}

bool io_target_is_secret(const char *path) {
  return io_is_redacted(settings, path);
}

bool io_target_is_current(io_target target) {
  return table == NULL || (target.slot < IO_SLOTS && generation_of(&table->slots[target.slot]) == target.generation);
}

bool io_target_introduce(io_target target, const char **kind, const char **name) {
  static const char *const kinds[IO_KINDS] = {"", "disk", "net", "pipe", "other"};
  if (table == NULL || !io_target_is_current(target)) return false;
  const io_slot *at = &table->slots[target.slot];
  uint32_t now = (uint32_t)__atomic_load_n(&interval, __ATOMIC_RELAXED) << 16 | target.generation;
  if (__atomic_exchange_n(&introduced[target.slot], now, __ATOMIC_RELAXED) == now) return false;
  *kind = kinds[at->kind];
  *name = at->name;
  return true;
}

/* --- sums --- */

/* Threads of one process, and processes, spread over the copies. */
static inline uint32_t shard_of_thread(void) {
  static uint32_t threads;
  static __thread uint32_t shard __attribute__((tls_model("initial-exec"))); /* its number and 1 */
  if (__builtin_expect(shard == 0, 0)) {
    uint32_t first = is_of_run ? (uint32_t)getpid() : 0;
    shard = (first + __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED)) % IO_SHARDS + 1;
  }
  return shard - 1;
}

io_sums *io_target_sums(io_target target, io_way way) {
  return table != NULL ? &table->sums[target.slot][way][shard_of_thread()] : NULL;
}

/* --- calipers --- */

void io_run_value(unsigned caliper, double value, uint64_t ticks) {
  if (!is_of_run) return;
  io_values *values = &table->values[caliper][shard_of_thread()];
  uint32_t now = __atomic_load_n(&table->reports, __ATOMIC_RELAXED);
  if (counted[caliper] != now) __atomic_fetch_add(&values->threads, 1, __ATOMIC_RELAXED);
  counted[caliper] = now;
  io_values_add(values, value, ticks);
}

io_sums *io_target_begin(io_target *target, io_kind kind, io_way way) {
  io_sums *mine = io_target_sums(*target, way);
  if (mine == NULL) return NULL;
  __atomic_fetch_add(&mine->open, 1, __ATOMIC_SEQ_CST);
  if (__builtin_expect(__atomic_load_n(&table->slots[target->slot].generation, __ATOMIC_SEQ_CST) == target->generation,
                       1))
    return mine;
  io_target_end(mine);
  *target = all_others(kind);
  mine = io_target_sums(*target, way);
  __atomic_fetch_add(&mine->open, 1, __ATOMIC_SEQ_CST);
  return mine;
}

static void tell(const io_report *now) {
  ll_emit(io_target, now->slot, now->operation, now->name, now->interval_ns, now->sums.count, now->sums.nbytes,
          io_report_duration(now), io_report_longest(now), now->sums.again, now->sums.errors, (uint32_t)now->sums.open);
}

void io_targets_report(double tick_ns) {
  __atomic_fetch_add(&interval, 1, __ATOMIC_RELAXED);
  if (table != NULL && !is_of_run) io_table_report(table, tick_ns, tell);
}
