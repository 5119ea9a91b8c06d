/* Slots hold sealed batches from their sealing until somebody else has them.
 *
 *   free --(harvester: fill, then one release store)--> sealed --(acknowledged)--> free
 *                                                          \----(refused)-----> refused --(counted)--> free
 *
 * A batch lies in as many slots as it needs, side by side, so that small ones do not use up the budget while the sink
 * is away. The first one's word speaks for all; the others' words are of earlier batches, and free. A batch that was
 * refused, and the latest one, once they need not be sent any more, need their first slot alone.
 *
 * Every batch, however small, is filled where the largest would fit. So none waits for room while smaller ones pass it.
 *
 * The word of a slot is `sequence << 8 | slots << 2 | state`, so that an acknowledgement frees that very batch or
 * nothing. The words stand together in the file's header: looking through them touches no slot.
 *
 * Each slot belongs to one route for ever, by its index, and so does each ring that holds or ever held an event: routes
 * share neither, and a route's books (sequence, totals, counters) are in its own slots, rings and header entry alone.
 * So the route needs no place in the word, and what follows holds for each route as if it were alone in the file.
 *
 * What recovery lives on:
 *  - A published event is in exactly one of: a ring above its tail, or one sealed batch. Tails move only after the
 *    sealing store; until a recovery has looked at the slot's list, a tail may be too low, never too high.
 *  - A sealed batch never changes.
 *  - The slot of the highest sequence is never filled again before the next one is sealed: it carries the totals, and
 *    says where to go on.
 *  - The events of a refused batch are counted by the seal that its slot names in `counted_by`; when that one exists,
 *    they are in its totals, and when not, they are not. Where no slot is left for such a seal, the spool's books count
 *    them (spool.h), which can do that without a batch.
 */
#ifndef LIFELINE_SLOTS_H
#define LIFELINE_SLOTS_H

#include "ringfile.h"

#define LL_TAKES_MAX 250
#define LL_SLOT_RUN 40u /* as many hold any batch */

typedef enum ll_slot_state { LL_SLOT_FREE = 0, LL_SLOT_SEALED = 1, LL_SLOT_REFUSED = 2 } ll_slot_state;

/* What a batch took: the ring's bytes up to (not including) position `to`. */
typedef struct ll_take {
  uint64_t ring;
  uint64_t from;
  uint64_t to;
} ll_take;

typedef struct ll_slot {
  uint64_t counted_by; /* sequence of the seal whose totals hold this refused batch; 0: none yet */
  uint32_t flags;      /* the batch's: FINAL tells that nothing more belongs to this incarnation */
  uint32_t bytes;
  uint32_t event_count;
  uint32_t take_count;
  uint64_t events_total;       /* in all batches up to this one */
  uint64_t dropped_sink_total; /* as counted by this batch */
  uint64_t reported_total;     /* sum of the counters but for emitted, to see whether there is news */
  uint16_t route;
  uint16_t reserved[3];
  uint64_t reserved_too[9];
  uint8_t batch[]; /* and behind it, padded to 8, the takes */
} ll_slot;

static inline ll_slot *ll_slot_at(const ll_store *store, uint32_t index) {
  return (ll_slot *)(store->map + store->header->slots_offset + (uint64_t)index * LL_SLOT_BYTES);
}

static inline ll_take *ll_slot_takes(const ll_slot *slot) {
  return (ll_take *)(uintptr_t)(slot->batch + (slot->bytes + 7) / 8 * 8);
}

/* What the batch and its takes fill of its slots. */
static inline uint64_t ll_slot_used(const ll_slot *slot) {
  return sizeof *slot + ((uint64_t)slot->bytes + 7) / 8 * 8 + (uint64_t)slot->take_count * sizeof(ll_take);
}

static inline uint64_t ll_slot_word(uint64_t sequence, uint32_t slots, ll_slot_state state) {
  return sequence << 8 | slots << 2 | state;
}
static inline uint64_t ll_slot_sequence(uint64_t word) {
  return word >> 8;
}
static inline ll_slot_state ll_slot_state_of(uint64_t word) {
  return (ll_slot_state)(word & 3);
}

static inline uint32_t ll_slot_index(const ll_store *store, const ll_slot *slot) {
  uint64_t offset = (uint64_t)((const uint8_t *)slot - store->map);
  return (uint32_t)((offset - store->header->slots_offset) / LL_SLOT_BYTES);
}

/* The indexes of a route's slots, from first up to end. Those beyond are free. */
typedef struct ll_slot_range {
  uint32_t first, end;
} ll_slot_range;
ll_slot_range ll_slots_of(const ll_store *store, uint32_t route);

/* In what follows, slots and sequences are those of the route.
 *
 * The slot to fill next: free, allocated, as are those behind it that any batch may need, and not the latest. NULL when
 * all wait for acknowledgement, or the filesystem has no room for more. */
ll_slot *ll_slot_to_fill(ll_store *store, uint32_t route);

/* The slot of the highest sequence, and that sequence; NULL and 0 before the first seal. */
ll_slot *ll_slot_latest(const ll_store *store, uint32_t route, uint64_t *sequence);

/* The sealed slot with the lowest sequence above *after, and that sequence; NULL when there is none. */
ll_slot *ll_slot_next_sealed(const ll_store *store, uint32_t route, uint64_t *after);

/* Makes the filled slot a batch. From here on it will be sent, by us or by a recovery. */
void ll_slot_seal(ll_store *store, ll_slot *slot, uint64_t sequence);

/* The sealed batch was acknowledged (to: free) or refused; the refused one was counted (to: free). False when the slot
 * does not hold this batch in that state any more. */
bool ll_slot_move(ll_store *store, uint32_t index, uint64_t sequence, ll_slot_state from, ll_slot_state to);

/* Batches in that state. */
uint32_t ll_slots_in(const ll_store *store, uint32_t route, ll_slot_state state);

/* How many slots from this one on are in use for what its word says, up to 63; 0: it is free. `latest` is its route's.
 */
uint32_t ll_slot_extent(const ll_store *store, uint32_t index, const ll_slot *latest);

/* How many slots are free. */
uint32_t ll_slots_vacant(const ll_store *store, uint32_t route);

/* Checks what a recovery will rely on. NULL, or what is wrong. */
const char *ll_slots_fault(const ll_store *store);

#endif
