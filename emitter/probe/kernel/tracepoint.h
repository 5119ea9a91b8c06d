/* Tracepoints of the kernel as tracefs describes them: their ids, and where the fields of their records are. */
#ifndef KERNEL_TRACEPOINT_H
#define KERNEL_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds where tracefs is mounted. False, with a reason: nowhere. */
bool tracefs_find(char *path, size_t path_bytes, char *why, size_t why_bytes);

typedef struct tracepoint_field {
  const char *name;
  uint16_t offset, bytes;
} tracepoint_field;

/* Reads the tracepoint's id, and offsets and sizes of the named fields. `name` is such as "sched/sched_switch". False,
 * with a reason: it is not there, may not be read, or has no such field. */
bool tracepoint_read(const char *tracefs, const char *name, uint64_t *id, tracepoint_field *fields, unsigned count,
                     char *why, size_t why_bytes);

/* The value of a field in a record; 0 if the record is too short. */
uint64_t tracepoint_value(const void *record, size_t bytes, const tracepoint_field *field);

#endif
