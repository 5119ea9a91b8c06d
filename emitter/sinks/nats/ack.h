/* JetStream's answers to a published batch, and to the question which stream takes a subject. */
#ifndef LIFELINE_NATS_ACK_H
#define LIFELINE_NATS_ACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum nats_ack_kind {
  NATS_ACK_STORED,
  NATS_ACK_DUPLICATE, /* the stream already has a message with this id */
  NATS_ACK_NO_STREAM, /* another stream takes the subject */
  NATS_ACK_TOO_LARGE, /* the message exceeds the stream's limit */
  NATS_ACK_LATER,     /* storage full, no leader ...: why holds the server's text */
} nats_ack_kind;

/* Reads {"stream":...,"seq":N}, storing N in stored, or {"error":{"code":N,"err_code":N,"description":"..."}}. */
nats_ack_kind nats_ack_read(const char *json, size_t size, uint64_t *stored, char *why, size_t why_bytes);

/* True if this answer of $JS.API.STREAM.NAMES says that no stream takes the subject. */
bool nats_no_streams(const char *json, size_t size);

#endif
