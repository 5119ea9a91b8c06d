/* A source of kernel measurements: eBPF or /proc. The first that opens is used, see kernel.c.
 *
 * Sources are used by one thread. Functions that return int return 0 or an errno value.
 */
#ifndef KERNEL_SOURCE_H
#define KERNEL_SOURCE_H

#include "cells.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of one kind of one process in one interval. */
typedef struct kernel_sum {
  uint64_t count, sum, min, max;
  uint64_t nbytes, errors;
  double squares;
  bool is_total; /* only count and sum are known: minimum, maximum and histogram are 0 */
  uint64_t histogram[KERNEL_BUCKETS];
} kernel_sum;

/* Called by read() and drain(). `process` comes first: for each process that is watched, at each read. After `ended`
 * its number is not used again. */
typedef struct kernel_taker {
  void (*process)(void *ctx, uint32_t number, const struct kernel_process *process);
  void (*ended)(void *ctx, uint32_t number);
  void (*sum)(void *ctx, const struct kernel_process *process, const struct kernel_key *key, const kernel_sum *sum);
  void (*single)(void *ctx, const struct kernel_process *process, const struct kernel_single *single);
  void *ctx;
} kernel_taker;

typedef struct kernel_source {
  unsigned abi;
  const char *name;
  unsigned views; /* which it can measure at all */

  /* On error `why` has a sentence about the cause and the remedy. *views may lose some that this kernel cannot measure,
   * which `why` then names; otherwise it is empty. */
  int (*open)(unsigned *views, void **opened, char *why, size_t why_bytes);

  /* The process, and all that it forks from now on. *number is set also for EEXIST. ESRCH: there is no such process.
   * EEXIST: it is watched already. ENOSPC: too many. */
  int (*watch)(void *opened, uint32_t pid, uint32_t *number);

  /* The process has ended, which the source may not have noticed; another one may have its pid, and be watched, too.
   * read() hands over the rest. */
  void (*forget)(void *opened, uint32_t pid);

  /* Hands over what was measured since the last call, and forgets processes that have ended. */
  void (*read)(void *opened, const kernel_taker *taker);

  /* Readable when drain() should be called; -1 if never. */
  int (*descriptor)(void *opened);
  void (*drain)(void *opened, const kernel_taker *taker);

  /* Switches single events of these views on, and all others off. */
  void (*set_singles)(void *opened, unsigned views);

  /* Cumulative. */
  void (*losses)(void *opened, uint64_t lost[KERNEL_LOSSES]);
  void (*close)(void *opened);
} kernel_source;

/* Changes with this file and with cells.h. */
#define KERNEL_SOURCE_ABI 2
#define KERNEL_SOURCE_ENTRY lifeline_kernel_source

extern const kernel_source kernel_proc;

#endif
