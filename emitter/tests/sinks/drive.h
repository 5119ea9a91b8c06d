/* Drives one sink like the harvester: loads the plugin, sends batches with the numbers 1..count until each is
 * acknowledged or refused, and keeps the sink's reports. */
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
  unsigned tally[DRIVE_FATES]; /* number of batches by fate */
  unsigned settled;            /* all before this one are neither waiting nor sent */
  uint8_t *batch[DRIVE_MAX_BATCHES];
  unsigned count;
  unsigned retries;
  unsigned late; /* calls of done that were not expected */
} drive;

/* scheme names the plugin. False with the sink's message in error if it cannot be opened. */
bool drive_open(drive *d, const char *scheme, const char *url, char *error, size_t error_bytes);

/* Adds count batches of this size, each starting with its number. */
void drive_add(drive *d, unsigned count, size_t bytes);

/* Sends and polls until no batch is waiting or in flight, or the time has passed. True if all are acknowledged. */
bool drive_run(drive *d, int timeout_ms);

/* Runs until the log holds this text. */
bool drive_until_logged(drive *d, const char *text, int timeout_ms);

/* Opens several sinks at once, each with a batch that cannot be delivered, and closes them: the only line of each must
 * contain this text. */
void drive_complains_only(const char *scheme, const char *url, const char *text);

/* Number of times that the log contains this text. */
unsigned drive_said(drive *d, const char *text);

unsigned drive_tally(drive *d, drive_fate fate);

/* Number of retries requested by the sink. */
unsigned drive_retries(drive *d);

/* The log and the tallies stay valid after it. */
void drive_close(drive *d);

/* The same, without a limit of the time. */
void drive_end(drive *d);

#endif
