/* Number of this sink's threads: the host ends a process that has no other threads left, see ll_sink_plugin. */
#ifndef SINK_THREADS_H
#define SINK_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts a thread with all signals blocked: the program's are for its own threads. False if the system has none left.
 */
bool sink_thread_start(pthread_t *thread, const char *name, void *(*run)(void *ctx), void *ctx);

/* First and last call of each thread that the sink starts. */
void sink_thread_begins(void);
void sink_thread_ends(void);

uint32_t sink_threads(void);

/* Before a sink is opened. A forked child has none of its parent's threads, and may run no handler of a fork. True for
 * the first sink of a process. */
int sink_threads_renew(void);

#endif
