#include "input.h"

#include <stdint.h>
#include <stdlib.h>

char *input_all(FILE *in, size_t *size) {
  size_t capacity = 1 << 16, used = 0;
  char *bytes = malloc(capacity);
  while (bytes && !feof(in) && !ferror(in)) {
    if (used == capacity) {
      char *more = realloc(bytes, capacity *= 2);
      if (!more) free(bytes);
      bytes = more;
      continue;
    }
    used += fread(bytes + used, 1, capacity - used, in);
  }
  if (bytes && ferror(in)) {
    free(bytes);
    bytes = NULL;
  }
  *size = used;
  return bytes;
}

bool input_framed(FILE *in, char **buffer, size_t *size, bool *broken) {
  uint8_t head[4];
  size_t got = fread(head, 1, sizeof head, in);
  *broken = got != 0;
  if (got != sizeof head) return false;
  *size = (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
  char *bytes = realloc(*buffer, *size + 1);
  if (!bytes) return false;
  *buffer = bytes;
  *broken = fread(bytes, 1, *size, in) != *size;
  return !*broken;
}

void output_framed(FILE *out, const void *bytes, size_t size) {
  uint8_t head[4] = {(uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), (uint8_t)(size >> 24)};
  fwrite(head, 1, sizeof head, out);
  if (size) fwrite(bytes, 1, size, out);
}
