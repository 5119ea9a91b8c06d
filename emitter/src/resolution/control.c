#include "control.h"

#include "base/atomics.h"
#include "base/log.h"
#include "rules.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES_AT_ONCE = 64, WHY_BYTES = 256 };

#define PAUSE_NS UINT64_C(100000000)
#define COMPLAINT_PAUSE_NS UINT64_C(1000000000)

typedef struct activation {
  char id[LL_CONTROL_ID_BYTES + 1]; /* "": this entry is free */
  char line[LL_CONTROL_LINE_BYTES + 1];
  int64_t written_ms;
  bool ended;
  bool changed; /* since it was passed on */
  bool handed_on;
  bool invalid;     /* it will be refused, and makes room for one that is valid */
  uint32_t reading; /* the last reading that mentioned it */
} activation;

struct ll_control {
  void (*news)(void *ctx);
  void *news_ctx;
  const char *program, *host;
  pthread_mutex_t lock;
  activation table[LL_CONTROL_IDS_MAX];
  bool reading_whole; /* the table is incomplete: nothing is passed on */
  uint32_t reading;
  bool trouble_told; /* until the next reading of the whole topic */
  uint32_t changed;  /* there may be something to pass on */

  /* Used by the harvester only. */
  uint64_t next_ns;
  uint64_t complain_ns; /* rejected activations are logged no sooner than then */
};

ll_control *ll_control_create(void (*news)(void *ctx), void *ctx, const char *program, const char *host) {
  ll_control *control = calloc(1, sizeof *control);
  if (control == NULL) return NULL;
  control->news = news;
  control->news_ctx = ctx;
  control->program = program;
  control->host = host;
  pthread_mutex_init(&control->lock, NULL);
  return control;
}

void ll_control_free(ll_control *control) {
  if (control == NULL) return;
  pthread_mutex_destroy(&control->lock);
  free(control);
}

static bool legal_id(const char *id, size_t bytes) {
  if (bytes == 0 || bytes > LL_CONTROL_ID_BYTES) return false;
  for (size_t i = 0; i < bytes; i++)
    if (id[i] <= ' ' || id[i] > '~') return false;
  return true;
}

/* Blanks are space, tab and carriage return: ACTIVATION.md. */
static bool legal_line(const char *line, size_t bytes) {
  if (bytes > LL_CONTROL_LINE_BYTES) return false;
  for (size_t i = 0; i < bytes; i++)
    if (((unsigned char)line[i] < 0x20 && line[i] != '\t' && line[i] != '\r') || line[i] == 0x7f) return false;
  return true;
}

static activation *find(ll_control *control, const char *id, size_t bytes) {
  for (size_t i = 0; i < LL_CONTROL_IDS_MAX; i++)
    if (strncmp(control->table[i].id, id, bytes) == 0 && control->table[i].id[bytes] == '\0') return &control->table[i];
  return NULL;
}

/* A free entry; else, for a valid line, that of an invalid one, which has no effect. */
static activation *find_room(ll_control *control, bool invalid) {
  activation *replaceable = NULL;
  for (size_t i = 0; i < LL_CONTROL_IDS_MAX; i++) {
    if (control->table[i].id[0] == '\0') return &control->table[i];
    const activation *entry = &control->table[i]; /* one whose earlier line is in force has to be passed on */
    if (entry->invalid && !invalid && !(entry->changed && entry->handed_on)) replaceable = &control->table[i];
  }
  if (replaceable != NULL) *replaceable = (activation){0};
  return replaceable;
}

static bool is_for_others(const ll_control *control, const ll_rule *rule) {
  return control->program != NULL && !ll_rule_is_for(rule, control->program, control->host);
}

/* Logs no bytes received from the topic. With the lock held. */
static void complain(ll_control *control, const char *what) {
  if (control->trouble_told) return;
  control->trouble_told = true;
  ll_log(LL_LOG_WARN, "an activation of the control topic is ignored: %s", what);
}

/* Ends the entry. One that was never passed on is removed at once. With the lock held. */
static void end(activation *entry) {
  if (!entry->handed_on) {
    *entry = (activation){0};
    return;
  }
  entry->changed = entry->changed || !entry->ended;
  entry->ended = true;
}

static void set(ll_control *control, activation *entry, const ll_control_message *message, bool invalid) {
  bool same = !entry->ended && entry->id[0] != '\0' && strlen(entry->line) == message->line_bytes &&
              memcmp(entry->line, message->line, message->line_bytes) == 0 && entry->written_ms == message->written_ms;
  entry->reading = control->reading;
  if (same) return;
  memcpy(entry->id, message->id, message->id_bytes);
  entry->id[message->id_bytes] = '\0';
  memcpy(entry->line, message->line, message->line_bytes);
  entry->line[message->line_bytes] = '\0';
  entry->written_ms = message->written_ms;
  entry->ended = false;
  entry->invalid = invalid;
  entry->changed = true;
}

static void take(ll_control *control, const ll_control_message *message) {
  if (!legal_id(message->id, message->id_bytes)) {
    complain(control, "its id is not 1 to 128 printable characters");
    return;
  }
  activation *entry = find(control, message->id, message->id_bytes);
  if (message->line == NULL || message->line_bytes == 0) {
    if (entry != NULL) end(entry);
    return;
  }
  if (!legal_line(message->line, message->line_bytes)) {
    complain(control, "its line is longer than 1,024 bytes or contains control characters");
    if (entry != NULL) end(entry); /* the previous line no longer applies */
    return;
  }
  ll_rule rule;
  char why[WHY_BYTES];
  bool invalid = !ll_rule_parse(&rule, message->line, message->line_bytes, why, sizeof why);
  if (!invalid && is_for_others(control, &rule)) {
    if (entry != NULL) end(entry);
    return;
  }
  if (entry == NULL) entry = find_room(control, invalid);
  if (entry == NULL)
    complain(control, "there are more than 256 for this program");
  else
    set(control, entry, message, invalid);
}

/* Called with the lock held; calls news after releasing it. */
static void unlock_with_news(ll_control *control) {
  bool news = !control->reading_whole && !exchange_ordered(&control->changed, 1);
  pthread_mutex_unlock(&control->lock);
  if (news) control->news(control->news_ctx);
}

void ll_control_begin(ll_control *control) {
  pthread_mutex_lock(&control->lock);
  control->reading_whole = true;
  control->reading++;
  control->trouble_told = false;
  pthread_mutex_unlock(&control->lock);
}

void ll_control_take(ll_control *control, const ll_control_message *message) {
  pthread_mutex_lock(&control->lock);
  take(control, message);
  unlock_with_news(control);
}

void ll_control_complete(ll_control *control) {
  pthread_mutex_lock(&control->lock);
  control->reading_whole = false;
  for (size_t i = 0; i < LL_CONTROL_IDS_MAX; i++)
    if (control->table[i].id[0] != '\0' && control->table[i].reading != control->reading) end(&control->table[i]);
  unlock_with_news(control);
}

/* Takes one change out of the table. */
static bool next_change(ll_control *control, activation *change) {
  bool found = false;
  pthread_mutex_lock(&control->lock);
  for (size_t i = 0; i < LL_CONTROL_IDS_MAX && !found && !control->reading_whole; i++) {
    activation *entry = &control->table[i];
    if (!entry->changed) continue;
    found = true;
    *change = *entry;
    entry->changed = false;
    entry->handed_on = true;
    if (entry->ended) *entry = (activation){0};
  }
  pthread_mutex_unlock(&control->lock);
  return found;
}

void ll_control_apply(ll_control *control, uint64_t now_ns, ll_control_setter setter, void *ctx) {
  if (load_acquire(&control->changed) == 0 || now_ns < control->next_ns) return;
  control->next_ns = now_ns + PAUSE_NS;
  store_ordered(&control->changed, 0);
  activation change;
  for (int i = 0; i < CHANGES_AT_ONCE; i++) {
    if (!next_change(control, &change)) return;
    char why[WHY_BYTES] = "";
    if (setter(ctx, change.id, change.ended ? NULL : change.line, change.written_ms, why, sizeof why)) continue;
    if (now_ns < control->complain_ns) continue;
    control->complain_ns = now_ns + COMPLAINT_PAUSE_NS;
    ll_log(LL_LOG_WARN, "the activation %s of the control topic is ignored: %s", change.id, why);
  }
  store_ordered(&control->changed, 1); /* the rest next time */
}

uint64_t ll_control_due_ns(const ll_control *control) {
  return load_ordered(&control->changed) != 0 ? control->next_ns : UINT64_MAX;
}
