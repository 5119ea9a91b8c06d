/* How much each event type emits now: what was asked for (activations.h) becomes the states of the types in the
 * program's memory, and for those that have to be asked about each event, a shaping.
 *
 * States are changed by one thread at a time, with the lock held; whoever emits finds them without. The list of
 * types is threaded through the types themselves, since the first emit of one may come from a signal handler.
 */
#ifndef LIFELINE_RESOLUTION_H
#define LIFELINE_RESOLUTION_H

#include "activations.h"

#include <limits.h>

/* What schemas/ACTIVATION.md says about these. */
typedef struct ll_activation_settings {
  char resolution[16384];
  char triggers[PATH_MAX]; /* absolute; empty: there is no file */
  char never[4096];
  ll_activation_limits limits;
  uint64_t events_per_second; /* 0: without limit */
} ll_activation_settings;

/* Forgets all that was asked for before and takes over what the settings ask for, which stay where they are. With the
 * lock held. False, with a line in why, when that is no good. */
bool ll_resolution_start(const ll_activation_settings *settings, char *why, size_t why_bytes);

/* The state of a type that is emitted for the first time, or again after a fork; from now on it follows the rules. With
 * the lock held. */
uint32_t ll_resolution_adopt(ll_event_type *type, uint32_t number);

/* An activation of the control topic; line NULL: it ended. As ll_control_setter. The harvester's thread. */
bool ll_resolution_control(void *unused, const char *id, const char *line, int64_t issued_ms, char *why,
                           size_t why_bytes);

/* What the trigger file says now, in place of what it said before. False, with line and column in why, when it changes
 * nothing. The harvester's thread. */
bool ll_resolution_file(const char *text, size_t bytes, char *why, size_t why_bytes);

/* Ends what is over, and renews allowances. The harvester's thread, at ll_resolution_due_ns or later. */
void ll_resolution_tick(void);
uint64_t ll_resolution_due_ns(void);

/* The memory of the calling thread goes. */
void ll_admit_thread_ends(void);

/* In a forked child, with the lock held: types that are off or shaped will ask again. Async-signal-safe. */
void ll_resolution_after_fork(void);

#endif
