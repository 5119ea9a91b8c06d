/* The checks of lifeline-doctor, and their report. */
#ifndef LIFELINE_DOCTOR_H
#define LIFELINE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "broker.h"
#include "life/config.h"

/* SKIPPED: this user or machine cannot check it. Skipped checks are counted, too. */
typedef enum verdict { OK, SKIPPED, WARN, FAIL } verdict;

/* Reports one finding: "warn  clock sync: the clock is not synchronised; ...". The text names the remedy, if any. */
__attribute__((format(printf, 3, 4))) void report(verdict v, const char *subject, const char *format, ...);

/* Largest message of an emitter, batch and headers; and the default batch size. */
enum { LARGEST_MESSAGE = 1000000, DEFAULT_BATCH = 65536 };

/* Checks of this machine: clock, directories, trigger file, and the file of a URL file:///path. */
void check_clock(void);
void check_ring_directory(const ll_config *config);
void check_spool(void);
void check_triggers(void);
void check_file(const char *path);

/* Checks of the broker. check_network returns false if no server can be used, so that the others make no sense. */
bool check_network(const tool_broker *broker);
void check_nats(const tool_broker *broker);
void check_kafka(const tool_broker *broker);

/* Formats a number of bytes: "1.5 GiB". Returns one of four static buffers in turn. */
const char *bytes_text(double bytes);

#endif
