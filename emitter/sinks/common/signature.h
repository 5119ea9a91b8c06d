/* Signatures of batches: FORMAT.md, section 12. The key is 32 bytes that emitters and jobs share. */
#ifndef LIFELINE_SINK_SIGNATURE_H
#define LIFELINE_SINK_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIGNATURE_KEY_BYTES = 32, SIGNATURE_TEXT_BYTES = 65 };

typedef struct sink_signature {
  bool on;
  uint8_t key[SIGNATURE_KEY_BYTES];
} sink_signature;

/* Reads a file with 64 hex digits; others must have no access to it. Returns NULL, or an error text without secrets. */
const char *sink_signature_load(sink_signature *signature, const char *path);

/* HMAC-SHA-256 (RFC 2104) of the batch as 64 lower-case hex digits and a terminator. */
void sink_signature_of(const sink_signature *signature, const uint8_t *batch, size_t bytes,
                       char text[SIGNATURE_TEXT_BYTES]);

#endif
