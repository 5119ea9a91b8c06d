/* Reads back what a broker holds: the subjects or the topic lifeline.batches, from their beginning to their end. */
#ifndef LIFELINE_TEST_TOPIC_H
#define LIFELINE_TEST_TOPIC_H

#include <stddef.h>

typedef void (*topic_message)(void *ctx, const void *message, size_t bytes);

/* Of a broker without TLS and users. scheme is nats or kafka. */
void topic_read(const char *url, const char *scheme, topic_message take, void *ctx);

#endif
