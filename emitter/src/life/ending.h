/* Ends a process whose own threads have all ended. Its main thread may end before it (pthread_exit, pthread_cancel, a
 * child of clone that returns): the process then lives as long as any other thread, and those of this library block all
 * signals. */
#ifndef LIFELINE_ENDING_H
#define LIFELINE_ENDING_H

#include <stdbool.h>
#include <stdint.h>

/* Called by one thread of the library, which has the program's descriptors. Looks, at most once in a while, whether
 * only threads of this library are left; then a new thread ends the process as its last thread would have. Where that
 * cannot be determined, it ends the library's threads as soon as the main thread has ended, and at once in a child of
 * clone(2) in which even that cannot be determined. Returns when to call again.
 */
uint64_t ll_ending_look(void);

/* Called in another child while its main thread runs: whether a thread of the library will see that it ends. */
bool ll_ending_can_be_seen(void);

/* Called by the harvester before its first work and at its end. In such a child it keeps a file open in between, if its
 * table of descriptors is its own (`is_apart`): the last thread of a process gives it its status. */
void ll_ending_hold(bool is_apart);
void ll_ending_release(void);

/* Called where the harvester was started. In such a child it waits, at most for a second, until the file is open: what
 * the program does next may close the way to it. */
void ll_ending_wait_held(void);

/* Called at load and in a child of fork(3), which have an ordinary main thread. Async-signal-safe in the child. */
void ll_ending_begin(void);

/* Whether it was called in this process: not in a child of clone(2) or _Fork(3). */
bool ll_ending_has_begun(void);

#endif
