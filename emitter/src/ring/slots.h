/* Slots hold sealed batches until the sink or the spool has them.
 *
 *   free --(harvester: fill, then one release store)--> sealed --(acknowledged)--> free
 *                                                          \----(refused)-----> refused --(counted)--> free
 *
 * A batch occupies as many contiguous slots as it needs, so that small ones do not use up the budget while the sink is
 * unreachable. The word of the first slot represents the batch; the words of the others are from earlier batches, and
 * free. A refused batch, and the latest one, need only their first slot once they need not be sent any more.
 *
 * Every batch, even a small one, is filled where one of LL_SLOT_RUN slots would fit, so that no such batch waits for
 * room while smaller ones overtake it. Under load a batch may be larger, where the slots have room for it; else the
 * same records go into several batches.
 *
 * The word of a slot is `sequence << 8 | slots << 2 | state`, so that an acknowledgement frees exactly that batch or
 * nothing. The words are contiguous in the file's header: scanning them touches no slot. Six bits hold up to
 * LL_SLOT_RUN slots as they are, and more in steps of four: LL_SLOT_RUN + 1 stands for LL_SLOT_RUN + 4 slots. Earlier
 * versions of Lifeline do not know such steps, and reject batches of more than LL_BATCH_ORDINARY bytes: the file's
 * version changes before the word of its first larger batch is stored.
 *
 * Each slot belongs permanently to one route, by its index, and so does each ring that ever held an event. A route's
 * accounting (sequence, totals, counters) is confined to its own slots, rings and header entry. So the word need not
 * contain the route, and the following holds for each route separately.
 *
 * Recovery relies on these invariants:
 *  - A published event is in exactly one of: a ring above its tail, or one sealed batch. Tails move only after the
 *    sealing store; until a recovery has applied the slot's list of takes, a tail may be too low, never too high.
 *  - A sealed batch never changes.
 *  - The slot of the highest sequence is never refilled before the next one is sealed: it holds the totals and the
 *    sequence from which to continue.
 *  - The events of a refused batch are counted by the seal that its slot names in `counted_by`: they are in its totals
 *    if and only if that seal exists. If no slot is left for such a seal, the spool's counters, which need no batch,
 *    count them (spool.h).
 */
#ifndef LIFELINE_SLOTS_H
#define LIFELINE_SLOTS_H

#include "base/format.h"
#include "ringfile.h"

#define LL_TAKES_MAX 250
#define LL_SLOT_RUN 40u       /* contiguous slots that there must be for the next batch */
#define LL_SLOT_RUN_MOST 120u /* this many slots hold any batch */

typedef enum ll_slot_state { LL_SLOT_FREE = 0, LL_SLOT_SEALED = 1, LL_SLOT_REFUSED = 2 } ll_slot_state;

/* The part of a ring that a batch took: up to (not including) position `to`. */
typedef struct ll_take {
  uint64_t ring;
  uint64_t from;
  uint64_t to;
} ll_take;

typedef struct ll_slot {
  uint64_t counted_by; /* sequence of the seal whose totals include this refused batch; 0: none yet */
  uint32_t flags;      /* of the batch; FINAL: nothing more follows in this incarnation */
  uint32_t bytes;
  uint32_t event_count;
  uint32_t take_count;
  uint64_t events_total;       /* in all batches up to and including this one */
  uint64_t dropped_sink_total; /* as counted by this batch */
  uint64_t reported_total;     /* sum of all counters except emitted, to detect changes */
  uint16_t route;
  uint16_t reserved[3];
  uint64_t reserved_too[9];
  uint8_t batch[]; /* followed, padded to 8, by the takes */
} ll_slot;

static inline ll_slot *ll_slot_at(const ll_store *store, uint32_t index) {
  return (ll_slot *)(store->map + store->header->slots_offset + (uint64_t)index * LL_SLOT_BYTES);
}

static inline ll_take *ll_slot_takes(const ll_slot *slot) {
  return (ll_take *)(uintptr_t)(slot->batch + (slot->bytes + 7) / 8 * 8);
}

/* Bytes of its slots that the batch and its takes occupy. */
static inline uint64_t ll_slot_used(const ll_slot *slot) {
  return sizeof *slot + ((uint64_t)slot->bytes + 7) / 8 * 8 + (uint64_t)slot->take_count * sizeof(ll_take);
}

static inline uint64_t ll_slot_word(uint64_t sequence, uint32_t slots, ll_slot_state state) {
  uint32_t code = slots <= LL_SLOT_RUN ? slots : LL_SLOT_RUN + (slots - LL_SLOT_RUN + 3) / 4;
  return sequence << 8 | code << 2 | state;
}
static inline uint32_t ll_slot_count_of(uint64_t word) {
  uint32_t code = word >> 2 & 0x3f;
  return code <= LL_SLOT_RUN ? code : LL_SLOT_RUN + (code - LL_SLOT_RUN) * 4;
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

/* The indexes of a route's slots in use, from first up to (not including) end. Those beyond are free. */
typedef struct ll_slot_range {
  uint32_t first, end;
} ll_slot_range;
ll_slot_range ll_slots_of(const ll_store *store, uint32_t route);

/* In the following, slots and sequences are those of the route.
 *
 * The slot to fill next, with a batch of up to `slots` slots. It and those behind it are free and allocated, and it is
 * not the latest. NULL when too few contiguous ones are free, or when the filesystem has no room for more. */
ll_slot *ll_slot_to_fill(ll_store *store, uint32_t route, uint32_t slots);

/* How many slots to fill when that many bytes of records wait: at least LL_SLOT_RUN, and beyond that at most a quarter
 * of the route's, so that one batch in the sink's hands leaves room for others. A multiple of four. */
uint32_t ll_slots_for(const ll_store *store, uint32_t route, uint64_t record_bytes);

/* The largest batch, header included, that fits into that many slots together with any takes. */
static inline size_t ll_slots_room(uint32_t slots) {
  size_t room = slots * (size_t)LL_SLOT_BYTES - sizeof(ll_slot) - 7 - LL_TAKES_MAX * sizeof(ll_take);
  return room < LL_BATCH_MOST ? room : LL_BATCH_MOST;
}

/* The slot of the highest sequence, and that sequence; NULL and 0 before the first seal. */
ll_slot *ll_slot_latest(const ll_store *store, uint32_t route, uint64_t *sequence);

/* The sealed slot with the lowest sequence above *after, and that sequence; NULL when there is none. */
ll_slot *ll_slot_next_sealed(const ll_store *store, uint32_t route, uint64_t *after);

/* Turns the filled slot into a batch. From now on it will be sent, by this process or by a recovery. */
void ll_slot_seal(ll_store *store, ll_slot *slot, uint64_t sequence);

/* Changes the state: a sealed batch was acknowledged (to: free) or refused, or a refused batch was counted (to: free).
 * False when the slot no longer holds this batch in that state. */
bool ll_slot_move(ll_store *store, uint32_t index, uint64_t sequence, ll_slot_state from, ll_slot_state to);

/* Number of batches in that state. */
uint32_t ll_slots_in(const ll_store *store, uint32_t route, ll_slot_state state);

/* How many slots from this one on its batch occupies; 0: the slot is free. `latest` is the route's latest slot. */
uint32_t ll_slot_extent(const ll_store *store, uint32_t index, const ll_slot *latest);

/* Number of free slots. */
uint32_t ll_slots_vacant(const ll_store *store, uint32_t route);

#endif
