/* The activations, in order of precedence: schemas/ACTIVATION.md, sections 2 to 5.
 *
 * Independent of registered event types and of files: it receives lines and the time, and returns the rule that applies
 * to a type. One caller at a time.
 */
#ifndef LIFELINE_ACTIVATIONS_H
#define LIFELINE_ACTIVATIONS_H

#include "rules.h"
#include "sink/routes.h"

#define LL_ACTIVATIONS_MAX 256 /* per source */
#define LL_ACTIVATION_ID_MAX 128

typedef enum ll_source { LL_FROM_CONTROL, LL_FROM_FILE, LL_FROM_ENVIRONMENT, LL_SOURCES } ll_source;

/* Identity of this process and the user's limits. All pointers are the caller's and must stay valid. */
typedef struct ll_activation_limits {
  const char *program;
  const char *host;
  uint64_t for_most_ns;
  const ll_routes *routes;
} ll_activation_limits;

typedef struct ll_activation {
  char id[LL_ACTIVATION_ID_MAX + 1];
  ll_source source;
  uint64_t rank;     /* of two from the same source, the higher one wins */
  uint64_t until_ns; /* as ll_monotonic_ns; UINT64_MAX: no end */
  uint16_t route;
  bool answered; /* it is in force, and that was reported: its end must be, too */
  ll_rule rule;
} ll_activation;

typedef struct ll_activations {
  ll_activation_limits limits;
  ll_activation *list[LL_SOURCES * LL_ACTIVATIONS_MAX]; /* highest precedence first */
  uint32_t count;
} ll_activations;

/* The time when a line is read, by both clocks. */
typedef struct ll_moment {
  uint64_t monotonic_ns;
  int64_t realtime_ms;
} ll_moment;

ll_moment ll_moment_now(void);

void ll_activations_clear(ll_activations *all);

/* Sets the activation with this id. issued_ms is used if the line states no time; 0: it counts from now. An unchanged
 * line keeps its remaining time. False, with a line in why, when it is refused: a previous activation with this id is
 * ended. */
bool ll_activations_set(ll_activations *all, ll_source source, const char *id, const char *line, int64_t issued_ms,
                        const ll_moment *now, char *why, size_t why_bytes);

/* The activation with this id, whether its time is over or not. NULL: none. */
ll_activation *ll_activations_find(ll_activations *all, ll_source source, const char *id);

/* Ends the activation with this id. False: there was none. */
bool ll_activations_end(ll_activations *all, ll_source source, const char *id);

/* Replaces all activations of the source by the lines of the text, each ended by `separator`. All or nothing: false,
 * with line and column in why. Unchanged lines keep their remaining time. */
bool ll_activations_replace(ll_activations *all, ll_source source, const char *text, size_t bytes, char separator,
                            const ll_moment *now, char *why, size_t why_bytes);

/* The activation that applies to the type: the first match in order of precedence that has not expired. NULL: none. */
const ll_activation *ll_activations_decide(const ll_activations *all, const ll_event_type *type, uint64_t now_ns);

/* An answered activation whose time is over. NULL: none. */
ll_activation *ll_activations_expired(ll_activations *all, uint64_t now_ns);

/* The earliest end after now; UINT64_MAX: none. */
uint64_t ll_activations_next_end(const ll_activations *all, uint64_t now_ns);

#endif
