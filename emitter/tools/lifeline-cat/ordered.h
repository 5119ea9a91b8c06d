/* A batch with its events sorted by time. */
#ifndef LIFELINE_CAT_ORDERED_H
#define LIFELINE_CAT_ORDERED_H

#include "source.h"

typedef struct ordered_event {
  int64_t time_ns;
  uint32_t offset;  /* offset of the record */
  uint32_t segment; /* segment of the record */
  uint32_t index;   /* position in stored order */
} ordered_event;

typedef struct ordered {
  found_batch from;
  uint32_t input; /* index of its input */
  ordered_event *events;
  uint32_t count, next;
  size_t cost;                 /* bytes of memory */
  struct type_text *type_text; /* cache of print.c, by event type */
} ordered;

/* Takes ownership of the batch, also on failure. Without by_time the stored order is kept. NULL if out of memory. */
ordered *ordered_make(found_batch *from, bool by_time);
void ordered_free(ordered *batch);

/* Reads the event's values with llb_next. */
void ordered_values(const ordered *batch, const ordered_event *at, llb_event *event);

static inline int64_t ordered_time(const ordered *batch) {
  return batch->events[batch->next].time_ns;
}

#endif
