/* A thread that must not be cancelled for a while: it holds a lock, or runs on a stack that is not its own. */
#ifndef LIFELINE_CANCELLATION_H
#define LIFELINE_CANCELLATION_H

#include <pthread.h>

typedef struct ll_cancellation {
  int state, type;
} ll_cancellation;

static inline void ll_cancellation_off(ll_cancellation *before) {
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before->type);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->state);
}

/* A thread of asynchronous type that was cancelled meanwhile ends here. By the type, which comes last: until glibc 2.36
 * at least, one that ends by pthread_setcancelstate has NULL as its result instead of PTHREAD_CANCELED. */
static inline void ll_cancellation_restore(const ll_cancellation *before) {
  pthread_setcancelstate(before->state, NULL);
  pthread_setcanceltype(before->type, NULL);
}

#endif
