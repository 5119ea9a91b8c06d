/* Merges events of several inputs by time, in bounded memory.
 *
 * Batches are nearly in order: an emitter's batch ends where its next one begins, except for threads that the harvester
 * reached later and for batches spooled during an outage. ORDER_TIME holds a window of batches and prints the earliest
 * event in it; an event that arrives too late for the window is printed at once, and counted. ORDER_EXACT reads
 * everything twice: first to find the start of each batch, then each batch when its time has come.
 */
#ifndef LIFELINE_CAT_MERGE_H
#define LIFELINE_CAT_MERGE_H

#include "ordered.h"

typedef enum order { ORDER_TIME, ORDER_EXACT, ORDER_STORED } order;

typedef struct merge_calls {
  source_events events;
  /* Returns false if the batch is not to be printed. */
  bool (*accept)(void *ctx, const char *name, const found_batch *found);
  void (*print)(void *ctx, ordered *batch, const ordered_event *at);
  void (*failed)(void *ctx, const char *name, int error);
  bool (*stopped)(void *ctx); /* called once per batch; true ends the merge */
  void *ctx;
} merge_calls;

typedef struct merge_result {
  uint64_t late; /* events printed after later ones */
} merge_result;

/* Inputs are file names, or "-" for standard input. window_bytes: memory for ORDER_TIME. */
merge_result merge_inputs(const char *const *inputs, uint32_t count, order by, size_t window_bytes,
                          const merge_calls *calls);

/* Prints the inputs in stored order, and continues as they grow, until it is stopped. */
void merge_follow(const char *const *inputs, uint32_t count, const merge_calls *calls);

#endif
