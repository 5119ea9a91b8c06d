/* What threads and the harvester share about summaries. Under the lock, but for what detail/cells.h says. */
#ifndef LIFELINE_CELLS_H
#define LIFELINE_CELLS_H

#include "moments.h"

#include <lifeline/detail/cells.h>

enum {
  LL_FOLDERS_MAX = 1024,
  LL_CELLS_MAX = 8192,
  LL_TOTALS_MAX = 2048,
};

/* What all threads' values of one field add up to, within the interval. */
typedef struct ll_total {
  uint32_t number; /* 0: free */
  uint16_t field;  /* its index in the descriptor */
  uint8_t kind;
  bool first;  /* of its type's: it counts the events */
  bool ending; /* its plan was replaced: free once it is reported */
  bool due;
  uint32_t cells; /* that refer to it */
  uint64_t interval_ns;
  uint64_t since_ns;
  ll_moments moments[3]; /* value; time or duration; rate */
} ll_total;

/* What the header does not need to know of a cell: its two halves' moments of before the words in it. */
typedef struct ll_cell_depth {
  ll_moments moments[2][3];
  uint32_t folder;
  bool turned; /* the other half waits to be collected */
} ll_cell_depth;

typedef struct ll_summaries {
  uint32_t alive; /* 0 in a forked child: all this was its parent's */
  bool closed;
  uint32_t cells_used, totals_used;
  uint64_t due_ns;     /* when the next interval is over, or earlier */
  ll_cell *free_cells; /* by next */
  ll_folder folders[LL_FOLDERS_MAX];
  ll_cell cells[LL_CELLS_MAX];
  ll_cell_depth depths[LL_CELLS_MAX];
  ll_total totals[LL_TOTALS_MAX];
} ll_summaries;

/* NULL before anything was summarised in this process. */
extern ll_summaries *ll_the_summaries;

/* Folds the words of one half into its moments. Whoever has that half may. */
void ll_cell_fold(ll_summaries *summaries, ll_cell *cell, uint32_t half);

/* Both halves of a cell that nobody fills any more go to its total, and the cell to the free ones. */
void ll_cell_release(ll_summaries *summaries, ll_cell *cell);

#endif
