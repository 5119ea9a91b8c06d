#include "ack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* nats-server, server/errors.json */
enum { STREAM_MESSAGE_TOO_LARGE = 10054, STREAM_NOT_FOUND = 10059, STREAM_NOT_MATCH = 10060 };

enum { MAX_ANSWER_BYTES = 1024 };

/* The server writes these answers as compact JSON, so that a key is found by a text search. */
static const char *value_of(const char *json, const char *key) {
  const char *found = strstr(json, key);
  return found ? found + strlen(key) : NULL;
}

/* Only this key may be followed by a blank. */
static bool is_duplicate(const char *json) {
  const char *value = value_of(json, "\"duplicate\":");
  return value && strncmp(value + strspn(value, " "), "true", 4) == 0;
}

nats_ack_kind nats_ack_read(const char *json, size_t size, uint64_t *stored, char *why, size_t why_bytes) {
  char text[MAX_ANSWER_BYTES];
  snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text - 1), json);
  if (!strstr(text, "\"error\":")) {
    const char *sequence = value_of(text, "\"seq\":");
    *stored = sequence ? strtoull(sequence, NULL, 10) : 0;
    if (sequence) return is_duplicate(text) ? NATS_ACK_DUPLICATE : NATS_ACK_STORED;
    snprintf(why, why_bytes, "the answer is not an acknowledgement: is there another subscriber on the subject?");
    return NATS_ACK_LATER;
  }
  const char *code = value_of(text, "\"err_code\":"), *description = value_of(text, "\"description\":\"");
  snprintf(why, why_bytes, "%.*s", description ? (int)strcspn(description, "\"") : 7,
           description ? description : "unknown");
  switch (code ? atoi(code) : 0) {
  case STREAM_NOT_FOUND:
  case STREAM_NOT_MATCH: return NATS_ACK_NO_STREAM;
  case STREAM_MESSAGE_TOO_LARGE: return NATS_ACK_TOO_LARGE;
  default: return NATS_ACK_LATER;
  }
}

bool nats_no_streams(const char *json, size_t size) {
  char text[MAX_ANSWER_BYTES];
  snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text - 1), json);
  const char *total = value_of(text, "\"total\":");
  return !strstr(text, "\"error\":") && total && strtol(total, NULL, 10) == 0;
}
