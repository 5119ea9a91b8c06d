/* All processes that /proc shows: who is whose child. */
#ifndef LIFELINE_PROBE_SCAN_H
#define LIFELINE_PROBE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRAM_BYTES 64

/* What /proc/PID/stat says. A pid may be used again, but not with the same start. */
typedef struct process_stat {
  uint32_t pid, parent;
  uint64_t start_ticks;
  char program[PROGRAM_BYTES];
  bool ended; /* a zombie: only its parent has not taken notice yet */
  uint64_t minor_faults, major_faults, user_ticks, system_ticks, threads, rss_pages;
} process_stat;

/* Cuts the text up. False if it is no such file. */
bool process_stat_parse(char *text, process_stat *stat);

/* Of a process' directory, or of "PID" below /proc. */
bool process_stat_read(int directory, const char *path, process_stat *stat);

typedef struct process_scan {
  process_stat *all; /* in the order of pids */
  size_t count, room;
} process_scan;

/* Reads /proc. False with errno if that cannot be done; what was read before is kept then. */
bool process_scan_read(process_scan *scan, int proc);

/* NULL if there is none. */
const process_stat *process_scan_find(const process_scan *scan, uint32_t pid);

void process_scan_free(process_scan *scan);

#endif
