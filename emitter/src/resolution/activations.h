/* All that was asked for, in the order in which it counts: schemas/ACTIVATION.md, sections 2 to 5.
 *
 * Knows no event type in force and no file: it is handed lines and the time, and asked which rule decides. One caller
 * at a time.
 */
#ifndef LIFELINE_ACTIVATIONS_H
#define LIFELINE_ACTIVATIONS_H

#include "rules.h"
#include "sink/routes.h"

#define LL_ACTIVATIONS_MAX 256 /* of one source */
#define LL_ACTIVATION_ID_MAX 128

typedef enum ll_source { LL_FROM_CONTROL, LL_FROM_FILE, LL_FROM_ENVIRONMENT, LL_SOURCES } ll_source;

/* Whose activations these are, and what its user allows. All is the caller's, and stays. */
typedef struct ll_activation_limits {
  const char *program;
  const char *host;
  uint64_t for_most_ns;
  const ll_routes *routes;
} ll_activation_limits;

typedef struct ll_activation {
  char id[LL_ACTIVATION_ID_MAX + 1];
  ll_source source;
  uint64_t rank;     /* of two of the same source, the higher one counts */
  uint64_t until_ns; /* as ll_monotonic_ns; UINT64_MAX: without end */
  uint16_t route;
  ll_rule rule;
} ll_activation;

typedef struct ll_activations {
  ll_activation_limits limits;
  ll_activation *list[LL_SOURCES * LL_ACTIVATIONS_MAX]; /* strongest first */
  uint32_t count;
} ll_activations;

/* When a line is seen, by both clocks. */
typedef struct ll_moment {
  uint64_t monotonic_ns;
  int64_t realtime_ms;
} ll_moment;

ll_moment ll_moment_now(void);

void ll_activations_clear(ll_activations *all);

/* Sets the one with this id; issued_ms is used where the line does not say, 0: it counts from now. An equal line keeps
 * the time that it has left. False, with a line in why, when it is refused: the one of before, if any, is ended. */
bool ll_activations_set(ll_activations *all, ll_source source, const char *id, const char *line, int64_t issued_ms,
                        const ll_moment *now, char *why, size_t why_bytes);

/* False: there was none of that id. */
bool ll_activations_end(ll_activations *all, ll_source source, const char *id);

/* A text of several lines, each ended by `separator`, in place of all that the source said before. The first line has
 * the number `first_line`. All or nothing: false, with line and column in why. Equal lines keep their time. */
bool ll_activations_replace(ll_activations *all, ll_source source, const char *text, size_t bytes, char separator,
                            const ll_moment *now, char *why, size_t why_bytes);

/* What decides over the type: the strongest one that matches and whose time is not over. NULL: none. */
const ll_activation *ll_activations_decide(const ll_activations *all, const ll_event_type *type, uint64_t now_ns);

/* The earliest end after now; UINT64_MAX: none. */
uint64_t ll_activations_next_end(const ll_activations *all, uint64_t now_ns);

#endif
