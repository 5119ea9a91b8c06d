/* Where a thread leaves the values that are to be summarised: a store each, and arithmetic once per block.
 *
 *   folder          one thread's: what it measures just now, and its cells by event type
 *     cell          one field of one type, or a caliper: two halves, of which the thread fills one
 *       half        the raw values since the last time; a full one is folded into moments, behind this header
 *
 * At an interval's end the harvester turns a cell over: from then on the thread fills the other half. Neither of the
 * two waits, and a thread that hangs in the middle of what it measures hides nothing. The thread says busy, then reads
 * the turn; the harvester writes the turn, makes all threads pass a fence (membarrier), then waits until busy is 0.
 * After that no thread is in the old half, nor can one get there.
 *
 * Not an interface: the library and this header change together.
 */
#ifndef LIFELINE_DETAIL_CELLS_H
#define LIFELINE_DETAIL_CELLS_H

#include <lifeline/detail/emit.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  LL_CELL_ROWS = 128,
  LL_CELL_BUCKETS = 256,
  LL_MARKS_MAX = 64,
  LL_TURN_STALE = 2, /* in a cell's turn: its plan is not valid any more */
};

typedef struct ll_cell {
  uint32_t number; /* of the event type; 0: this cell is free */
  uint32_t turn;   /* the half to fill; from LL_TURN_STALE on the library has to be asked */
  uint32_t rows[2];
  struct ll_cell *next;   /* the same type's next field */
  struct ll_cell *beside; /* another type of the same bucket */
  uint16_t field;         /* its index */
  uint8_t code;           /* its type's */
  uint8_t kind;           /* ll_cell_kind: how many words a value takes */
  uint32_t total;         /* where its moments go */
  uint64_t previous;      /* tick of the latest value, where its distance from the next is wanted */
  uint64_t words[2][LL_CELL_ROWS];
} ll_cell;

typedef enum ll_cell_kind {
  LL_CELL_VALUE,   /* one word: the field's bits */
  LL_CELL_TIMED,   /* two: and the ticks since the thread's previous value */
  LL_CELL_CALIPER, /* two: a double, and the ticks that it took */
} ll_cell_kind;

/* An operation under way. */
typedef struct ll_mark {
  uint64_t began; /* its tick; 0: this mark is free. Written last */
  uint32_t number;
  uint32_t reserved;
} ll_mark;

typedef struct ll_folder {
  uint32_t busy; /* its thread is at its cells */
  uint32_t in_use;
  uint32_t mark; /* probably free */
  uint32_t fast; /* ticks are the CPU's; 0 also in a forked child, where this folder is the parent's */
  uint64_t thread;
  ll_cell *cells[LL_CELL_BUCKETS]; /* by the low bits of the type's number */
  ll_mark marks[LL_MARKS_MAX];
} ll_folder;

#ifndef LIFELINE_DISABLE

/* The calling thread's folder; NULL before its first value. */
LL_API extern __thread ll_folder *ll_tls_folder __attribute__((tls_model("initial-exec")));

static inline ll_cell *ll_find_cell(const ll_folder *folder, uint32_t number) {
  ll_cell *cell = folder->cells[number % LL_CELL_BUCKETS];
  while (LL_UNLIKELY(cell != NULL && cell->number != number))
    cell = cell->beside;
  return cell;
}

/* One event's value, where the type's only cell on this thread has room. False: it is another case. The one that fills
 * the block is left to the library, which folds it. */
static inline bool ll_put(uint32_t number, const ll_number *numbers) {
  ll_folder *folder = ll_tls_folder;
  bool put = false;
  if (LL_UNLIKELY(folder == NULL || __atomic_load_n(&folder->busy, __ATOMIC_RELAXED) != 0)) return false;
  __atomic_store_n(&folder->busy, 1, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  ll_cell *cell = folder->cells[number % LL_CELL_BUCKETS];
  if (LL_LIKELY(cell != NULL && cell->number == number && cell->next == NULL)) {
    uint32_t turn = __atomic_load_n(&cell->turn, __ATOMIC_ACQUIRE);
    uint32_t row = turn < LL_TURN_STALE ? cell->rows[turn] : (uint32_t)LL_CELL_ROWS;
    bool plain = cell->kind == LL_CELL_VALUE;
    put = plain ? row < LL_CELL_ROWS - 1 : row < LL_CELL_ROWS - 2 && folder->fast;
    if (LL_LIKELY(put)) {
      cell->words[turn][row] = numbers[cell->field].u;
      if (!plain) {
        uint64_t now = LL_CPU_TICK();
        cell->words[turn][++row] = cell->previous != 0 ? now - cell->previous : 0;
        cell->previous = now;
      }
      cell->rows[turn] = row + 1;
    }
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&folder->busy, 0, __ATOMIC_RELEASE);
  return put;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
