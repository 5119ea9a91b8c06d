/* The connections that are sampled. */
#ifndef LIFELINE_PROBE_TABLE_H
#define LIFELINE_PROBE_TABLE_H

#include "anomaly.h"
#include "diag.h"
#include "processes/targets.h"

#include <stdbool.h>
#include <stdint.h>

#define CONNECTIONS_MAX (1u << 17)

typedef struct connection {
  diag_look look; /* the latest */
  uint64_t space; /* inode of its network namespace: cookies are unique within one, on old kernels */
  uint32_t pid;   /* process that has, or had, it open */
  uint8_t session[SESSION_BYTES];
  bool has_session;
  bool used, due;
  uint64_t seen_ns, missed_ns; /* missed_ns: of the first list without it; 0 if it is in the latest */
  watch watch;
  uint32_t next; /* in its bucket or in the list of free ones, plus 1 */
} connection;

typedef struct table {
  connection *all; /* up to `end`, with gaps that are not `used` */
  uint32_t *buckets;
  uint32_t end, room, count, free;
} table;

connection *table_find(const table *all, uint64_t cookie, uint64_t space);

/* NULL if there is no room. Pointers to others become invalid. */
connection *table_add(table *all, const diag_look *look, uint64_t space);

void table_remove(table *all, connection *one);
void table_free(table *all);

#endif
