/* Calipers: what an operation takes, without an event for each.
 *
 *   LL_CALIPER(disk_read, "disk.read", LL_INFO, "B");               // at file scope
 *   ...
 *   ll_operation reading = ll_begin(disk_read);
 *   ssize_t got = read(fd, buffer, sizeof buffer);
 *   ll_end(disk_read, reading, got > 0 ? (double)got : 0);
 *
 * Of each operation three numbers are kept: its value (in the caliper's unit), its duration, and the rate, which is
 * value / duration. All that travels are three events `lifeline.summary` per interval (10 s), over all threads: count,
 * minimum, maximum, sum, mean and variance of each. An operation that is still under way at the end of an interval, and
 * began a second ago or earlier (or an interval ago, where that is less), is told of by an event `lifeline.open` with
 * its age; a hang is seen while it lasts.
 *
 * A caliper is an event type, whose resolution can be changed at run time (schemas/ACTIVATION.md):
 *   summary   the default, as above; a rule's interval= says how long an interval is
 *   off       ll_begin and ll_end cost the test of one flag; what has begun before is not measured any more
 *   full      each operation also emits `<name>.start` (id) and `<name>.end` (id, value), which are event types of
 *             their own: rules apply to them by their names
 *   sample:N  as summary
 * Thresholds and routes of a rule do not apply to calipers.
 *
 * Operations of one caliper may be nested and may overlap, on one thread as on many. An ll_operation is a value: it may
 * be copied, kept, and ended by another thread, once. One that is never ended is open until its thread ends. Each
 * thread shows at most 64 operations as open at a time; those beyond are measured all the same. In a child of a fork,
 * operations that its parent began can be ended, and count there.
 *
 * Both may be called wherever ll_emit may; neither fails, blocks, or makes a system call, but when a thread meets a
 * caliper for the first time. What finds no room (there is some for 1,024 threads) is counted as dropped_no_ring, an
 * ll_end in a signal handler that interrupted another as dropped_reentrant, one after ll_shutdown as dropped_shutdown.
 * What was measured since the last report dies with a process that is killed: see lifeline.h. A value that is infinite
 * or not a number is counted apart, with its rate.
 *
 * With LIFELINE_DISABLE defined, calipers are checked and then compiled away.
 */
#ifndef LIFELINE_CALIPER_H
#define LIFELINE_CALIPER_H

#include <lifeline/detail/cells.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An operation under way; all zero: one that is not measured. */
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
    if (LL_UNLIKELY(ll_caliper_is_full(&ll_type_##ident))) ll_emit(ll_start_of_##ident, ll_begun.began);               \
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

/* A free mark of the thread's; NULL: all are taken. */
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

/* The mark is the operation's from its release store on. */
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

/* Two words are stored; the arithmetic waits for 63 others. See detail/cells.h for busy and turn. */
static inline void ll_caliper_end(ll_event_type *type, ll_operation operation, double value) {
  uint64_t ended = LL_CPU_TICK();
  ll_folder *folder = ll_tls_folder;
  uint32_t state = __atomic_load_n(&type->state, __ATOMIC_RELAXED);
  if (LL_LIKELY(operation.mark != NULL && __atomic_load_n(&operation.mark->began, __ATOMIC_RELAXED) == operation.began))
    __atomic_store_n(&operation.mark->began, 0, __ATOMIC_RELEASE);
  if (LL_LIKELY((state & LL_TYPE_NEW) == 0 && folder != NULL && folder->fast &&
                __atomic_load_n(&folder->busy, __ATOMIC_RELAXED) == 0)) {
    __atomic_store_n(&folder->busy, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    ll_cell *cell = ll_find_cell(folder, state & LL_TYPE_NUMBER_MAX);
    uint32_t half = cell != NULL ? __atomic_load_n(&cell->turn, __ATOMIC_ACQUIRE) : LL_TURN_STALE;
    if (LL_LIKELY(half < LL_TURN_STALE)) {
      uint32_t row = cell->rows[half];
      memcpy(&cell->words[half][row], &value, sizeof value);
      cell->words[half][row + 1] = ended - operation.began;
      cell->rows[half] = row + 2;
      if (LL_UNLIKELY(row + 2 == LL_CELL_ROWS)) ll_caliper_fold(cell, half);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&folder->busy, 0, __ATOMIC_RELEASE);
    if (LL_LIKELY(half < LL_TURN_STALE)) return;
  }
  if (state != LL_TYPE_OFF) ll_caliper_end_slowly(type, operation.began, ended, value);
}

#endif

#ifdef __cplusplus
}
#endif

#endif
