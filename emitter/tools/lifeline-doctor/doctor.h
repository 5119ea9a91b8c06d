/* What lifeline-doctor looks at, and how it says what it found. */
#ifndef LIFELINE_DOCTOR_H
#define LIFELINE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "broker.h"
#include "life/config.h"

/* What cannot be seen from here is skipped, and counts as well. */
typedef enum verdict { OK, SKIPPED, WARN, FAIL } verdict;

/* One finding: "warn  clock sync: the clock is not synchronised; ...". The text says what to mend, if anything. */
__attribute__((format(printf, 3, 4))) void report(verdict v, const char *subject, const char *format, ...);

/* The largest batch that the emitter may make, with the headers around it on a broker. */
enum { LARGEST_MESSAGE = 1000000, DEFAULT_BATCH = 65536 };

/* This machine: settings, clock, directories, trigger file, and the file of a URL file:///path. */
void check_clock(void);
void check_ring_directory(const ll_config *config);
void check_spool(void);
void check_triggers(void);
void check_file(const char *path);

/* The way to the broker. False if there is no use in going on. */
bool check_network(const tool_broker *broker);
void check_nats(const tool_broker *broker);
void check_kafka(const tool_broker *broker);

/* A number of bytes as people write it: "1.5 GiB". One of four buffers. */
const char *bytes_text(double bytes);

#endif
