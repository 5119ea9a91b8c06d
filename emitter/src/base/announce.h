/* Announces sessions to lifeline-probe on the same host: one file per session in the session directory.
 *
 *   name=nightly copy
 *   pid=4711                     root of the process tree that belongs to the session
 *   began=1795658400000000000    CLOCK_REALTIME in nanoseconds
 *   namespace=4026531836         in which the pid counts: its inode; 0 if it is not known
 *
 * The file's name is the session's ID in 32 hexadecimal digits. The directory is $LIFELINE_SESSION_DIR; else
 * /run/lifeline/sessions for root, and for others $XDG_RUNTIME_DIR/lifeline/sessions, or
 * /dev/shm/lifeline-<uid>/sessions if that variable is not set. A killed process leaves its file: a session ends for
 * its reader when the pid is dead, and the user's next process that announces one removes the file.
 */
#ifndef LIFELINE_ANNOUNCE_H
#define LIFELINE_ANNOUNCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Creates or replaces the file, atomically, unless a process that lives has announced the session: the first one of a
 * trace owns the file. False with one line in why. */
bool ll_announce(const uint8_t id[16], const char *name, char *why, size_t why_bytes);

/* Removes the file, unless it is of another process. */
void ll_announce_end(const uint8_t id[16]);

#endif
