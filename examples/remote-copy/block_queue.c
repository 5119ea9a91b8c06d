#include "block_queue.h"

#include <pthread.h>
#include <stdlib.h>

struct block_queue {
  pthread_mutex_t lock;
  pthread_cond_t has_empty, has_full;
  struct block *empty;        /* a stack: the block used last is warm in the cache */
  struct block *first, *last; /* the blocks to consume, in order */
  bool stopped;
  unsigned char *memory;
  struct block blocks[];
};

struct block_queue *block_queue_new(unsigned depth, size_t block_bytes) {
  struct block_queue *queue = calloc(1, sizeof *queue + depth * sizeof(struct block));
  if (queue == NULL) return NULL;
  queue->memory = aligned_alloc(WIRE_ALIGNMENT, depth * block_bytes);
  if (queue->memory == NULL) {
    free(queue);
    return NULL;
  }
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->has_empty, NULL);
  pthread_cond_init(&queue->has_full, NULL);
  for (unsigned i = 0; i < depth; i++) {
    queue->blocks[i].data = queue->memory + i * block_bytes;
    queue->blocks[i].next = queue->empty;
    queue->empty = &queue->blocks[i];
  }
  return queue;
}

void block_queue_free(struct block_queue *queue) {
  if (queue == NULL) return;
  pthread_cond_destroy(&queue->has_full);
  pthread_cond_destroy(&queue->has_empty);
  pthread_mutex_destroy(&queue->lock);
  free(queue->memory);
  free(queue);
}

struct block *block_queue_take_empty(struct block_queue *queue) {
  pthread_mutex_lock(&queue->lock);
  while (queue->empty == NULL && !queue->stopped)
    pthread_cond_wait(&queue->has_empty, &queue->lock);
  struct block *block = queue->stopped ? NULL : queue->empty;
  if (block != NULL) queue->empty = block->next;
  pthread_mutex_unlock(&queue->lock);
  return block;
}

void block_queue_put(struct block_queue *queue, struct block *block) {
  block->next = NULL;
  pthread_mutex_lock(&queue->lock);
  if (queue->first == NULL)
    queue->first = block;
  else
    queue->last->next = block;
  queue->last = block;
  pthread_cond_signal(&queue->has_full);
  pthread_mutex_unlock(&queue->lock);
}

struct block *block_queue_take(struct block_queue *queue) {
  pthread_mutex_lock(&queue->lock);
  while (queue->first == NULL && !queue->stopped)
    pthread_cond_wait(&queue->has_full, &queue->lock);
  struct block *block = queue->stopped ? NULL : queue->first;
  if (block != NULL) queue->first = block->next;
  pthread_mutex_unlock(&queue->lock);
  return block;
}

void block_queue_give_back(struct block_queue *queue, struct block *block) {
  pthread_mutex_lock(&queue->lock);
  block->next = queue->empty;
  queue->empty = block;
  pthread_cond_signal(&queue->has_empty);
  pthread_mutex_unlock(&queue->lock);
}

void block_queue_stop(struct block_queue *queue) {
  pthread_mutex_lock(&queue->lock);
  queue->stopped = true;
  pthread_cond_broadcast(&queue->has_empty);
  pthread_cond_broadcast(&queue->has_full);
  pthread_mutex_unlock(&queue->lock);
}
