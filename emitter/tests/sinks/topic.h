/* Reads back a broker's messages: all of the subjects or the topic lifeline.batches. */
#ifndef LIFELINE_TEST_TOPIC_H
#define LIFELINE_TEST_TOPIC_H

#include <stddef.h>

typedef void (*topic_message)(void *ctx, const void *message, size_t bytes);

/* For a broker without TLS and users. scheme is nats or kafka. */
void topic_read(const char *url, const char *scheme, topic_message take, void *ctx);

#endif
