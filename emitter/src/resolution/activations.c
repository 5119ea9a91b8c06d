#include "activations.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define SKEW_MS 60000
#define STANDARD_FOR_NS (600 * 1000 * MS)

ll_moment ll_moment_now(void) {
  return (ll_moment){ll_monotonic_ns(), (int64_t)(ll_now_ns(CLOCK_REALTIME) / MS)};
}

/* --- one line --- */

/* The end, counted from the time of issue; a time in the future counts as now. */
static uint64_t end_of(const ll_activation *made, const ll_activation_limits *limits, int64_t issued_ms,
                       const ll_moment *now) {
  uint64_t wanted = made->rule.for_ns;
  if (made->source == LL_FROM_ENVIRONMENT && wanted == 0) return UINT64_MAX;
  if (wanted == 0) wanted = STANDARD_FOR_NS;
  if (made->source != LL_FROM_ENVIRONMENT && wanted > limits->for_most_ns) wanted = limits->for_most_ns;
  uint64_t age_ms = issued_ms > 0 && issued_ms < now->realtime_ms ? (uint64_t)(now->realtime_ms - issued_ms) : 0;
  return age_ms >= wanted / MS ? now->monotonic_ns : now->monotonic_ns + wanted - age_ms * MS;
}

static bool find_route(ll_activation *made, const ll_activation_limits *limits, char *why, size_t why_bytes) {
  const ll_rule *rule = &made->rule;
  if (rule->route.bytes == 0) return true;
  char name[LL_RULE_ROUTE_MAX + 1];
  snprintf(name, sizeof name, "%.*s", rule->route.bytes, rule->text + rule->route.at);
  int route = ll_routes_number(limits->routes, name);
  made->route = (uint16_t)route;
  if (route >= 0) return true;
  snprintf(why, why_bytes, "column %d: the route \"%s\" is not declared; see LIFELINE_ROUTES", rule->route.at + 1,
           name);
  return false;
}

static bool name_it(ll_activation *made, const char *id, char *why, size_t why_bytes) {
  const ll_rule *rule = &made->rule;
  if (rule->id.bytes > 0 && made->source == LL_FROM_CONTROL) {
    snprintf(why, why_bytes, "column %d: on the control topic the key is the id", rule->id.at - 2);
    return false;
  }
  if (rule->id.bytes > 0)
    snprintf(made->id, sizeof made->id, "%.*s", rule->id.bytes, rule->text + rule->id.at);
  else
    snprintf(made->id, sizeof made->id, "%s", id);
  return true;
}

typedef enum making { MADE, MADE_FOR_OTHERS, NOT_MADE } making;

static making make(const ll_activation_limits *limits, ll_source source, const char *id, const char *line, size_t bytes,
                   int64_t issued_ms, const ll_moment *now, ll_activation **result, char *why, size_t why_bytes) {
  ll_activation *made = calloc(1, sizeof *made);
  *result = made;
  if (made == NULL) {
    snprintf(why, why_bytes, "no memory");
    return NOT_MADE;
  }
  made->source = source;
  making done = NOT_MADE;
  if (ll_rule_parse(&made->rule, line, bytes, why, why_bytes) && name_it(made, id, why, why_bytes)) {
    if (!ll_rule_is_for(&made->rule, limits->program, limits->host))
      done = MADE_FOR_OTHERS;
    else if (find_route(made, limits, why, why_bytes))
      done = MADE;
  }
  /* A time in the future must not outrank whatever comes later. Clocks may differ by a minute. */
  int64_t latest_ms = issued_ms > 0 ? issued_ms + SKEW_MS : now->realtime_ms;
  if (made->rule.has_issued) issued_ms = made->rule.issued_ms < latest_ms ? made->rule.issued_ms : latest_ms;
  if (done == MADE) {
    made->rank = (uint64_t)issued_ms;
    made->until_ns = end_of(made, limits, issued_ms, now);
    return MADE;
  }
  free(made);
  *result = NULL;
  return done;
}

/* --- the list --- */

static bool is_stronger(const ll_activation *one, const ll_activation *other) {
  if (one->source != other->source) return one->source < other->source;
  if (one->rank != other->rank) return one->rank > other->rank;
  return strcmp(one->id, other->id) > 0;
}

static void insert(ll_activations *all, ll_activation *made) {
  uint32_t at = all->count++;
  for (; at > 0 && is_stronger(made, all->list[at - 1]); at--)
    all->list[at] = all->list[at - 1];
  all->list[at] = made;
}

static void drop(ll_activations *all, uint32_t at) {
  free(all->list[at]);
  all->count--;
  memmove(&all->list[at], &all->list[at + 1], (all->count - at) * sizeof all->list[0]);
}

static uint32_t find(const ll_activations *all, ll_source source, const char *id) {
  uint32_t at = 0;
  while (at < all->count && (all->list[at]->source != source || strcmp(all->list[at]->id, id) != 0))
    at++;
  return at;
}

static const ll_activation *find_equal(const ll_activations *all, const ll_activation *made) {
  for (uint32_t i = 0; i < all->count; i++)
    if (all->list[i]->source == made->source && strcmp(all->list[i]->rule.text, made->rule.text) == 0)
      return all->list[i];
  return NULL;
}

/* Expired activations stay until room is needed, so that their lines are recognised when read again. */
static bool make_room(ll_activations *all, ll_source source, uint64_t now_ns) {
  uint32_t count = 0, over = all->count;
  for (uint32_t i = 0; i < all->count; i++) {
    if (all->list[i]->source != source) continue;
    count++;
    if (all->list[i]->until_ns <= now_ns) over = i;
  }
  if (count < LL_ACTIVATIONS_MAX) return true;
  if (over == all->count) return false;
  drop(all, over);
  return true;
}

void ll_activations_clear(ll_activations *all) {
  while (all->count > 0)
    free(all->list[--all->count]);
}

ll_activation *ll_activations_find(ll_activations *all, ll_source source, const char *id) {
  uint32_t at = find(all, source, id);
  return at < all->count ? all->list[at] : NULL;
}

bool ll_activations_end(ll_activations *all, ll_source source, const char *id) {
  uint32_t at = find(all, source, id);
  if (at == all->count) return false;
  drop(all, at);
  return true;
}

bool ll_activations_set(ll_activations *all, ll_source source, const char *id, const char *line, int64_t issued_ms,
                        const ll_moment *now, char *why, size_t why_bytes) {
  ll_activation *made;
  making done = make(&all->limits, source, id, line, strlen(line), issued_ms, now, &made, why, why_bytes);
  uint32_t at = find(all, source, id);
  if (done == MADE && at < all->count && strcmp(all->list[at]->rule.text, made->rule.text) == 0 &&
      all->list[at]->rank == made->rank)
    made->until_ns = all->list[at]->until_ns;
  if (at < all->count) drop(all, at);
  if (done != MADE) return done == MADE_FOR_OTHERS;
  if (!make_room(all, source, now->monotonic_ns)) {
    free(made);
    snprintf(why, why_bytes, "there are %d activations already", LL_ACTIVATIONS_MAX);
    return false;
  }
  insert(all, made);
  return true;
}

/* --- several lines --- */

static bool is_empty(const char *line, size_t bytes) {
  size_t blanks = 0;
  while (blanks < bytes && (line[blanks] == ' ' || line[blanks] == '\t' || line[blanks] == '\r'))
    blanks++;
  return blanks == bytes || line[blanks] == '#';
}

typedef struct reading {
  const ll_activation_limits *limits;
  ll_source source;
  const ll_moment *now;
  char separator;
  ll_activation *made[LL_ACTIVATIONS_MAX];
  uint32_t count;
  char *why;
  size_t why_bytes;
} reading;

static bool read_line(reading *in, const char *line, size_t bytes, unsigned number) {
  char id[32];
  ll_activation *made;
  snprintf(id, sizeof id, "line %u", number);
  int used = snprintf(in->why, in->why_bytes, "%s, ", id);
  making done =
      make(in->limits, in->source, id, line, bytes, 0, in->now, &made, in->why + used, in->why_bytes - (size_t)used);
  if (done != MADE) return done == MADE_FOR_OTHERS;
  if (in->count == LL_ACTIVATIONS_MAX) {
    free(made);
    snprintf(in->why + used, in->why_bytes - (size_t)used, "column 1: there are %d activations already",
             LL_ACTIVATIONS_MAX);
    return false;
  }
  made->rank = number;
  in->made[in->count++] = made;
  return true;
}

static bool read_lines(reading *in, const char *text, size_t bytes) {
  unsigned number = 0;
  for (size_t at = 0; at < bytes;) {
    const char *end = memchr(text + at, in->separator, bytes - at);
    size_t length = end != NULL ? (size_t)(end - text) - at : bytes - at;
    number++;
    if (!is_empty(text + at, length) && !read_line(in, text + at, length, number)) return false;
    at += length + 1;
  }
  return true;
}

bool ll_activations_replace(ll_activations *all, ll_source source, const char *text, size_t bytes, char separator,
                            const ll_moment *now, char *why, size_t why_bytes) {
  reading in = {&all->limits, source, now, separator, {NULL}, 0, why, why_bytes};
  if (!read_lines(&in, text, bytes)) {
    while (in.count > 0)
      free(in.made[--in.count]);
    return false;
  }
  for (uint32_t i = 0; i < in.count; i++) {
    const ll_activation *equal = find_equal(all, in.made[i]);
    if (equal != NULL) in.made[i]->until_ns = equal->until_ns;
  }
  for (uint32_t i = all->count; i > 0; i--)
    if (all->list[i - 1]->source == source) drop(all, i - 1);
  for (uint32_t i = 0; i < in.count; i++)
    insert(all, in.made[i]);
  return true;
}

/* --- decision --- */

const ll_activation *ll_activations_decide(const ll_activations *all, const ll_event_type *type, uint64_t now_ns) {
  for (uint32_t i = 0; i < all->count; i++)
    if (all->list[i]->until_ns > now_ns && ll_rule_matches(&all->list[i]->rule, type)) return all->list[i];
  return NULL;
}

ll_activation *ll_activations_expired(ll_activations *all, uint64_t now_ns) {
  for (uint32_t i = 0; i < all->count; i++)
    if (all->list[i]->answered && all->list[i]->until_ns <= now_ns) return all->list[i];
  return NULL;
}

uint64_t ll_activations_next_end(const ll_activations *all, uint64_t now_ns) {
  uint64_t next = UINT64_MAX;
  for (uint32_t i = 0; i < all->count; i++)
    if (all->list[i]->until_ns > now_ns && all->list[i]->until_ns < next) next = all->list[i]->until_ns;
  return next;
}
