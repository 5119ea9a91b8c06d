#include "targets.h"

#include <lifeline/events.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

enum {
  BUCKET = 16, /* slots among which a name chooses */
  BUCKETS = 128,
  SLOTS = IO_KINDS + BUCKET * BUCKETS, /* the first ones stand for all other names of their kind */
  IDLE_REPORTS = 2,
};

#define FREE UINT64_C(0)
#define BUSY UINT64_C(1)

typedef struct slot {
  uint16_t generation;
  uint8_t kind;
  uint8_t introduced; /* in this interval */
  uint32_t idle;      /* reports without an operation; the reporter's */
  char name[IO_NAME_BYTES];
} slot;

static const io_settings *settings;
static slot *slots;
static uint64_t *keys;                      /* by slot: hash of kind and name, or FREE or BUSY. Written last */
static io_sums (*sums)[IO_WAYS][IO_SHARDS]; /* wiped in a forked child */
static bool wiped_by_kernel;
static uint32_t used;
static uint64_t secret_key[2]; /* makes the places of names unpredictable */
static uint64_t reported_ns;

static void *untouched(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static uint64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool io_targets_create(const io_settings *given) {
  settings = given;
  if (settings->targets == 0) return true;
  slots = untouched(SLOTS * sizeof *slots);
  keys = untouched(SLOTS * sizeof *keys);
  sums = untouched(SLOTS * sizeof *sums);
  if (slots == NULL || keys == NULL || sums == NULL) return false;
  wiped_by_kernel = madvise(sums, SLOTS * sizeof *sums, MADV_WIPEONFORK) == 0;
  if (getrandom(secret_key, sizeof secret_key, GRND_NONBLOCK) < 0) secret_key[0] = (uintptr_t)slots;
  for (int kind = 0; kind < IO_KINDS; kind++) {
    slots[kind] = (slot){.kind = (uint8_t)kind};
    keys[kind] = BUSY;
    strcpy(slots[kind].name, settings->names == IO_NAMES_NONE ? IO_NAME_HIDDEN : "(others)");
  }
  reported_ns = monotonic_ns();
  return true;
}

void io_targets_after_fork(void) {
  if (sums != NULL && !wiped_by_kernel) memset(sums, 0, SLOTS * sizeof *sums);
  reported_ns = monotonic_ns();
}

/* --- names --- */

static uint16_t generation_of(const slot *at) {
  return __atomic_load_n(&at->generation, __ATOMIC_ACQUIRE);
}

static io_target all_others(io_kind kind) {
  return (io_target){(uint16_t)kind, 0};
}

static bool claim(uint64_t *key, uint32_t most) {
  uint64_t vacant = FREE;
  if (__atomic_fetch_add(&used, 1, __ATOMIC_RELAXED) < most &&
      __atomic_compare_exchange_n(key, &vacant, BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return true;
  __atomic_fetch_sub(&used, 1, __ATOMIC_RELAXED);
  return false;
}

static bool has_names(void) {
  return slots != NULL && settings->names != IO_NAMES_NONE;
}

/* Adds it if there are fewer than `most`. */
static io_target find(io_kind kind, const char *name, bool secret, uint32_t most) {
  if (!has_names()) return all_others(kind);
  const uint64_t key_of_kind[2] = {secret_key[0] ^ kind, secret_key[1]};
  uint64_t key = io_hash(key_of_kind, name, strlen(name)) | 2;
  uint32_t first = IO_KINDS + (uint32_t)(key >> 32) % BUCKETS * BUCKET;
  for (uint32_t i = first; i < first + BUCKET; i++) {
    if (__atomic_load_n(&keys[i], __ATOMIC_ACQUIRE) != key) continue;
    io_target found = {(uint16_t)i, generation_of(&slots[i])};
    if (__atomic_load_n(&keys[i], __ATOMIC_ACQUIRE) == key) return found; /* not forgotten meanwhile */
  }
  for (uint32_t i = first; i < first + BUCKET; i++) {
    slot *at = &slots[i];
    if (__atomic_load_n(&keys[i], __ATOMIC_RELAXED) != FREE || !claim(&keys[i], most)) continue;
    at->kind = (uint8_t)kind;
    __atomic_store_n(&at->introduced, 0, __ATOMIC_RELAXED);
    io_name(settings, name, secret, at->name);
    io_target made = {(uint16_t)i, generation_of(at)};
    __atomic_store_n(&keys[i], key, __ATOMIC_RELEASE);
    return made;
  }
  return all_others(kind);
}

io_target io_target_find(io_kind kind, const char *name, bool secret) {
  return find(kind, name, secret, settings != NULL ? settings->targets : 0);
}

bool io_target_expect(io_target *target, io_kind kind, const char *name, bool secret) {
  *target = find(kind, name, secret, settings != NULL ? settings->targets / 2 : 0);
  return target->slot >= IO_KINDS || !has_names();
}

bool io_target_is_secret(const char *path) {
  return io_is_redacted(settings, path);
}

bool io_target_is_current(io_target target) {
  return slots == NULL || (target.slot < SLOTS && generation_of(&slots[target.slot]) == target.generation);
}

bool io_target_introduce(io_target target, const char **kind, const char **name) {
  static const char *const kinds[IO_KINDS] = {"", "disk", "net", "pipe", "other"};
  if (slots == NULL || !io_target_is_current(target)) return false;
  slot *at = &slots[target.slot];
  if (__atomic_exchange_n(&at->introduced, 1, __ATOMIC_RELAXED) != 0) return false;
  *kind = kinds[at->kind];
  *name = at->name;
  return true;
}

/* --- sums --- */

io_sums *io_target_sums(io_target target, io_way way) {
  static uint32_t threads;
  static __thread uint32_t shard __attribute__((tls_model("initial-exec"))); /* its number and 1 */
  if (slots == NULL) return NULL;
  if (__builtin_expect(shard == 0, 0)) shard = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) % IO_SHARDS + 1;
  return &sums[target.slot][way][shard - 1];
}

io_sums *io_target_begin(io_target *target, io_kind kind, io_way way) {
  io_sums *mine = io_target_sums(*target, way);
  if (mine == NULL) return NULL;
  __atomic_fetch_add(&mine->open, 1, __ATOMIC_SEQ_CST);
  if (__builtin_expect(__atomic_load_n(&slots[target->slot].generation, __ATOMIC_SEQ_CST) == target->generation, 1))
    return mine;
  io_target_end(mine);
  *target = all_others(kind);
  mine = io_target_sums(*target, way);
  __atomic_fetch_add(&mine->open, 1, __ATOMIC_SEQ_CST);
  return mine;
}

static uint64_t take(uint64_t *counter) {
  return __atomic_load_n(counter, __ATOMIC_RELAXED) != 0 ? __atomic_exchange_n(counter, 0, __ATOMIC_RELAXED) : 0;
}

/* The count is taken first: an operation adds its duration and the longest one before it counts. */
static io_sums take_sums(io_sums shards[IO_SHARDS]) {
  io_sums all = {0};
  for (int i = 0; i < IO_SHARDS; i++) {
    all.count += take(&shards[i].count);
    all.nbytes += take(&shards[i].nbytes);
    all.ticks += take(&shards[i].ticks);
    all.again += take(&shards[i].again);
    all.errors += take(&shards[i].errors);
    uint64_t longest = take(&shards[i].longest);
    if (longest > all.longest) all.longest = longest;
    all.open += __atomic_load_n(&shards[i].open, __ATOMIC_RELAXED);
  }
  if (all.open < 0) all.open = 0; /* the fork of a signal handler inside an operation, which ends in the child */
  return all;
}

static bool report_slot(uint32_t index, uint64_t interval_ns, double tick_ns) {
  const slot *at = &slots[index];
  bool any = false;
  for (int way = 0; way < IO_WAYS; way++) {
    const char *operation = io_caliper_name((io_kind)at->kind, (io_way)way);
    if (operation == NULL) continue;
    io_sums now = take_sums(sums[index][way]);
    if (now.count == 0 && now.again == 0 && now.errors == 0 && now.open == 0) continue;
    any = true;
    double mean = now.count > 0 ? (double)now.ticks / (double)now.count : 0;
    double longest = (double)now.longest > mean ? (double)now.longest : mean; /* it may be in the previous report */
    ll_emit(io_target, index, operation, at->name, interval_ns, now.count, now.nbytes,
            (uint64_t)((double)now.ticks * tick_ns), (uint64_t)(longest * tick_ns), now.again, now.errors,
            (uint32_t)now.open);
  }
  return any;
}

static bool is_in_use(uint32_t index) {
  int64_t open = 0;
  for (int i = 0; i < IO_WAYS * IO_SHARDS; i++)
    open += __atomic_load_n(&sums[index][i / IO_SHARDS][i % IO_SHARDS].open, __ATOMIC_SEQ_CST);
  return open > 0;
}

/* An operation that begins meanwhile sees the new generation, or is seen. */
static void forget(uint32_t index) {
  slot *at = &slots[index];
  uint16_t generation = at->generation;
  __atomic_store_n(&at->generation, (uint16_t)(generation + 1), __ATOMIC_SEQ_CST);
  if (is_in_use(index)) {
    __atomic_store_n(&at->generation, generation, __ATOMIC_SEQ_CST);
    return;
  }
  __atomic_store_n(&keys[index], FREE, __ATOMIC_RELEASE);
  __atomic_fetch_sub(&used, 1, __ATOMIC_RELAXED);
}

void io_targets_report(double tick_ns) {
  if (slots == NULL) return;
  uint64_t now = monotonic_ns(), interval_ns = now - reported_ns;
  reported_ns = now;
  for (uint32_t i = 0; i < SLOTS; i++) {
    slot *at = &slots[i];
    bool named = i >= IO_KINDS;
    if (named && __atomic_load_n(&keys[i], __ATOMIC_ACQUIRE) <= BUSY) continue;
    bool any = report_slot(i, interval_ns, tick_ns);
    __atomic_store_n(&at->introduced, 0, __ATOMIC_RELAXED);
    at->idle = any ? 0 : at->idle + 1;
    if (!named || at->idle < IDLE_REPORTS) continue;
    at->idle = 0;
    forget(i);
  }
}
