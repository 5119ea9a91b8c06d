#include "merge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Work scheduled for a time: an input, or (ORDER_EXACT) one batch of it. */
typedef struct planned {
  int64_t start_ns;
  uint32_t input;
  uint32_t size;
  uint64_t offset;
} planned;

typedef struct input {
  const char *name;
  source *from; /* open while ORDER_TIME reads from it */
  FILE *copy;   /* ORDER_EXACT: copy of an input that can be read only once */
  size_t loaded_bytes;
  uint32_t loaded;
} input;

typedef struct merge {
  const merge_calls *calls;
  order by;
  input *inputs;
  uint32_t count, active;
  size_t window_bytes;
  planned *plan;
  size_t planned_count, planned_room, planned_next;
  ordered **heap; /* min-heap by the time of the next event */
  size_t heap_count, heap_room;
  int64_t last_ns;
  bool stop; /* stopped, or out of memory */
  merge_result result;
} merge;

static void fail(merge *all, const char *name, int error) {
  all->calls->failed(all->calls->ctx, name, error);
  if (error == ENOMEM) all->stop = true;
}

/* --- the heap --- */

static bool before(const ordered *a, const ordered *b) {
  int64_t left = ordered_time(a), right = ordered_time(b);
  if (left != right) return left < right;
  if (a->input != b->input) return a->input < b->input;
  return a->from.offset < b->from.offset;
}

static void sift_down(merge *all) {
  ordered *moving = all->heap[0];
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < all->heap_count; at = child) {
    if (child + 1 < all->heap_count && before(all->heap[child + 1], all->heap[child])) child++;
    if (!before(all->heap[child], moving)) break;
    all->heap[at] = all->heap[child];
  }
  all->heap[at] = moving;
}

/* Takes over the batch. */
static void push(merge *all, ordered *batch) {
  if (all->heap_count == all->heap_room) {
    size_t room = all->heap_room ? 2 * all->heap_room : 64;
    ordered **more = realloc(all->heap, room * sizeof(ordered *));
    if (!more) {
      ordered_free(batch);
      fail(all, all->inputs[batch->input].name, ENOMEM);
      return;
    }
    all->heap = more;
    all->heap_room = room;
  }
  size_t at = all->heap_count++;
  for (; at > 0 && before(batch, all->heap[(at - 1) / 2]); at = (at - 1) / 2)
    all->heap[at] = all->heap[(at - 1) / 2];
  all->heap[at] = batch;
  all->inputs[batch->input].loaded++;
  all->inputs[batch->input].loaded_bytes += batch->cost;
}

static ordered *pop(merge *all) {
  ordered *batch = all->heap[0];
  all->heap[0] = all->heap[--all->heap_count];
  if (all->heap_count > 0) sift_down(all);
  all->inputs[batch->input].loaded--;
  all->inputs[batch->input].loaded_bytes -= batch->cost;
  return batch;
}

/* --- loading --- */

/* Returns the input's next batch to print; NULL at its end. */
static ordered *load_next(merge *all, uint32_t number) {
  input *in = &all->inputs[number];
  found_batch found;
  int error;
  while (source_next(in->from, &found, &error)) {
    bool empty = found.batch->event_count == 0;
    if (!all->calls->accept(all->calls->ctx, in->name, &found) || empty) {
      found_batch_free(&found);
      continue;
    }
    ordered *batch = ordered_make(&found, all->by != ORDER_STORED);
    if (batch)
      batch->input = number;
    else
      fail(all, in->name, ENOMEM);
    return batch;
  }
  if (error != 0) fail(all, in->name, error);
  return NULL;
}

/* Fills the input's share of the window, with two batches at least. */
static void refill(merge *all, uint32_t number) {
  input *in = &all->inputs[number];
  while (in->from && !all->stop && (in->loaded < 2 || in->loaded_bytes < all->window_bytes / all->active)) {
    ordered *batch = load_next(all, number);
    if (batch) {
      push(all, batch);
      continue;
    }
    source_close(in->from);
    in->from = NULL;
    all->active--;
  }
}

static void load_planned(merge *all, const planned *one) {
  input *in = &all->inputs[one->input];
  int fd = in->copy ? fileno(in->copy) : open(in->name, O_RDONLY | O_CLOEXEC);
  found_batch found = {NULL, malloc(one->size), one->size, one->offset};
  llb_rejection why;
  if (fd >= 0 && found.message && pread(fd, found.message, found.size, (off_t)found.offset) == (ssize_t)found.size)
    found.batch = llb_read(found.message, found.size, &why);
  int error = !found.message ? ENOMEM : fd < 0 ? errno : EIO; /* it was readable in the first pass */
  if (fd >= 0 && !in->copy) close(fd);
  ordered *batch = NULL;
  if (found.batch)
    batch = ordered_make(&found, true);
  else
    free(found.message);
  if (batch) {
    batch->input = one->input;
    push(all, batch);
  } else {
    fail(all, in->name, error);
  }
}

static bool open_input(merge *all, uint32_t number) {
  input *in = &all->inputs[number];
  in->from = source_open(in->name, &all->calls->events);
  if (!in->from) fail(all, in->name, errno);
  return in->from != NULL;
}

static void activate(merge *all, const planned *one) {
  if (all->by == ORDER_EXACT) {
    load_planned(all, one);
  } else if (open_input(all, one->input)) {
    all->active++;
    refill(all, one->input);
  }
}

/* --- planning --- */

static void add_to_plan(merge *all, planned one) {
  if (all->planned_count == all->planned_room) {
    size_t room = all->planned_room ? 2 * all->planned_room : 64;
    planned *more = realloc(all->plan, room * sizeof *more);
    if (!more) {
      fail(all, all->inputs[one.input].name, ENOMEM);
      return;
    }
    all->plan = more;
    all->planned_room = room;
  }
  all->plan[all->planned_count++] = one;
}

static int by_start(const void *a, const void *b) {
  const planned *left = a, *right = b;
  if (left->start_ns != right->start_ns) return left->start_ns < right->start_ns ? -1 : 1;
  if (left->input != right->input) return left->input < right->input ? -1 : 1;
  return (left->offset > right->offset) - (left->offset < right->offset);
}

static int64_t start_of(const llb_batch *batch) {
  static llb_event event;
  int64_t start = INT64_MAX;
  llb_cursor cursor = llb_events(batch);
  while (llb_next(&cursor, &event))
    if (event.time_ns < start) start = event.time_ns;
  return start;
}

static bool can_be_read_again(const char *name) {
  struct stat status;
  return strcmp(name, "-") != 0 && (stat(name, &status) != 0 || S_ISREG(status.st_mode));
}

/* Schedules a file at the time of its first event, so that a thousand files are not open at once. An input that can be
 * read only once is opened at the start. */
static void plan_input(merge *all, uint32_t number) {
  static const source_events silence = {NULL, NULL, NULL};
  int64_t start = INT64_MIN;
  const char *name = all->inputs[number].name;
  if (can_be_read_again(name)) {
    source *from = source_open(name, &silence);
    found_batch found;
    int error;
    for (bool known = false; from && !known && source_next(from, &found, &error); found_batch_free(&found)) {
      known = found.batch->event_count > 0;
      if (known) start = start_of(found.batch);
    }
    source_close(from);
  }
  add_to_plan(all, (planned){.start_ns = start, .input = number});
}

/* Copies an input that can be read only once, damage included, so that offsets stay valid. Returns 0 or an errno
 * value. */
static int copy(input *in, int fd) {
  static char bytes[1 << 16];
  in->copy = tmpfile();
  if (!in->copy) return errno;
  for (;;) {
    ssize_t count = read(fd, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return fflush(in->copy) == 0 ? 0 : errno;
    if (fwrite(bytes, 1, (size_t)count, in->copy) != (size_t)count) return errno;
  }
}

static bool copy_input(merge *all, input *in) {
  if (can_be_read_again(in->name)) return true;
  bool standard_input = strcmp(in->name, "-") == 0;
  int fd = standard_input ? STDIN_FILENO : open(in->name, O_RDONLY | O_CLOEXEC);
  int error = fd >= 0 ? copy(in, fd) : errno;
  if (fd >= 0 && !standard_input) close(fd);
  if (error != 0) fail(all, in->name, error);
  return error == 0;
}

static void plan_batches(merge *all, uint32_t number) {
  input *in = &all->inputs[number];
  if (!copy_input(all, in)) return;
  if (in->copy) {
    rewind(in->copy);
    in->from = source_of(fileno(in->copy), in->name, &all->calls->events);
  } else {
    in->from = source_open(in->name, &all->calls->events);
  }
  if (!in->from) {
    fail(all, in->name, errno);
    return;
  }
  found_batch found;
  int error;
  while (!all->stop && source_next(in->from, &found, &error)) {
    if (all->calls->accept(all->calls->ctx, in->name, &found) && found.batch->event_count > 0)
      add_to_plan(all, (planned){start_of(found.batch), number, (uint32_t)found.size, found.offset});
    found_batch_free(&found);
    all->stop |= all->calls->stopped(all->calls->ctx);
  }
  if (error != 0) fail(all, in->name, error);
  source_close(in->from);
  in->from = NULL;
}

/* --- merging --- */

static void print_next(merge *all, ordered *batch) {
  const ordered_event *at = &batch->events[batch->next++];
  if (at->time_ns < all->last_ns)
    all->result.late++;
  else
    all->last_ns = at->time_ns;
  all->calls->print(all->calls->ctx, batch, at);
}

/* Prints events of the first batch while no other batch can have an earlier one. */
static void print_run(merge *all) {
  ordered *first = all->heap[0];
  int64_t until = INT64_MAX;
  for (size_t i = 1; i <= 2 && i < all->heap_count; i++)
    if (ordered_time(all->heap[i]) < until) until = ordered_time(all->heap[i]);
  if (all->planned_next < all->planned_count && all->plan[all->planned_next].start_ns < until)
    until = all->plan[all->planned_next].start_ns;
  do
    print_next(all, first);
  while (first->next < first->count && ordered_time(first) < until);
  if (first->next < first->count) {
    sift_down(all);
    return;
  }
  uint32_t number = first->input;
  ordered_free(pop(all));
  refill(all, number);
  all->stop |= all->calls->stopped(all->calls->ctx);
}

static void merge_by_time(merge *all) {
  for (uint32_t i = 0; i < all->count && !all->stop; i++)
    if (all->by == ORDER_EXACT)
      plan_batches(all, i);
    else
      plan_input(all, i);
  if (all->planned_count > 0) qsort(all->plan, all->planned_count, sizeof *all->plan, by_start);
  while (!all->stop) {
    while (!all->stop && all->planned_next < all->planned_count &&
           (all->heap_count == 0 || all->plan[all->planned_next].start_ns <= ordered_time(all->heap[0])))
      activate(all, &all->plan[all->planned_next++]);
    if (all->heap_count == 0) return;
    print_run(all);
  }
}

static void print_stored(merge *all, uint32_t number) {
  for (ordered *batch; !all->stop && (batch = load_next(all, number)) != NULL; ordered_free(batch)) {
    while (batch->next < batch->count)
      all->calls->print(all->calls->ctx, batch, &batch->events[batch->next++]);
    all->stop |= all->calls->stopped(all->calls->ctx);
  }
}

static void merge_stored(merge *all) {
  for (uint32_t i = 0; i < all->count && !all->stop; i++) {
    if (!open_input(all, i)) continue;
    print_stored(all, i);
    source_close(all->inputs[i].from);
    all->inputs[i].from = NULL;
  }
}

static bool begin(merge *all, const char *const *inputs, uint32_t count, const merge_calls *calls) {
  *all = (merge){.calls = calls, .count = count, .last_ns = INT64_MIN};
  all->inputs = calloc(count, sizeof *all->inputs);
  for (uint32_t i = 0; all->inputs && i < count; i++)
    all->inputs[i].name = inputs[i];
  if (!all->inputs) calls->failed(calls->ctx, inputs[0], ENOMEM);
  return all->inputs != NULL;
}

static void end(merge *all) {
  for (size_t i = 0; i < all->heap_count; i++)
    ordered_free(all->heap[i]);
  for (uint32_t i = 0; i < all->count; i++) {
    source_close(all->inputs[i].from);
    if (all->inputs[i].copy) fclose(all->inputs[i].copy);
  }
  free(all->heap);
  free(all->plan);
  free(all->inputs);
}

merge_result merge_inputs(const char *const *inputs, uint32_t count, order by, size_t window_bytes,
                          const merge_calls *calls) {
  merge all;
  if (!begin(&all, inputs, count, calls)) return (merge_result){0};
  all.by = by;
  all.window_bytes = window_bytes;
  if (by == ORDER_STORED)
    merge_stored(&all);
  else
    merge_by_time(&all);
  end(&all);
  return all.result;
}

void merge_follow(const char *const *inputs, uint32_t count, const merge_calls *calls) {
  static const struct timespec moment = {0, 200000000};
  merge all;
  if (!begin(&all, inputs, count, calls)) return;
  all.by = ORDER_STORED;
  for (uint32_t i = 0; i < count; i++)
    open_input(&all, i);
  while (!all.stop) {
    for (uint32_t i = 0; i < count && !all.stop; i++) {
      if (!all.inputs[i].from) continue;
      source_grows(all.inputs[i].from);
      print_stored(&all, i);
    }
    calls->events.waits(calls->ctx);
    nanosleep(&moment, NULL);
    all.stop |= calls->stopped(calls->ctx);
  }
  end(&all);
}
