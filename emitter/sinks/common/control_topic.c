#include "control_topic.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "flight.h"
#include "threads.h"

static bool legal_name(const char *name) {
  size_t length = strlen(name);
  return length > 0 && length < 200 &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == length;
}

bool sink_control_init(sink_control *control, const ll_sink_host *host, const sink_url *url, const char *standard_name,
                       char *error, size_t error_bytes) {
  const char *wish = sink_url_parameter(url, "control");
  *control = (sink_control){.host = host, .name = standard_name};
  if (wish && strcmp(wish, "off") == 0)
    control->name = NULL;
  else if (wish && strcmp(wish, "on") != 0)
    control->name = wish;
  if (control->name && !legal_name(control->name)) {
    snprintf(error, error_bytes, "%s: the URL's parameter control is neither on, off nor a name", url->scheme);
    return false;
  }
  sink_report_init(&control->report, host);
  pthread_mutex_init(&control->mutex, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&control->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  return true;
}

static void *run(void *ctx) {
  sink_control *control = ctx;
  sink_thread_begins();
  control->read(control->read_ctx);
  pthread_mutex_lock(&control->mutex);
  control->running = false;
  pthread_cond_broadcast(&control->changed);
  pthread_mutex_unlock(&control->mutex);
  sink_thread_ends();
  return NULL;
}

bool sink_control_start(sink_control *control, void (*read)(void *ctx), void *ctx) {
  if (!control->name) return true;
  pthread_t thread;
  control->read = read;
  control->read_ctx = ctx;
  control->running = true;
  if (sink_thread_start(&thread, "lifeline-ctl", run, control)) {
    pthread_detach(thread); /* sink_control_join waits with a timeout */
    return true;
  }
  control->running = false;
  sink_report_state(&control->report, LL_SINK_INFO, "no activations are read: the system has no thread left");
  return false;
}

bool sink_control_closing(sink_control *control) {
  pthread_mutex_lock(&control->mutex);
  bool closing = control->closing;
  pthread_mutex_unlock(&control->mutex);
  return closing;
}

static struct timespec after_ms(int timeout_ms) {
  int64_t end_ms = flight_now_ms() + timeout_ms;
  return (struct timespec){.tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000};
}

void sink_control_wait(sink_control *control, int timeout_ms) {
  struct timespec end = after_ms(timeout_ms);
  pthread_mutex_lock(&control->mutex);
  while (!control->closing)
    if (pthread_cond_timedwait(&control->changed, &control->mutex, &end) != 0) break;
  pthread_mutex_unlock(&control->mutex);
}

void sink_control_wake_by(sink_control *control, void (*wake)(void *ctx), void *ctx) {
  pthread_mutex_lock(&control->mutex);
  control->wake = wake;
  control->wake_ctx = ctx;
  pthread_mutex_unlock(&control->mutex);
}

void sink_control_begin(sink_control *control) {
  pthread_mutex_lock(&control->mutex);
  if (control->host) control->host->control_begin(control->host->ctx);
  pthread_mutex_unlock(&control->mutex);
}

void sink_control_says(sink_control *control, const ll_control_message *message) {
  pthread_mutex_lock(&control->mutex);
  if (control->host) control->host->control(control->host->ctx, message);
  pthread_mutex_unlock(&control->mutex);
}

void sink_control_complete(sink_control *control) {
  pthread_mutex_lock(&control->mutex);
  if (control->host) control->host->control_complete(control->host->ctx);
  pthread_mutex_unlock(&control->mutex);
}

void sink_control_close(sink_control *control) {
  sink_report_close(&control->report);
  pthread_mutex_lock(&control->mutex);
  control->host = NULL;
  control->closing = true;
  if (control->wake) control->wake(control->wake_ctx);
  pthread_cond_broadcast(&control->changed);
  pthread_mutex_unlock(&control->mutex);
}

bool sink_control_join(sink_control *control, int timeout_ms) {
  struct timespec end = after_ms(timeout_ms);
  pthread_mutex_lock(&control->mutex);
  while (control->running)
    if (pthread_cond_timedwait(&control->changed, &control->mutex, &end) != 0) break;
  bool ended = !control->running;
  pthread_mutex_unlock(&control->mutex);
  return ended;
}
