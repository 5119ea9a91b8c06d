/* Tells the host what state the connection is in, each state once: a broker that is down for a day is one line, and a
 * connection that comes and goes one a minute.
 *
 * A client library often says first that a broker cannot be reached and only then why. So such a symptom waits a
 * moment for its cause, which takes its place; without one it is said all the same.
 */
#ifndef LIFELINE_SINK_REPORT_H
#define LIFELINE_SINK_REPORT_H

#include <pthread.h>
#include <stdbool.h>

#include "sink/sink.h"

enum { SINK_REPORT_PATIENCE_MS = 1500, SINK_REPORT_AGAIN_MS = 60000, SINK_REPORT_BYTES = 800 };

typedef struct sink_report {
  const ll_sink_host *host; /* NULL once the sink is closed: its threads may outlive it */
  pthread_mutex_t mutex;
  char last[SINK_REPORT_BYTES];
  char trouble[SINK_REPORT_BYTES]; /* the last that was no mere information, and from when on it is news again */
  int64_t trouble_until_ms;
  char symptom[SINK_REPORT_BYTES]; /* "" unless one waits for its cause */
  int64_t symptom_due_ms;
} sink_report;

void sink_report_init(sink_report *report, const ll_sink_host *host);

/* Any thread. Silent if the message is the one that was last reported. A symptom that waits is said before it. */
__attribute__((format(printf, 3, 4))) void sink_report_state(sink_report *report, ll_sink_log_level level,
                                                             const char *format, ...);

/* An error that may have a clearer cause: said by sink_report_tick once its time has come. */
__attribute__((format(printf, 2, 3))) void sink_report_symptom(sink_report *report, const char *format, ...);

/* An error that explains, and so replaces, a symptom that waits. */
__attribute__((format(printf, 2, 3))) void sink_report_cause(sink_report *report, const char *format, ...);

/* A symptom that waits is not reported: it is over, or has another cause, which is about to be reported. True if one
 * waited. */
bool sink_report_withdraw(sink_report *report);

/* To be called now and then. */
void sink_report_tick(sink_report *report);

/* Says a symptom that waits; after it nothing is reported any more. */
void sink_report_close(sink_report *report);

#endif
