#include "ordered.h"

#include <stdlib.h>
#include <string.h>

/* Segments are usually in time order. A natural merge sort takes a number of passes logarithmic in the number of runs,
 * and none for a single run. It is stable. */
static uint32_t run_end(const ordered_event *events, uint32_t from, uint32_t count) {
  uint32_t end = from + 1;
  while (end < count && events[end - 1].time_ns <= events[end].time_ns)
    end++;
  return end;
}

static void merge(const ordered_event *from, ordered_event *to, uint32_t begin, uint32_t middle, uint32_t end) {
  uint32_t left = begin, right = middle;
  for (uint32_t at = begin; at < end; at++) {
    bool take_left = left < middle && (right == end || from[left].time_ns <= from[right].time_ns);
    to[at] = from[take_left ? left++ : right++];
  }
}

/* Returns false if out of memory. */
static bool sort(ordered *batch) {
  uint32_t count = batch->count;
  if (count < 2 || run_end(batch->events, 0, count) == count) return true;
  ordered_event *other = malloc(count * sizeof *other);
  if (!other) return false;
  for (bool done = false; !done;) {
    for (uint32_t begin = 0; begin < count;) {
      uint32_t middle = run_end(batch->events, begin, count);
      uint32_t end = middle < count ? run_end(batch->events, middle, count) : count;
      merge(batch->events, other, begin, middle, end);
      done = begin == 0 && end == count;
      begin = end;
    }
    ordered_event *sorted = other;
    other = batch->events;
    batch->events = sorted;
  }
  free(other);
  return true;
}

ordered *ordered_make(found_batch *from, bool by_time) {
  ordered *batch = calloc(1, sizeof *batch);
  const llb_batch *found = from->batch;
  if (batch) {
    batch->count = found->event_count;
    batch->events = malloc(((size_t)batch->count + 1) * sizeof *batch->events);
  }
  if (!batch || !batch->events) {
    free(batch);
    found_batch_free(from);
    return NULL;
  }
  batch->from = *from;
  llb_cursor cursor = llb_events(found);
  llb_event event;
  for (uint32_t i = 0; llb_next(&cursor, &event); i++)
    batch->events[i] = (ordered_event){event.time_ns, (uint32_t)event.offset, (uint32_t)cursor.segment, i};
  batch->cost = sizeof *batch + batch->from.size + found->events.size + batch->count * sizeof *batch->events;
  if (by_time && !sort(batch)) {
    ordered_free(batch);
    return NULL;
  }
  return batch;
}

void ordered_free(ordered *batch) {
  if (!batch) return;
  found_batch_free(&batch->from);
  free(batch->events);
  free(batch->type_text);
  free(batch);
}

void ordered_values(const ordered *batch, const ordered_event *at, llb_event *event) {
  llb_cursor cursor = {batch->from.batch, at->offset, at->segment, 1};
  llb_next(&cursor, event);
}
