/* Explores all orders of a thread's emit and a change of the rules.
 *
 * Every atomic access of both passes a gate (gates/gates.h). The emitting thread is stopped at its k-th gate, then the
 * rules change up to their j-th gate, then the emit runs to its end, then the change: for all k and j. Whatever the
 * order, the event must meet a fate that the old or the new rules provide for, and only one.
 */
#include "support.h"

#include "base/lock.h"
#include "resolution/resolution.h"
#include "ring/emitter.h"

#include <dirent.h>
#include <lifeline/caliper.h>
#include <lifeline/dynamic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

LL_EVENT(probe, "orders.event", LL_INFO, (u64, value, "B"));
LL_CALIPER(work, "orders.work", LL_INFO, "B");

/* --- gates --- */

typedef struct runner {
  unsigned passed, stop_at; /* gates */
  bool stopped, released, waits_for_lock, ended;
} runner;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static runner emitter_side, rules_side;
static __thread runner *self; /* NULL: a thread that is not explored */
static __thread bool in_gate;

static void set(bool *flag, bool value) {
  pthread_mutex_lock(&mutex);
  *flag = value;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static void wait_for(const bool *one, const bool *other) {
  pthread_mutex_lock(&mutex);
  while (!*one && !*other)
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

/* Lets the emitting thread run until it ends, or waits for the lock that this one holds. */
static void let_emit(void) {
  set(&emitter_side.released, true);
  wait_for(&emitter_side.ended, &emitter_side.waits_for_lock);
}

void test_gate(void) {
  if (self == NULL || in_gate || ++self->passed != self->stop_at) return;
  in_gate = true;
  if (self == &emitter_side) {
    set(&self->stopped, true);
    wait_for(&self->released, &self->released);
  } else {
    let_emit();
  }
  in_gate = false;
}

int test_gated_lock(pthread_mutex_t *lock);
int test_gated_lock(pthread_mutex_t *lock) {
  if (self == NULL || pthread_mutex_trylock(lock) != 0) {
    if (self == &emitter_side) set(&self->waits_for_lock, true);
    if (self == &rules_side) set(&emitter_side.released, true);
    pthread_mutex_lock(lock);
    if (self == &emitter_side) set(&self->waits_for_lock, false);
  }
  return 0;
}

/* --- fates --- */

enum { STORED = 1, SAMPLED = 2, BELOW = 4, SILENT = 8 /* off, or part of a summary */ };

typedef struct books {
  uint64_t stored, sampled, below, dropped;
} books;

static uint64_t harvester; /* its ring has the summaries */

static void find_harvester(void) {
  ll_flush(TEST_PATIENCE_MS); /* now it has its name */
  DIR *tasks = opendir("/proc/self/task");
  for (const struct dirent *task; harvester == 0 && (task = readdir(tasks)) != NULL;) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = fopen(path, "r");
    if (file == NULL) continue;
    if (fgets(name, sizeof name, file) != NULL && strcmp(name, "lifeline\n") == 0)
      harvester = strtoull(task->d_name, NULL, 10);
    fclose(file);
  }
  closedir(tasks);
  assert_int_not_equal(harvester, 0);
}

static books read_books(void) {
  books now = {0};
  in_gate = true;
  ll_statistics all = {.size = sizeof all};
  ll_stats(&all);
  for (uint32_t i = 0; i < ll_the_emitter.store.header->ring_count; i++)
    if (load_acquire(&ll_the_emitter.store.rings[i].thread) != harvester)
      now.stored += load_acquire(&ll_the_emitter.store.rings[i].head);
  now.sampled = all.sampled_out;
  now.below = all.below_threshold;
  now.dropped = all.dropped_ring_full + all.dropped_no_ring + all.dropped_reentrant + all.dropped_oversize +
                all.dropped_shutdown + all.dropped_sink;
  in_gate = false;
  return now;
}

/* --- what emits --- */

static ll_dynamic *dynamic;
static uint64_t start_without_operation;

static void emit_static(void) {
  ll_emit(probe, 1);
}

static void emit_dynamic(void) {
  ll_value value = {.u64 = 1};
  ll_emit_values(dynamic, &value, 1);
}

static void measure(void) {
  uint64_t before = read_books().stored;
  ll_operation begun = ll_begin(work);
  start_without_operation += begun.began == 0 && read_books().stored != before;
  ll_end(work, begun, 1);
}

typedef struct form {
  const char *name;
  void (*emit)(void);
  bool caliper;
} form;

typedef enum start { NEW_TYPE, NEW_THREAD, KNOWN, STARTS } start;

typedef struct rule {
  const char *text;
  int fates;
} rule;

static const rule rules[] = {
    {"", STORED},
    {"orders.* off", SILENT},
    {"orders.* sample:3", STORED | SAMPLED},
    {"orders.* full when value>5", BELOW},
    {"orders.* full route=other", STORED},
    {"orders.* summary interval=1h", SILENT},
};
enum { RULES = sizeof rules / sizeof rules[0] };

static void apply_rules(const char *text) {
  char why[256];
  if (!ll_resolution_file(text, strlen(text), why, sizeof why)) {
    fprintf(stderr, "%s\n", why);
    abort();
  }
}

/* --- one order --- */

typedef struct order {
  const form *what;
  start from;
  unsigned emit_stops_at;
  books before;
} order;

static void *emitting(void *ctx) {
  order *now = ctx;
  if (now->from == KNOWN) now->what->emit();
  now->before = read_books();
  self = &emitter_side;
  self->stop_at = now->emit_stops_at;
  now->what->emit();
  self = NULL;
  set(&emitter_side.ended, true);
  return NULL;
}

static void forget_types(const form *what) {
  if (what->emit == emit_dynamic) return;
  ll_forget(&__dso_handle);
  ll_type_probe.state = ll_type_work.state = LL_TYPE_NEW;
  ll_type_ll_start_of_work.state = ll_type_ll_end_of_work.state = LL_TYPE_NEW;
}

/* Returns false if the emit has fewer gates than that. `left`: the change has more gates. */
static bool explore(const form *what, start from, const rule *old, const rule *new, unsigned k, unsigned j,
                    bool *left) {
  order now = {what, from, k, {0}};
  pthread_t thread;
  apply_rules(old->text);
  if (from == NEW_TYPE) forget_types(what);
  memset(&emitter_side, 0, sizeof emitter_side);
  memset(&rules_side, 0, sizeof rules_side);
  pthread_create(&thread, NULL, emitting, &now);
  wait_for(&emitter_side.stopped, &emitter_side.ended);
  bool reached = emitter_side.stopped;
  if (reached) {
    self = &rules_side;
    self->stop_at = j;
    apply_rules(new->text);
    self = NULL;
    *left = rules_side.passed >= j;
    set(&emitter_side.released, true);
  }
  pthread_join(thread, NULL);
  books after = read_books();
  unsigned fate = after.stored != now.before.stored     ? STORED
                  : after.sampled != now.before.sampled ? SAMPLED
                  : after.below != now.before.below     ? BELOW
                                                        : SILENT;
  uint64_t fates =
      (after.stored != now.before.stored) + (after.sampled - now.before.sampled) + (after.below - now.before.below);
  unsigned possible = (unsigned)(old->fates | new->fates);
  bool right = what->caliper ? fates <= 1 : fates <= 1 && (fate & possible) != 0;
  if (!right || after.dropped != now.before.dropped || start_without_operation != 0)
    fail_msg("wrong books: %s, start %d, rules \"%s\" then \"%s\", emit stopped at gate %u, change at %u: fate %u",
             what->name, from, old->text, new->text, k, j, fate);
  return reached;
}

static void every_order_gives_the_event_one_fate(void **state) {
  (void)state;
  const form forms[] = {{"static", emit_static, false}, {"dynamic", emit_dynamic, false}, {"caliper", measure, true}};
  unsigned runs = 0;
  find_harvester();
  for (unsigned f = 0; f < 3; f++)
    for (start from = NEW_TYPE; from < STARTS; from++)
      for (unsigned old = 0; old < RULES; old++)
        for (unsigned new = 0; new < RULES; new ++) {
          bool explored = from == KNOWN ? new == (old + 1) % RULES || new == 0 : old == 0 || new == 0;
          if (old == new || !explored) continue;
          bool reached = true;
          for (unsigned k = 1; reached; k++) {
            bool left = true;
            for (unsigned j = 1; reached && left; j++) {
              reached = explore(&forms[f], from, &rules[old], &rules[new], k, j, &left);
              if (++runs % 64 == 0) ll_flush(TEST_PATIENCE_MS);
            }
          }
        }
  printf("%u orders\n", runs);
}

int main(void) {
  static test_directory directory;
  test_directory_make(&directory);
  setenv("LIFELINE_URL", "null:", 1);
  setenv("LIFELINE_ROUTES", "other=null:", 1);
  setenv("LIFELINE_INTERVAL_MS", "1000", 1);
  const ll_dynamic_field field = {LL_U64, "value", "B"};
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_order_gives_the_event_one_fate)};
  if (ll_declare("orders.dynamic", LL_INFO, &field, 1, &dynamic) != 0) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  ll_shutdown(TEST_PATIENCE_MS);
  test_directory_remove(&directory);
  return failed;
}
