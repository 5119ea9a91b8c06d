/* Calipers: measure operations without an event for each.
 *
 *   LL_CALIPER(disk_read, "disk.read", LL_INFO, "B");               // at file scope
 *   ...
 *   ll_operation reading = ll_begin(disk_read);
 *   ssize_t got = read(fd, buffer, sizeof buffer);
 *   ll_end(disk_read, reading, got > 0 ? (double)got : 0);
 *
 * A caliper keeps three numbers per operation: its value (in the caliper's unit), its duration, and the rate, value /
 * duration. Per interval (10 s) it emits three events `lifeline.summary` over all threads: count, minimum, maximum,
 * sum, mean and variance of each number, and the number of threads that had operations: the sum of the durations
 * divided by (interval * threads) is the share of their time that these threads spent in them. An operation that is
 * still open at the end of an interval, and began at least a second ago (or an interval ago, if that is shorter), is
 * reported with its age by an event `lifeline.open`: a hang is visible while it lasts.
 *
 * A caliper is an event type, whose resolution can be changed at run time (schemas/ACTIVATION.md):
 *   summary   the default, as above; interval= of a rule sets the interval
 *   off       ll_begin and ll_end test one flag; operations that are open are no longer measured
 *   full      each operation also emits `<name>.start` (id) and `<name>.end` (id, value), which are event types of
 *             their own: rules apply to them by their names
 *   sample:N  as summary
 * Thresholds and routes of a rule do not apply to calipers.
 *
 * Operations of one caliper may nest and overlap, on one or many threads. An ll_operation is a value: it may be copied,
 * stored, and ended once, by any thread. One that is never ended is open until its thread ends. Each thread reports at
 * most 64 operations as open; further ones are measured all the same. A forked child can end operations that its parent
 * began; they count in the child.
 *
 * ll_begin and ll_end may be called wherever ll_emit may; they never fail or block, and make a system call only when a
 * thread uses a caliper for the first time. Values for which there is no room (there is room for 1,024 threads) are
 * counted as dropped_no_ring, an ll_end in a signal handler that interrupted another as dropped_reentrant, one after
 * ll_shutdown as dropped_shutdown. Values since the last report are lost if the process is killed: see lifeline.h.
 * Infinite values and NaN are counted separately, with their rate.
 *
 * With LIFELINE_DISABLE defined, calipers are type-checked and then compiled away.
 */
#ifndef LIFELINE_CALIPER_H
#define LIFELINE_CALIPER_H

#include <lifeline/detail/cells.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open operation; all zero if it is not measured. */
typedef struct ll_operation {
  uint64_t began;
  ll_mark *mark;
} ll_operation;

#define ll_begin(ident) ll_begin_##ident()

#ifdef LIFELINE_DISABLE

#define ll_end(ident, operation, value)                                                                                \
  do {                                                                                                                 \
    if (0) ll_end_##ident(operation, value);                                                                           \
  } while (0)

#define LL_CALIPER(ident, caliper_name, caliper_level, value_unit)                                                     \
  __attribute__((unused)) static inline ll_operation ll_begin_##ident(void) {                                          \
    ll_operation ll_none = {0, NULL};                                                                                  \
    return ll_none;                                                                                                    \
  }                                                                                                                    \
  __attribute__((unused)) static inline void ll_end_##ident(ll_operation operation, double value) {                    \
    (void)operation, (void)value;                                                                                      \
  }                                                                                                                    \
  struct ll_semicolon

#else

#define ll_end(ident, operation, value) ll_end_##ident(operation, value)

#define LL_CALIPER(ident, caliper_name, caliper_level, value_unit)                                                     \
  LL_EVENT(ll_start_of_##ident, caliper_name ".start", caliper_level, (u64, id, ""));                                  \
  LL_EVENT(ll_end_of_##ident, caliper_name ".end", caliper_level, (u64, id, ""), (f64, value, value_unit));            \
  LL_EVENT_TYPE_(ident, caliper_name, caliper_level, LL_KIND_CALIPER, (LL_NO_MORE), (f64, value, value_unit),          \
                 (u64, duration, "ns"), (f64, rate, value_unit "/s"), LL_NO_MORE);                                     \
  __attribute__((unused)) static inline ll_operation ll_begin_##ident(void) {                                          \
    ll_operation ll_begun = ll_caliper_begin(&ll_type_##ident);                                                        \
    if (LL_UNLIKELY(ll_begun.began != 0 && ll_caliper_is_full(&ll_type_##ident)))                                      \
      ll_emit(ll_start_of_##ident, ll_begun.began);                                                                    \
    return ll_begun;                                                                                                   \
  }                                                                                                                    \
  __attribute__((unused)) static inline void ll_end_##ident(ll_operation operation, double value) {                    \
    if (operation.began == 0) return;                                                                                  \
    ll_caliper_end(&ll_type_##ident, operation, value);                                                                \
    if (LL_UNLIKELY(ll_caliper_is_full(&ll_type_##ident))) ll_emit(ll_end_of_##ident, operation.began, value);         \
  }                                                                                                                    \
  struct ll_semicolon

/* Everything but the common case. */
LL_API ll_operation ll_caliper_begin_slowly(ll_event_type *type) __attribute__((cold));
LL_API void ll_caliper_end_slowly(ll_event_type *type, uint64_t began, uint64_t ended, double value)
    __attribute__((cold));
LL_API void ll_caliper_fold(ll_cell *cell, uint32_t half);
LL_API uint64_t ll_caliper_tick(void);

/* A free mark of the thread; NULL if all are taken. */
static inline ll_mark *ll_find_mark(ll_folder *folder) {
  for (uint32_t i = 0; i < LL_MARKS_MAX; i++) {
    uint32_t at = (folder->mark + i) % LL_MARKS_MAX;
    if (__atomic_load_n(&folder->marks[at].began, __ATOMIC_RELAXED) != 0) continue;
    folder->mark = at;
    return &folder->marks[at];
  }
  return NULL;
}

static inline int ll_caliper_is_full(const ll_event_type *type) {
  return __atomic_load_n(&type->state, __ATOMIC_RELAXED) - 1 < LL_TYPE_NUMBER_MAX;
}

/* The release store makes the mark the operation's. */
static inline ll_operation ll_caliper_begin(ll_event_type *type) {
  ll_operation begun = {0, NULL};
  ll_folder *folder = ll_tls_folder;
  uint32_t state = __atomic_load_n(&type->state, __ATOMIC_RELAXED);
  if (state == LL_TYPE_OFF) return begun;
  if (LL_UNLIKELY((state & LL_TYPE_NEW) != 0 || folder == NULL || !folder->fast)) return ll_caliper_begin_slowly(type);
  begun.mark = ll_find_mark(folder);
  begun.began = LL_CPU_TICK();
  if (LL_UNLIKELY(begun.mark == NULL)) return begun;
  __atomic_store_n(&begun.mark->number, state & LL_TYPE_NUMBER_MAX, __ATOMIC_RELAXED);
  __atomic_store_n(&begun.mark->began, begun.began, __ATOMIC_RELEASE);
  return begun;
}

/* Frees the mark, which may be another operation's by now. */
static inline void ll_caliper_unmark(ll_operation operation) {
  if (LL_LIKELY(operation.mark != NULL && __atomic_load_n(&operation.mark->began, __ATOMIC_RELAXED) == operation.began))
    __atomic_store_n(&operation.mark->began, 0, __ATOMIC_RELEASE);
}

/* Stores two words; the arithmetic is done once per 64 operations. See detail/cells.h for busy and turn. */
static inline void ll_caliper_end_at(ll_event_type *type, ll_operation operation, uint64_t ended, double value) {
  ll_folder *folder = ll_tls_folder;
  uint32_t state = __atomic_load_n(&type->state, __ATOMIC_RELAXED);
  ll_caliper_unmark(operation);
  if (LL_LIKELY((state & LL_TYPE_NEW) == 0 && folder != NULL && folder->fast &&
                __atomic_load_n(&folder->busy, __ATOMIC_RELAXED) == 0)) {
    __atomic_store_n(&folder->busy, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    ll_cell *cell = ll_find_cell(folder, state & LL_TYPE_NUMBER_MAX);
    uint32_t half = cell != NULL ? __atomic_load_n(&cell->turn, __ATOMIC_ACQUIRE) : (uint32_t)LL_TURN_STALE;
    if (LL_LIKELY(half < LL_TURN_STALE)) {
      uint32_t row = cell->rows[half];
      memcpy(&cell->words[half][row], &value, sizeof value);
      cell->words[half][row + 1] = ll_ticks_from(operation.began, ended);
      cell->rows[half] = row + 2;
      if (LL_UNLIKELY(row + 2 == LL_CELL_ROWS)) ll_caliper_fold(cell, half);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&folder->busy, 0, __ATOMIC_RELEASE);
    if (LL_LIKELY(half < LL_TURN_STALE)) return;
  }
  if (state != LL_TYPE_OFF) ll_caliper_end_slowly(type, operation.began, ended, value);
}

static inline void ll_caliper_end(ll_event_type *type, ll_operation operation, double value) {
  ll_caliper_end_at(type, operation, LL_CPU_TICK(), value);
}

#endif

#ifdef __cplusplus
}
#endif

#endif
