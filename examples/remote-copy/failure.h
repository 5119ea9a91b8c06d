/* The first thing that went wrong in a transfer, from whichever of its threads. */
#ifndef REMOTE_COPY_FAILURE_H
#define REMOTE_COPY_FAILURE_H

#include <pthread.h>
#include <stdbool.h>

struct failure {
  pthread_mutex_t lock;
  bool set;
  char text[512];
};

#define FAILURE_INIT                                                                                                   \
  { .lock = PTHREAD_MUTEX_INITIALIZER }

/* Keeps the first text; later ones are consequences of it. */
void failure_set(struct failure *failure, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool failure_is_set(struct failure *failure);

#endif
