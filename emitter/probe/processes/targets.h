/* The processes that are sampled, and how often.
 *
 * A process is a target because it was chosen (--pid and its descendants, --program, --cgroup), because it descends
 * from the root of an open session, or because it did so and still lives: such a process is sampled slowly until it
 * ends. An anomaly of one of its connections raises a target's rate for a while.
 */
#ifndef LIFELINE_PROBE_TARGETS_H
#define LIFELINE_PROBE_TARGETS_H

#include "scan.h"

#include <lifeline/lifeline.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SESSION_BYTES 16
#define TARGETS_MAX 16384
#define CHOICES_MAX 64

typedef enum target_rate { RATE_SLOW, RATE_NORMAL, RATE_FAST } target_rate;

typedef struct target {
  uint32_t pid, parent;
  uint64_t start_ticks;
  int directory; /* /proc/PID, which never becomes that of another process */
  char program[PROGRAM_BYTES];
  bool chosen, in_session;
  uint8_t session[SESSION_BYTES]; /* the innermost one; meaningful if has_session */
  uid_t session_owner;
  bool has_session; /* kept after the session's end */
  target_rate rate;
  uint64_t raised_until_ns;
  uint64_t process_due_ns, tcp_due_ns;
  uint64_t disk_written; /* the largest value so far */
  bool found;            /* by the current refresh */
  bool tcp_now;          /* its connections are due now */
} target;

/* The root of a session's processes. Of several with the same root, the first in an array counts. */
typedef struct target_root {
  uint32_t pid;
  uid_t owner; /* of the announcement */
  uint64_t start_ticks, began_ns;
  uint8_t session[SESSION_BYTES];
} target_root;

typedef struct target_choice {
  const uint32_t *pids;
  unsigned pid_count;
  const char *const *programs; /* globs */
  unsigned program_count;
  const char *const *cgroups; /* paths within the hierarchies */
  unsigned cgroup_count;
} target_choice;

typedef struct targets {
  int proc, sys;
  target_choice choice;
  uint64_t chosen_starts[CHOICES_MAX]; /* of the processes in choice.pids; 0: there was none at the start */
  uint64_t periods_ns[3];              /* by target_rate */
  uint64_t raise_ns;                   /* how long an anomaly raises the rate */
  target *all;                         /* in the order of pids */
  unsigned count, room;
  process_scan scan;
  uint64_t generation; /* changes when processes become or cease to be targets, or change their session */
  uint64_t refreshed_ns, refresh_cost_ns;
  uint64_t newest_pid;
  bool stale; /* sessions have changed, or a target has ended */
} targets;

/* Finds out which processes are targets. `roots` are those of open sessions. Reads all of /proc only if a process was
 * started since the last time, and so rarely that this takes at most 2 % of the time, but at least every 5 s. */
bool targets_refresh(targets *all, const target_root *roots, unsigned root_count, uint64_t now_ns);

/* The period of the fastest target; 0 if there is none. */
uint64_t targets_period(const targets *all, uint64_t now_ns);
uint64_t target_period(const targets *all, const target *one, uint64_t now_ns);

/* Moves a due time on. False if it is not due yet. */
bool target_is_due(const targets *all, const target *one, uint64_t *due_ns, uint64_t now_ns);

target *targets_find(const targets *all, uint32_t pid);
ll_bytes target_session(const target *one);
void targets_free(targets *all);

#endif
