#include "flight.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int64_t flight_now_ms(void) {
  return (int64_t)(ll_now_ns(CLOCK_MONOTONIC) / 1000000);
}

bool flight_init(flight *f, const ll_sink_host *host, unsigned capacity, char *error, size_t error_bytes) {
  *f = (flight){.host = host, .capacity = capacity, .slots = calloc(capacity, sizeof *f->slots)};
  if (!f->slots) {
    snprintf(error, error_bytes, "out of memory: %zu bytes cannot be allocated", capacity * sizeof *f->slots);
    return false;
  }
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&f->landed, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_mutex_init(&f->mutex, NULL);
  return true;
}

void flight_destroy(flight *f) {
  if (!f->slots) return;
  free(f->slots);
  pthread_cond_destroy(&f->landed);
  pthread_mutex_destroy(&f->mutex);
}

bool flight_take(flight *f, uint64_t token, size_t bytes, int64_t deadline_ms, unsigned *slot, uint64_t *ticket) {
  pthread_mutex_lock(&f->mutex);
  bool room = f->count < f->capacity;
  if (room) {
    while (f->slots[f->next].taken)
      f->next = (f->next + 1) % f->capacity;
    *slot = f->next;
    *ticket = ++f->tickets;
    f->slots[f->next] = (flight_slot){true, *ticket, token, bytes, deadline_ms};
    f->count++;
  }
  pthread_mutex_unlock(&f->mutex);
  return room;
}

static bool holds(const flight *f, unsigned slot, uint64_t ticket) {
  return slot < f->capacity && f->slots[slot].taken && f->slots[slot].ticket == ticket;
}

size_t flight_bytes(flight *f, unsigned slot, uint64_t ticket) {
  pthread_mutex_lock(&f->mutex);
  size_t bytes = holds(f, slot, ticket) ? f->slots[slot].bytes : 0;
  pthread_mutex_unlock(&f->mutex);
  return bytes;
}

/* With the lock held. */
static bool release(flight *f, unsigned slot, uint64_t ticket, uint64_t *token) {
  if (!holds(f, slot, ticket)) return false;
  *token = f->slots[slot].token;
  f->slots[slot].taken = false;
  f->count--;
  return true;
}

bool flight_cancel(flight *f, unsigned slot, uint64_t ticket) {
  uint64_t token;
  pthread_mutex_lock(&f->mutex);
  bool released = release(f, slot, ticket, &token);
  pthread_mutex_unlock(&f->mutex);
  return released;
}

void flight_land(flight *f, unsigned slot, uint64_t ticket, ll_sink_outcome outcome, const char *why) {
  uint64_t token;
  pthread_mutex_lock(&f->mutex);
  bool released = release(f, slot, ticket, &token);
  f->landing += released;
  pthread_mutex_unlock(&f->mutex);
  if (!released) return;
  f->host->done(f->host->ctx, token, outcome, why);
  pthread_mutex_lock(&f->mutex);
  f->landing--;
  pthread_mutex_unlock(&f->mutex);
  flight_wake(f);
}

void flight_wake(flight *f) {
  pthread_mutex_lock(&f->mutex);
  f->wakes++;
  pthread_cond_broadcast(&f->landed);
  pthread_mutex_unlock(&f->mutex);
}

unsigned flight_land_until(flight *f, int64_t now_ms, ll_sink_outcome outcome, const char *why) {
  unsigned landed = 0;
  pthread_mutex_lock(&f->mutex);
  bool none = f->count == 0;
  pthread_mutex_unlock(&f->mutex);
  if (none) return 0;
  for (unsigned slot = 0; slot < f->capacity; slot++) {
    pthread_mutex_lock(&f->mutex);
    bool due = f->slots[slot].taken && f->slots[slot].deadline_ms <= now_ms;
    uint64_t ticket = f->slots[slot].ticket;
    pthread_mutex_unlock(&f->mutex);
    if (due) flight_land(f, slot, ticket, outcome, why);
    landed += due;
  }
  return landed;
}

void flight_hurry(flight *f, int64_t deadline_ms) {
  pthread_mutex_lock(&f->mutex);
  for (unsigned slot = 0; slot < f->capacity; slot++)
    if (f->slots[slot].deadline_ms > deadline_ms) f->slots[slot].deadline_ms = deadline_ms;
  pthread_mutex_unlock(&f->mutex);
}

bool flight_idle(flight *f) {
  pthread_mutex_lock(&f->mutex);
  bool idle = f->count == 0 && f->landing == 0;
  pthread_mutex_unlock(&f->mutex);
  return idle;
}

void flight_wait(flight *f, int timeout_ms) {
  int64_t end_ms = flight_now_ms() + timeout_ms;
  struct timespec end = {.tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000};
  pthread_mutex_lock(&f->mutex);
  uint64_t before = f->wakes;
  while (timeout_ms > 0 && f->wakes == before)
    if (pthread_cond_timedwait(&f->landed, &f->mutex, &end) != 0) break;
  pthread_mutex_unlock(&f->mutex);
}
