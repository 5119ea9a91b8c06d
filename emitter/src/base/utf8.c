#include "utf8.h"

#include <string.h>

/* The length of the well-formed sequence at `at`, or 0 when it is malformed. The text is NUL-terminated. Unicode 15,
 * table 3-7. */
static size_t sequence_bytes(const uint8_t *at) {
  if (at[0] < 0x80) return 1;
  if (at[0] < 0xc2 || at[0] > 0xf4) return 0;
  size_t bytes = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
  uint8_t least = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
  uint8_t most = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;
  if (at[1] < least || at[1] > most) return 0;
  for (size_t i = 2; i < bytes; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  return bytes;
}

size_t ll_utf8_prefix(const char *text) {
  const uint8_t *at = (const uint8_t *)text;
  while (*at != 0) {
    size_t bytes = sequence_bytes(at);
    if (bytes == 0) break;
    at += bytes;
  }
  return (size_t)(at - (const uint8_t *)text);
}

bool ll_is_utf8(const char *text) {
  return text[ll_utf8_prefix(text)] == '\0';
}

bool ll_is_utf8_bytes(const uint8_t *text, size_t bytes) {
  while (bytes > 0) {
    uint8_t copy[5] = {0}; /* a NUL ends a sequence that the text cuts off */
    memcpy(copy, text, bytes < 4 ? bytes : 4);
    size_t length = sequence_bytes(copy);
    if (length == 0) return false;
    text += length;
    bytes -= length;
  }
  return true;
}

void ll_make_utf8(char *text) {
  uint8_t *at = (uint8_t *)text;
  while (*at != 0) {
    size_t bytes = sequence_bytes(at);
    if (bytes == 0) *at = '?';
    at += bytes == 0 ? 1 : bytes;
  }
}
