/* Emits serial numbers from several threads while sessions begin and end, until it is killed or has done all rounds.
 *
 *   session-emitter ROUNDS THREADS PAUSE_US|flush
 *
 * The first thread begins and ends the sessions, overlapping and nested, and emits the events `mine` with the ID of the
 * innermost session that it knows: the batch of such an event must have this session in its context. With `flush`, the
 * events of a round are sent before the next one, however late the harvester is: each change then finds a place.
 *
 * No event is dropped: a thread whose ring is full waits for the harvester, which a busy machine may not run for
 * seconds.
 */
#include <lifeline/session.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

LL_EVENT(mine, "test.mine", LL_INFO, (u64, serial, ""), (bytes, expected, ""));
LL_EVENT(other, "test.other", LL_INFO, (u64, serial, ""), (u32, thread, ""));

enum { EVENTS = 20, OPEN_MAX = 3, OTHERS_MOST = 4000000 /* what a reader has room for */ };

static uint32_t stopping;
static uint64_t serial;

static void *emit(void *number) {
  for (uint64_t i = 1; i <= OTHERS_MOST && !__atomic_load_n(&stopping, __ATOMIC_RELAXED); i++) {
    ll_emit(other, i, (uint32_t)(size_t)number);
    if (i % 64 == 0) usleep(100);
  }
  return NULL;
}

static void emit_mine(const ll_session *innermost) {
  ll_bytes expected = {innermost != NULL ? innermost->id : NULL, innermost != NULL ? sizeof innermost->id : 0};
  for (int i = 0; i < EVENTS; i++)
    ll_emit(mine, ++serial, expected);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  unsigned long rounds = strtoul(argv[1], NULL, 10);
  int threads = atoi(argv[2]);
  bool flushes = strcmp(argv[3], "flush") == 0;
  useconds_t pause_us = (useconds_t)atoi(argv[3]);
  pthread_t started[8];
  setenv("LIFELINE_POLICY", "block", 1);
  setenv("LIFELINE_BLOCK_TIMEOUT_MS", "300000", 1);
  for (int i = 0; i < threads && i < 8; i++)
    if (pthread_create(&started[i], NULL, emit, (void *)(size_t)i) != 0) return 2;
  ll_session open[OPEN_MAX];
  unsigned count = 0;
  for (unsigned long round = 0; round < rounds; round++) {
    emit_mine(count > 0 ? &open[count - 1] : NULL);
    if (count == OPEN_MAX || (count > 0 && round % 3 == 0)) {
      unsigned which = (unsigned)round % count; /* not always the innermost one */
      if (ll_session_end(&open[which], 1) != 0) return 3;
      memmove(&open[which], &open[which + 1], (count - which - 1) * sizeof open[0]);
      count--;
    } else if (ll_session_begin(&open[count++], "round", NULL) != 0) {
      return 3;
    }
    if (flushes && ll_flush(60000) != 0) return 3;
    if (pause_us > 0) usleep(pause_us);
  }
  __atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < threads && i < 8; i++)
    pthread_join(started[i], NULL);
  return 0;
}
