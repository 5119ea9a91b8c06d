/* The library's own threads. They are detached, so that a program that leaves by _exit leaves no unjoined thread, and
 * counted, so that a process whose other threads have ended can be told from one that goes on. */
#ifndef LIFELINE_THREADS_H
#define LIFELINE_THREADS_H

#include <stdint.h>

/* Starts a thread with the signals of the caller. Returns 0 or EAGAIN. */
int ll_thread_start(void *(*run)(void *unused));

/* Number of those that run: never more than the kernel has. */
uint32_t ll_threads(void);

/* Keeps errno. Waits until the kernel has none of them, but for the caller, at most for a second: a change of user,
 * which libc makes in every thread, aborts the program if it may not be made in one. */
void ll_threads_wait(void);

/* In a child, which has none of its parent's. Async-signal-safe. */
void ll_threads_forget(void);

#endif
