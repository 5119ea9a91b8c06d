/* Samples TCP_INFO of the targets' connections.
 *
 * Which sockets the targets have is read from their descriptors at each sample. If there is a new one, and once a
 * second, all sockets of their network namespaces are listed without details, which tells the connections among them.
 * Both cost time in proportion to the number of descriptors and of sockets (and the list in proportion to the kernel's
 * table of them), so each is done so rarely that it takes at most 2 % of the time. The known connections are asked
 * about one by one, which does not depend on how many others the host has.
 */
#ifndef LIFELINE_PROBE_TCP_H
#define LIFELINE_PROBE_TCP_H

#include "owners.h"
#include "processes/targets.h"
#include "spaces.h"
#include "table.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tcp {
  targets *targets;
  spaces spaces;
  owners owners, listed_owners; /* now, and at the last list */
  table table;
  uint64_t read_ns, read_cost_ns, list_ns, list_cost_ns;
  uint64_t bare_cost_ns; /* of a list without details */
  uint64_t listed;       /* sockets in the last list */
  uint64_t opened, closed, last_looks, unowned, overflows;
} tcp;

/* A sample_function; ctx is a tcp. Samples connections of the targets that are due. */
bool tcp_sample(void *ctx, uint64_t now_ns);

/* Fills in what to poll for ends of connections; returns how many (at most SPACES_MAX). */
unsigned tcp_poll(const tcp *all, struct pollfd *polled);

/* Reads the ends that have arrived, and emits the last values of these connections. */
void tcp_read_ends(tcp *all);

/* Emits probe.connections. */
void tcp_report(const tcp *all);

void tcp_close(tcp *all);

#endif
