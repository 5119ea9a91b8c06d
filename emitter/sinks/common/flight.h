/* The batches that are on their way: a bounded table, so that an answer finds its batch by two numbers in its subject.
 *
 * Whoever takes a batch out says what became of it, so that done is called exactly once. All calls are thread-safe;
 * done is called without the table's lock.
 */
#ifndef LIFELINE_SINK_FLIGHT_H
#define LIFELINE_SINK_FLIGHT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "sink/sink.h"

typedef struct flight_slot {
  bool taken;
  uint64_t ticket; /* distinguishes the slot's uses: an answer may come after its batch was given up */
  uint64_t token;
  size_t bytes;
  int64_t deadline_ms;
} flight_slot;

typedef struct flight {
  const ll_sink_host *host;
  pthread_mutex_t mutex;
  pthread_cond_t landed;
  unsigned capacity, count, next;
  uint64_t tickets;
  unsigned landing; /* calls of done under way */
  uint64_t wakes;
  flight_slot *slots;
} flight;

/* On failure writes one line into error. */
bool flight_init(flight *f, const ll_sink_host *host, unsigned capacity, char *error, size_t error_bytes);

/* Also of one that was never initialised but is zero. */
void flight_destroy(flight *f);

/* False if the table is full. */
bool flight_take(flight *f, uint64_t token, size_t bytes, int64_t deadline_ms, unsigned *slot, uint64_t *ticket);

/* The size of a batch that is on its way; 0 if it has landed. */
size_t flight_bytes(flight *f, unsigned slot, uint64_t ticket);

/* Takes the batch out without done, as if it had not been sent; false if it landed meanwhile. */
bool flight_cancel(flight *f, unsigned slot, uint64_t ticket);

/* Ends one batch, unless that ticket has landed already. */
void flight_land(flight *f, unsigned slot, uint64_t ticket, ll_sink_outcome outcome, const char *why);

/* Ends all whose deadline has passed; INT64_MAX ends all. Returns how many that were. */
unsigned flight_land_until(flight *f, int64_t now_ms, ll_sink_outcome outcome, const char *why);

/* No batch waits longer than until then. */
void flight_hurry(flight *f, int64_t deadline_ms);

/* Nothing is under way, and no call of done either. */
bool flight_idle(flight *f);

/* Returns when one lands, flight_wake is called, or the time has passed. */
void flight_wait(flight *f, int timeout_ms);
void flight_wake(flight *f);

int64_t flight_now_ms(void); /* CLOCK_MONOTONIC */

#endif
