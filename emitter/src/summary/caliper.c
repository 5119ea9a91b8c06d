/* The slow paths of a caliper: a thread's first operation, a clock other than the CPU's, and all failures. */
#include "base/atomics.h"
#include "cells.h"
#include "ring/emitter.h"
#include "ring/producer.h"
#include "summary.h"

#include <lifeline/caliper.h>

void ll_caliper_fold(ll_cell *cell, uint32_t half) {
  ll_cell_fold(load_acquire(&ll_the_summaries), cell, half);
}

uint64_t ll_caliper_tick(void) {
  return ll_clock_tick(ll_the_emitter.clock);
}

static void count(ll_fold result) {
  if (load_acquire(&ll_the_emitter.state) == LL_EMITTER_ON)
    ll_summary_count(result);
  else
    add_relaxed(&ll_the_emitter.dropped_stopped, 1);
}

/* An operation without a mark is measured, but not visible while it is under way. A refused type has no number,
 * whatever the lower bits of its state: its operations are counted when they end. */
ll_operation ll_caliper_begin_slowly(ll_event_type *type) {
  ll_operation begun = {0, NULL};
  uint32_t state = ll_make_known(type), number = state & LL_TYPE_NUMBER_MAX;
  if (state == LL_TYPE_OFF) return begun;
  ll_folder *folder = state != LL_TYPE_NEW && state != LL_TYPE_REFUSED ? ll_summary_folder(number) : NULL;
  begun.mark = folder != NULL ? ll_find_mark(folder) : NULL;
  begun.began = ll_clock_tick(ll_the_emitter.clock);
  if (begun.mark == NULL) return begun;
  store_relaxed(&begun.mark->number, number);
  store_release(&begun.mark->began, begun.began);
  return begun;
}

void ll_caliper_end_slowly(ll_event_type *type, uint64_t began, uint64_t ended, double value) {
  uint32_t state = ll_make_known(type);
  if (state == LL_TYPE_OFF) return;
  if (state == LL_TYPE_NEW || state == LL_TYPE_REFUSED) {
    count(state == LL_TYPE_NEW ? LL_FOLD_CLOSED : LL_FOLD_NO_ROOM);
    return;
  }
  if (ll_the_emitter.clock != LL_CLOCK_CPU) ended = ll_clock_tick(ll_the_emitter.clock);
  count(ll_summary_add_operation(state & LL_TYPE_NUMBER_MAX, value, ll_ticks_from(began, ended)));
}
