/* How much each event type emits now: turns activations (activations.h) into the states of the types in the program's
 * memory and, for types that need a decision per event, into a shaping.
 *
 * One thread at a time changes states, with the lock held; emitting threads read them without. The list of types is
 * linked through the types themselves, since the first emit of a type may come from a signal handler.
 */
#ifndef LIFELINE_RESOLUTION_H
#define LIFELINE_RESOLUTION_H

#include "activations.h"

#include <limits.h>

/* Settings as described in schemas/ACTIVATION.md. */
typedef struct ll_activation_settings {
  char resolution[16384];
  char triggers[PATH_MAX]; /* absolute; empty: no file */
  char never[4096];
  ll_activation_limits limits;
  uint64_t events_per_second; /* 0: no limit */
} ll_activation_settings;

/* Discards all activations and applies the settings, which must stay valid. With the lock held. False, with a line in
 * why, when they are invalid. */
bool ll_resolution_start(const ll_activation_settings *settings, char *why, size_t why_bytes);

/* Returns the state of a type that is emitted for the first time, or again after a fork; from now on it follows the
 * rules. With the lock held. */
uint32_t ll_resolution_adopt(ll_event_type *type, uint32_t number);

/* Applies an activation of the control topic; line NULL: it ended. An ll_control_setter. Called by the harvester's
 * thread. */
bool ll_resolution_control(void *unused, const char *id, const char *line, int64_t issued_ms, char *why,
                           size_t why_bytes);

/* Replaces the activations of the trigger file. False, with line and column in why, when the text is invalid: then
 * nothing changes. Called by the harvester's thread. */
bool ll_resolution_file(const char *text, size_t bytes, char *why, size_t why_bytes);

/* Ends expired activations, and renews allowances. Called by the harvester's thread, at ll_resolution_due_ns or
 * later. */
void ll_resolution_tick(void);
uint64_t ll_resolution_due_ns(void);

/* Frees the calling thread's memory. */
void ll_admit_thread_ends(void);

/* In a forked child, with the lock held: resets types that are off or shaped, so that they are resolved again.
 * Async-signal-safe. */
void ll_resolution_after_fork(void);

#endif
