/* What JetStream answers to a published batch. */
#ifndef LIFELINE_NATS_ACK_H
#define LIFELINE_NATS_ACK_H

#include <stddef.h>

typedef enum nats_ack_kind {
  NATS_ACK_STORED,
  NATS_ACK_NO_STREAM, /* nobody listens on the subject, or another stream does */
  NATS_ACK_TOO_LARGE, /* for the stream */
  NATS_ACK_LATER,     /* out of room, no leader ...: what it says is in why */
} nats_ack_kind;

/* Reads {"stream":...,"seq":N} or {"error":{"code":N,"err_code":N,"description":"..."}}. */
nats_ack_kind nats_ack_read(const char *json, size_t size, char *why, size_t why_bytes);

#endif
