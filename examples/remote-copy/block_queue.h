/* A bounded queue of blocks between two threads. The blocks are allocated once; a producer that is faster than its
 * consumer waits for a free one, which is the back-pressure that the analysis of the stages relies on. */
#ifndef REMOTE_COPY_BLOCK_QUEUE_H
#define REMOTE_COPY_BLOCK_QUEUE_H

#include "wire.h"

struct block {
  struct wire_frame frame;
  unsigned char *data; /* block_bytes, aligned for O_DIRECT */
  struct block *next;
};

struct block_queue;

/* NULL when there is no memory. */
struct block_queue *block_queue_new(unsigned depth, size_t block_bytes);
void block_queue_free(struct block_queue *queue);

/* Producer: an empty block, waiting for one; NULL once the queue is stopped. */
struct block *block_queue_take_empty(struct block_queue *queue);
void block_queue_put(struct block_queue *queue, struct block *block);

/* Consumer: the next block in order, waiting for one; NULL once the queue is stopped. */
struct block *block_queue_take(struct block_queue *queue);
void block_queue_give_back(struct block_queue *queue, struct block *block);

/* Either side: the other one wakes up and gets NULL from now on. */
void block_queue_stop(struct block_queue *queue);

#endif
