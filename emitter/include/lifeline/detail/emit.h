/* The fast path of an event: reserve space in the thread's ring, write, publish. Everything else is out of line.
 *
 * A producer is one thread's end of its ring. Positions only grow; a record lies at base + (position & mask).
 *
 *     tail          position          limit
 *   ----[#############]................|......     free space: up to limit without asking anybody
 *
 * One comparison with `limit` covers the end of the ring, a full ring, the half of the ring that wakes the harvester, a
 * shutdown, a fork (the producer lies in memory that is wiped on fork, so limit is 0), and an emit interrupted by a
 * signal handler that emits, too (`busy` makes every position too large). If ticks are not the CPU's, limit is always
 * 0.
 *
 * Not an interface: the library and this header change together, as its SONAME says.
 */
#ifndef LIFELINE_DETAIL_EMIT_H
#define LIFELINE_DETAIL_EMIT_H

#include <lifeline/lifeline.h>

#include <stdbool.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LL_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define LL_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* States of an event type: 0 is off, 1 to 65535 is its number, and all others take the slow path. A shaped type has its
 * number in the lower 16 bits, and ll_admit decides about each event. A summed type is a shaped type whose events are
 * only summarised. */
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

/* A value, in the member for its code; bytes use text and integer (their count). */
typedef struct ll_constant {
  uint8_t code;
  const char *name;
  const char *unit;
  int64_t integer;
  double real;
  const char *text;
} ll_constant;

/* A number in comparisons and summaries. The field's code determines the member: i for i32 and i64, u for u32, u64 and
 * bool, f for f32 and f64. */
typedef union ll_number {
  int64_t i;
  uint64_t u;
  double f;
} ll_number;

/* Without a rule, events are emitted in full, and calipers as summaries. */
typedef enum ll_event_kind { LL_KIND_EVENT, LL_KIND_CALIPER } ll_event_kind;

typedef struct ll_event_type {
  uint32_t state;
  uint8_t level;
  uint8_t field_count;
  uint8_t constant_count;
  const char *name;
  const ll_field *fields;
  const ll_constant *constants;
  const void *object;         /* the program or shared object that contains it: the address of __dso_handle */
  struct ll_event_type *next; /* the library's list of types that were emitted */
  uint16_t number;            /* set also if the state is not the number */
  uint16_t kind;              /* ll_event_kind */
} ll_event_type;

/* Exactly one cache line, and never across two: an emit touches nothing else of it. */
typedef struct __attribute__((aligned(64))) ll_producer {
  uint64_t busy; /* 0, or LL_BUSY while its thread is inside an emit */
  uint64_t position;
  uint64_t limit;
  uint8_t *base;
  uint64_t mask;
  uint64_t *head; /* in the ring file: readers read up to it */
  uint16_t ring;
  uint16_t route;
  uint32_t in_use;          /* its thread's kernel ID; 0: free */
  struct ll_producer *next; /* of the same thread, for another route */
} ll_producer;

#ifndef LIFELINE_DISABLE

/* Nonzero while this thread runs code of the library that may make system calls: always in the library's own threads,
 * otherwise while it holds the lock or logs. An interposer of I/O functions must not measure these calls, and sets it
 * in threads that such threads create, with the bit below: the thread's descriptors are not the program's. */
#define LL_INSIDE_APART 0x80000000u
LL_API extern __thread uint32_t ll_tls_inside __attribute__((tls_model("initial-exec")));

/* The calling thread's producer on the default route; NULL before the thread's first event on it. */
LL_API extern __thread ll_producer *ll_tls_producer __attribute__((tls_model("initial-exec")));

typedef struct ll_reservation {
  ll_producer *producer; /* NULL: none */
  uint64_t end;
  uint8_t *at; /* the record, with its first word written */
} ll_reservation;

/* The slow path: starts the emitter, numbers the type, assigns a ring to the thread, wakes the harvester, and waits for
 * room if the policy says so. The producer is NULL if the event was counted as dropped, or its type is off. */
LL_API ll_reservation ll_reserve_slowly(ll_event_type *type, size_t bytes, uint32_t route) __attribute__((cold));

/* Decides whether to write this event, and on which route, if its type is shaped or was never emitted. `values` holds
 * the numeric fields, by index. False: the event was counted as left out, or added to a summary. */
LL_API bool ll_admit(ll_event_type *type, const ll_number *values, uint32_t *route);

/* Whether an activation that ends gives the resolution full to this type by name, or to types whose names begin as its
 * does, without a condition. So a program can learn that somebody wants to know more than it tells unasked. */
LL_API bool ll_is_asked_for(const ll_event_type *type);

/* Call it when the object is unloaded: removes the library's references to the object's event types. */
LL_API void ll_forget(const void *object);

#ifndef LIFELINE_INSIDE /* the library is never unloaded */
/* Defined by the compiler's start-up files in each program and shared object. */
extern void *__dso_handle __attribute__((visibility("hidden")));

/* Runs as the object's last destructor, after those of its C++ objects, which may emit. */
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

/* Truncates a length that no record can hold, so that the sum of lengths cannot overflow, and is still too large. */
static inline size_t ll_cut(size_t bytes) {
  return bytes < LL_RECORD_MAX ? bytes : LL_RECORD_MAX;
}

/* The built-in function: x86intrin.h has 50,000 lines, which every file that emits would read. */
#if defined(__x86_64__)
#define LL_CPU_TICK() __builtin_ia32_rdtsc()
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

/* Elapsed ticks, at least 1. The counters of two processors may differ by a few ticks, so a thread that moved between
 * them may seem to end before it began. */
static inline uint64_t ll_ticks_from(uint64_t began, uint64_t ended) {
  return ended > began ? ended - began : 1;
}

/* Reserves `bytes` (a multiple of 8) in the thread's ring. The signal fences are compiler barriers: a signal handler
 * sees busy before it can see a partial update. */
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

/* The release store makes the record readable, also after kill -9. */
static inline void ll_publish(ll_reservation taken) {
  taken.producer->position = taken.end;
  __atomic_store_n(taken.producer->head, taken.end, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&taken.producer->busy, 0, __ATOMIC_RELEASE); /* a reader that sees 0 also sees the record */
}

#endif

#ifdef __cplusplus
}
#endif

#include <lifeline/detail/cells.h>

#endif
