/* The slow path of an emit: executed once per half ring, once per thread, or never. */
#include "producer.h"
#include "base/fence.h"
#include "base/futex.h"
#include "base/lock.h"
#include "base/log.h"
#include "context.h"
#include "emitter.h"
#include "pool.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

ll_emitter ll_the_emitter;

__thread ll_producer *ll_tls_producer __attribute__((tls_model("initial-exec")));

/* The thread's producers on other routes: a list, since few threads have any. */
static __thread ll_producer *ll_tls_elsewhere __attribute__((tls_model("initial-exec")));

/* This thread is in the slow path: an emit from a signal handler is rejected. */
static __thread bool in_slow_path __attribute__((tls_model("initial-exec")));

/* --- wakeups --- */

/* If the signal comes after the harvester's last check, its futex wait returns at once. */
void ll_wake_harvester(void) {
  __atomic_fetch_add(&ll_the_emitter.signal, 1, __ATOMIC_SEQ_CST);
  if (load_ordered(&ll_the_emitter.sleeping) != 0) futex_wake(&ll_the_emitter.signal, 1);
}

void ll_announce_room(void) {
  if (load_ordered(&ll_the_emitter.waiting_for_room) == 0) return;
  __atomic_fetch_add(&ll_the_emitter.room, 1, __ATOMIC_SEQ_CST);
  futex_wake(&ll_the_emitter.room, INT_MAX);
}

/* --- rings --- */

/* A ring is handed over empty; its positions continue where they stopped. */
static void bind(ll_producer *producer, ll_store *store, ll_ring *ring) {
  store_relaxed(&ring->since, ll_clock_tick(ll_the_emitter.clock));
  store_release(&ring->thread, (uint64_t)gettid()); /* from now on the ring belongs permanently to its route */
  producer->base = ll_ring_base(store, ring);
  producer->mask = ring->bytes - 1;
  producer->head = &ring->head;
  producer->ring = (uint16_t)(ring - store->rings);
  producer->position = load_relaxed(&ring->head);
}

/* --- producers --- */

/* The destructor of a pthread key tells a thread's end. glibc keeps the values of the first 32 keys in the thread
 * itself, and allocates memory for those of others, which an emit in a signal handler must not: without one of the
 * first keys the harvester looks for threads that have ended (ll_producers_reap). */
enum { KEYS_WITHOUT_MEMORY = 32 };
static pthread_key_t thread_end;
static uint32_t key_made;
static bool key_usable;

/* After a fork, a thread-local producer may still be the parent's. */
static bool is_of_this_process(const ll_producer *producer) {
  const ll_producer *first = ll_the_emitter.sensitive->producers;
  return producer >= first && producer < first + LL_RINGS_MAX;
}

/* NULL before this thread's first event on that route. */
static inline ll_producer *own_producer(uint32_t route) {
  ll_producer *producer = route == 0 ? ll_tls_producer : ll_tls_elsewhere;
  if (!is_of_this_process(producer)) return NULL;
  while (producer != NULL && producer->route != route)
    producer = producer->next;
  return producer;
}

ll_producer *ll_producer_interrupted(void) {
  ll_producer *producer = ll_the_emitter.sensitive != NULL ? ll_tls_elsewhere : NULL;
  if (producer == NULL || !is_of_this_process(producer)) return NULL;
  while (producer != NULL && load_relaxed(&producer->busy) == 0)
    producer = producer->next;
  return producer;
}

/* Returns the producer's ring to the pool. */
static void give_back(ll_producer *producer) {
  store_release(&ll_the_emitter.store.rings[producer->ring].state, LL_RING_RETIRED);
  store_relaxed(&producer->limit, 0);
  store_release(&producer->busy, 0);
  store_release(&producer->in_use, 0);
}

static void thread_ends(void *unused) {
  (void)unused;
  ll_producer *producer = ll_tls_producer, *elsewhere = ll_tls_elsewhere;
  ll_tls_producer = ll_tls_elsewhere = NULL;
  ll_above.thread_ends();
  if (ll_the_emitter.sensitive->alive == 0) return;
  if (is_of_this_process(producer)) give_back(producer);
  while (is_of_this_process(elsewhere)) {
    ll_producer *next = elsewhere->next;
    give_back(elsewhere);
    elsewhere = next;
  }
}

/* As early as possible, while the first keys are free: at the library's load, or at an emit before that. */
__attribute__((constructor)) void ll_producers_make_key(void) {
  if (!compare_and_swap_u32(&key_made, 0, 1)) return;
  key_usable = pthread_key_create(&thread_end, thread_ends) == 0 && thread_end < KEYS_WITHOUT_MEMORY;
}

void ll_watch_thread(void) {
  if (key_usable) pthread_setspecific(thread_end, &thread_end);
}

bool ll_thread_has_ended(uint32_t thread) {
  return !key_usable && thread != 0 && syscall(SYS_tgkill, getpid(), (pid_t)thread, 0) != 0 && errno == ESRCH;
}

void ll_producers_reap(void) {
  for (uint32_t i = 0; i < LL_RINGS_MAX && !key_usable; i++) {
    ll_producer *producer = &ll_the_emitter.sensitive->producers[i];
    if (ll_thread_has_ended(load_acquire(&producer->in_use))) give_back(producer);
  }
}

static ll_producer *attach(uint32_t route) {
  ll_producer *producer = NULL;
  uint32_t thread = (uint32_t)gettid();
  for (uint32_t i = 0; i < LL_RINGS_MAX && producer == NULL; i++) {
    ll_producer *candidate = &ll_the_emitter.sensitive->producers[i];
    if (load_relaxed(&candidate->in_use) == 0 && compare_and_swap_u32(&candidate->in_use, 0, thread))
      producer = candidate;
  }
  if (producer == NULL) return NULL;
  ll_ring *ring = ll_pool_take(&ll_the_emitter.store, route, LL_RING_BYTES_MIN);
  if (ring == NULL) {
    store_release(&producer->in_use, 0);
    ll_wake_harvester(); /* ended threads may have left rings to drain */
    return NULL;
  }
  store_relaxed(&producer->limit, 0);
  store_relaxed(&producer->busy, LL_BUSY);
  producer->route = (uint16_t)route;
  bind(producer, &ll_the_emitter.store, ring);
  if (route == 0) {
    producer->next = NULL;
    ll_tls_producer = producer;
  } else {
    producer->next = is_of_this_process(ll_tls_elsewhere) ? ll_tls_elsewhere : NULL;
    ll_tls_elsewhere = producer;
  }
  ll_watch_thread();
  return producer;
}

enum { QUIESCE_NS = 1000000000 };

/* Producers with an emit still in flight at close. (Later emits find no room, so having been idle once is enough; on a
 * busy machine each check might find another short emit.) Used by the harvester only. */
static uint64_t unfinished[LL_RINGS_MAX / 64];

bool ll_producers_are_quiet(void) {
  bool quiet = true;
  for (uint32_t i = 0; i < LL_RINGS_MAX; i++) {
    uint64_t bit = UINT64_C(1) << i % 64;
    if ((unfinished[i / 64] & bit) == 0) continue;
    if (load_acquire(&ll_the_emitter.sensitive->producers[i].busy) == 0)
      unfinished[i / 64] &= ~bit;
    else
      quiet = false;
  }
  return quiet;
}

static void quiesce(uint64_t deadline_ns) {
  static const struct timespec moment = {0, 50000};
  memset(unfinished, 0xff, sizeof unfinished);
  while (!ll_producers_are_quiet() && ll_monotonic_ns() < deadline_ns)
    nanosleep(&moment, NULL);
}

/* A producer sets busy, then reads its limit, without a fence in between. The fence is here: after it, each emit either
 * sees the limit 0, or is seen as busy. */
void ll_producers_close(void) {
  store_ordered(&ll_the_emitter.closing, 1);
  for (uint32_t i = 0; i < LL_RINGS_MAX; i++)
    store_ordered(&ll_the_emitter.sensitive->producers[i].limit, 0);
  ll_fence_all_threads();
  ll_announce_room();
  quiesce(ll_monotonic_ns() + QUIESCE_NS);
}

/* --- room --- */

typedef struct room {
  uint64_t start; /* where the record goes: after a filler, if it does not fit before the ring's end */
  uint64_t end;
  bool enough;
} room;

static room look_for_room(const ll_producer *producer, const ll_ring *ring, size_t bytes) {
  uint64_t tail = load_acquire(&ring->tail); /* bytes before the tail were copied and may be overwritten */
  room found = {.start = producer->position};
  uint64_t lap_left = ring->bytes - (producer->position & producer->mask);
  if (bytes > lap_left) found.start += lap_left;
  found.end = found.start + bytes;
  found.enough = found.end - tail <= ring->bytes;
  return found;
}

/* Sets the limit to the next position that requires the slow path: the next half of the ring, or the harvester's
 * tail. */
static void settle(ll_producer *producer, const ll_ring *ring, const room *found) {
  if (found->start != producer->position) {
    uint64_t filler = 0; /* type number 0: no record from here to the ring's end */
    memcpy(producer->base + (producer->position & producer->mask), &filler, sizeof filler);
    producer->position = found->start;
    store_release(producer->head, found->start);
  }
  uint64_t half = ring->bytes / 2;
  uint64_t next_half = (found->end + half - 1) & ~(half - 1); /* no division: in a forked child half may be 0 */
  /* The tail may have advanced since the check for room. */
  uint64_t full = load_acquire(&ring->tail) + ring->bytes;
  bool cpu_clock = ll_the_emitter.clock == LL_CLOCK_CPU; /* else every event comes here for its tick */
  store_ordered(&producer->limit, !cpu_clock ? 0 : next_half < full ? next_half : full);
  /* Also if a signal handler has forked meanwhile: the limit is the parent's. */
  if (load_ordered(&ll_the_emitter.closing) != 0 || !ll_is_alive()) store_ordered(&producer->limit, 0);
}

static bool grow(ll_producer *producer, ll_ring *ring) {
  if (ring->bytes >= LL_RING_BYTES_MAX) return false;
  ll_ring *larger = ll_pool_take(&ll_the_emitter.store, ring->route, ring->bytes * 2);
  if (larger == NULL) return false;
  ll_context_hand_over(ring, larger);
  bind(producer, &ll_the_emitter.store, larger);
  store_release(&ring->state, LL_RING_RETIRED);
  return true;
}

/* Policy `block`, except in the harvester, which would wait for itself. After one timeout, events are dropped until
 * there is room again, so that an unreachable broker blocks the thread once, not at each event. */
static bool wait_for_room(const ll_producer *producer, const ll_ring *ring, size_t bytes) {
  static __thread bool in_vain __attribute__((tls_model("initial-exec")));
  if (in_vain && !look_for_room(producer, ring, bytes).enough) return false;
  in_vain = false;
  uint64_t deadline = ll_monotonic_ns() + ll_the_emitter.block_timeout_ms * UINT64_C(1000000);
  __atomic_fetch_add(&ll_the_emitter.waiting_for_room, 1, __ATOMIC_SEQ_CST);
  for (;;) {
    uint32_t seen = load_ordered(&ll_the_emitter.room);
    uint64_t now = ll_monotonic_ns();
    if (look_for_room(producer, ring, bytes).enough) break;
    in_vain = now >= deadline || load_ordered(&ll_the_emitter.closing) != 0;
    if (in_vain) break;
    ll_wake_harvester();
    futex_wait(&ll_the_emitter.room, seen, deadline - now);
  }
  __atomic_fetch_sub(&ll_the_emitter.waiting_for_room, 1, __ATOMIC_SEQ_CST);
  return !in_vain;
}

/* Wakes the harvester when a half begins, not when one is full: the record that crosses into it is not published yet,
 * so the harvester would find a few bytes too little and sleep on. Compares last bytes, since a record that ends
 * exactly at a half's end has not begun the next half, but the record after it has. */
static void call_harvester(const ll_producer *producer, const ll_ring *ring, const room *found) {
  uint64_t which_half = ~(ring->bytes / 2 - 1), position = producer->position;
  bool begins_half = position > 0 && ((position - 1) & which_half) != ((found->end - 1) & which_half);
  if (found->enough && !begins_half) return;
  store_release(&ll_the_emitter.crowded, 1);
  ll_wake_harvester();
}

static bool find_room(ll_producer *producer, size_t bytes) {
  ll_ring *ring = &ll_the_emitter.store.rings[producer->ring];
  room found = look_for_room(producer, ring, bytes);
  if (!found.enough && grow(producer, ring)) {
    ring = &ll_the_emitter.store.rings[producer->ring];
    ll_wake_harvester();
    found = look_for_room(producer, ring, bytes);
  } else if (!found.enough && ll_the_emitter.policy == LL_BLOCK && ll_tls_inside == 0 &&
             wait_for_room(producer, ring, bytes)) {
    found = look_for_room(producer, ring, bytes);
  }
  call_harvester(producer, ring, &found);
  if (!found.enough) {
    if (load_ordered(&ll_the_emitter.closing) != 0)
      add_relaxed(&ll_the_emitter.store.header->routes[producer->route].dropped_shutdown, 1);
    else
      add_owned(&ring->dropped_ring_full, 1);
    return false;
  }
  settle(producer, ring, &found);
  return true;
}

/* --- types --- */

static uint32_t register_type(ll_event_type *type) {
  char why[256];
  ll_saved_state before;
  ll_lock(&before);
  uint32_t state = load_relaxed(&type->state);
  if (state == LL_TYPE_NEW) {
    state = ll_types_register(&ll_the_emitter.types, type, why, sizeof why);
    if (state != LL_TYPE_REFUSED && !ll_types_save(&ll_the_emitter.types, &ll_the_emitter.store)) {
      state = LL_TYPE_REFUSED;
      snprintf(why, sizeof why, "no room for event type \"%.64s\" in the ring file; its events are dropped",
               type->name);
    }
    if (state == LL_TYPE_REFUSED) {
      store_release(&type->state, state);
      if (why[0] != '\0') ll_log(LL_LOG_ERROR, "%s", why);
    } else {
      state = ll_above.adopt(type, state);
    }
  }
  ll_unlock(&before);
  return state;
}

static void drop(uint64_t *counter) {
  add_relaxed(counter, 1);
}

/* Returns the producer with room for this record; NULL when the event is dropped. */
static ll_producer *make_room(uint32_t route, uint32_t state, size_t bytes) {
  ll_route_books *books = &ll_the_emitter.store.header->routes[route];
  if (load_ordered(&ll_the_emitter.closing) != 0) { /* without setting busy: see quiesce */
    drop(&books->dropped_shutdown);
    return NULL;
  }
  bool possible = bytes <= LL_RECORD_MAX && state != LL_TYPE_REFUSED;
  ll_producer *producer = own_producer(route);
  if (producer != NULL)
    store_relaxed(&producer->busy, LL_BUSY);
  else if (possible)
    producer = attach(route);
  if (load_ordered(&ll_the_emitter.closing) != 0) /* after the producer set busy */
    drop(&books->dropped_shutdown);
  else if (bytes > LL_RECORD_MAX)
    drop(&books->dropped_oversize);
  else if (!possible || producer == NULL)
    drop(&books->dropped_no_ring);
  else if (find_room(producer, bytes))
    return producer;
  if (producer != NULL) store_release(&producer->busy, 0);
  return NULL;
}

/* True for an event from a signal handler inside another emit. */
static bool is_nested(uint32_t route) {
  if (in_slow_path) return true;
  const ll_producer *producer = route == 0 ? ll_tls_producer : own_producer(route);
  return producer != NULL && load_relaxed(&producer->busy) != 0;
}

/* In the child of a handler that forked out of an emit nothing can be started before that emit has ended. */
static void count_nested(uint32_t route) {
  if (load_acquire(&ll_the_emitter.state) != LL_EMITTER_ON) return;
  drop(ll_is_alive() ? &ll_the_emitter.store.header->routes[route].dropped_reentrant
                     : &ll_the_emitter.dropped_in_child);
}

static ll_reservation take(ll_producer *producer, uint32_t number, size_t bytes) {
  ll_reservation taken = {producer, 0, NULL};
  if (producer == NULL) return taken;
  taken.end = producer->position + bytes;
  taken.at = producer->base + (producer->position & producer->mask);
  uint64_t word = ll_clock_tick(ll_the_emitter.clock) << 16 | number;
  memcpy(taken.at, &word, sizeof word);
  return taken;
}

ll_reservation ll_reserve_on_route(uint32_t route, uint32_t number, size_t bytes) {
  ll_reservation none = {NULL, 0, NULL};
  if (is_nested(route)) {
    count_nested(route);
    return none;
  }
  in_slow_path = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  ll_reservation taken = take(make_room(route, number, bytes), number, bytes);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  in_slow_path = false;
  return taken;
}

ll_ring *ll_ring_of_harvester(void) {
  ll_producer *producer = own_producer(0);
  if (producer == NULL && (producer = attach(0)) != NULL) store_release(&producer->busy, 0);
  return producer != NULL ? &ll_the_emitter.store.rings[producer->ring] : NULL;
}

/* No signal handler runs on the harvester's thread, so nothing here can be nested. */
ll_reservation ll_reserve_for_harvester(ll_event_type *type, size_t bytes) {
  ll_reservation none = {NULL, 0, NULL};
  uint32_t number = load_relaxed(&type->state);
  if (number == LL_TYPE_NEW) number = register_type(type);
  if (number == LL_TYPE_OFF || number > LL_TYPE_NUMBER_MAX) return none;
  ll_producer *producer = own_producer(0);
  if (producer == NULL && (producer = attach(0)) == NULL) return none;
  store_relaxed(&producer->busy, LL_BUSY);
  const ll_ring *ring = &ll_the_emitter.store.rings[producer->ring];
  room found = look_for_room(producer, ring, bytes);
  if (!found.enough && grow(producer, &ll_the_emitter.store.rings[producer->ring])) {
    ring = &ll_the_emitter.store.rings[producer->ring];
    found = look_for_room(producer, ring, bytes);
  }
  if (found.enough) {
    settle(producer, ring, &found);
    return take(producer, number, bytes);
  }
  store_release(&producer->busy, 0);
  return none;
}

/* In the slow path. Returns the type's state, or LL_TYPE_NEW if the emitter is not running. */
static uint32_t known_state(ll_event_type *type) {
  uint32_t state = LL_TYPE_NEW;
  switch (ll_enter()) {
  case LL_EMITTER_ON:
    if (load_ordered(&ll_the_emitter.closing) != 0) return LL_TYPE_NEW;
    state = load_acquire(&type->state);
    return state != LL_TYPE_NEW ? state : register_type(type);
  case LL_EMITTER_OFF: store_relaxed(&type->state, LL_TYPE_OFF); return LL_TYPE_OFF;
  default: return LL_TYPE_NEW;
  }
}

uint32_t ll_make_known(ll_event_type *type) {
  if (in_slow_path) return LL_TYPE_NEW;
  in_slow_path = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint32_t state = known_state(type);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  in_slow_path = false;
  return state;
}

uint32_t ll_prepare(ll_event_type *type) {
  if (is_nested(0)) return LL_TYPE_NEW;
  in_slow_path = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint32_t state = known_state(type);
  if ((state & LL_TYPE_SHAPED) != 0 && own_producer(0) == NULL) {
    ll_producer *producer = attach(0);
    if (producer != NULL) {
      store_release(&producer->busy, 0);
    } else {
      drop(&ll_the_emitter.store.header->routes[0].dropped_no_ring);
      state = LL_TYPE_OFF;
    }
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  in_slow_path = false;
  return state;
}

ll_producer *ll_producer_on(uint32_t route) {
  return own_producer(route);
}

ll_reservation ll_reserve_slowly(ll_event_type *type, size_t bytes, uint32_t route) {
  ll_reservation taken = {NULL, 0, NULL};
  if (is_nested(route)) {
    count_nested(route);
    return taken;
  }
  in_slow_path = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  switch (ll_enter()) {
  case LL_EMITTER_ON: {
    uint32_t state = load_acquire(&type->state); /* may have changed since the event was admitted */
    if (state == LL_TYPE_NEW) state = register_type(type);
    taken = take(make_room(route, state, bytes), load_relaxed(&type->number), bytes);
    break;
  }
  case LL_EMITTER_OFF: store_relaxed(&type->state, LL_TYPE_OFF); break;
  default: drop(&ll_the_emitter.dropped_stopped);
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  in_slow_path = false;
  return taken;
}
