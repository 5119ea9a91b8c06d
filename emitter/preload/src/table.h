/* A table of targets, which may lie in a file that outlives its processes. See targets.h; short processes: README. */
#ifndef LIFELINE_PRELOAD_TABLE_H
#define LIFELINE_PRELOAD_TABLE_H

#include "names.h"
#include "values.h"

enum {
  IO_BUCKET = 16, /* slots among which a name chooses */
  IO_BUCKETS = 128,
  IO_SLOTS = IO_KINDS + IO_BUCKET * IO_BUCKETS, /* the first ones stand for all other names of their kind */
  IO_PROGRAM_BYTES = 64,
  IO_LINES_BYTES = 2048,
};

#define IO_TABLE_MAGIC UINT64_C(0x34656c6261746f69) /* changes with the layout */

/* One cache line. */
typedef struct __attribute__((aligned(64))) io_sums {
  uint64_t count, nbytes, ticks;
  uint64_t longest; /* ticks */
  uint64_t again;   /* calls that would have had to wait, or were interrupted */
  uint64_t errors;
  int64_t open; /* operations under way; not taken by a report */
} io_sums;

typedef struct io_slot {
  uint16_t generation;
  uint8_t kind;
  uint32_t idle; /* reports without an operation; the reporter's */
  char name[IO_NAME_BYTES];
  char program[IO_PROGRAM_BYTES];
} io_slot;

typedef struct io_table {
  uint64_t magic;
  uint64_t secret_key[2]; /* makes the places of names unpredictable */
  uint64_t reported_ns;
  uint32_t used;
  uint32_t monotonic;         /* ticks are nanoseconds, since emitters here do not use the CPU's clock */
  uint32_t first;             /* pid of the run's first process */
  uint32_t asked;             /* raised by that process when it ends; a futex */
  uint32_t answered;          /* the last value of `asked` for which all was delivered */
  uint32_t reports;           /* and 1, so that it is never 0 */
  char lines[IO_LINES_BYTES]; /* of the agent's log, which the first process writes to standard error when it ends */
  uint64_t keys[IO_SLOTS];    /* hash of program, kind and name, or free or busy. Written last */
  io_slot slots[IO_SLOTS];
  io_sums sums[IO_SLOTS][IO_WAYS][IO_SHARDS];
  io_values values[IO_CALIPERS][IO_SHARDS]; /* of processes that are no emitters */
} io_table;

/* Empty, of settings->targets targets. */
void io_table_begin(io_table *table, const io_settings *settings);

/* The file's; NULL if it is none, or another user's. The file is closed again, its mapping is what shows that the
 * process lives. */
io_table *io_table_open(const char *path);

/* A new file of this name, which has all its memory: writing to it cannot fail. */
bool io_table_make(const char *path);

uint64_t io_table_now(void);

/* What a slot has summed up since the last report. */
typedef struct io_report {
  uint32_t slot;
  const char *operation, *name, *program;
  uint64_t interval_ns;
  io_sums sums;
  double tick_ns;
} io_report;

/* The key of a slot whose name the reporting thread forgets at this moment. No name has it: keys have bit 1. */
#define IO_KEY_FORGETTING UINT64_C(4)

/* In a forked child with a table of its own: no thread ends what the parent's reporting thread had begun. */
void io_table_after_fork(io_table *table);

/* Takes all sums. Called by one thread. */
void io_table_report(io_table *table, double tick_ns, void (*tell)(const io_report *report));

/* Of a report: nanoseconds of all operations, and of the longest. */
uint64_t io_report_duration(const io_report *report);
uint64_t io_report_longest(const io_report *report);

/* Whether any process has the file mapped: the kernel grants a lease only while nobody may write. True as well if it
 * knows no leases. */
bool io_table_is_used(const char *path);

#endif
