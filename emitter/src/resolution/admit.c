/* Decides whether to emit an event of a shaped type: threshold, then sample, then allowance, or a summary instead. */
#include "ring/emitter.h"
#include "ring/producer.h"
#include "shaping.h"
#include "summary/summary.h"

#include <sys/mman.h>

/* For each type, the number of events that this thread skips before the next sampled one: by type number, grown on
 * demand. In its own pages, since malloc is not async-signal-safe. */
typedef struct turns {
  uint32_t *left;
  uint32_t count;
} turns;

static __thread turns own_turns __attribute__((tls_model("initial-exec")));

enum { TURNS_PER_PAGE = 4096 / sizeof(uint32_t) };

__attribute__((cold, noinline)) static bool grow_turns(uint32_t number) {
  uint32_t count = (number / TURNS_PER_PAGE + 1) * TURNS_PER_PAGE;
  void *grown =
      own_turns.left == NULL
          ? mmap(NULL, count * sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
          : mremap(own_turns.left, own_turns.count * sizeof(uint32_t), count * sizeof(uint32_t), MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) return false;
  own_turns = (turns){grown, count};
  return true;
}

void ll_admit_thread_ends(void) {
  if (own_turns.left != NULL) munmap(own_turns.left, own_turns.count * sizeof(uint32_t));
  own_turns = (turns){NULL, 0};
}

/* True for the first event, then for each one after sample - 1 others. The remainder of a rarer sample does not delay a
 * denser one. Without memory to count in: always true. */
static bool has_its_turn(uint32_t number, uint32_t sample) {
  if (LL_UNLIKELY(number >= own_turns.count) && !grow_turns(number)) return true;
  uint32_t left = own_turns.left[number];
  bool turn = left == 0 || left >= sample;
  own_turns.left[number] = (turn ? sample : left) - 1;
  return turn;
}

static bool is_allowed(int64_t *allowance) {
  return load_relaxed(allowance) > 0 && __atomic_fetch_sub(allowance, 1, __ATOMIC_RELAXED) > 0;
}

/* Counts an omitted event in this thread's ring on the route that the event would have taken, or in the route's
 * counters if the thread has no ring there. */
static void count_sampled_out(const ll_producer *producer, uint32_t route) {
  if (route != 0) producer = ll_producer_on(route);
  if (producer != NULL)
    add_owned(&ll_the_emitter.store.rings[producer->ring].sampled_out, 1);
  else
    add_relaxed(&ll_the_emitter.store.header->routes[route].sampled_out, 1);
}

static void count_below_threshold(const ll_producer *producer, uint32_t route) {
  if (route != 0) producer = ll_producer_on(route);
  if (producer != NULL)
    add_owned(&ll_the_emitter.store.rings[producer->ring].below_threshold, 1);
  else
    add_relaxed(&ll_the_emitter.store.header->routes[route].below_threshold, 1);
}

static bool is_admitted(const ll_producer *producer, uint32_t number, const ll_number *numbers, uint32_t *route) {
  const ll_shaping *shaping = ll_shaping_of(number);
  if (shaping == NULL) return true;
  if (!ll_within(&shaping->threshold, numbers[shaping->field])) {
    count_below_threshold(producer, shaping->route);
    return false;
  }
  if (shaping->summary) {
    ll_summary_count(ll_summary_add(number, numbers));
    return false;
  }
  bool left_out = (shaping->sample > 1 && !has_its_turn(number, shaping->sample)) ||
                  (shaping->allowance != NULL && !is_allowed(shaping->allowance));
  if (left_out) count_sampled_out(producer, shaping->route);
  *route = shaping->route;
  return !left_out;
}

/* Events that cannot be decided here are admitted: ll_reserve_slowly counts them as dropped for that reason. The state
 * is read once, since the harvester may change it at any time: what follows from it (that this thread has a producer,
 * what a shaped type needs) belongs to the state that was read. */
bool ll_admit(ll_event_type *type, const ll_number *numbers, uint32_t *route) {
  *route = 0;
  uint32_t state = load_acquire(&type->state);
  ll_producer *producer = ll_tls_producer; /* in a forked child, the parent's, wiped */
  if (LL_UNLIKELY(state == LL_TYPE_NEW || producer == NULL || load_relaxed(&producer->in_use) == 0)) {
    state = ll_prepare(type);
    producer = ll_tls_producer;
  }
  if (state == LL_TYPE_OFF) return false;
  if ((state & LL_TYPE_SHAPED) == 0) return true;
  if (LL_UNLIKELY(load_relaxed(&producer->busy) != 0)) return true;
  store_relaxed(&producer->busy, LL_BUSY);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  bool closing = load_relaxed(&ll_the_emitter.closing) != 0;
  if (closing) add_relaxed(&ll_the_emitter.store.header->routes[0].dropped_shutdown, 1);
  bool admitted = !closing && is_admitted(producer, state & LL_TYPE_NUMBER_MAX, numbers, route);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  store_release(&producer->busy, 0);
  return admitted;
}
