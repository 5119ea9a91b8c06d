/* Reports changes of the connection's state to the host. An outage of a day is one line; an unstable connection is one
 * line a minute.
 *
 * Client libraries often report that a broker is unreachable before they report why. So a symptom is held back for a
 * moment: a cause replaces it, and without one the symptom itself is reported.
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
  char trouble[SINK_REPORT_BYTES]; /* last error or warning; not repeated before trouble_until_ms */
  int64_t trouble_until_ms;
  char symptom[SINK_REPORT_BYTES]; /* held back until its cause is known; "" if there is none */
  int64_t symptom_due_ms;
} sink_report;

void sink_report_init(sink_report *report, const ll_sink_host *host);

/* Thread-safe. Silent if the message equals the last one reported. A pending symptom is reported first. */
__attribute__((format(printf, 3, 4))) void sink_report_state(sink_report *report, ll_sink_log_level level,
                                                             const char *format, ...);

/* An error that may have a clearer cause: sink_report_tick reports it when its delay is over. */
__attribute__((format(printf, 2, 3))) void sink_report_symptom(sink_report *report, const char *format, ...);

/* An error that explains, and so replaces, a pending symptom. */
__attribute__((format(printf, 2, 3))) void sink_report_cause(sink_report *report, const char *format, ...);

/* Drops a pending symptom: it is over, or the caller is about to report another cause. True if one was pending. */
bool sink_report_withdraw(sink_report *report);

/* Call it regularly. */
void sink_report_tick(sink_report *report);

/* Reports a pending symptom. After it nothing is reported. */
void sink_report_close(sink_report *report);

#endif
