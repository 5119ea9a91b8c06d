/* Sessions announce themselves on a host by a file each, which this room watches.
 *
 * The file lies in $LIFELINE_SESSION_DIR, by default /run/lifeline/sessions for root, else
 * $XDG_RUNTIME_DIR/lifeline/sessions, else /dev/shm/lifeline-<uid>/sessions. Its name is the session's id in 32
 * hexadecimal digits; its lines are "name=...", "pid=N" (the root of the session's processes) and "began=NS" (of
 * CLOCK_REALTIME). It is removed at the session's end. The contents are hostile until checked: directory and file must
 * have the same owner and not be writable by others, links are not followed, and the process must belong to that owner,
 * unless that is root. Root's probe reads a directory named after a user only if it belongs to that user, and is not a
 * file system that the user has mounted. A session whose process has ended is over.
 */
#ifndef LIFELINE_PROBE_SESSIONS_H
#define LIFELINE_PROBE_SESSIONS_H

#include "processes/targets.h"

#include <stdbool.h>
#include <stdint.h>

#define SESSIONS_MAX 256
#define SESSIONS_OF_OTHERS_MAX 64 /* of each user but the probe's */
#define SESSION_FILE_MAX 4096

typedef struct session_file {
  char name[256];
  uint32_t pid;
  uint64_t began_ns;
} session_file;

/* Cuts the text up. False if there is no valid pid. Unknown lines are skipped. */
bool session_file_parse(char *text, session_file *file);

/* 32 hexadecimal digits, not all of them 0. */
bool session_id_parse(const char *text, uint8_t id[SESSION_BYTES]);

typedef struct sessions {
  int proc, notify;
  const char *const *directories; /* those that were given, or none */
  unsigned directory_count;
  target_root open[SESSIONS_MAX], over[SESSIONS_MAX]; /* over: the process has ended, the file is still there */
  unsigned count, over_count;
  uint64_t opened, closed;
  uint64_t next_ns; /* not before, of CLOCK_MONOTONIC: users may make and remove files as fast as they like */
} sessions;

void sessions_open(sessions *all, int proc, const char *const *directories, unsigned count);

/* Reads all announcements anew: after `next_ns`, when `notify` is readable or a second has passed. True if the open
 * sessions have changed. The newest comes first. */
bool sessions_read(sessions *all);

void sessions_close(sessions *all);

#endif
