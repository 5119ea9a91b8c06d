/* Events of several inputs, in the order of their times, in bounded memory.
 *
 * Batches are nearly in order: one ends where the next of its emitter begins, but for threads that the harvester came
 * to later, and for what was spooled while a broker was away. So ORDER_TIME holds a window of batches, and prints the
 * earliest event that it sees; an event that comes later than the window is printed when it comes, and counted.
 * ORDER_EXACT reads everything twice: first to learn when each batch begins, then each batch when its time has come.
 */
#ifndef LIFELINE_CAT_MERGE_H
#define LIFELINE_CAT_MERGE_H

#include "ordered.h"

typedef enum order { ORDER_TIME, ORDER_EXACT, ORDER_STORED } order;

typedef struct merge_calls {
  source_events events;
  /* False: the batch is not to be printed. */
  bool (*accept)(void *ctx, const char *name, const found_batch *found);
  void (*print)(void *ctx, ordered *batch, const ordered_event *at);
  void (*failed)(void *ctx, const char *name, int error);
  bool (*stopped)(void *ctx); /* asked once for each batch: true ends everything */
  void *ctx;
} merge_calls;

typedef struct merge_result {
  uint64_t late; /* events that were printed behind later ones */
} merge_result;

/* Inputs are names of files, "-" for standard input. window_bytes: memory for ORDER_TIME. */
merge_result merge_inputs(const char *const *inputs, uint32_t count, order by, size_t window_bytes,
                          const merge_calls *calls);

/* Prints what the inputs have in stored order, and goes on as they grow, until it is stopped. */
void merge_follow(const char *const *inputs, uint32_t count, const merge_calls *calls);

#endif
