/* Switches a running program from outside: lifeline-activate, a real broker, the emitter, and the emitted events. */
#include <dirent.h>
#include <lifeline/batch.h>
#include <lifeline/lifeline.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "broker.h"
#include "topic.h"

enum {
  PROMPT_MS = 2000,
  PROMPT_ROUNDS = 10,
  FLUSH_MS = 5000,
  PATIENCE_MS = 60000,
  STEP_MS = 5,
  CALM_MS = 300,
  MOST_SERIALS = 100000,
  MOST_BATCHES = 100000
};

LL_EVENT(switched, "switch.test", LL_INFO, (u64, serial, ""));

static const char *scheme;
static broker server;
static char text[8192];

/* The last serial emitted; and for each serial, whether its type was off, and whether the broker has it. */
static uint64_t serial;
static bool silent[MOST_SERIALS], arrived[MOST_SERIALS], seen[MOST_BATCHES];
static bool had_thread;
static unsigned starts, ends, expiries, refusals; /* answers at the broker */

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t emitted(void) {
  ll_statistics statistics = {.size = sizeof statistics};
  ll_stats(&statistics);
  return statistics.emitted;
}

/* Emits for CALM_MS. True if any event was counted. The flush is for a late harvester; it takes its full time if the
 * broker is unreachable. */
static bool emits(void) {
  uint64_t before = emitted();
  for (int64_t end = now_ms() + CALM_MS; now_ms() < end && serial + 1 < MOST_SERIALS; usleep(STEP_MS * 1000))
    ll_emit(switched, ++serial);
  ll_flush(FLUSH_MS);
  return emitted() != before;
}

/* Emits events that must not arrive: nothing may be switched on meanwhile. */
static void emits_nothing(void) {
  uint64_t first = serial + 1;
  assert_false(emits());
  for (uint64_t i = first; i <= serial; i++)
    silent[i] = true;
}

/* Time until the program emits, or stops emitting; PATIENCE_MS if it never does. */
static int64_t until_it_emits(bool wanted) {
  int64_t began = now_ms();
  while (emits() != wanted)
    if (now_ms() - began > PATIENCE_MS) return PATIENCE_MS;
  return now_ms() - began;
}

static void activate(const char *arguments) {
  if (broker_activate(server.tls_url, arguments, text, sizeof text) != 0)
    fail_msg("lifeline-activate %s: %s", arguments, text);
}

/* Returns the slower of the two times. */
static int64_t off_and_on_again(void) {
  assert_true(emits());
  activate("set --id quiet 'switch.* off'");
  int64_t off_ms = until_it_emits(false);
  emits_nothing();
  activate("list");
  assert_non_null(strstr(text, "quiet"));
  activate("end quiet");
  int64_t on_ms = until_it_emits(true);
  return off_ms > on_ms ? off_ms : on_ms;
}

/* At least one round must be fast: a busy machine may slow down single rounds. */
static void a_type_is_switched_off_and_on_again_within_two_seconds(void **state) {
  (void)state;
  int64_t took_ms = PATIENCE_MS;
  for (int i = 0; i < PROMPT_ROUNDS && took_ms > PROMPT_MS; i++)
    took_ms = off_and_on_again();
  assert_in_range(took_ms, 0, PROMPT_MS);
}

static void an_activation_ends_by_itself(void **state) {
  (void)state;
  int64_t began = now_ms();
  activate("set --for 5s 'switch.test off'"); /* long enough to see it */
  assert_in_range(until_it_emits(false), 0, PATIENCE_MS - 1);
  assert_in_range(until_it_emits(true), 0, PATIENCE_MS - 1);
  assert_true(now_ms() - began >= 5000);
}

static void one_that_was_over_before_the_program_saw_it_does_nothing(void **state) {
  (void)state;
  activate("set --for 1s --id brief 'switch.test off'");
  sleep(2);
  assert_in_range(until_it_emits(true), 0, PATIENCE_MS - 1);
  activate("set --id other 'no.such.type off'"); /* more messages arrive on the topic */
  assert_true(emits());
}

static void what_was_set_while_the_broker_was_away_holds_when_it_is_back(void **state) {
  (void)state;
  activate("set --id stays --for 1h 'switch.* off'");
  assert_in_range(until_it_emits(false), 0, PATIENCE_MS - 1);
  broker_kill(&server);
  emits_nothing(); /* without news an activation does not end */
  broker_again(&server, scheme);
  activate("end --all");
  assert_in_range(until_it_emits(true), 0, PATIENCE_MS - 1);
}

static void a_line_that_makes_no_sense_is_refused_before_it_is_sent(void **state) {
  (void)state;
  assert_int_equal(broker_activate(server.tls_url, "set 'switch.* sampel:3'", text, sizeof text), 2);
  assert_non_null(strstr(text, "column 10"));
  assert_int_equal(broker_activate(server.tls_url, "end nobody", text, sizeof text), 1);
  assert_int_equal(broker_activate(server.tls_url, "list --json", text, sizeof text), 0);
  assert_null(strstr(text, "sampel"));
}

/* Whether the event is of this type and its last field begins so. */
static bool is_answer(const llb_event *event, const char *name, const char *last) {
  const llb_value *field = &event->values[event->type->field_count - 1];
  return event->type->name.size == strlen(name) && memcmp(event->type->name.data, name, strlen(name)) == 0 &&
         (last == NULL || (field->bytes.size >= strlen(last) && memcmp(field->bytes.data, last, strlen(last)) == 0));
}

static void take_batch(void *count, const void *message, size_t bytes) {
  llb_rejection why;
  llb_batch *batch = llb_read(message, bytes, &why);
  if (!batch) fail_msg("%s", why.message);
  assert_in_range(batch->sequence, 1, MOST_BATCHES - 1);
  llb_event event;
  llb_cursor events = llb_events(batch);
  while (!seen[batch->sequence] && llb_next(&events, &event)) {
    ++*(uint64_t *)count;
    if (is_answer(&event, "switch.test", NULL)) {
      assert_in_range(event.values[0].u64, 1, serial);
      arrived[event.values[0].u64] = true;
    }
    starts += is_answer(&event, "lifeline.activation.start", "switch.");
    ends += is_answer(&event, "lifeline.activation.end", "withdrawn");
    expiries += is_answer(&event, "lifeline.activation.end", "its time is over");
    refusals += is_answer(&event, "lifeline.activation.refused", "column 21: the route \"nowhere\" is not declared");
  }
  seen[batch->sequence] = true;
  llb_batch_free(batch);
}

static void one_that_the_program_cannot_follow_changes_nothing(void **state) {
  (void)state;
  activate("set --id elsewhere 'switch.* full route=nowhere'");
  assert_true(emits());
}

static bool reads_activations(void) {
  bool found = false;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks && (task = readdir(tasks));) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *comm = fopen(path, "r");
    if (comm && fgets(name, sizeof name, comm)) found |= strcmp(name, "lifeline-ctl\n") == 0;
    if (comm) fclose(comm);
  }
  if (tasks) closedir(tasks);
  return found;
}

/* Checked at the broker, not by the program's counters. */
static void the_broker_holds_what_was_switched_on_and_nothing_else(void **state) {
  (void)state;
  uint64_t on = serial + 1, count = 0;
  assert_true(emits());
  had_thread = reads_activations();
  ll_shutdown(PATIENCE_MS);
  topic_read(server.url, scheme, take_batch, &count);
  for (uint64_t i = 1; i <= serial; i++) {
    if (silent[i] && arrived[i]) fail_msg("event %llu came, but was switched off", (unsigned long long)i);
    if (i >= on && !arrived[i]) fail_msg("wrong books: event %llu is missing", (unsigned long long)i);
  }
  if (count != emitted())
    fail_msg("wrong books: %llu events came, but not all that were emitted", (unsigned long long)count);
}

/* By the previous test's reading of the broker. */
static void the_emitter_answered_each_activation(void **state) {
  (void)state;
  /* In force were: one per round of the first test, that of 5 s, `stays`, and `brief` if it was seen in time. */
  assert_in_range(starts, 3, PROMPT_ROUNDS + 3);
  assert_in_range(expiries, 1, 2);
  /* Ended has, besides, `other`; the last end may come after the shutdown. */
  assert_in_range(ends + expiries, starts, starts + 1);
  assert_int_equal(refusals, 1);
}

static int start(void **state) {
  (void)state;
  broker_start(&server, scheme, "");
  if (broker_setup(server.tls_url, "", text, sizeof text) != 0) fail_msg("lifeline-setup: %s", text);
  ll_options options = LL_OPTIONS_INIT;
  options.url = server.tls_url;
  options.interval_ms = 20; /* events are counted when their batch is sealed */
  assert_int_equal(ll_init(&options), 0);
  for (int i = 0; i < 20 && !emits(); i++)
    ;
  return 0;
}

/* On Kafka a thread waits for them, a minute at a time; the sink is closed by now. */
static void the_thread_that_reads_activations_ends_with_the_sink(void **state) {
  (void)state;
  assert_int_equal(had_thread, strcmp(scheme, "kafka") == 0);
  for (int64_t end = now_ms() + PATIENCE_MS / 2; reads_activations() && now_ms() < end;)
    usleep(STEP_MS * 1000);
  assert_false(reads_activations());
}

static int stop(void **state) {
  (void)state;
  ll_shutdown(5000); /* a failed test may have left it open */
  broker_stop(&server);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("Usage: activation_sink_test nats|kafka\n", stderr);
    return 2;
  }
  scheme = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_type_is_switched_off_and_on_again_within_two_seconds),
      cmocka_unit_test(an_activation_ends_by_itself),
      cmocka_unit_test(one_that_was_over_before_the_program_saw_it_does_nothing),
      cmocka_unit_test(one_that_the_program_cannot_follow_changes_nothing),
      cmocka_unit_test(what_was_set_while_the_broker_was_away_holds_when_it_is_back),
      cmocka_unit_test(a_line_that_makes_no_sense_is_refused_before_it_is_sent),
      cmocka_unit_test(the_broker_holds_what_was_switched_on_and_nothing_else),
      cmocka_unit_test(the_emitter_answered_each_activation),
      cmocka_unit_test(the_thread_that_reads_activations_ends_with_the_sink),
  };
  return cmocka_run_group_tests_name("activation", tests, start, stop);
}
