/* The library's threads have a table of descriptors of their own (unshare(2), CLONE_FILES), which starts empty, and
 * which the threads that they start share, those of client libraries too. A program that closes or replaces descriptors
 * which it does not know, as daemons and shells do, meets none of the library's, and no call of the library by number
 * meets a file of the program's.
 *
 * What belongs to the program, its log function, standard error and exit handlers, needs the program's table: it is
 * called on one more thread, which has it. */
#ifndef LIFELINE_APART_H
#define LIFELINE_APART_H

#include <stdbool.h>
#include <stdint.h>

/* Gives the calling thread, whose signals are blocked, a table in which 0 to 2 refuse to be read or written. False
 * where the system has no thread or no table left, or forbids one, or under ThreadSanitizer: the thread keeps the
 * program's. Once per process. The other thread calls `look` at once, and again at the monotonic time that it returns.
 */
bool ll_apart_begin(uint64_t (*look)(void));

/* From now on nothing is called with the program's descriptors any more. */
void ll_apart_end(void);

/* The calling thread was started by one that is apart. */
void ll_apart_is_here(void);

/* Calls the function where the program's descriptors are, and waits for its end. Any thread. */
void ll_call_for_program(void (*call)(void *ctx), void *ctx);

/* In a child, which has its parent's table and none of its threads. Async-signal-safe. */
void ll_apart_forget(void);

#endif
