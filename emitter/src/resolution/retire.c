#include "retire.h"

#include "base/atomics.h"
#include "base/fence.h"
#include "ring/emitter.h"

#include <string.h>
#include <sys/mman.h>

enum { AT_ONCE = 65536 / sizeof(ll_shaping) };

static ll_shaping *vacant;
static ll_shaping *waiting;                 /* retired since the sweep began */
static ll_shaping *swept;                   /* free once all emits that were under way then have ended */
static uint64_t readers[LL_RINGS_MAX / 64]; /* bitmap of the producers of those emits */

static void push(ll_shaping **list, ll_shaping *shaping) {
  shaping->next = *list;
  *list = shaping;
}

static ll_shaping *pop(ll_shaping **list) {
  ll_shaping *first = *list;
  if (first != NULL) *list = first->next;
  return first;
}

ll_shaping *ll_shaping_take(void) {
  if (vacant == NULL) {
    ll_shaping *more = mmap(NULL, AT_ONCE * sizeof *more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED) return NULL;
    for (unsigned i = 0; i < AT_ONCE; i++)
      push(&vacant, &more[i]);
  }
  ll_shaping *taken = pop(&vacant);
  memset(taken, 0, sizeof *taken);
  return taken;
}

void ll_shaping_give_back(ll_shaping *shaping) {
  push(&vacant, shaping);
}

void ll_retire(ll_shaping *shaping) {
  if (shaping != NULL) push(&waiting, shaping);
}

static bool is_busy(uint32_t producer) {
  return load_acquire(&ll_the_emitter.sensitive->producers[producer].busy) != 0;
}

/* A thread sets busy, then reads its shaping, without a fence in between. The fence is here: after it, an emit either
 * finds the new shaping, or is seen as busy. */
static void begin(void) {
  ll_fence_all_threads();
  swept = waiting;
  waiting = NULL;
  for (uint32_t i = 0; i < LL_RINGS_MAX; i++)
    readers[i / 64] |= (uint64_t)is_busy(i) << i % 64;
}

static bool all_have_left(void) {
  bool left = true;
  for (uint32_t i = 0; i < LL_RINGS_MAX; i++) {
    uint64_t bit = UINT64_C(1) << i % 64;
    if ((readers[i / 64] & bit) == 0) continue;
    if (is_busy(i))
      left = false;
    else
      readers[i / 64] &= ~bit;
  }
  return left;
}

bool ll_retire_sweep(void) {
  if (swept == NULL && waiting == NULL) return false;
  if (swept == NULL) begin();
  if (!all_have_left()) return true;
  while (swept != NULL)
    push(&vacant, pop(&swept));
  return waiting != NULL;
}

void ll_retire_forget(void) {
  vacant = waiting = swept = NULL;
  memset(readers, 0, sizeof readers);
}
