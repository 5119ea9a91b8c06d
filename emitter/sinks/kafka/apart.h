/* Threads whose descriptors are not the program's, and calls between such a thread and another one.
 *
 * librdkafka writes to sockets and pipes by number, from its own threads and from those that call it. A program that
 * closes every descriptor it does not know, as daemons do, soon has files of its own under these numbers. So librdkafka
 * is called on threads with a table of descriptors of their own (unshare(2), CLONE_FILES), which starts empty, and
 * which the threads that librdkafka starts there share. What belongs to the program, such as its log callback and
 * standard error, is called on its other threads only. */
#ifndef LIFELINE_KAFKA_APART_H
#define LIFELINE_KAFKA_APART_H

#include <pthread.h>
#include <stdbool.h>

/* Gives the calling thread a table of descriptors of its own, in which 0 to 2 refuse to be read or written. False where
 * the system forbids it: the thread keeps the program's. */
bool apart_begin(void);

/* Calls that one thread makes and another one executes. */
typedef struct apart_calls {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  void (*call)(void *ctx); /* NULL: none is under way */
  void *ctx;
  bool ended;
} apart_calls;

void apart_calls_init(apart_calls *calls);

/* Has the call executed by the thread that serves, and waits for its end. One thread at a time. */
void apart_call(apart_calls *calls, void (*call)(void *ctx), void *ctx);

/* Executes calls until apart_end. */
void apart_serve(apart_calls *calls);

/* The last call: apart_serve returns. */
void apart_end(apart_calls *calls);

#endif
