/* What a fork must not carry over. See ll_fork_sensitive in core.h. */
#include "core.h"

#include <string.h>
#include <sys/mman.h>

static bool wiped_by_kernel;

ll_fork_sensitive *ll_fork_sensitive_memory(void) {
  size_t bytes = sizeof(ll_fork_sensitive);
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  wiped_by_kernel = madvise(memory, bytes, MADV_WIPEONFORK) == 0;
  return memory;
}

/* Before Linux 4.14 the handler is all there is. It also covers the emit that was interrupted by a signal handler which
 * forked: the child finishes that one into memory that nobody reads. */
static void in_child(void) {
  if (ll_the_core.sensitive == NULL) return;
  if (!wiped_by_kernel) memset(ll_the_core.sensitive, 0, sizeof *ll_the_core.sensitive);
  ll_store_after_fork(&ll_the_core.store);
}

void ll_fork_watch(void) {
  pthread_atfork(NULL, NULL, in_child);
}
