/* Summary state shared by threads and the harvester. Guarded by the lock, except as described in detail/cells.h. */
#ifndef LIFELINE_CELLS_H
#define LIFELINE_CELLS_H

#include "moments.h"

#include <lifeline/detail/cells.h>

enum {
  LL_FOLDERS_MAX = 1024,
  LL_CELLS_MAX = 8192,
  LL_TOTALS_MAX = 2048,
};

/* The values of one field, combined over all threads, within the interval. */
typedef struct ll_total {
  uint32_t number; /* 0: free */
  uint16_t field;  /* its index in the descriptor */
  uint8_t kind;
  bool first;  /* first total of its type: it counts the events */
  bool ending; /* its plan was replaced: free once reported */
  bool due;
  uint32_t cells;   /* number of cells that refer to it */
  uint32_t threads; /* cells that had values in the interval: there is one per thread */
  uint32_t nth;     /* counts the intervals, from 0 */
  uint64_t interval_ns;
  uint64_t since_ns;
  ll_moments moments[3]; /* value; time or duration; rate */
} ll_total;

/* The private part of a cell: the moments already folded, per half. */
typedef struct ll_cell_depth {
  ll_moments moments[2][3];
  uint32_t folder;
  uint32_t counted; /* nth + 1 of the latest interval that counts this cell's thread */
  bool turned;      /* the other half waits to be collected */
} ll_cell_depth;

typedef struct ll_summaries {
  uint32_t alive; /* 0 in a forked child: the data is the parent's */
  bool closed;
  uint32_t folders_used, cells_used, totals_used; /* the others' pages are never touched */
  uint64_t due_ns;                                /* end of the next interval, or earlier */
  uint64_t others_ns;                             /* when ll_on_report's function was called last */
  uint64_t shortest_ns;                           /* shortest interval of all totals */
  ll_cell *free_cells;                            /* linked by next */
  ll_folder folders[LL_FOLDERS_MAX];
  ll_cell cells[LL_CELLS_MAX];
  ll_cell_depth depths[LL_CELLS_MAX];
  ll_total totals[LL_TOTALS_MAX];
} ll_summaries;

/* NULL before the first summary in this process. */
extern ll_summaries *ll_the_summaries;

/* Folds the words of one half into its moments. The caller must own that half. */
void ll_cell_fold(ll_summaries *summaries, ll_cell *cell, uint32_t half);

/* Moves what one half has to the cell's total. The caller must own that half. With the lock held. */
void ll_cell_add_half(ll_summaries *summaries, ll_cell *cell, uint32_t half);

bool ll_moments_are_empty(const ll_moments *moments);

/* Adds both halves of a cell that is no longer filled to its total, and frees the cell. */
void ll_cell_release(ll_summaries *summaries, ll_cell *cell);

#endif
