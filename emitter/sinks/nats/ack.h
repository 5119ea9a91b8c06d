/* What JetStream answers to a published batch, and to the question which stream takes it. */
#ifndef LIFELINE_NATS_ACK_H
#define LIFELINE_NATS_ACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum nats_ack_kind {
  NATS_ACK_STORED,
  NATS_ACK_DUPLICATE, /* the stream already has a message with this id */
  NATS_ACK_NO_STREAM, /* another stream takes the subject */
  NATS_ACK_TOO_LARGE, /* for the stream */
  NATS_ACK_LATER,     /* out of room, no leader ...: what it says is in why */
} nats_ack_kind;

/* Reads {"stream":...,"seq":N}, stored being N, or {"error":{"code":N,"err_code":N,"description":"..."}}. */
nats_ack_kind nats_ack_read(const char *json, size_t size, uint64_t *stored, char *why, size_t why_bytes);

/* True if this answer of $JS.API.STREAM.NAMES says that no stream takes the subject. */
bool nats_no_streams(const char *json, size_t size);

#endif
