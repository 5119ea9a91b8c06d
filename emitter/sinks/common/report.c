#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sink_report_init(sink_report *report, const ll_sink_host *host) {
  report->host = host;
  report->last[0] = 0;
  pthread_mutex_init(&report->mutex, NULL);
}

void sink_report_state(sink_report *report, ll_sink_log_level level, const char *format, ...) {
  char message[sizeof report->last];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  pthread_mutex_lock(&report->mutex);
  if (report->host && strcmp(message, report->last) != 0) {
    memcpy(report->last, message, sizeof message);
    report->host->log(report->host->ctx, level, message);
  }
  pthread_mutex_unlock(&report->mutex);
}

void sink_report_close(sink_report *report) {
  pthread_mutex_lock(&report->mutex);
  report->host = NULL;
  pthread_mutex_unlock(&report->mutex);
}
