#include "resolution.h"

#include "answer.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/untouched.h"
#include "retire.h"
#include "ring/emitter.h"
#include "summary/summary.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

enum { NUMBERS = LL_TYPE_NUMBER_MAX + 1, NEVER_MAX = 128 };

ll_shaping **ll_shapings;

static ll_activations all;
static ll_glob never[NEVER_MAX]; /* in never_text */
static uint32_t never_count;
static const char *never_text;
static int64_t *allowances; /* by type number */
static int64_t events_per_second;
static uint64_t renewal_ns; /* of the allowances */
static uint64_t next_end_ns;
static uint64_t sweep_ns = UINT64_MAX; /* time to free replaced shapings that are no longer read */

/* The types that were emitted and are still loaded. The last one's next is not NULL: NULL means not in the list. */
static ll_event_type end_of_list;
static ll_event_type *types = &end_of_list;

/* --- one type --- */

static bool is_never(const ll_event_type *type) {
  for (uint32_t i = 0; i < never_count; i++)
    if (ll_glob_matches(never_text, &never[i], type->name)) return true;
  return false;
}

/* The library's own events, including the summaries that an activation requests. */
static bool is_ours(const ll_event_type *type) {
  return strncmp(type->name, "lifeline.", 9) == 0;
}

/* Replaces the shaping; the new one may be NULL. Threads that have already read the type's state may find either. */
static void publish(uint32_t number, ll_shaping *shaping) {
  ll_shaping *old = ll_shapings[number];
  store_release(&ll_shapings[number], shaping);
  ll_retire(old);
  if (old != NULL && sweep_ns == UINT64_MAX) store_relaxed(&sweep_ns, ll_monotonic_ns() + SECOND);
}

static bool are_equal(const ll_shaping *one, const ll_shaping *other) {
  return one != NULL && memcmp(one, other, offsetof(ll_shaping, next)) == 0;
}

/* Resets a caliper without a summary rule to the default plan. */
static void plan_nothing_special(uint32_t number) {
  const ll_summary_plan plan = {0};
  ll_summary_set_plan(number, &plan);
}

static bool plan_summary(uint32_t number, const ll_rule *rule) {
  char field[LL_RULE_BYTES_MAX + 1];
  snprintf(field, sizeof field, "%.*s", rule->of.bytes, rule->text + rule->of.at);
  ll_summary_plan plan = {
      .interval_ns = rule->interval_ns, .field = rule->of.bytes > 0 ? field : NULL, .timed = rule->timed};
  return ll_summary_set_plan(number, &plan);
}

/* Zeroed including padding: shapings are compared byte by byte. */
static ll_shaping *make_shaping(const ll_event_type *type, uint32_t number, const ll_activation *by) {
  ll_shaping *made = ll_shaping_take();
  if (made == NULL) return NULL;
  made->sample = by->rule.sample;
  made->route = by->route;
  made->summary = by->rule.resolution == LL_RESOLUTION_SUMMARY;
  if (by->rule.when.bytes > 0) {
    made->field = (uint8_t)ll_rule_field(&by->rule, &by->rule.when, type);
    ll_rule_bounds(&by->rule, type->fields[made->field].code, &made->threshold);
  }
  if (events_per_second > 0 && by->source != LL_FROM_ENVIRONMENT && !made->summary)
    made->allowance = &allowances[number];
  return made;
}

static bool says_nothing(const ll_shaping *shaping) {
  return shaping->threshold.kind == LL_KIND_NONE && shaping->allowance == NULL && shaping->sample == 1 &&
         shaping->route == 0 && !shaping->summary;
}

/* Computes the type's state. The shaping is published before the state that refers to it. */
static uint32_t resolve(const ll_event_type *type, uint64_t now_ns) {
  uint32_t number = type->number;
  if (is_ours(type)) return number;
  const ll_activation *by = ll_activations_decide(&all, type, now_ns);
  if (is_never(type) || (by != NULL && by->rule.resolution == LL_RESOLUTION_OFF)) return LL_TYPE_OFF;
  if (type->kind == LL_KIND_CALIPER && (by == NULL || by->rule.resolution != LL_RESOLUTION_SUMMARY))
    plan_nothing_special(number);
  if (by == NULL) return type->kind == LL_KIND_CALIPER ? LL_TYPE_SHAPED | number : number;
  ll_shaping *shaping = make_shaping(type, number, by);
  if (shaping == NULL || (shaping->summary && !plan_summary(number, &by->rule))) {
    ll_log(LL_LOG_WARN, "activation %s does not change event type %s: no memory", by->id, type->name);
    if (shaping != NULL) ll_shaping_give_back(shaping);
    return number;
  }
  if (says_nothing(shaping)) {
    ll_shaping_give_back(shaping);
    return number;
  }
  bool summed = shaping->summary && shaping->threshold.kind == LL_KIND_NONE;
  if (are_equal(ll_shapings[number], shaping)) {
    ll_shaping_give_back(shaping);
  } else {
    if (shaping->allowance != NULL) store_relaxed(shaping->allowance, events_per_second);
    publish(number, shaping);
  }
  return LL_TYPE_SHAPED | (summed ? LL_TYPE_SUMMED : 0) | number;
}

static void apply(ll_event_type *type, uint64_t now_ns) {
  uint32_t state = resolve(type, now_ns);
  store_release(&type->state, state);
  if (state == type->number && ll_shapings[type->number] != NULL) publish(type->number, NULL);
}

static void apply_to_all(uint64_t now_ns) {
  next_end_ns = ll_activations_next_end(&all, now_ns);
  for (ll_event_type *type = types; type != &end_of_list; type = type->next)
    apply(type, now_ns);
}

uint32_t ll_resolution_adopt(ll_event_type *type, uint32_t number) {
  store_relaxed(&type->number, (uint16_t)number);
  if (type->kind == LL_KIND_CALIPER) ll_summary_is_caliper(number);
  if (type->next == NULL) {
    type->next = types;
    types = type;
  }
  apply(type, ll_monotonic_ns());
  return load_relaxed(&type->state);
}

bool ll_is_asked_for(const ll_event_type *type) {
  ll_saved_state before;
  ll_lock(&before);
  const ll_activation *by = is_never(type) ? NULL : ll_activations_decide(&all, type, ll_monotonic_ns());
  bool asked = by != NULL && by->rule.resolution == LL_RESOLUTION_FULL && by->until_ns != UINT64_MAX &&
               by->rule.name.text.bytes > 0 && by->rule.when.bytes == 0;
  ll_unlock(&before);
  return asked;
}

void ll_forget(const void *object) {
  ll_saved_state before;
  if (load_relaxed(&ll_the_emitter.state) == LL_EMITTER_NEW) return;
  ll_lock(&before);
  for (ll_event_type **link = &types; *link != &end_of_list;) {
    ll_event_type *type = *link;
    if (type->object == object) {
      *link = type->next;
      type->next = NULL;
    } else {
      link = &type->next;
    }
  }
  ll_unlock(&before);
}

/* --- start --- */

static bool read_never(const char *text, char *why, size_t why_bytes) {
  never_text = text;
  never_count = 0;
  for (size_t at = 0; text[at] != '\0';) {
    size_t bytes = strcspn(text + at, " \t,");
    const char *star = memchr(text + at, '*', bytes);
    bool prefix = bytes > 0 && star == text + at + bytes - 1;
    if ((star != NULL && !prefix) || (bytes > 0 && never_count == NEVER_MAX)) {
      snprintf(why, why_bytes,
               star != NULL && !prefix ? "LIFELINE_NEVER: \"*\" may only be the last character of a pattern"
                                       : "LIFELINE_NEVER has more than 128 patterns");
      return false;
    }
    if (bytes > 0) never[never_count++] = (ll_glob){{(uint16_t)at, (uint16_t)(bytes - prefix)}, prefix};
    at += bytes;
    if (text[at] != '\0') at++;
  }
  return true;
}

bool ll_resolution_start(const ll_activation_settings *settings, char *why, size_t why_bytes) {
  static const char variable[] = "LIFELINE_RESOLUTION: ";
  if (ll_shapings == NULL) ll_shapings = calloc(NUMBERS, sizeof *ll_shapings); /* mostly untouched pages */
  if (allowances == NULL) allowances = ll_untouched(NUMBERS * sizeof *allowances);
  if (ll_shapings == NULL || allowances == NULL) {
    snprintf(why, why_bytes, "no memory to start");
    return false;
  }
  /* Not freed: in a child forked without our handlers, the lists may be inconsistent. */
  memset(&all, 0, sizeof all);
  ll_retire_forget();
  all.limits = settings->limits;
  events_per_second = (int64_t)settings->events_per_second;
  next_end_ns = UINT64_MAX;
  if (!read_never(settings->never, why, why_bytes)) return false;
  ll_moment now = ll_moment_now();
  const char *text = settings->resolution;
  snprintf(why, why_bytes, "%s", variable);
  if (!ll_activations_replace(&all, LL_FROM_ENVIRONMENT, text, strlen(text), ';', &now, why + sizeof variable - 1,
                              why_bytes - sizeof variable + 1))
    return false;
  next_end_ns = ll_activations_next_end(&all, now.monotonic_ns);
  return true;
}

void ll_resolution_after_fork(void) {
  ll_retire_forget();
  sweep_ns = UINT64_MAX;
  for (ll_event_type *type = types; type != &end_of_list; type = type->next)
    if (load_relaxed(&type->state) == LL_TYPE_OFF || load_relaxed(&type->state) > LL_TYPE_NUMBER_MAX)
      store_relaxed(&type->state, LL_TYPE_NEW);
}

/* --- changes --- */

bool ll_resolution_control(void *unused, const char *id, const char *line, int64_t issued_ms, char *why,
                           size_t why_bytes) {
  (void)unused;
  ll_saved_state before;
  ll_moment now = ll_moment_now();
  ll_lock(&before);
  ll_activation *found = ll_activations_find(&all, LL_FROM_CONTROL, id);
  bool taken = true, was_answered = found != NULL && found->answered;
  if (line != NULL)
    taken = ll_activations_set(&all, LL_FROM_CONTROL, id, line, issued_ms, &now, why, why_bytes);
  else
    ll_activations_end(&all, LL_FROM_CONTROL, id);
  found = ll_activations_find(&all, LL_FROM_CONTROL, id);
  bool in_force = found != NULL && found->until_ns > now.monotonic_ns;
  if (in_force) found->answered = true;
  apply_to_all(now.monotonic_ns);
  ll_unlock(&before);
  if (taken) ll_log(LL_LOG_INFO, "activation %s of the control topic: %s", id, line != NULL ? line : "ended");
  if (!taken) ll_answer_refused(id, line, why);
  if (in_force)
    ll_answer_start(id, line);
  else if (was_answered)
    ll_answer_end(id, line == NULL ? "withdrawn" : "replaced");
  return taken;
}

/* Reports activations of the control topic whose time is over. */
static void answer_ends(uint64_t now_ns) {
  char id[LL_ACTIVATION_ID_MAX + 1];
  bool found;
  do {
    ll_saved_state before;
    ll_lock(&before);
    ll_activation *over = ll_activations_expired(&all, now_ns);
    found = over != NULL;
    if (found) {
      over->answered = false;
      memcpy(id, over->id, sizeof id);
    }
    ll_unlock(&before);
    if (found) ll_answer_end(id, "its time is over");
  } while (found);
}

bool ll_resolution_file(const char *text, size_t bytes, char *why, size_t why_bytes) {
  ll_saved_state before;
  ll_moment now = ll_moment_now();
  ll_lock(&before);
  bool taken = ll_activations_replace(&all, LL_FROM_FILE, text, bytes, '\n', &now, why, why_bytes);
  if (taken) apply_to_all(now.monotonic_ns);
  ll_unlock(&before);
  return taken;
}

static void renew_allowances(uint64_t now_ns) {
  renewal_ns = now_ns + SECOND;
  for (ll_event_type *type = types; type != &end_of_list; type = type->next) {
    const ll_shaping *shaping = ll_shapings[type->number];
    if (shaping != NULL && shaping->allowance != NULL) store_relaxed(shaping->allowance, events_per_second);
  }
}

void ll_resolution_tick(void) {
  ll_saved_state before;
  uint64_t now_ns = ll_monotonic_ns();
  if (now_ns < ll_resolution_due_ns()) return;
  bool ended = now_ns >= next_end_ns;
  ll_lock(&before);
  if (ended) apply_to_all(now_ns);
  if (events_per_second > 0 && now_ns >= renewal_ns) renew_allowances(now_ns);
  if (now_ns >= sweep_ns) store_relaxed(&sweep_ns, ll_retire_sweep() ? now_ns + SECOND : UINT64_MAX);
  ll_unlock(&before);
  if (ended) answer_ends(now_ns);
}

uint64_t ll_resolution_due_ns(void) {
  uint64_t due_ns = load_relaxed(&sweep_ns);
  if (next_end_ns < due_ns) due_ns = next_end_ns;
  return events_per_second > 0 && renewal_ns < due_ns ? renewal_ns : due_ns;
}
