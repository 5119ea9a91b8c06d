/* The library's own events, lifeline.*, which no rule changes. */
#ifndef LIFELINE_OWN_H
#define LIFELINE_OWN_H

#include <lifeline/dynamic.h>
#include <stdbool.h>

/* Emits on the default route, with one value per field of the type. Called by the harvester's thread, without the
 * lock. False: no room now; nothing was counted. */
bool ll_emit_own(ll_event_type *type, const ll_value *values);

#endif
