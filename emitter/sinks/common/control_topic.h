/* Reading of the control topic: the part common to NATS and Kafka.
 *
 * On Kafka a separate thread reads, since the client library blocks; it never touches batches. A topic that cannot be
 * read is reported once, as information: a program runs without activations.
 */
#ifndef LIFELINE_SINK_CONTROL_TOPIC_H
#define LIFELINE_SINK_CONTROL_TOPIC_H

#include <pthread.h>

#include "report.h"
#include "url.h"

enum { SINK_CONTROL_RETRY_MS = 5000 };

typedef struct sink_control {
  const char *name; /* of bucket or topic; NULL: off */
  sink_report report;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  const ll_sink_host *host; /* NULL once the sink is closed: the thread may outlive it */
  bool running;
  bool closing;
  void (*read)(void *ctx);
  void *read_ctx;
  void (*wake)(void *ctx); /* NULL: the thread only waits in sink_control_wait */
  void *wake_ctx;
} sink_control;

/* Reads the URL's control=on|off|<name>. On failure writes one line into error. */
bool sink_control_init(sink_control *control, const ll_sink_host *host, const sink_url *url, const char *standard_name,
                       char *error, size_t error_bytes);

/* Starts the thread, which reads until sink_control_closing. False, and reported, if the system has no thread left.
 * No-op if control is off. */
bool sink_control_start(sink_control *control, void (*read)(void *ctx), void *ctx);

/* For that thread. sink_control_wait returns on closing or after timeout_ms. */
bool sink_control_closing(sink_control *control);
void sink_control_wait(sink_control *control, int timeout_ms);

/* For that thread, before and after it waits for something else: sink_control_close calls wake to end the wait. */
void sink_control_wake_by(sink_control *control, void (*wake)(void *ctx), void *ctx);

/* Call the host, unless the sink is closed. */
void sink_control_begin(sink_control *control);
void sink_control_says(sink_control *control, const ll_control_message *message);
void sink_control_complete(sink_control *control);

/* After it the host is not called. The thread ends when it next checks sink_control_closing. */
void sink_control_close(sink_control *control);

/* Waits for the thread to end. False if it still runs after timeout_ms. */
bool sink_control_join(sink_control *control, int timeout_ms);

#endif
