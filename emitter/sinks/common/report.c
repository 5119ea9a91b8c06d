#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "flight.h"

void sink_report_init(sink_report *report, const ll_sink_host *host) {
  *report = (sink_report){.host = host};
  pthread_mutex_init(&report->mutex, NULL);
}

/* With the lock held. */
static void say(sink_report *report, ll_sink_log_level level, const char *message) {
  if (!report->host || strcmp(message, report->last) == 0) return;
  snprintf(report->last, sizeof report->last, "%s", message);
  if (level != LL_SINK_INFO) {
    int64_t now_ms = flight_now_ms();
    if (strcmp(message, report->trouble) == 0 && now_ms < report->trouble_until_ms) return;
    snprintf(report->trouble, sizeof report->trouble, "%s", message);
    report->trouble_until_ms = now_ms + SINK_REPORT_AGAIN_MS;
  }
  report->host->log(report->host->ctx, level, message);
}

/* With the lock held. */
static void say_symptom(sink_report *report) {
  if (*report->symptom) say(report, LL_SINK_ERROR, report->symptom);
  *report->symptom = 0;
}

void sink_report_state(sink_report *report, ll_sink_log_level level, const char *format, ...) {
  char message[sizeof report->last];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  pthread_mutex_lock(&report->mutex);
  say_symptom(report);
  say(report, level, message);
  pthread_mutex_unlock(&report->mutex);
}

void sink_report_symptom(sink_report *report, const char *format, ...) {
  va_list args;
  va_start(args, format);
  pthread_mutex_lock(&report->mutex);
  if (!*report->symptom) {
    vsnprintf(report->symptom, sizeof report->symptom, format, args);
    report->symptom_due_ms = flight_now_ms() + SINK_REPORT_PATIENCE_MS;
  }
  pthread_mutex_unlock(&report->mutex);
  va_end(args);
}

void sink_report_cause(sink_report *report, const char *format, ...) {
  char message[sizeof report->last];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  pthread_mutex_lock(&report->mutex);
  *report->symptom = 0;
  say(report, LL_SINK_ERROR, message);
  pthread_mutex_unlock(&report->mutex);
}

bool sink_report_withdraw(sink_report *report) {
  pthread_mutex_lock(&report->mutex);
  bool waited = *report->symptom != 0;
  *report->symptom = 0;
  pthread_mutex_unlock(&report->mutex);
  return waited;
}

void sink_report_tick(sink_report *report) {
  pthread_mutex_lock(&report->mutex);
  if (*report->symptom && flight_now_ms() >= report->symptom_due_ms) say_symptom(report);
  pthread_mutex_unlock(&report->mutex);
}

void sink_report_close(sink_report *report) {
  pthread_mutex_lock(&report->mutex);
  say_symptom(report);
  report->host = NULL;
  pthread_mutex_unlock(&report->mutex);
}
