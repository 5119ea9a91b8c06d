/* The path of one event: reserve in the thread's ring, write, publish. Everything that is not that is out of line.
 *
 * A producer is one thread's end of its ring. Positions only grow; a record lies at base + (position & mask).
 *
 *     tail          position          limit
 *   ----[#############]................|......     free space: up to limit without asking anybody
 *
 * One comparison with `limit` covers the end of the ring, a full ring, the half where the harvester is woken, a
 * shutdown, a fork (the producer lies in memory that is wiped on fork, so limit is 0), and an emit that was interrupted
 * by a signal handler which emits itself (`busy` makes every position too large). Where ticks are not the CPU's, limit
 * is always 0.
 *
 * Not an interface: the library and this header change together, as its SONAME says.
 */
#ifndef LIFELINE_DETAIL_EMIT_H
#define LIFELINE_DETAIL_EMIT_H

#include <lifeline/lifeline.h>

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define LL_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define LL_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* States of an event type: 0 is off, 1 to 65535 is its number, and everything above takes the slow path. A shaped type
 * has its number in the lower 16 bits, and has to be asked about each event: see ll_admit. A summed type is a shaped
 * one of which nothing is asked but a summary of all. */
#define LL_TYPE_OFF 0u
#define LL_TYPE_NUMBER_MAX 0xffffu
#define LL_TYPE_NEW 0x10000u
#define LL_TYPE_REFUSED 0x10001u
#define LL_TYPE_SHAPED 0x20000u
#define LL_TYPE_SUMMED 0x40000u

#define LL_RECORD_MAX 32768u
#define LL_BUSY ((uint64_t)1 << 62)

typedef struct ll_field {
  uint8_t code; /* FORMAT.md, section 5 */
  const char *name;
  const char *unit;
} ll_field;

/* One value in whichever member fits the code; bytes use text and integer (their count). */
typedef struct ll_constant {
  uint8_t code;
  const char *name;
  const char *unit;
  int64_t integer;
  double real;
  const char *text;
} ll_constant;

/* A number as it is compared and summarised. Which member holds it follows from the field's code: i for i32 and i64, u
 * for u32, u64 and bool, f for f32 and f64. */
typedef union ll_number {
  int64_t i;
  uint64_t u;
  double f;
} ll_number;

/* Without a rule, an event type is at full, and a caliper at summary. */
typedef enum ll_event_kind { LL_KIND_EVENT, LL_KIND_CALIPER } ll_event_kind;

typedef struct ll_event_type {
  uint32_t state;
  uint8_t level;
  uint8_t field_count;
  uint8_t constant_count;
  const char *name;
  const ll_field *fields;
  const ll_constant *constants;
  const void *object;         /* the program or shared object that it lies in, by the address of __dso_handle */
  struct ll_event_type *next; /* the library's list of those that were ever emitted */
  uint16_t number;            /* whatever the state is */
  uint16_t kind;              /* ll_event_kind */
} ll_event_type;

/* A cache line's worth is all that an emit touches of it: it must not lie across two. */
typedef struct __attribute__((aligned(64))) ll_producer {
  uint64_t busy; /* 0, or LL_BUSY while its thread is inside an emit */
  uint64_t position;
  uint64_t limit;
  uint8_t *base;
  uint64_t mask;
  uint64_t *head; /* in the ring file: what a reader may read up to */
  uint16_t ring;
  uint16_t route;
  uint32_t in_use;
  struct ll_producer *next; /* of the same thread, on another route than the default one */
} ll_producer;

#ifndef LIFELINE_DISABLE

/* The calling thread's producer on the default route; NULL before its first event there. */
LL_API extern __thread ll_producer *ll_tls_producer __attribute__((tls_model("initial-exec")));

typedef struct ll_reservation {
  ll_producer *producer; /* NULL: none */
  uint64_t end;
  uint8_t *at; /* the record, with its first word written */
} ll_reservation;

/* Everything but the common case: starts the emitter, numbers the type, finds the thread a ring, wakes the harvester,
 * waits for room if the policy says so. None: the event was counted as dropped, or its type is off. */
LL_API ll_reservation ll_reserve_slowly(ll_event_type *type, size_t bytes, uint32_t route) __attribute__((cold));

/* Whether this event of a type that is shaped, or was never emitted before, is to be written, and on which route.
 * `values` holds the numeric fields, each at its index. False: the event was counted as left out, or has gone into a
 * summary. */
LL_API bool ll_admit(ll_event_type *type, const ll_number *values, uint32_t *route);

/* The object is being unloaded: what the library knows about its event types must not outlive them. */
LL_API void ll_forget(const void *object);

#ifndef LIFELINE_INSIDE /* the library itself stays */
/* Made by the compiler's start-up files, one in each program and shared object. */
extern void *__dso_handle __attribute__((visibility("hidden")));

/* The last destructor of the object, behind those of its C++ objects, which may emit. */
__attribute__((destructor(101), used)) static void ll_object_ends(void) {
  ll_forget(&__dso_handle);
}
#define LL_OBJECT_ &__dso_handle
#else
#define LL_OBJECT_ NULL
#endif

static inline ll_number ll_signed(int64_t value) {
  ll_number number;
  number.i = value;
  return number;
}

static inline ll_number ll_unsigned(uint64_t value) {
  ll_number number;
  number.u = value;
  return number;
}

static inline ll_number ll_real(double value) {
  ll_number number;
  number.f = value;
  return number;
}

/* A length that is too large for any record needs no more than to stay so: cut, it cannot make the sum wrap. */
static inline size_t ll_cut(size_t bytes) {
  return bytes < LL_RECORD_MAX ? bytes : LL_RECORD_MAX;
}

#if defined(__x86_64__)
#define LL_CPU_TICK() __rdtsc()
#elif defined(__aarch64__)
static inline uint64_t ll_cpu_tick(void) {
  uint64_t tick;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(tick));
  return tick;
}
#define LL_CPU_TICK() ll_cpu_tick()
#else
#define LL_CPU_TICK() 0 /* never used: without a CPU clock, producers have a limit of 0 */
#endif

/* Takes `bytes` (a multiple of 8) of the thread's ring. A signal handler sees busy before it can see any half of what
 * follows: hence the fences, which cost nothing but the compiler's freedom. */
static inline ll_reservation ll_reserve(uint32_t state, size_t bytes) {
  ll_reservation taken = {NULL, 0, NULL};
  ll_producer *producer = ll_tls_producer;
  if (LL_UNLIKELY(producer == NULL || state > LL_TYPE_NUMBER_MAX || bytes > LL_RECORD_MAX)) return taken;
  uint64_t busy = __atomic_load_n(&producer->busy, __ATOMIC_RELAXED);
  __atomic_store_n(&producer->busy, LL_BUSY, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint64_t position = producer->position;
  taken.end = position + bytes;
  if (LL_UNLIKELY(taken.end + busy > __atomic_load_n(&producer->limit, __ATOMIC_RELAXED))) {
    __atomic_store_n(&producer->busy, busy, __ATOMIC_RELAXED);
    return taken;
  }
  taken.producer = producer;
  taken.at = producer->base + (position & producer->mask);
  uint64_t word = LL_CPU_TICK() << 16 | state;
  memcpy(taken.at, &word, sizeof word);
  return taken;
}

/* The release store is what makes the record readable, here and after a kill -9. */
static inline void ll_publish(ll_reservation taken) {
  taken.producer->position = taken.end;
  __atomic_store_n(taken.producer->head, taken.end, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&taken.producer->busy, 0, __ATOMIC_RELEASE); /* whoever sees it idle sees the record, too */
}

#endif

#ifdef __cplusplus
}
#endif

#include <lifeline/detail/cells.h>

#endif
