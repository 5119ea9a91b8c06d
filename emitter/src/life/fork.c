/* Fork handlers: reset the state that a child must not inherit. See ll_fork_sensitive in ring/emitter.h. */
#include "base/apart.h"
#include "base/loading.h"
#include "base/log.h"
#include "base/threads.h"
#include "ending.h"
#include "life.h"
#include "resolution/resolution.h"
#include "ring/producer.h"
#include "session.h"
#include "summary/summary.h"

#include <pthread.h>
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

static ll_saved_state before_fork; /* of the thread that forks */

/* Its producers whose emit may have been interrupted, if a signal handler forks: the default route's, and another's.
 * With their rings: the child's copy of a producer is wiped. */
enum { UNFINISHED = 2 };
static ll_producer *unfinished[UNFINISHED];
static ll_extent rings[UNFINISHED];

/* A producer that was wiped before, since this process was forked, has no mask, and the same base still. */
static void note_unfinished(int i, ll_producer *producer) {
  unfinished[i] = producer != NULL && producer->base != NULL ? producer : NULL;
  if (unfinished[i] != NULL && (producer->mask != 0 || rings[i].at != producer->base))
    rings[i] = (ll_extent){producer->base, producer->mask + 1};
}

static void before_any(void) {
  ll_saved_state before;
  ll_loading_before_fork();
  ll_lock(&before);
  before_fork = before;
  note_unfinished(0, ll_tls_producer);
  note_unfinished(1, ll_producer_interrupted());
}

static void unlock(void) {
  ll_saved_state before = before_fork;
  ll_unlock(&before);
}

static void in_parent(void) {
  __atomic_add_fetch(&ll_the_life.forks, 1, __ATOMIC_RELAXED);
  unlock();
  ll_loading_after_fork_in_parent();
}

/* Before Linux 4.14 only this handler resets the state. It also covers an emit that was interrupted by a signal handler
 * which forked: the child finishes it in the memory that replaces the ring file's mapping. The emit may already have
 * read its position, up to a ring's size, but not yet the base, so every base must have that much memory behind it. */
static void in_child(void) {
  static uint64_t unread_head;
  ll_extent written[UNFINISHED];
  unsigned count = 0;
  ll_fork_sensitive *sensitive = ll_the_emitter.sensitive;
  if (sensitive != NULL) {
    if (!wiped_by_kernel) {
      memset(sensitive, 0, sizeof *sensitive);
      ll_summary_after_fork();
    }
    for (int i = 0; i < UNFINISHED; i++)
      if (unfinished[i] != NULL) written[count++] = rings[i];
    ll_store_after_fork(&ll_the_emitter.store, written, count);
  }
  ll_the_life.forks = 0;
  ll_threads_forget();
  ll_apart_forget();
  ll_resolution_after_fork();
  ll_ending_begin();
  for (int i = 0; i < UNFINISHED; i++)
    if (unfinished[i] != NULL) {
      unfinished[i]->base = rings[i].at;
      unfinished[i]->head = &unread_head;
    }
  ll_log_forget();
  ll_sessions_after_fork();
  unlock();
  ll_loading_after_fork_in_child();
}

/* At library load: handlers registered while another thread forks might not run in that fork, and the child would have
 * a lock that is never released. */
__attribute__((constructor)) static void watch(void) {
  ll_ending_begin();
  pthread_atfork(before_any, in_parent, in_child);
}
