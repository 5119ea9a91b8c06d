#include "retire.h"

#include "atomics.h"
#include "core.h"
#include "fence.h"

#include <stdlib.h>
#include <string.h>

typedef struct note {
  struct note *next;
  void *memory;
} note;

static note *waiting;                       /* retired since the sweep began */
static note *swept;                         /* free when no emit that was under way then is any more */
static uint64_t readers[LL_RINGS_MAX / 64]; /* the producers of those emits, bit by bit */

void ll_retire(const void *memory) {
  if (memory == NULL) return;
  note *made = malloc(sizeof *made);
  if (made == NULL) return;
  *made = (note){waiting, (void *)(uintptr_t)memory};
  waiting = made;
}

static bool is_busy(uint32_t producer) {
  return load_acquire(&ll_the_core.sensitive->producers[producer].busy) != 0;
}

/* A thread says busy, then looks for its shaping, without a fence between. The fence is here: behind it, an emit either
 * finds what is new, or is seen to be busy. */
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
  while (swept != NULL) {
    note *next = swept->next;
    free(swept->memory);
    free(swept);
    swept = next;
  }
  return waiting != NULL;
}

void ll_retire_forget(void) {
  waiting = swept = NULL;
  memset(readers, 0, sizeof readers);
}
