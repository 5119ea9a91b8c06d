/* The emitter of this process: the state that its threads share in order to emit. */
#ifndef LIFELINE_EMITTER_H
#define LIFELINE_EMITTER_H

#include "types.h"

#include <lifeline/detail/emit.h>

typedef enum ll_emitter_state {
  LL_EMITTER_NEW,
  LL_EMITTER_OFF, /* LIFELINE=off, or no URL */
  LL_EMITTER_ON,
  LL_EMITTER_STOPPED, /* shut down, or failed to start: events are only counted */
} ll_emitter_state;

/* The kernel zeroes this in a forked child, even if none of our handlers ran: the child's first emit finds its limit at
 * 0, and `alive` at 0 identifies the cause. */
typedef struct ll_fork_sensitive {
  uint64_t alive;
  uint32_t restarting; /* futex word: one of the child's threads restarts the emitter, the others wait */
  ll_producer producers[LL_RINGS_MAX];
} ll_fork_sensitive;

typedef struct ll_emitter {
  uint32_t state;   /* ll_emitter_state */
  uint32_t closing; /* producers get no more room */
  ll_clock_kind clock;
  ll_policy policy;
  unsigned block_timeout_ms;
  uint64_t dropped_stopped;  /* events dropped while no file exists to count them in */
  uint64_t dropped_in_child; /* the same, as reentrant, in a child that has not started its emitter yet */
  ll_fork_sensitive *sensitive;
  ll_types types;
  ll_store store;

  /* Futex words. `signal` changes when the harvester has work; `room` when it has made room. */
  uint32_t signal, sleeping;
  uint32_t crowded; /* a producer entered the next half of its ring, or found it full: seal all that is published */
  uint32_t room, waiting_for_room;
} ll_emitter;

extern ll_emitter ll_the_emitter;

/* Functions of upper layers that ring/ calls. life/ defines this as a constant, because the first emit may precede the
 * library's constructors. */
typedef struct ll_above_ring {
  ll_emitter_state (*start)(void);                         /* starts the emitter, or a child's new incarnation */
  uint32_t (*adopt)(ll_event_type *type, uint32_t number); /* applies the rules; returns the state. With the lock */
  void (*thread_ends)(void);                               /* frees the thread's resources there */
} ll_above_ring;

extern const ll_above_ring ll_above;

/* False before the start, and in a forked child until it has restarted. */
static inline bool ll_is_alive(void) {
  const ll_fork_sensitive *sensitive = load_acquire(&ll_the_emitter.sensitive);
  return sensitive != NULL && load_acquire(&sensitive->alive) != 0;
}

/* The emitter's state, after starting it if necessary. */
static inline ll_emitter_state ll_enter(void) {
  ll_emitter_state state = (ll_emitter_state)load_acquire(&ll_the_emitter.state);
  bool started = state == LL_EMITTER_ON ? ll_is_alive() : state != LL_EMITTER_NEW;
  return LL_LIKELY(started) ? state : ll_above.start();
}

void ll_wake_harvester(void);

/* Wakes the threads that wait for room (policy `block`). */
void ll_announce_room(void);

/* Sets the limits of all producers to 0, then waits until no emit is in flight: nothing more will be published. */
void ll_producers_close(void);

/* False while an emit that began before the close is still in flight. */
bool ll_producers_are_quiet(void);

#endif
