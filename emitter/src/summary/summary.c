#include "summary.h"

#include "base/lock.h"
#include "base/untouched.h"
#include "cells.h"
#include "ring/describe.h"
#include "ring/emitter.h"
#include "ring/producer.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__thread ll_folder *ll_tls_folder __attribute__((tls_model("initial-exec")));

ll_summaries *ll_the_summaries;

/* --- plans: in memory that a forked child inherits, like the states of types that refer to them --- */

enum { TYPES = LL_TYPE_NUMBER_MAX + 1, ALL_FIELDS = 0xff };

typedef struct plan {
  uint64_t interval_ns;
  uint8_t made;
  uint8_t timed;
  uint8_t field; /* or ALL_FIELDS */
  uint8_t caliper;
} plan;

static plan *plans; /* by number; mostly untouched memory */

static plan plan_of(uint32_t number) {
  plan found = plans != NULL ? plans[number] : (plan){0};
  if (!found.made) found = (plan){.interval_ns = LL_SUMMARY_INTERVAL_NS, .field = ALL_FIELDS, .caliper = found.caliper};
  if (found.caliper) found.field = 0; /* the other fields follow from it */
  return found;
}

static bool make_plans(void) {
  if (plans == NULL) plans = ll_untouched(TYPES * sizeof *plans);
  return plans != NULL;
}

/* --- fields --- */

static bool is_number(uint8_t code) {
  return code != LL_CODE_string && code != LL_CODE_bytes;
}

static double double_of(uint8_t code, uint64_t bits) {
  double real;
  switch (code) {
  case LL_CODE_i32:
  case LL_CODE_i64: return (double)(int64_t)bits;
  case LL_CODE_f32:
  case LL_CODE_f64: memcpy(&real, &bits, sizeof real); return real;
  default: return (double)bits;
  }
}

/* --- folding --- */

static void fold_values(const ll_cell *cell, const uint64_t *words, unsigned rows, ll_moments *moments) {
  double values[LL_CELL_ROWS];
  if (cell->code == LL_CODE_f32 || cell->code == LL_CODE_f64) {
    memcpy(values, words, rows * sizeof *values);
    ll_moments_add(moments, values, rows);
  } else if (cell->code == LL_CODE_i32 || cell->code == LL_CODE_i64) {
    ll_moments_add_i64(moments, words, rows);
  } else {
    ll_moments_add_u64(moments, words, rows);
  }
}

/* Folds pairs of a value and its ticks, which are 0 for a first value. */
static void fold_pairs(const ll_cell *cell, const uint64_t *words, unsigned rows, ll_moments moments[3]) {
  uint64_t pairs[LL_CELL_ROWS];
  if (cell->code != LL_CODE_f32 && cell->code != LL_CODE_f64) {
    memcpy(pairs, words, rows * sizeof *words);
    for (unsigned i = 0; i < rows; i += 2) {
      double value = double_of(cell->code, words[i]);
      memcpy(&pairs[i], &value, sizeof value);
    }
    words = pairs;
  }
  ll_moments_add_operations(moments, words, rows / 2);
}

void ll_cell_fold(ll_summaries *summaries, ll_cell *cell, uint32_t half) {
  /* Not our cell: the child of a fork in a signal handler finishes the interrupted emit here. */
  if (summaries == NULL || cell < summaries->cells || cell >= summaries->cells + LL_CELLS_MAX) return;
  ll_moments *moments = summaries->depths[cell - summaries->cells].moments[half];
  if (cell->kind == LL_CELL_VALUE)
    fold_values(cell, cell->words[half], cell->rows[half], moments);
  else
    fold_pairs(cell, cell->words[half], cell->rows[half], moments);
  cell->rows[half] = 0;
}

/* --- with the lock held --- */

bool ll_moments_are_empty(const ll_moments *moments) {
  return moments->count == 0 && moments->not_finite == 0;
}

void ll_cell_add_half(ll_summaries *summaries, ll_cell *cell, uint32_t half) {
  ll_cell_depth *depth = &summaries->depths[cell - summaries->cells];
  ll_total *total = &summaries->totals[cell->total];
  ll_cell_fold(summaries, cell, half);
  if (ll_moments_are_empty(&depth->moments[half][0])) return;
  if (depth->counted != total->nth + 1) total->threads++;
  depth->counted = total->nth + 1;
  for (int i = 0; i < 3; i++)
    ll_moments_merge(&total->moments[i], &depth->moments[half][i]);
  memset(depth->moments[half], 0, sizeof depth->moments[half]);
}

void ll_cell_release(ll_summaries *summaries, ll_cell *cell) {
  ll_cell_depth *depth = &summaries->depths[cell - summaries->cells];
  for (uint32_t half = 0; half < 2; half++)
    ll_cell_add_half(summaries, cell, half);
  summaries->totals[cell->total].cells--;
  memset(depth, 0, sizeof *depth);
  memset(cell, 0, sizeof *cell);
  cell->next = summaries->free_cells;
  summaries->free_cells = cell;
}

static ll_cell *take_cell(ll_summaries *summaries) {
  ll_cell *cell = summaries->free_cells;
  if (cell == NULL && summaries->cells_used < LL_CELLS_MAX) return &summaries->cells[summaries->cells_used++];
  if (cell != NULL) summaries->free_cells = cell->next;
  return cell;
}

/* Returns UINT32_MAX when there is no room. */
static uint32_t total_for(ll_summaries *summaries, uint32_t number, unsigned field, bool first, const plan *by) {
  uint32_t vacant = UINT32_MAX;
  uint8_t kind = by->caliper ? LL_CELL_CALIPER : by->timed ? LL_CELL_TIMED : LL_CELL_VALUE;
  for (uint32_t i = 0; i < summaries->totals_used; i++) {
    const ll_total *total = &summaries->totals[i];
    if (total->number == number && total->field == field && !total->ending) return i;
    if (total->number == 0) vacant = i;
  }
  if (vacant == UINT32_MAX && summaries->totals_used < LL_TOTALS_MAX) {
    vacant = summaries->totals_used;
    store_release(&summaries->totals_used, vacant + 1); /* the harvester reads it without the lock */
  }
  if (vacant == UINT32_MAX) return vacant;
  uint64_t now = ll_monotonic_ns();
  summaries->totals[vacant] = (ll_total){.number = number,
                                         .field = (uint16_t)field,
                                         .kind = kind,
                                         .first = first,
                                         .interval_ns = by->interval_ns,
                                         .since_ns = now};
  if (now + by->interval_ns < summaries->due_ns) store_release(&summaries->due_ns, now + by->interval_ns);
  ll_wake_harvester(); /* it may otherwise sleep longer than this interval */
  return vacant;
}

static ll_fold add_cell(ll_summaries *summaries, ll_folder *folder, uint32_t number, unsigned field, const plan *by,
                        ll_cell **last) {
  const ll_shape *shape = &ll_the_emitter.types.shapes[number];
  uint32_t total = total_for(summaries, number, field, *last == NULL, by);
  ll_cell *cell = total != UINT32_MAX ? take_cell(summaries) : NULL;
  if (cell == NULL) return LL_FOLD_NO_ROOM;
  *cell = (ll_cell){.number = number,
                    .code = shape->field_codes[field],
                    .kind = summaries->totals[total].kind,
                    .field = (uint16_t)field,
                    .total = total};
  summaries->depths[cell - summaries->cells].folder = (uint32_t)(folder - summaries->folders);
  summaries->totals[total].cells++;
  if (*last != NULL) {
    (*last)->next = cell;
  } else {
    cell->beside = folder->cells[number % LL_CELL_BUCKETS];
    folder->cells[number % LL_CELL_BUCKETS] = cell;
  }
  *last = cell;
  return LL_FOLDED;
}

/* Removes the type's cells from the thread's folder. */
static void remove_cells(ll_summaries *summaries, ll_folder *folder, uint32_t number) {
  ll_cell **link = &folder->cells[number % LL_CELL_BUCKETS];
  while (*link != NULL && (*link)->number != number)
    link = &(*link)->beside;
  ll_cell *cell = *link;
  if (cell == NULL) return;
  *link = cell->beside;
  for (ll_cell *next; cell != NULL; cell = next) {
    next = cell->next;
    ll_cell_release(summaries, cell);
  }
}

/* Measured values have a unit; ids have none. If no numeric field has a unit, all are summarised. */
static bool any_has_unit(const ll_shape *shape) {
  for (unsigned i = 0; i < shape->field_count; i++)
    if (is_number(shape->field_codes[i]) && ll_describe_field(shape, i).unit.bytes > 0) return true;
  return false;
}

static ll_fold add_cells(ll_summaries *summaries, ll_folder *folder, uint32_t number) {
  const ll_shape *shape = &ll_the_emitter.types.shapes[number];
  plan by = plan_of(number);
  ll_cell *last = NULL;
  bool only_with_unit = by.field == ALL_FIELDS && any_has_unit(shape);
  for (unsigned field = 0; field < shape->field_count; field++) {
    if (!is_number(shape->field_codes[field]) || (by.field != ALL_FIELDS && by.field != field)) continue;
    if (only_with_unit && ll_describe_field(shape, field).unit.bytes == 0) continue;
    if (add_cell(summaries, folder, number, field, &by, &last) == LL_FOLDED) continue;
    remove_cells(summaries, folder, number);
    return LL_FOLD_NO_ROOM;
  }
  return last != NULL ? LL_FOLDED : LL_FOLD_NOTHING;
}

static ll_summaries *summaries_of_this_process(void) {
  if (ll_the_summaries != NULL && load_acquire(&ll_the_summaries->alive) != 0) return ll_the_summaries;
  ll_summaries *fresh = ll_untouched(sizeof *fresh);
  if (fresh == NULL) return NULL;
  madvise(fresh, sizeof *fresh, MADV_WIPEONFORK);
  fresh->due_ns = UINT64_MAX;
  store_release(&fresh->alive, 1);
  store_release(&ll_the_summaries, fresh);
  return fresh;
}

void ll_summary_after_fork(void) {
  if (ll_the_summaries == NULL) return;
  store_release(&ll_the_summaries->alive, 0);
  memset(ll_the_summaries->folders, 0, sizeof ll_the_summaries->folders);
}

/* Ends the type's cells: their values are reported under their old plan, and threads create new cells. */
static void end_cells(uint32_t number) {
  ll_summaries *summaries = ll_the_summaries;
  if (summaries == NULL || load_acquire(&summaries->alive) == 0) return;
  for (uint32_t i = 0; i < summaries->totals_used; i++)
    if (summaries->totals[i].number == number) summaries->totals[i].ending = summaries->totals[i].due = true;
  store_release(&summaries->due_ns, 0);
  for (uint32_t i = 0; i < summaries->cells_used; i++)
    if (summaries->cells[i].number == number)
      store_release(&summaries->cells[i].turn, summaries->cells[i].turn | LL_TURN_STALE);
}

/* An event type with the same declaration may already be summarised. */
void ll_summary_is_caliper(uint32_t number) {
  if (!make_plans() || plans[number].caliper) return;
  plans[number].caliper = 1;
  end_cells(number);
}

bool ll_summary_set_plan(uint32_t number, const ll_summary_plan *wanted) {
  const ll_shape *shape = &ll_the_emitter.types.shapes[number];
  plan made = {.interval_ns = wanted->interval_ns != 0 ? wanted->interval_ns : LL_SUMMARY_INTERVAL_NS,
               .made = 1,
               .timed = wanted->timed,
               .field = ALL_FIELDS};
  if (wanted->field != NULL) {
    int field = ll_find_field(shape, wanted->field);
    if (field < 0 || !is_number(shape->field_codes[field])) return false;
    made.field = (uint8_t)field;
  }
  if (!make_plans()) return false;
  made.caliper = plans[number].caliper;
  plan before = plan_of(number);
  plans[number] = made;
  plan now = plan_of(number);
  if (before.interval_ns != now.interval_ns || before.timed != now.timed || before.field != now.field)
    end_cells(number);
  return true;
}

/* --- start and end of a thread --- */

/* NULL when the thread has none in this process: a folder from before a fork is the parent's. */
static ll_folder *own_folder(const ll_summaries *summaries) {
  ll_folder *folder = ll_tls_folder;
  bool ours = summaries != NULL && folder >= summaries->folders && folder < summaries->folders + LL_FOLDERS_MAX;
  return ours && folder->in_use ? folder : NULL;
}

/* Adds the thread's values to the totals, and ends its operations under way. With the lock held. */
static void free_folder(ll_summaries *summaries, ll_folder *folder) {
  for (unsigned i = 0; i < LL_CELL_BUCKETS; i++)
    while (folder->cells[i] != NULL)
      remove_cells(summaries, folder, folder->cells[i]->number);
  for (unsigned i = 0; i < LL_MARKS_MAX; i++)
    store_relaxed(&folder->marks[i].began, 0);
  folder->fast = 0;
  store_release(&folder->busy, 0);
  store_release(&folder->in_use, 0);
}

void ll_summary_thread_ends(void) {
  ll_saved_state before;
  if (ll_tls_folder == NULL || !ll_is_alive()) return;
  ll_lock(&before);
  ll_summaries *summaries = ll_the_summaries;
  ll_folder *folder = own_folder(summaries);
  ll_tls_folder = NULL;
  if (folder != NULL) free_folder(summaries, folder);
  ll_unlock(&before);
}

void ll_summary_reap(void) {
  ll_summaries *summaries = load_acquire(&ll_the_summaries);
  if (summaries == NULL || load_acquire(&summaries->alive) == 0) return;
  for (uint32_t i = 0; i < load_acquire(&summaries->folders_used); i++) {
    ll_folder *folder = &summaries->folders[i];
    if (!ll_thread_has_ended(load_acquire(&folder->in_use) != 0 ? (uint32_t)load_relaxed(&folder->thread) : 0))
      continue;
    ll_saved_state before;
    ll_lock(&before);
    free_folder(summaries, folder);
    ll_unlock(&before);
  }
}

static ll_folder *take_folder(ll_summaries *summaries) {
  for (uint32_t i = 0; i < LL_FOLDERS_MAX; i++) {
    ll_folder *folder = &summaries->folders[i];
    if (folder->in_use) continue;
    if (i == summaries->folders_used) store_release(&summaries->folders_used, i + 1);
    store_relaxed(&folder->thread, (uint64_t)gettid());
    store_release(&folder->in_use, 1);
    folder->fast = ll_the_emitter.clock == LL_CLOCK_CPU;
    ll_tls_folder = folder;
    ll_watch_thread();
    return folder;
  }
  return NULL;
}

/* Creates the thread's cells for this type, under the current plan. */
__attribute__((noinline, cold)) static ll_fold make_cells(uint32_t number) {
  ll_saved_state before;
  ll_lock(&before);
  ll_fold result = LL_FOLD_NO_ROOM;
  ll_summaries *summaries = summaries_of_this_process();
  ll_folder *folder = own_folder(summaries);
  if (summaries != NULL && folder == NULL) folder = take_folder(summaries);
  if (summaries != NULL && summaries->closed) {
    result = LL_FOLD_CLOSED;
  } else if (folder != NULL) {
    remove_cells(summaries, folder, number);
    result = add_cells(summaries, folder, number);
  }
  ll_unlock(&before);
  return result;
}

/* --- one event --- */

static inline void add_row(ll_cell *cell, uint32_t half, const union ll_number *numbers) {
  uint32_t row = cell->rows[half];
  memcpy(&cell->words[half][row++], (const uint8_t *)numbers + cell->field * sizeof(uint64_t), sizeof(uint64_t));
  if (cell->kind != LL_CELL_VALUE) {
    uint64_t now = ll_clock_tick(ll_the_emitter.clock);
    cell->words[half][row++] = cell->previous != 0 ? ll_ticks_from(cell->previous, now) : 0;
    cell->previous = now;
  }
  cell->rows[half] = row;
  if (row == LL_CELL_ROWS) ll_cell_fold(ll_the_summaries, cell, half);
}

/* Marks the thread's folder as busy: an emit from a signal handler is then rejected. */
static inline ll_folder *enter_folder(ll_fold *result) {
  ll_folder *folder = ll_tls_folder;
  if (LL_UNLIKELY(folder == NULL)) return NULL;
  if (LL_UNLIKELY(load_relaxed(&folder->busy) != 0)) {
    *result = LL_FOLD_REENTRANT;
    return NULL;
  }
  store_relaxed(&folder->busy, 1);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return folder;
}

static inline void leave_folder(ll_folder *folder) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  store_release(&folder->busy, 0);
}

/* NULL when the thread has none for this type, or one of an old plan. The first field's cell represents all. */
static inline ll_cell *valid_cell(const ll_folder *folder, uint32_t number) {
  ll_cell *cell = ll_find_cell(folder, number);
  return LL_LIKELY(cell != NULL && load_acquire(&cell->turn) < LL_TURN_STALE) ? cell : NULL;
}

enum { ATTEMPTS = 3 }; /* a plan may change meanwhile, but not indefinitely */

ll_fold ll_summary_add(uint32_t number, const union ll_number *numbers) {
  ll_fold result = LL_FOLDED;
  for (int attempt = 0; attempt < ATTEMPTS && result == LL_FOLDED; attempt++) {
    ll_folder *folder = enter_folder(&result);
    if (LL_UNLIKELY(result != LL_FOLDED)) return result;
    if (LL_LIKELY(folder != NULL)) {
      ll_cell *first = valid_cell(folder, number);
      for (ll_cell *cell = first; cell != NULL; cell = cell->next)
        add_row(cell, load_acquire(&cell->turn) % LL_TURN_STALE, numbers);
      leave_folder(folder);
      if (LL_LIKELY(first != NULL)) return LL_FOLDED;
    }
    result = make_cells(number);
  }
  return result != LL_FOLDED ? result : LL_FOLD_NO_ROOM;
}

void ll_summary_count(ll_fold result) {
  ll_route_books *books = &ll_the_emitter.store.header->routes[0];
  switch (result) {
  case LL_FOLDED:
  case LL_FOLD_NOTHING: break;
  case LL_FOLD_REENTRANT: add_relaxed(&books->dropped_reentrant, 1); break;
  case LL_FOLD_NO_ROOM: add_relaxed(&books->dropped_no_ring, 1); break;
  case LL_FOLD_CLOSED: add_relaxed(&books->dropped_shutdown, 1); break;
  }
}

ll_fold ll_summary_add_operation(uint32_t number, double value, uint64_t ticks) {
  ll_fold result = LL_FOLDED;
  for (int attempt = 0; attempt < ATTEMPTS && result == LL_FOLDED; attempt++) {
    ll_folder *folder = enter_folder(&result);
    if (result != LL_FOLDED) return result;
    if (folder != NULL) {
      ll_cell *cell = valid_cell(folder, number);
      if (cell != NULL) {
        uint32_t half = load_acquire(&cell->turn) % LL_TURN_STALE, row = cell->rows[half];
        memcpy(&cell->words[half][row], &value, sizeof value);
        cell->words[half][row + 1] = ticks;
        cell->rows[half] = row + 2;
        if (row + 2 == LL_CELL_ROWS) ll_cell_fold(ll_the_summaries, cell, half);
      }
      leave_folder(folder);
      if (cell != NULL) return LL_FOLDED;
    }
    result = make_cells(number);
  }
  return result != LL_FOLDED ? result : LL_FOLD_NO_ROOM;
}

ll_fold ll_summary_add_moments(uint32_t number, const ll_moments moments[3], uint32_t threads, uint64_t interval_ns) {
  ll_saved_state before;
  ll_lock(&before);
  ll_summaries *summaries = summaries_of_this_process();
  plan by = plan_of(number);
  bool closed = summaries != NULL && summaries->closed;
  uint32_t index = summaries != NULL && !closed ? total_for(summaries, number, 0, true, &by) : UINT32_MAX;
  if (index != UINT32_MAX) {
    ll_total *total = &summaries->totals[index];
    if (ll_moments_are_empty(&total->moments[0])) total->since_ns = ll_monotonic_ns() - interval_ns;
    for (int i = 0; i < 3; i++)
      ll_moments_merge(&total->moments[i], &moments[i]);
    total->threads += threads;
    total->due = true;
    store_release(&summaries->due_ns, 0);
    ll_wake_harvester();
  }
  ll_unlock(&before);
  return index != UINT32_MAX ? LL_FOLDED : closed ? LL_FOLD_CLOSED : LL_FOLD_NO_ROOM;
}

ll_folder *ll_summary_folder(uint32_t number) {
  ll_folder *folder = ll_tls_folder;
  if (folder != NULL && load_relaxed(&folder->busy) != 0) return NULL; /* a signal handler's operation */
  if (folder != NULL && folder->in_use && valid_cell(folder, number) != NULL) return folder;
  return make_cells(number) == LL_FOLDED ? ll_tls_folder : NULL;
}
