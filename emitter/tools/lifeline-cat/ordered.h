/* A batch with its events in the order of their times. */
#ifndef LIFELINE_CAT_ORDERED_H
#define LIFELINE_CAT_ORDERED_H

#include "source.h"

typedef struct ordered_event {
  int64_t time_ns;
  uint32_t offset;  /* of the record */
  uint32_t segment; /* that holds it */
  uint32_t index;   /* in stored order */
} ordered_event;

typedef struct ordered {
  found_batch from;
  uint32_t input; /* the number of the input that it came from */
  ordered_event *events;
  uint32_t count, next;
  size_t cost;                 /* bytes of memory */
  struct type_text *type_text; /* the printer's, by the batch's types */
} ordered;

/* Takes over the batch, also on failure. by_time: else the stored order is kept. NULL without memory. */
ordered *ordered_make(found_batch *from, bool by_time);
void ordered_free(ordered *batch);

/* The event's values, as llb_next gives them. */
void ordered_values(const ordered *batch, const ordered_event *at, llb_event *event);

static inline int64_t ordered_time(const ordered *batch) {
  return batch->events[batch->next].time_ns;
}

#endif
