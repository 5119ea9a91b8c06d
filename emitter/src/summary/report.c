/* The harvester's part of summaries: swap the halves of cells, collect, report. */
#include "base/fence.h"
#include "base/lock.h"
#include "cells.h"
#include "ring/describe.h"
#include "ring/emitter.h"
#include "ring/own.h"
#include "summary.h"

#include <errno.h>
#include <lifeline/events.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
  PATIENCE_NS = 10000000, /* wait for a thread interrupted in the middle of an add, before postponing its share */
  LAST_PATIENCE_NS = 1000000000,
  RETRY_NS = 10000000,
  OPEN_NS = 1000000000, /* age at which operations under way are reported, unless the interval is shorter */
};

static ll_value text_value(ll_text text) {
  return (ll_value){.bytes = {text.at, text.bytes}};
}

/* --- what a caliper measures, besides its value --- */

static double ns_per_tick(void) {
  const ll_file_header *header = ll_the_emitter.store.header;
  const ll_calibrations *known = &header->calibrations[header->calibration_current];
  const ll_calibration *first = &known->at[0], *last = &known->at[known->count - 1];
  if (ll_the_emitter.clock != LL_CLOCK_CPU) return 1;
  if (last->tick == first->tick) return 1e9 / (double)ll_tick_hz(known, LL_CLOCK_CPU);
  return (double)(last->monotonic_ns - first->monotonic_ns) / (double)(last->tick - first->tick);
}

typedef struct aspect {
  char field[256 + 16];
  char unit[256 + 16];
  double factor; /* from ticks to the reported unit */
} aspect;

/* 0: the value itself; 1: its time; 2: value per time. */
static aspect aspect_of(const ll_total *total, unsigned index) {
  ll_described_field field = ll_describe_field(&ll_the_emitter.types.shapes[total->number], total->field);
  bool caliper = total->kind == LL_CELL_CALIPER;
  aspect made = {.factor = 1};
  int name = field.name.bytes < 255 ? field.name.bytes : 255, unit = field.unit.bytes < 255 ? field.unit.bytes : 255;
  static const char *const of_caliper[] = {"value", "duration", "rate"};
  static const char *const of_field[] = {"", ".interval", ".rate"};
  if (caliper)
    snprintf(made.field, sizeof made.field, "%s", of_caliper[index]);
  else
    snprintf(made.field, sizeof made.field, "%.*s%s", name, field.name.at, of_field[index]);
  if (index == 1)
    snprintf(made.unit, sizeof made.unit, "ns");
  else
    snprintf(made.unit, sizeof made.unit, "%.*s%s", unit, field.unit.at, index == 2 ? "/s" : "");
  if (index == 1) made.factor = ns_per_tick();
  if (index == 2) made.factor = 1e9 / ns_per_tick();
  return made;
}

static bool emit_summary(const ll_total *total, unsigned index, uint64_t interval_ns) {
  aspect told = aspect_of(total, index);
  ll_moments moments = total->moments[index];
  ll_moments_scale(&moments, told.factor);
  const ll_value values[] = {
      text_value(ll_describe_type(&ll_the_emitter.types.shapes[total->number])),
      {.bytes = {told.field, strlen(told.field)}},
      {.bytes = {told.unit, strlen(told.unit)}},
      {.u64 = interval_ns},
      {.u64 = moments.count},
      {.f64 = moments.min},
      {.f64 = moments.max},
      {.f64 = ll_moments_sum(&moments)},
      {.f64 = ll_moments_mean(&moments)},
      {.f64 = ll_moments_variance(&moments)},
      {.u64 = moments.not_finite},
      {.u64 = total->threads},
  };
  return ll_emit_own(&ll_type_lifeline_summary, values);
}

/* --- end of an interval --- */

static bool is_of_this_process(const ll_summaries *summaries) {
  return summaries != NULL && load_acquire(&summaries->alive) != 0;
}

/* After this, threads that read the turn fill the other halves. With the lock held. */
static bool turn_over(ll_summaries *summaries, ll_report what, uint64_t now) {
  bool any = false;
  for (uint32_t i = 0; i < summaries->totals_used; i++) {
    ll_total *total = &summaries->totals[i];
    if (total->ending && total->cells == 0 && !total->due) total->number = 0;
    if (what != LL_REPORT_DUE || now - total->since_ns >= total->interval_ns) total->due = true;
  }
  for (uint32_t i = 0; i < summaries->cells_used; i++) {
    ll_cell *cell = &summaries->cells[i];
    ll_cell_depth *depth = &summaries->depths[i];
    if (cell->number == 0) continue;
    uint32_t stale = what == LL_REPORT_CLOSE ? LL_TURN_STALE : cell->turn & LL_TURN_STALE;
    if (summaries->totals[cell->total].due && !depth->turned) {
      depth->turned = true;
      store_release(&cell->turn, ((cell->turn & 1) ^ 1) | stale);
    } else if (stale != 0) {
      store_release(&cell->turn, (cell->turn & 1) | stale);
    }
    any = any || depth->turned;
  }
  return any;
}

static bool wait_until_idle(const ll_folder *folder, uint64_t deadline_ns) {
  static const struct timespec moment = {0, 50000};
  while (load_acquire(&folder->busy) != 0) {
    if (ll_monotonic_ns() >= deadline_ns) return false;
    nanosleep(&moment, NULL);
  }
  return true;
}

/* Determines which folders' threads have left their old halves. */
static void wait_for_threads(const ll_summaries *summaries, ll_report what, bool idle[LL_FOLDERS_MAX]) {
  ll_fence_all_threads();
  uint64_t deadline = ll_monotonic_ns() + (what == LL_REPORT_CLOSE ? LAST_PATIENCE_NS : PATIENCE_NS);
  for (uint32_t i = 0; i < load_acquire(&summaries->folders_used); i++)
    idle[i] = wait_until_idle(&summaries->folders[i], deadline);
}

/* With the lock held. Cells may have been released meanwhile, with their threads; then their values are in the totals.
 * A thread stopped in the middle of an add keeps its half until the next interval. At the end, when no half is filled
 * any more, both halves are collected. */
static void collect(ll_summaries *summaries, ll_report what, const bool idle[LL_FOLDERS_MAX]) {
  for (uint32_t i = 0; i < summaries->cells_used; i++) {
    ll_cell *cell = &summaries->cells[i];
    ll_cell_depth *depth = &summaries->depths[i];
    if (cell->number == 0 || !depth->turned || !idle[depth->folder]) continue;
    ll_cell_add_half(summaries, cell, (cell->turn & 1) ^ 1);
    if (what == LL_REPORT_CLOSE) ll_cell_add_half(summaries, cell, cell->turn & 1);
    depth->turned = false;
  }
}

/* --- reporting --- */

/* Takes the moments of a due total, and resets it. False: there is nothing to report. */
static bool take_total(ll_summaries *summaries, uint32_t index, uint64_t now, ll_total *taken) {
  ll_total *total = &summaries->totals[index];
  if (total->number == 0 || !total->due) return false;
  *taken = *total;
  memset(total->moments, 0, sizeof total->moments);
  total->threads = 0;
  total->nth++;
  total->since_ns = now;
  total->due = false;
  return !ll_moments_are_empty(&taken->moments[0]);
}

static void put_back(ll_summaries *summaries, uint32_t index, const ll_total *taken) {
  ll_total *total = &summaries->totals[index];
  for (int i = 0; i < 3; i++)
    ll_moments_merge(&total->moments[i], &taken->moments[i]);
  total->threads += taken->threads;
  total->nth = taken->nth; /* the same interval goes on: its threads are counted already */
  total->since_ns = taken->since_ns;
  total->due = true;
}

static uint64_t events_in(const ll_total *total) {
  return total->moments[0].count + total->moments[0].not_finite;
}

static void count_folded(const ll_total *total) {
  add_relaxed(&ll_the_emitter.store.header->routes[0].folded, events_in(total));
}

/* Emits the aspects of a total from the last to the first, which counts the events, and removes those emitted. False:
 * no room for all of them. */
static bool tell_total(ll_total *total, uint64_t now) {
  for (unsigned left = 3; left-- > 0;) {
    if (ll_moments_are_empty(&total->moments[left])) continue;
    if (!emit_summary(total, left, now - total->since_ns)) return false;
    if (left == 0 && total->first) count_folded(total);
    memset(&total->moments[left], 0, sizeof total->moments[left]);
  }
  return true;
}

static bool tell_totals(ll_summaries *summaries, uint64_t now) {
  ll_saved_state before;
  bool told = true;
  for (uint32_t i = 0; told && i < load_acquire(&summaries->totals_used); i++) {
    ll_total total;
    ll_lock(&before);
    bool any = take_total(summaries, i, now, &total);
    ll_unlock(&before);
    if (!any || (told = tell_total(&total, now))) continue;
    ll_lock(&before);
    put_back(summaries, i, &total);
    ll_unlock(&before);
  }
  return told;
}

void ll_summary_give_up(void) {
  ll_summaries *summaries = load_acquire(&ll_the_summaries);
  ll_saved_state before;
  if (!is_of_this_process(summaries)) return;
  ll_lock(&before);
  for (uint32_t i = 0; i < summaries->totals_used; i++) {
    ll_total *total = &summaries->totals[i];
    if (total->number == 0 || !total->first) continue;
    add_relaxed(&ll_the_emitter.store.header->routes[0].dropped_no_ring, events_in(total));
    memset(total->moments, 0, sizeof total->moments);
  }
  ll_unlock(&before);
}

/* --- functions that report with the summaries --- */

static struct {
  ll_report_function function;
  void *ctx;
} others; /* guarded by the lock; a forked child keeps it */

static void set_due(ll_summaries *summaries) {
  ll_saved_state before;
  uint64_t due = UINT64_MAX;
  uint64_t shortest = LL_SUMMARY_INTERVAL_NS;
  ll_lock(&before);
  for (uint32_t i = 0; i < summaries->totals_used; i++) {
    const ll_total *total = &summaries->totals[i];
    if (total->number == 0) continue;
    if (total->since_ns + total->interval_ns < due) due = total->since_ns + total->interval_ns;
    if (total->interval_ns < shortest) shortest = total->interval_ns;
  }
  summaries->shortest_ns = shortest;
  if (due != UINT64_MAX && others.function != NULL && summaries->others_ns != 0 &&
      summaries->others_ns + shortest < due)
    due = summaries->others_ns + shortest;
  uint64_t soon = ll_monotonic_ns() + RETRY_NS; /* totals that found no room are already due */
  store_release(&summaries->due_ns, due > soon ? due : soon);
  ll_unlock(&before);
}

int ll_on_report(ll_report_function function, void *ctx) {
  ll_saved_state before;
  ll_lock(&before);
  bool taken = others.function != NULL && function != NULL;
  if (!taken) others.function = function;
  if (!taken) others.ctx = ctx;
  ll_unlock(&before);
  return taken ? EBUSY : 0;
}

void ll_summary_report_others(ll_report what) {
  ll_summaries *summaries = load_acquire(&ll_the_summaries);
  ll_saved_state before;
  if (!is_of_this_process(summaries)) return;
  uint64_t now = ll_monotonic_ns();
  ll_lock(&before);
  ll_report_function function = others.function;
  void *ctx = others.ctx;
  if (summaries->others_ns == 0) summaries->others_ns = now; /* the first interval begins */
  if (what == LL_REPORT_DUE && now < summaries->others_ns + summaries->shortest_ns) function = NULL;
  if (function != NULL) summaries->others_ns = now;
  ll_unlock(&before);
  if (function == NULL) return;
  function(ctx, ns_per_tick());
  set_due(summaries);
}

/* --- operations under way --- */

static bool emit_open(uint32_t number, uint64_t began, uint64_t thread, uint64_t age_ns) {
  const ll_value values[] = {
      {.u64 = began},
      text_value(ll_describe_type(&ll_the_emitter.types.shapes[number])),
      {.u64 = thread},
      {.u64 = age_ns},
  };
  return ll_emit_own(&ll_type_lifeline_open, values);
}

/* Finds the calipers whose interval ended just now. `intervals` by number: that interval, or 0. */
static bool intervals_ended(const ll_summaries *summaries, uint64_t now, uint64_t *intervals) {
  bool any = false;
  for (uint32_t i = 0; i < summaries->totals_used; i++) {
    const ll_total *total = &summaries->totals[i];
    bool ended = total->number != 0 && total->kind == LL_CELL_CALIPER && total->since_ns == now;
    if (total->number != 0 && total->kind == LL_CELL_CALIPER) intervals[total->number] = ended ? total->interval_ns : 0;
    any = any || ended;
  }
  return any;
}

/* A mark may change at any time: its values are valid if it still marks the same operation afterwards. */
static bool tell_open(ll_summaries *summaries, uint64_t now) {
  static uint64_t intervals[LL_TYPE_NUMBER_MAX + 1];
  ll_saved_state before;
  ll_lock(&before);
  bool any = intervals_ended(summaries, now, intervals);
  ll_unlock(&before);
  if (!any) return true;
  uint64_t now_tick = ll_clock_tick(ll_the_emitter.clock);
  double tick_ns = ns_per_tick();
  for (uint32_t f = 0; f < load_acquire(&summaries->folders_used); f++) {
    ll_folder *folder = &summaries->folders[f];
    if (load_acquire(&folder->in_use) == 0) continue;
    for (uint32_t m = 0; m < LL_MARKS_MAX; m++) {
      ll_mark *mark = &folder->marks[m];
      uint64_t began = load_acquire(&mark->began);
      if (began == 0 || began > now_tick) continue;
      uint16_t number = (uint16_t)load_relaxed(&mark->number);
      uint64_t thread = load_relaxed(&folder->thread);
      uint64_t age_ns = (uint64_t)((double)(now_tick - began) * tick_ns);
      if (load_acquire(&mark->began) != began || intervals[number] == 0) continue;
      if (age_ns < (intervals[number] < OPEN_NS ? intervals[number] : OPEN_NS)) continue;
      if (!emit_open(number, began, thread, age_ns)) return false;
    }
  }
  return true;
}

bool ll_summary_report(ll_report what) {
  ll_summaries *summaries = load_acquire(&ll_the_summaries);
  if (!is_of_this_process(summaries)) return true;
  static bool idle[LL_FOLDERS_MAX]; /* only one harvester exists */
  ll_saved_state before;
  uint64_t now = ll_monotonic_ns();
  ll_lock(&before);
  if (what == LL_REPORT_CLOSE) summaries->closed = true;
  bool turned = turn_over(summaries, what, now);
  ll_unlock(&before);
  if (turned) {
    wait_for_threads(summaries, what, idle);
    ll_lock(&before);
    collect(summaries, what, idle);
    ll_unlock(&before);
  }
  bool told = tell_totals(summaries, now) && tell_open(summaries, now);
  set_due(summaries);
  return told;
}

uint64_t ll_summary_due_ns(void) {
  const ll_summaries *summaries = load_acquire(&ll_the_summaries);
  return is_of_this_process(summaries) ? load_acquire(&summaries->due_ns) : UINT64_MAX;
}
