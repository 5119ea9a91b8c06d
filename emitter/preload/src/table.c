#include "table.h"

#include "base/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { IDLE_REPORTS = 2 };

#define FREE UINT64_C(0)
#define BUSY UINT64_C(1)

uint64_t io_table_now(void) {
  return ll_now_ns(CLOCK_MONOTONIC);
}

/* --- files: by system calls that the preload does not wrap --- */

void io_table_begin(io_table *table, const io_settings *settings) {
  if (getrandom(table->secret_key, sizeof table->secret_key, GRND_NONBLOCK) < 0)
    table->secret_key[0] = (uintptr_t)table;
  for (int kind = 0; kind < IO_KINDS; kind++) {
    table->slots[kind] = (io_slot){.kind = (uint8_t)kind};
    table->keys[kind] = BUSY;
    strcpy(table->slots[kind].name, settings->names == IO_NAMES_NONE ? IO_NAME_HIDDEN : "(others)");
  }
  table->reported_ns = io_table_now();
  table->reports = 1;
  table->magic = IO_TABLE_MAGIC;
}

static io_table *map(int fd) {
  void *memory = mmap(NULL, sizeof(io_table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  return memory != MAP_FAILED ? memory : NULL;
}

io_table *io_table_open(const char *path) {
  struct stat status;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return NULL;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      status.st_size != sizeof(io_table)) {
    syscall(SYS_close, fd);
    return NULL;
  }
  io_table *table = map(fd);
  if (table == NULL || table->magic == IO_TABLE_MAGIC) return table;
  munmap(table, sizeof *table);
  return NULL;
}

/* Beyond a limit of the size of files the kernel would send a signal. */
bool io_table_make(const char *path) {
  struct rlimit most;
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < sizeof(io_table)) return false;
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  uint64_t magic = IO_TABLE_MAGIC;
  bool made = posix_fallocate(fd, 0, sizeof(io_table)) == 0 &&
              pwrite(fd, &magic, sizeof magic, offsetof(io_table, magic)) == sizeof magic;
  close(fd);
  if (!made) unlink(path);
  return made;
}

bool io_table_is_used(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  fcntl(fd, F_SETSIG, SIGURG); /* ignored by default */
  bool used = fcntl(fd, F_SETLEASE, F_RDLCK) != 0;
  if (!used) fcntl(fd, F_SETLEASE, F_UNLCK);
  close(fd);
  return used;
}

/* --- reports --- */

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

static bool is_in_use(const io_table *table, uint32_t index) {
  int64_t open = 0;
  for (int i = 0; i < IO_WAYS * IO_SHARDS; i++)
    open += __atomic_load_n(&table->sums[index][i / IO_SHARDS][i % IO_SHARDS].open, __ATOMIC_SEQ_CST);
  return open > 0;
}

/* An operation that begins meanwhile sees the new generation, or is seen. A generation is never that of two names: who
 * has found the new one has found the name still there, since it is hidden before. */
static void forget(io_table *table, uint32_t index) {
  uint64_t key = __atomic_exchange_n(&table->keys[index], IO_KEY_FORGETTING, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&table->slots[index].generation, 1, __ATOMIC_SEQ_CST);
  bool stays = is_in_use(table, index);
  __atomic_store_n(&table->keys[index], stays ? key : FREE, __ATOMIC_RELEASE);
  if (!stays) __atomic_fetch_sub(&table->used, 1, __ATOMIC_RELAXED);
}

void io_table_after_fork(io_table *table) {
  for (uint32_t i = IO_KINDS; i < IO_SLOTS; i++) {
    if (table->keys[i] != IO_KEY_FORGETTING) continue;
    table->slots[i].generation++;
    table->keys[i] = FREE;
    table->used--;
  }
}

/* An operation adds its bytes before it counts, and a report may come in between. */
static bool is_empty(const io_sums *sums) {
  return (sums->count | sums->nbytes | sums->ticks | sums->again | sums->errors) == 0 && sums->open == 0;
}

static bool report_slot(io_table *table, io_report *now, void (*tell)(const io_report *)) {
  const io_slot *at = &table->slots[now->slot];
  bool any = false;
  for (int way = 0; way < IO_WAYS; way++) {
    now->operation = at->kind < IO_KINDS ? io_caliper_name((io_kind)at->kind, (io_way)way) : NULL;
    if (now->operation == NULL) continue;
    now->sums = take_sums(table->sums[now->slot][way]);
    if (is_empty(&now->sums)) continue;
    any = true;
    now->name = at->name;
    now->program = at->program;
    tell(now);
  }
  return any;
}

void io_table_report(io_table *table, double tick_ns, void (*tell)(const io_report *report)) {
  uint64_t now = io_table_now();
  io_report report = {.interval_ns = now - table->reported_ns, .tick_ns = table->monotonic != 0 ? 1 : tick_ns};
  table->reported_ns = now;
  __atomic_store_n(&table->reports, table->reports == UINT32_MAX ? 1 : table->reports + 1, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < IO_SLOTS; i++) {
    io_slot *at = &table->slots[i];
    bool named = i >= IO_KINDS;
    if (named && (__atomic_load_n(&table->keys[i], __ATOMIC_ACQUIRE) & 2) == 0) continue;
    report.slot = i;
    bool any = report_slot(table, &report, tell);
    at->idle = any ? 0 : at->idle + 1;
    if (!named || at->idle < IDLE_REPORTS) continue;
    at->idle = 0;
    forget(table, i);
  }
}

uint64_t io_report_duration(const io_report *report) {
  return (uint64_t)((double)report->sums.ticks * report->tick_ns);
}

/* The longest may be in the previous report. */
uint64_t io_report_longest(const io_report *report) {
  double mean = report->sums.count > 0 ? (double)report->sums.ticks / (double)report->sums.count : 0;
  return (uint64_t)(((double)report->sums.longest > mean ? (double)report->sums.longest : mean) * report->tick_ns);
}
