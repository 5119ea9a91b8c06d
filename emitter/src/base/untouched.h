/* Memory that costs nothing until it is written: for tables that have room for the most there can be. */
#ifndef LIFELINE_UNTOUCHED_H
#define LIFELINE_UNTOUCHED_H

#include <stddef.h>
#include <sys/mman.h>

/* All zeros; NULL when the system has no more. munmap frees it. */
static inline void *ll_untouched(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

#endif
