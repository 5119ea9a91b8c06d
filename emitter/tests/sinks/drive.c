#include "drive.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define SYMBOL_TEXT(name) #name
#define SYMBOL(name) SYMBOL_TEXT(name)

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Lateness of this machine: the sum of the naps' excess times. */
typedef struct nap_watch {
  pthread_t thread;
  bool over;
  int64_t late_ms;
} nap_watch;

enum { NAP_MS = 10 };

static void *take_naps(void *of) {
  nap_watch *watch = of;
  while (!__atomic_load_n(&watch->over, __ATOMIC_ACQUIRE)) {
    int64_t start_ms = now_ms();
    nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000}, NULL);
    watch->late_ms += now_ms() - start_ms - NAP_MS;
  }
  return NULL;
}

static void on_log(void *ctx, ll_sink_log_level level, const char *message) {
  static const char *const words[] = {"error", "warn", "info"};
  drive *d = ctx;
  pthread_mutex_lock(&d->mutex);
  size_t used = strlen(d->log);
  snprintf(d->log + used, sizeof d->log - used, "%s: %s\n", words[level], message);
  pthread_mutex_unlock(&d->mutex);
}

/* With the lock held. */
static void settle(drive *d, unsigned token, drive_fate fate) {
  d->tally[d->fate[token]]--;
  d->tally[fate]++;
  d->fate[token] = fate;
}

static void on_done(void *ctx, uint64_t token, ll_sink_outcome outcome, const char *why) {
  drive *d = ctx;
  (void)why;
  pthread_mutex_lock(&d->mutex);
  if (token >= d->count || d->fate[token] != DRIVE_SENT)
    d->late++;
  else
    settle(d, (unsigned)token,
           outcome == LL_SINK_ACKED   ? DRIVE_ACKED
           : outcome == LL_SINK_RETRY ? DRIVE_WAITING
                                      : DRIVE_REFUSED);
  d->retries += outcome == LL_SINK_RETRY;
  pthread_mutex_unlock(&d->mutex);
}

static void ignore(void *ctx) {
  (void)ctx;
}

static void ignore_message(void *ctx, const ll_control_message *message) {
  (void)ctx;
  (void)message;
}

bool drive_open(drive *d, const char *scheme, const char *url, char *error, size_t error_bytes) {
  char path[512];
  *d = (drive){.host = {.url = url, .host_name = "test-host", .program = "sink-test", .first_hand = true}};
  pthread_mutex_init(&d->mutex, NULL);
  snprintf(path, sizeof path, "%s/lifeline-sink-%s.so", PLUGIN_DIRECTORY, scheme);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  d->plugin = dlsym(library, SYMBOL(LL_SINK_ENTRY));
  assert_non_null(d->plugin);
  assert_int_equal(d->plugin->abi, LL_SINK_ABI);
  for (size_t i = 0; i < sizeof d->host.incarnation; i++)
    d->host.incarnation[i] = (uint8_t)(rand() >> 8);
  d->host.ctx = d;
  d->host.log = on_log;
  d->host.done = on_done;
  d->host.control_begin = d->host.control_complete = ignore;
  d->host.control = ignore_message;
  d->sink = d->plugin->open(&d->host, error, error_bytes);
  return d->sink != NULL;
}

void drive_add(drive *d, unsigned count, size_t bytes) {
  for (unsigned i = 0; i < count; i++) {
    uint64_t number = d->count + 1;
    uint8_t *batch = malloc(bytes);
    assert_non_null(batch);
    memset(batch, (int)number, bytes);
    memcpy(batch, &number, sizeof number);
    /* The size follows the number, for resending. */
    memcpy(batch + sizeof number, &bytes, sizeof bytes);
    pthread_mutex_lock(&d->mutex);
    d->batch[d->count] = batch;
    d->fate[d->count++] = DRIVE_WAITING;
    d->tally[DRIVE_WAITING]++;
    pthread_mutex_unlock(&d->mutex);
  }
}

static bool send_one(drive *d, unsigned token) {
  size_t bytes;
  memcpy(&bytes, d->batch[token] + sizeof(uint64_t), sizeof bytes);
  pthread_mutex_lock(&d->mutex);
  bool waiting = d->fate[token] == DRIVE_WAITING;
  if (waiting) settle(d, token, DRIVE_SENT);
  pthread_mutex_unlock(&d->mutex);
  if (!waiting) return true;
  ll_sink_status status = d->plugin->send(d->sink, token, d->batch[token], bytes, 0, token + 1);
  if (status == LL_SINK_OK) return true;
  pthread_mutex_lock(&d->mutex);
  settle(d, token, status == LL_SINK_BUSY ? DRIVE_WAITING : DRIVE_FAILED);
  pthread_mutex_unlock(&d->mutex);
  return status != LL_SINK_BUSY;
}

static void step(drive *d) {
  pthread_mutex_lock(&d->mutex);
  while (d->settled < d->count && d->fate[d->settled] != DRIVE_WAITING && d->fate[d->settled] != DRIVE_SENT)
    d->settled++;
  unsigned first = d->settled;
  pthread_mutex_unlock(&d->mutex);
  for (unsigned token = first; token < d->count && send_one(d, token); token++) {
  }
  d->plugin->poll(d->sink, 20);
}

bool drive_run(drive *d, int timeout_ms) {
  int64_t end_ms = now_ms() + timeout_ms;
  do
    step(d);
  while (drive_tally(d, DRIVE_WAITING) + drive_tally(d, DRIVE_SENT) && now_ms() < end_ms);
  return drive_tally(d, DRIVE_ACKED) == d->count;
}

bool drive_until_logged(drive *d, const char *text, int timeout_ms) {
  int64_t end_ms = now_ms() + timeout_ms;
  do {
    step(d);
    pthread_mutex_lock(&d->mutex);
    bool logged = strstr(d->log, text) != NULL;
    pthread_mutex_unlock(&d->mutex);
    if (logged) return true;
  } while (now_ms() < end_ms);
  print_message("not logged: \"%s\"; the log is:\n%s", text, d->log);
  return false;
}

void drive_complains_only(const char *scheme, const char *url, const char *text) {
  enum { DRIVES = 8, LONG_MS = 500 }; /* the first line depends on a race of the client library's threads */
  static drive drives[DRIVES];
  char error[256] = "";
  for (int i = 0; i < DRIVES; i++) {
    if (!drive_open(&drives[i], scheme, url, error, sizeof error)) fail_msg("the sink does not open: %s", error);
    drive_add(&drives[i], 1, 1000);
  }
  for (int i = 0; i < DRIVES; i++)
    assert_true(drive_until_logged(&drives[i], text, 60000));
  for (int64_t end_ms = now_ms() + LONG_MS; now_ms() < end_ms;)
    for (int i = 0; i < DRIVES; i++)
      step(&drives[i]);
  for (int i = 0; i < DRIVES; i++) {
    assert_int_equal(drive_tally(&drives[i], DRIVE_WAITING) + drive_tally(&drives[i], DRIVE_SENT), 1);
    drive_close(&drives[i]);
    /* On a machine too slow for the broker's timeouts or the sink's symptom delay, a symptom is logged, too, and the
     * complaint may then be repeated. */
    unsigned lines = drive_said(&drives[i], "\n"), complaints = drive_said(&drives[i], text);
    unsigned symptoms = drive_said(&drives[i], "cannot be reached") - drive_said(&drives[i], "cannot be reached over");
    if (lines != complaints + symptoms || complaints > 1 + symptoms)
      fail_msg("more than the complaint:\n%s", drives[i].log);
  }
}

unsigned drive_said(drive *d, const char *text) {
  unsigned times = 0;
  pthread_mutex_lock(&d->mutex);
  for (const char *at = d->log; (at = strstr(at, text)); at++)
    times++;
  pthread_mutex_unlock(&d->mutex);
  return times;
}

unsigned drive_tally(drive *d, drive_fate fate) {
  pthread_mutex_lock(&d->mutex);
  unsigned tally = d->tally[fate];
  pthread_mutex_unlock(&d->mutex);
  return tally;
}

unsigned drive_retries(drive *d) {
  pthread_mutex_lock(&d->mutex);
  unsigned retries = d->retries;
  pthread_mutex_unlock(&d->mutex);
  return retries;
}

static void check_closed(drive *d) {
  assert_int_equal(drive_tally(d, DRIVE_SENT), 0);
  if (d->late != 0) fail_msg("wrong books: the fate of a batch was told %u times more than once", d->late);
  for (unsigned i = 0; i < d->count; i++)
    free(d->batch[i]);
}

void drive_close(drive *d) {
  nap_watch watch = {.over = false};
  assert_int_equal(pthread_create(&watch.thread, NULL, take_naps, &watch), 0);
  int64_t start_ms = now_ms();
  d->plugin->close(d->sink);
  int64_t took_ms = now_ms() - start_ms;
  __atomic_store_n(&watch.over, true, __ATOMIC_RELEASE);
  pthread_join(watch.thread, NULL);
  /* The limit of sink.h, on a punctual machine. A close waits for a few threads, each as late as the naps. */
  assert_in_range(took_ms, 0, 2500 + 3 * watch.late_ms);
  check_closed(d);
}

void drive_end(drive *d) {
  d->plugin->close(d->sink);
  check_closed(d);
}
