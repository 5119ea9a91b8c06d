/* Plays the harvester to one sink: loads the plugin, sends batches with the numbers 1..count until each is acknowledged
 * or refused, and keeps what the sink reports. */
#ifndef LIFELINE_TEST_DRIVE_H
#define LIFELINE_TEST_DRIVE_H

#include <pthread.h>
#include <stdbool.h>

#include "sink/sink.h"

enum { DRIVE_MAX_BATCHES = 4096, DRIVE_FATES = 5 };

typedef enum drive_fate { DRIVE_WAITING, DRIVE_SENT, DRIVE_ACKED, DRIVE_REFUSED, DRIVE_FAILED } drive_fate;

typedef struct drive {
  const ll_sink_plugin *plugin;
  ll_sink *sink;
  ll_sink_host host;
  pthread_mutex_t mutex;
  char log[16384]; /* one line per report */
  drive_fate fate[DRIVE_MAX_BATCHES];
  unsigned tally[DRIVE_FATES]; /* of them */
  unsigned settled;            /* all before this one are neither waiting nor sent */
  uint8_t *batch[DRIVE_MAX_BATCHES];
  unsigned count;
  unsigned retries;
  unsigned late; /* calls of done that were not expected */
} drive;

/* scheme names the plugin. False with the sink's message in error if it does not open. */
bool drive_open(drive *d, const char *scheme, const char *url, char *error, size_t error_bytes);

/* Adds count batches of this size, which begin with their number. */
void drive_add(drive *d, unsigned count, size_t bytes);

/* Sends and polls until no batch is waiting or under way, or the time has passed. True if all are acknowledged. */
bool drive_run(drive *d, int timeout_ms);

/* Runs until the log holds this text. */
bool drive_until_logged(drive *d, const char *text, int timeout_ms);

/* Opens some sinks side by side, each with a batch that cannot go, and closes them: the only line of each must hold
 * this text. */
void drive_complains_only(const char *scheme, const char *url, const char *text);

/* How often the log holds this text. */
unsigned drive_said(drive *d, const char *text);

unsigned drive_tally(drive *d, drive_fate fate);

/* How often a batch came back to be sent again. */
unsigned drive_retries(drive *d);

/* After it the log and the tallies can still be asked for. */
void drive_close(drive *d);

/* The same, however long the close takes. */
void drive_end(drive *d);

#endif
