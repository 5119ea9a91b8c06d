#include "naming.h"

#include "base/bytes.h"

#include <stddef.h>

void sink_header_text(const char *text, char header[SINK_HEADER_BYTES]) {
  static const char digits[] = "0123456789ABCDEF";
  size_t used = 0;
  for (const uint8_t *c = (const uint8_t *)(text ? text : ""); *c && used + 3 < SINK_HEADER_BYTES; c++) {
    if (*c > 0x20 && *c < 0x7f && *c != '%') {
      header[used++] = (char)*c;
      continue;
    }
    header[used++] = '%';
    header[used++] = digits[*c >> 4];
    header[used++] = digits[*c & 15];
  }
  header[used] = 0;
}

unsigned sink_partition(const uint8_t incarnation[16]) {
  return (unsigned)(ll_fnv1a(incarnation, 16) % SINK_PARTITIONS);
}
