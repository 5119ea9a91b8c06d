#include "spool_replay.h"

#include "base/atomics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef enum ll_replay_state { WAITING, FLYING, DELIVERED, REFUSED } ll_replay_state;

/* Layout of a token: LL_REPLAY_TOKEN in the low 16 bits, then the record, then the round. */
enum { RECORD_SHIFT = 16, ROUND_SHIFT = 48, ROUND_MASK = 0xffff };

static void note(ll_replay *replay, const ll_scanned_record *scanned) {
  replay->records[replay->count++] = (ll_replay_record){.offset = (uint32_t)scanned->offset,
                                                        .bytes = (uint32_t)scanned->bytes,
                                                        .events = scanned->events,
                                                        .state = WAITING,
                                                        .sequence = scanned->sequence};
  replay->mended += scanned->mended;
}

static uint32_t records_in(const ll_spool_content *content) {
  ll_segment_scan scan = ll_segment_scan_start(&content->identity, content->bytes, content->size);
  ll_scanned_record scanned;
  uint32_t count = 0;
  for (ll_scanned what; (what = ll_segment_scan_next(&scan, &scanned)) != LL_SCANNED_END;)
    count += what == LL_SCANNED_RECORD;
  return count;
}

int ll_replay_start(ll_replay *replay, const char *name, ll_spool_content *content, uint32_t round) {
  memset(replay, 0, sizeof *replay);
  memcpy(replay->name, name, strlen(name) + 1);
  replay->records = calloc((size_t)records_in(content) + 1, sizeof *replay->records);
  if (replay->records == NULL) {
    ll_spool_content_free(content);
    return ENOMEM;
  }
  replay->content = *content;
  replay->round = round & ROUND_MASK;
  memset(content, 0, sizeof *content);
  ll_segment_scan scan = ll_segment_scan_start(&replay->content.identity, replay->content.bytes, replay->content.size);
  ll_scanned_record scanned;
  for (ll_scanned what; (what = ll_segment_scan_next(&scan, &scanned)) != LL_SCANNED_END;) {
    if (what == LL_SCANNED_RECORD) note(replay, &scanned);
    replay->torn += what == LL_SCANNED_TORN;
    if (what != LL_SCANNED_DAMAGE) continue;
    replay->damaged++;
    replay->damaged_events += scanned.events;
  }
  return 0;
}

void ll_replay_free(ll_replay *replay) {
  ll_spool_content_free(&replay->content);
  free(replay->records);
  memset(replay, 0, sizeof *replay);
}

ll_replayed ll_replay_send(ll_replay *replay, const ll_sink_plugin *plugin, ll_sink *sink) {
  if (__atomic_exchange_n(&replay->again, 0, __ATOMIC_ACQUIRE) != 0) replay->next = 0;
  while (replay->next < replay->count && load_acquire(&replay->records[replay->next].state) != WAITING)
    replay->next++;
  if (replay->next == replay->count) return LL_REPLAY_NOTHING;
  ll_replay_record *record = &replay->records[replay->next];
  uint64_t token = (uint64_t)replay->round << ROUND_SHIFT | (uint64_t)replay->next << RECORD_SHIFT | LL_REPLAY_TOKEN;
  store_release(&record->state, FLYING);
  add_relaxed(&replay->flying, 1);
  ll_sink_status status = plugin->send(sink, token, replay->content.bytes + record->offset, record->bytes,
                                       replay->content.identity.route, record->sequence);
  if (status == LL_SINK_OK) return LL_REPLAYED;
  __atomic_fetch_sub(&replay->flying, 1, __ATOMIC_RELEASE);
  store_release(&record->state, status == LL_SINK_FAILED ? REFUSED : WAITING);
  if (status == LL_SINK_BUSY) return LL_REPLAY_BUSY;
  add_relaxed(&replay->refused, 1);
  return LL_REPLAYED;
}

bool ll_replay_answer(ll_replay *replay, uint64_t token, ll_sink_outcome outcome) {
  uint32_t index = (uint32_t)(token >> RECORD_SHIFT);
  if ((token & LL_REPLAY_TOKEN) != LL_REPLAY_TOKEN || (token >> ROUND_SHIFT & ROUND_MASK) != replay->round)
    return false;
  if (index >= replay->count) return false;
  uint32_t state = outcome == LL_SINK_ACKED ? DELIVERED : outcome == LL_SINK_REFUSED ? REFUSED : WAITING;
  if (!compare_and_swap_u32(&replay->records[index].state, FLYING, state)) return false;
  if (outcome == LL_SINK_REFUSED) add_relaxed(&replay->refused, 1);
  if (outcome == LL_SINK_RETRY) store_release(&replay->again, 1);
  __atomic_fetch_sub(&replay->flying, 1, __ATOMIC_RELEASE);
  return true;
}

bool ll_replay_done(const ll_replay *replay) {
  if (load_acquire(&replay->flying) != 0) return false;
  for (uint32_t i = 0; i < replay->count; i++)
    if (load_acquire(&replay->records[i].state) < DELIVERED) return false;
  return true;
}

uint64_t ll_replay_events(const ll_replay *replay, bool refused) {
  uint64_t events = 0;
  for (uint32_t i = 0; i < replay->count; i++)
    if (load_acquire(&replay->records[i].state) == (refused ? REFUSED : DELIVERED)) events += replay->records[i].events;
  return events;
}

uint32_t ll_replay_delivered(const ll_replay *replay) {
  uint32_t batches = 0;
  for (uint32_t i = 0; i < replay->count; i++)
    batches += load_acquire(&replay->records[i].state) == DELIVERED;
  return batches;
}
