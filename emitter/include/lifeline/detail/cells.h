/* Buffers of the values that a thread wants summarised: one store per value, arithmetic once per block.
 *
 *   folder          of one thread: its running operations, and its cells by event type
 *     cell          one field of one type, or a caliper: two halves, of which the thread fills one
 *       half        the raw values since the last fold; the library folds a full half into moments
 *
 * At the end of an interval the harvester flips a cell's turn: from then on the thread fills the other half. Neither of
 * them waits for the other, and a thread that hangs inside an operation hides nothing. The thread sets busy, then reads
 * the turn. The harvester writes the turn, makes all threads execute a fence (membarrier), then waits until busy is 0.
 * After that no thread uses the old half, and none can start to.
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
  LL_TURN_STALE = 2, /* value of a cell's turn: its plan is outdated */
};

typedef struct ll_cell {
  uint32_t number; /* of the event type; 0: this cell is free */
  uint32_t turn;   /* the half to fill; from LL_TURN_STALE on ask the library */
  uint32_t rows[2];
  struct ll_cell *next;   /* next field of the same type */
  struct ll_cell *beside; /* another type of the same bucket */
  uint16_t field;         /* index of the field */
  uint8_t code;           /* type code of the field */
  uint8_t kind;           /* ll_cell_kind: how many words a value takes */
  uint32_t total;         /* index of its moments */
  uint64_t previous;      /* tick of the latest value, if distances are summarised */
  uint64_t words[2][LL_CELL_ROWS];
} ll_cell;

typedef enum ll_cell_kind {
  LL_CELL_VALUE,   /* one word: the field's bits */
  LL_CELL_TIMED,   /* two: also the ticks since the thread's previous value */
  LL_CELL_CALIPER, /* two: a double, and the duration in ticks */
} ll_cell_kind;

/* A running operation. */
typedef struct ll_mark {
  uint64_t began; /* start tick; 0: this mark is free. Written last */
  uint32_t number;
  uint32_t reserved;
} ll_mark;

typedef struct ll_folder {
  uint32_t busy;   /* its thread is using its cells */
  uint32_t in_use; /* 0: free */
  uint32_t mark;   /* index of a mark that is probably free */
  uint32_t fast;   /* ticks are the CPU's; 0 in a forked child, too, where this is the parent's folder */
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

/* Stores one event's value if the type has a single cell on this thread, with room. False in all other cases; the
 * library stores the value that fills the block, and folds it. */
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
        cell->words[turn][++row] = cell->previous != 0 ? ll_ticks_from(cell->previous, now) : 0;
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
