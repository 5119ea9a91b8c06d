/* The batches in flight: a bounded table. An acknowledgement names its batch by slot and ticket.
 *
 * The call that removes a batch reports its outcome, so that done is called exactly once. All calls are thread-safe;
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
  uint64_t ticket; /* distinguishes the slot's uses: an answer may arrive after its batch was given up */
  uint64_t token;
  size_t bytes; /* before compression */
  int64_t deadline_ms;
} flight_slot;

typedef struct flight {
  const ll_sink_host *host;
  pthread_mutex_t mutex;
  pthread_cond_t landed;
  unsigned capacity, count, next;
  uint64_t tickets;
  unsigned landing; /* calls of done in progress */
  uint64_t wakes;
  flight_slot *slots;
} flight;

/* On failure writes one line into error. */
bool flight_init(flight *f, const ll_sink_host *host, unsigned capacity, char *error, size_t error_bytes);

/* Also for a table that is zero and was never initialised. */
void flight_destroy(flight *f);

/* False if the table is full. */
bool flight_take(flight *f, uint64_t token, size_t bytes, int64_t deadline_ms, unsigned *slot, uint64_t *ticket);

/* The size of a batch in flight, as given to flight_take; 0 if it has landed. */
size_t flight_bytes(flight *f, unsigned slot, uint64_t ticket);

/* Removes the batch without calling done, as if it had not been sent. False if it has landed. */
bool flight_cancel(flight *f, unsigned slot, uint64_t ticket);

/* Removes one batch and calls done, unless that ticket has landed already. */
void flight_land(flight *f, unsigned slot, uint64_t ticket, ll_sink_outcome outcome, const char *why);

/* Lands all batches whose deadline has passed; INT64_MAX lands all. Returns their number. */
unsigned flight_land_until(flight *f, int64_t now_ms, ll_sink_outcome outcome, const char *why);

/* Lowers later deadlines to this one. */
void flight_hurry(flight *f, int64_t deadline_ms);

/* True if no batch is in flight and no call of done is in progress. */
bool flight_idle(flight *f);

/* Returns when a batch lands, flight_wake is called, or the time has passed. */
void flight_wait(flight *f, int timeout_ms);
void flight_wake(flight *f);

int64_t flight_now_ms(void); /* CLOCK_MONOTONIC */

#endif
