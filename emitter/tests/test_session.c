/* Sessions: what belongs to one, in this process, its children and its batches. `test-session N` kills N times instead
 * of 24, or of 8 under a sanitizer. A build with crash points also kills between two steps of a change. */
#include "support.h"

#include <errno.h>
#include <lifeline/caliper.h>
#include <lifeline/dynamic.h>
#include <lifeline/session.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static unsigned kills = 8;
#else
static unsigned kills = 24;
#define FORKS /* test_fork.c says why under no sanitizer */
#endif

LL_EVENT(step, "test.step", LL_INFO, (u64, number, ""), (string, expected, ""));
LL_CALIPER(work, "test.work", LL_INFO, "B");

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN "b7ad6b7169203331"

static test_directory directory;
static char announcements[200];

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  snprintf(announcements, sizeof announcements, "%s/sessions", directory.path);
  setenv("LIFELINE_SESSION_DIR", announcements, 1);
  setenv("LIFELINE_CONTEXT", "resource.rack=7", 1);
  unsetenv("TRACEPARENT");
  unsetenv("LIFELINE_RESOLUTION"); /* of a test that failed */
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  test_directory_remove(&directory);
  return 0;
}

static void hex_of(const uint8_t *id, char text[33]) {
  for (int i = 0; i < 16; i++)
    snprintf(text + 2 * i, 3, "%02x", id[i]);
}

static void fail_unless(bool right, int status) {
  if (!right) _exit(status);
}

/* The last value of a key; empty if there is none. */
static llb_bytes context_of(const llb_batch *batch, const char *key) {
  llb_bytes value = {NULL, 0};
  for (int i = 0; i < batch->context_count; i++)
    if (batch->context[i].key.size == strlen(key) && memcmp(batch->context[i].key.data, key, strlen(key)) == 0)
      value = batch->context[i].value;
  return value;
}

static bool same(llb_bytes one, llb_bytes other) {
  return one.size == other.size && (one.size == 0 || memcmp(one.data, other.data, one.size) == 0);
}

static bool is_type(const llb_event *event, const char *name) {
  return event->type->name.size == strlen(name) && memcmp(event->type->name.data, name, strlen(name)) == 0;
}

/* What the batches of a run contain. */
typedef struct found {
  const llb_batch *batch;
  unsigned steps, starts, ends, summaries, summaries_in_session;
} found;

static void look_at(const llb_event *event, void *ctx) {
  found *all = ctx;
  if (is_type(event, "test.step")) {
    all->steps++;
    BOOKS(same(event->values[1].bytes, context_of(all->batch, "session")));
  }
  all->starts += is_type(event, "session.start");
  all->ends += is_type(event, "session.end");
  if (!is_type(event, "lifeline.summary")) return;
  all->summaries++;
  all->summaries_in_session += context_of(all->batch, "session").size > 0;
}

/* The batches of all incarnations. */
static found look(const test_batches *batches) {
  found all = {0};
  for (size_t i = 0; i < batches->count; i++) {
    test_batches one = {.count = 1, .at = &batches->at[i]};
    all.batch = batches->at[i];
    test_each_event(&one, look_at, &all);
  }
  return all;
}

static test_batches run(void (*body)(void)) {
  assert_int_equal(test_in_child(body, NULL), 0);
  assert_int_equal(test_ring_files(&directory), 0);
  return test_read_batches(directory.out);
}

static unsigned announced(void) {
  char command[300];
  snprintf(command, sizeof command, "test \"$(ls -A %s 2>/dev/null | wc -l)\" = 0", announcements);
  return system(command) == 0 ? 0 : 1;
}

/* --- traceparents --- */

static void a_traceparent_is_checked_strictly(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool right;
  } cases[] = {
      {"00-" TRACE "-" SPAN "-01", true},
      {"00-" TRACE "-" SPAN "-00", true},
      {"00-" TRACE "-" SPAN "-ff", true}, /* flags without a meaning are not an error */
      {"cc-" TRACE "-" SPAN "-01", true},
      {"cc-" TRACE "-" SPAN "-01-what-the-future-brings", true},
      {"cc-" TRACE "-" SPAN "-01.what", false},
      {"00-" TRACE "-" SPAN "-01-", false},
      {"00-" TRACE "-" SPAN "-01 ", false},
      {" 00-" TRACE "-" SPAN "-01", false},
      {"ff-" TRACE "-" SPAN "-01", false},
      {"0-" TRACE "-" SPAN "-01", false},
      {"0g-" TRACE "-" SPAN "-01", false},
      {"00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01", false},
      {"00-" TRACE "-B7AD6B7169203331-01", false},
      {"00-00000000000000000000000000000000-" SPAN "-01", false},
      {"00-" TRACE "-0000000000000000-01", false},
      {"00-" TRACE "-" SPAN "-0x", false},
      {"00-" TRACE "-" SPAN "-1", false},
      {"00_" TRACE "-" SPAN "-01", false},
      {"00-" TRACE "_" SPAN "-01", false},
      {"00-" TRACE "-" SPAN "_01", false},
      {"00-" TRACE, false},
      {"00-\xff\xfe", false},
      {"", false},
      {NULL, false},
  };
  static const ll_session nothing;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ll_session session;
    char text[LL_TRACEPARENT_BYTES], id[33];
    int error = ll_traceparent_parse(cases[i].text, &session);
    if ((error == 0) != cases[i].right) fail_msg("case %zu: %s", i, cases[i].text);
    assert_true(error == 0 || (error == EINVAL && memcmp(&session, &nothing, sizeof session) == 0));
    if (error != 0) continue;
    hex_of(session.id, id);
    assert_string_equal(id, TRACE);
    ll_traceparent_format(&session, text);
    assert_memory_equal(text, "00-" TRACE "-" SPAN "-0", 54);
    assert_int_equal(text[54], cases[i].text[54] == '0' ? '0' : '1'); /* only the known flag is passed on */
    assert_int_equal(text[55], '\0');
  }
}

/* --- in one process --- */

static void emit_steps_in_overlapping_sessions(void) {
  ll_session one, other;
  char id[2][33];
  ll_emit(step, 1, "");
  fail_unless(ll_session_begin(&one, "one", NULL) == 0, 11);
  hex_of(one.id, id[0]);
  ll_emit(step, 2, id[0]);
  fail_unless(ll_session_begin(&other, "other", "invalid") == 0, 12);
  hex_of(other.id, id[1]);
  fail_unless(memcmp(other.parent, one.id, 16) == 0, 13);
  ll_emit(step, 3, id[1]);
  fail_unless(ll_session_end(&one, 1) == 0, 14);
  ll_emit(step, 4, id[1]);
  fail_unless(ll_session_end(&other, 0) == 0, 15);
  ll_emit(step, 5, "");
  fail_unless(ll_session_end(&other, 0) == EINVAL, 16);
}

static void batches_name_the_innermost_open_session(void **state) {
  (void)state;
  test_batches batches = run(emit_steps_in_overlapping_sessions);
  test_check_sequences(&batches);
  found all = look(&batches);
  assert_int_equal(all.steps, 5);
  assert_int_equal(all.starts, 2);
  assert_int_equal(all.ends, 2);
  for (size_t i = 0; i < batches.count; i++) { /* the fixed part is in all of them */
    llb_bytes session = context_of(batches.at[i], "session"), trace = context_of(batches.at[i], "traceparent");
    assert_int_equal(context_of(batches.at[i], "resource.rack").size, 1);
    assert_int_equal(trace.size, session.size > 0 ? 55 : 0);
    if (session.size > 0) assert_memory_equal(trace.data + 3, session.data, 32);
  }
  test_free_batches(&batches);
  assert_int_equal(announced(), 0);
}

static void join_a_trace(void) {
  ll_session session;
  char id[33];
  fail_unless(ll_session_begin(&session, NULL, "00-" TRACE "-" SPAN "-01") == 0, 11);
  hex_of(session.id, id);
  fail_unless(strcmp(id, TRACE) == 0, 12);
  ll_emit(step, 1, TRACE);
  fail_unless(ll_session_end(&session, 1) == 0, 13);
}

static void a_session_joins_the_trace_of_a_header_as_a_new_span(void **state) {
  (void)state;
  test_batches batches = run(join_a_trace);
  assert_int_equal(look(&batches).steps, 1);
  for (size_t i = 0; i < batches.count; i++) {
    llb_bytes trace = context_of(batches.at[i], "traceparent");
    if (trace.size > 0) assert_memory_not_equal(trace.data + 36, SPAN, 16);
  }
  test_free_batches(&batches);
}

static void open_too_many(void) {
  ll_session sessions[LL_SESSIONS_MAX + 1];
  for (int i = 0; i < LL_SESSIONS_MAX; i++)
    fail_unless(ll_session_begin(&sessions[i], "s", NULL) == 0, 11);
  fail_unless(ll_session_begin(&sessions[LL_SESSIONS_MAX], "s", NULL) == ENOSPC, 12);
  ll_session *last = &sessions[LL_SESSIONS_MAX];
  fail_unless(memcmp(last->parent, sessions[LL_SESSIONS_MAX - 1].id, 16) == 0, 13); /* it can be passed on */
  fail_unless(ll_session_end(last, 1) == EINVAL, 14);
  for (int i = 0; i < LL_SESSIONS_MAX; i++)
    fail_unless(ll_session_end(&sessions[i], 1) == 0, 15);
  for (int i = 0; i < 200; i++) { /* faster than the harvester follows */
    ll_emit(step, 1, "");
    fail_unless(ll_session_begin(&sessions[0], "s", NULL) == 0, 16);
    fail_unless(ll_session_end(&sessions[0], 1) == 0, 17);
  }
}

static void count_steps(const llb_event *event, void *ctx) {
  *(unsigned *)ctx += is_type(event, "test.step");
}

static void the_number_of_open_sessions_is_bounded(void **state) {
  (void)state;
  unsigned steps = 0;
  test_batches batches = run(open_too_many);
  test_check_sequences(&batches);
  test_each_event(&batches, count_steps, &steps);
  BOOKS_EQUAL(steps, 200);
  test_free_batches(&batches);
}

enum { THREADS = 4, ROUNDS = 50 };

static void *come_and_go(void *unused) {
  (void)unused;
  for (int i = 0; i < ROUNDS; i++) {
    ll_session outer, inner;
    fail_unless(ll_session_begin(&outer, "outer", NULL) == 0, 11);
    fail_unless(ll_session_begin(&inner, "inner", NULL) == 0, 12);
    ll_emit(step, 1, "");
    fail_unless(ll_session_end(i % 2 == 0 ? &outer : &inner, 1) == 0, 13);
    fail_unless(ll_session_end(i % 2 == 0 ? &inner : &outer, 1) == 0, 14);
  }
  return NULL;
}

static void threads_come_and_go(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    fail_unless(pthread_create(&threads[i], NULL, come_and_go, NULL) == 0, 15);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

static void count_all(const llb_event *event, void *ctx) {
  found *all = ctx;
  all->steps += is_type(event, "test.step");
  all->starts += is_type(event, "session.start");
  all->ends += is_type(event, "session.end");
}

static void threads_may_begin_and_end_sessions_at_once(void **state) {
  (void)state;
  found all = {0};
  test_batches batches = run(threads_come_and_go);
  test_check_sequences(&batches);
  test_each_event(&batches, count_all, &all);
  BOOKS_EQUAL(all.steps, THREADS * ROUNDS);
  BOOKS_EQUAL(all.starts, 2 * THREADS * ROUNDS);
  BOOKS_EQUAL(all.ends, 2 * THREADS * ROUNDS);
  test_free_batches(&batches);
  assert_int_equal(announced(), 0);
}

/* Until all slots are taken and changes wait for a place. Then the harvester has nothing to do but to wait. */
static void begin_without_a_sink(void) {
  struct timespec before, after;
  for (int i = 0; i < 300; i++) {
    ll_session session;
    char id[33];
    fail_unless(ll_session_begin(&session, "s", NULL) == 0, 11);
    hex_of(session.id, id);
    ll_emit(step, 1, id);
    fail_unless(ll_session_end(&session, 1) == 0, 12);
  }
  usleep(300000);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  usleep(500000);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  fail_unless(after.tv_sec - before.tv_sec + (after.tv_nsec - before.tv_nsec) / 1e9 < 0.25, 13);
  _exit(0);
}

static void recover(void);

static void without_a_sink_sessions_neither_block_nor_spin_nor_lose(void **state) {
  (void)state;
  unsigned steps = 0;
  char url[200];
  test_use_sink(&directory, "busy");
  setenv("LIFELINE_BUDGET_BYTES", "2097152", 1);
  assert_int_equal(test_in_child(begin_without_a_sink, NULL), 0);
  unsetenv("LIFELINE_BUDGET_BYTES");
  unsetenv("LIFELINE_PLUGIN_DIR");
  snprintf(url, sizeof url, "file://%s", directory.out);
  setenv("LIFELINE_URL", url, 1);
  recover();
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  test_each_event(&batches, count_steps, &steps);
  BOOKS_EQUAL(steps, 300);
  test_free_batches(&batches);
}

LL_EVENT(bulk, "test.bulk", LL_INFO, (string, text, ""));

enum { ROUNDS_STUCK = 120, ROUNDS_JUDGED = 40 };

static uint64_t acknowledged(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now.batches_acknowledged;
}

/* The route's slots are full after about 30 rounds. */
static void begin_beside_a_stuck_route(void) {
  static char text[30000];
  memset(text, 'x', sizeof text - 1);
  for (uint64_t round = 0; round < ROUNDS_STUCK; round++) {
    ll_session session;
    char id[33];
    fail_unless(ll_session_begin(&session, "s", NULL) == 0, 11);
    hex_of(session.id, id);
    ll_emit(bulk, text);
    for (uint64_t before = acknowledged(); acknowledged() == before;) {
      ll_emit(step, round, id);
      usleep(1000);
    }
    fail_unless(ll_session_end(&session, 1) == 0, 12);
  }
  _exit(0);
}

static void judge_session(const llb_event *event, void *ctx) {
  found *all = ctx;
  llb_bytes session = context_of(all->batch, "session");
  if (!is_type(event, "test.step")) return;
  BOOKS(session.size == 0 || same(event->values[1].bytes, session));
  all->steps += session.size > 0 && event->values[0].u64 >= ROUNDS_STUCK - ROUNDS_JUDGED;
}

/* The others' events keep their sessions; the stuck route's have theirs or, for the oldest, none. */
static void a_stuck_route_does_not_hold_up_the_sessions_of_the_others(void **state) {
  (void)state;
  char routes[300], log[200];
  snprintf(log, sizeof log, "%s/log", directory.path);
  snprintf(routes, sizeof routes, "stuck=test://%s/stuck?busy", directory.path);
  setenv("LIFELINE_ROUTES", routes, 1);
  setenv("LIFELINE_RESOLUTION", "test.bulk full route=stuck", 1);
  setenv("LIFELINE_PLUGIN_DIR", TEST_PLUGIN_DIR, 1);
  setenv("LIFELINE_BUDGET_BYTES", "5242880", 1);
  setenv("LIFELINE_COMPRESSION", "none", 1);
  assert_int_equal(test_in_child(begin_beside_a_stuck_route, log), 0);
  unsetenv("LIFELINE_ROUTES");
  unsetenv("LIFELINE_RESOLUTION");
  unsetenv("LIFELINE_PLUGIN_DIR");
  unsetenv("LIFELINE_BUDGET_BYTES");
  unsetenv("LIFELINE_COMPRESSION");
  assert_non_null(strstr(test_text_of(log), "route \"stuck\" takes no batches"));
  found all = {0};
  test_batches batches = test_read_batches(directory.out);
  for (size_t i = 0; i < batches.count; i++) {
    test_batches one = {.count = 1, .at = &batches.at[i]};
    all.batch = batches.at[i];
    test_each_event(&one, judge_session, &all);
  }
  assert_true(all.steps > 0);
  test_free_batches(&batches);
}

static void measure_before_and_in(void) {
  ll_session session;
  for (int i = 0; i < 3; i++) {
    ll_operation operation = ll_begin(work);
    ll_end(work, operation, 4096);
  }
  ll_session_begin(&session, "later", NULL);
  ll_flush(TEST_PATIENCE_MS);
  ll_session_end(&session, 1);
}

static void values_from_before_a_session_are_summarised_before_it(void **state) {
  (void)state;
  test_batches batches = run(measure_before_and_in);
  found all = look(&batches);
  assert_true(all.summaries > 0);
  assert_int_equal(all.summaries_in_session, 0);
  test_free_batches(&batches);
}

static void measure_and_end(void) {
  ll_session session;
  ll_session_begin(&session, "measured", NULL);
  ll_flush(TEST_PATIENCE_MS); /* until its beginning is applied */
  ll_operation operation = ll_begin(work);
  ll_end(work, operation, 4096);
  ll_session_end(&session, 1);
}

static void values_of_a_session_are_in_it_if_the_program_ends_at_once(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    remove(directory.out);
    test_batches batches = run(measure_and_end);
    found all = look(&batches);
    assert_true(all.summaries > 0);
    assert_int_equal(all.summaries_in_session, all.summaries);
    test_free_batches(&batches);
  }
}

enum { TYPES = 900 };

static void measure_many_types(void) {
  static const ll_dynamic_field fields[] = {{LL_U64, "size", "B"}};
  static const char *const stages[] = {"before", "in"};
  ll_session session;
  for (int stage = 0; stage < 2; stage++) {
    for (int i = 0; i < TYPES; i++) {
      char name[40];
      ll_dynamic *type;
      snprintf(name, sizeof name, "test.%s.%d", stages[stage], i);
      fail_unless(ll_declare(name, LL_INFO, fields, 1, &type) == 0, 11);
      for (uint64_t n = 1; n <= 3; n++)
        ll_emit_values(type, &(ll_value){.u64 = n}, 1);
    }
    if (stage == 0) ll_session_begin(&session, "many", NULL);
    if (stage == 0) ll_flush(TEST_PATIENCE_MS); /* until the earlier ones are reported */
    if (stage == 1) ll_session_end(&session, 1);
  }
}

static void judge_summary(const llb_event *event, void *ctx) {
  found *all = ctx;
  if (!is_type(event, "lifeline.summary")) return;
  llb_bytes of = event->values[0].bytes;
  bool in = of.size > 8 && memcmp(of.data, "test.in.", 8) == 0;
  BOOKS(in == (context_of(all->batch, "session").size > 0));
  all->summaries += in;
}

/* The harvester's ring grows, since it is too small for the summaries of so many types. */
static void many_summaries_are_in_the_session_of_their_values(void **state) {
  (void)state;
  setenv("LIFELINE_RESOLUTION", "test.* summary", 1);
  test_batches batches = run(measure_many_types);
  unsetenv("LIFELINE_RESOLUTION");
  found all = {0};
  for (size_t i = 0; i < batches.count; i++) {
    test_batches one = {.count = 1, .at = &batches.at[i]};
    all.batch = batches.at[i];
    test_each_event(&one, judge_summary, &all);
  }
  assert_true(all.summaries >= TYPES);
  test_free_batches(&batches);
}

static void use_it_while_off(void) {
  ll_session outer, inner;
  char text[LL_TRACEPARENT_BYTES];
  fail_unless(ll_session_begin(&outer, "off", NULL) == 0, 11);
  ll_traceparent_format(&outer, text);
  fail_unless(ll_traceparent_parse(text, &inner) == 0 && memcmp(inner.id, outer.id, 16) == 0, 12);
  fail_unless(ll_session_end(&outer, 1) == 0, 13);
}

static void a_session_has_an_id_while_instrumentation_is_off(void **state) {
  (void)state;
  setenv("LIFELINE", "off", 1);
  assert_int_equal(test_in_child(use_it_while_off, NULL), 0);
  unsetenv("LIFELINE");
  assert_int_equal(announced(), 0);
  assert_int_equal(access(directory.out, F_OK), -1);
}

/* --- other processes --- */

static void emit_in_the_given_session(void) {
  ll_emit(step, 1, getenv("EXPECTED"));
}

static void check_environment(const char *context, const char *trace, const char *expected) {
  remove(directory.out);
  setenv("EXPECTED", expected, 1);
  if (context != NULL) setenv("LIFELINE_CONTEXT", context, 1);
  if (trace != NULL) setenv("TRACEPARENT", trace, 1);
  test_batches batches = run(emit_in_the_given_session);
  assert_int_equal(look(&batches).steps, 1);
  llb_bytes sent = context_of(batches.at[0], "traceparent");
  bool passed_on = trace != NULL && sent.size == 55 && memcmp(sent.data, trace, 53) == 0;
  assert_int_equal(passed_on, trace != NULL && strlen(trace) == 55 && strncmp(expected, trace + 3, 32) == 0);
  test_free_batches(&batches);
  unsetenv("TRACEPARENT");
  setenv("LIFELINE_CONTEXT", "resource.rack=7", 1);
}

static void a_program_belongs_to_the_session_of_its_environment(void **state) {
  (void)state;
  static const char trace[] = "00-" TRACE "-" SPAN "-01", other[] = "11f7651916cd43dd8448eb211c80319c";
  char named[100];
  check_environment(NULL, NULL, "");
  check_environment(NULL, trace, TRACE);
  check_environment(NULL, "00-" TRACE "-" SPAN "-01-", "");
  snprintf(named, sizeof named, "session=%s", other);
  check_environment(named, trace, other);
  check_environment(named, NULL, other);
  check_environment("session=" TRACE, trace, TRACE);
  check_environment("session=copy 42", trace, "copy 42");
}

#ifdef FORKS
static void fork_in_a_session(void) {
  ll_session session;
  char id[33], path[300];
  fail_unless(ll_session_begin(&session, "parent's", NULL) == 0, 11);
  hex_of(session.id, id);
  snprintf(path, sizeof path, "%s/%s", announcements, id);
  ll_emit(step, 1, id);
  pid_t child = fork();
  if (child == 0) {
    ll_emit(step, 2, id);
    fail_unless(ll_session_end(&session, 1) == 0, 12);
    fail_unless(access(path, F_OK) == 0, 13); /* it is the parent's to end */
    ll_emit(step, 3, "");
    exit(0);
  }
  fail_unless(test_wait(child) == 0, 14);
  ll_emit(step, 4, id);
  fail_unless(ll_session_end(&session, 1) == 0, 15);
  fail_unless(access(path, F_OK) != 0, 16);
}

static void a_forked_child_is_in_the_session_and_can_leave_it(void **state) {
  (void)state;
  test_batches batches = run(fork_in_a_session);
  found all = look(&batches);
  assert_int_equal(all.steps, 4);
  assert_int_equal(all.starts, 1);
  assert_int_equal(all.ends, 1);
  test_free_batches(&batches);
}

#endif

/* --- kills --- */

enum { MINE = 8, SERIALS_MAX = 1 << 22 };

/* Tallies `mine` events, each of which names the session that its batch must have; and all serial numbers. */
typedef struct books {
  const llb_batch *batch;
  uint64_t mine, in_sessions;
  uint64_t count[MINE + 1], highest[MINE + 1]; /* of each thread's serial numbers, */
  uint8_t *seen[MINE + 1];                     /* and which */
  bool exact;                                  /* each change found a place: no event is without its session */
} books;

static void tick_off(const llb_event *event, void *ctx) {
  books *all = ctx;
  bool mine = is_type(event, "test.mine");
  if (!mine && !is_type(event, "test.other")) return;
  uint32_t thread = mine ? MINE : event->values[1].u32;
  uint64_t serial = event->values[0].u64;
  BOOKS(serial > 0 && serial < SERIALS_MAX && !all->seen[thread][serial]);
  all->seen[thread][serial] = 1;
  all->count[thread]++;
  if (serial > all->highest[thread]) all->highest[thread] = serial;
  if (!mine) return;
  all->mine++;
  char expected[33] = "";
  if (event->values[1].bytes.size == 16) hex_of(event->values[1].bytes.data, expected);
  llb_bytes right = {(const uint8_t *)expected, strlen(expected)};
  llb_bytes session = context_of(all->batch, "session");
  BOOKS(same(session, right) || (!all->exact && session.size == 0));
  all->in_sessions += right.size > 0;
}

static books check_books(bool exact) {
  books all = {.exact = exact};
  for (int i = 0; i <= MINE; i++)
    assert_non_null(all.seen[i] = calloc(1, SERIALS_MAX));
  test_batches batches = test_read_batches(directory.out);
  test_absorb_repeats(&batches);
  for (size_t i = 0; i < batches.count; i++) {
    test_batches one = {.count = 1, .at = &batches.at[i]};
    all.batch = batches.at[i];
    test_each_event(&one, tick_off, &all);
  }
  if (batches.count > 0) {
    assert_true(batches.at[batches.count - 1]->flags & LLB_FINAL);
    BOOKS_EQUAL(test_drops_in(&batches), 0);
  }
  for (int i = 0; i <= MINE; i++) {
    BOOKS_EQUAL(all.count[i], all.highest[i]); /* none is missing */
    free(all.seen[i]);
  }
  test_free_batches(&batches);
  return all;
}

static void recover(void) {
  char log[200];
  const char *const recovery[] = {"lifeline-recover", "--timeout-ms", "60000", NULL};
  snprintf(log, sizeof log, "%s/log", directory.path);
  if (test_wait(test_start(recovery, log)) != 0) fail_msg("%s", test_text_of(log));
  assert_int_equal(test_ring_files(&directory), 0);
}

static void nothing_is_lost_while_sessions_come_and_go(void **state) {
  (void)state;
  const char *const program[] = {"session-emitter", "300", "3", "0", NULL};
  assert_int_equal(test_wait(test_start(program, NULL)), 0);
  books all = check_books(false);
  BOOKS_EQUAL(all.mine, 300 * 20);
}

static void after_a_kill_each_event_is_in_its_session(void **state) {
  (void)state;
  unsigned seed = 1;
  uint64_t in_sessions = 0;
  /* On a busy machine a program may be killed before its first session: then others live longer. */
  for (unsigned i = 0; i < kills || (in_sessions == 0 && i < 20 * kills); i++) {
    const char *const program[] = {"session-emitter", "1000000", i % 2 == 0 ? "2" : "0", "3000", NULL};
    remove(directory.out);
    setenv("LIFELINE_INTERVAL_MS", i % 4 < 2 ? "1000" : "3", 1);
    pid_t pid = test_start(program, NULL);
    while (test_ring_files(&directory) == 0)
      usleep(1000);
    usleep(20000 * (1 + i / kills) + (unsigned)(rand_r(&seed) % 60000));
    kill(pid, SIGKILL);
    test_wait(pid);
    recover();
    in_sessions += check_books(false).in_sessions;
  }
  unsetenv("LIFELINE_INTERVAL_MS");
  assert_true(in_sessions > 0);
}

#ifdef LIFELINE_CRASH_POINTS
static void a_kill_between_two_steps_of_a_change_loses_nothing(void **state) {
  (void)state;
  static const char *const points[] = {"context-written", "context-changed", "context-applied", "sealed-unfreed",
                                       "sealed-unsent"};
  for (size_t p = 0; p < sizeof points / sizeof points[0]; p++)
    for (unsigned passing = 1; passing <= 12; passing++) {
      const char *const program[] = {"session-emitter", "1000000", passing % 2 == 0 ? "2" : "0", "flush", NULL};
      char point[64];
      snprintf(point, sizeof point, "%s:%u", points[p], passing);
      remove(directory.out);
      setenv("LIFELINE_CRASH_POINT", point, 1);
      pid_t pid = test_start(program, NULL);
      unsetenv("LIFELINE_CRASH_POINT");
      test_wait_for(pid, SIGKILL);
      recover();
      check_books(true);
    }
}
#endif

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_traceparent_is_checked_strictly),
      cmocka_unit_test_setup_teardown(batches_name_the_innermost_open_session, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_session_joins_the_trace_of_a_header_as_a_new_span, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_number_of_open_sessions_is_bounded, set_up, tear_down),
      cmocka_unit_test_setup_teardown(threads_may_begin_and_end_sessions_at_once, set_up, tear_down),
      cmocka_unit_test_setup_teardown(without_a_sink_sessions_neither_block_nor_spin_nor_lose, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_stuck_route_does_not_hold_up_the_sessions_of_the_others, set_up, tear_down),
      cmocka_unit_test_setup_teardown(values_from_before_a_session_are_summarised_before_it, set_up, tear_down),
      cmocka_unit_test_setup_teardown(values_of_a_session_are_in_it_if_the_program_ends_at_once, set_up, tear_down),
      cmocka_unit_test_setup_teardown(many_summaries_are_in_the_session_of_their_values, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_session_has_an_id_while_instrumentation_is_off, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_program_belongs_to_the_session_of_its_environment, set_up, tear_down),
#ifdef FORKS
      cmocka_unit_test_setup_teardown(a_forked_child_is_in_the_session_and_can_leave_it, set_up, tear_down),
#endif
      cmocka_unit_test_setup_teardown(nothing_is_lost_while_sessions_come_and_go, set_up, tear_down),
      cmocka_unit_test_setup_teardown(after_a_kill_each_event_is_in_its_session, set_up, tear_down),
#ifdef LIFELINE_CRASH_POINTS
      cmocka_unit_test_setup_teardown(a_kill_between_two_steps_of_a_change_loses_nothing, set_up, tear_down),
#endif
  };
  if (argc > 1) kills = (unsigned)strtoul(argv[1], NULL, 10);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
