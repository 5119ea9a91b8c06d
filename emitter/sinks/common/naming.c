#include "naming.h"

void sink_incarnation_hex(const uint8_t incarnation[16], char hex[INCARNATION_HEX_BYTES]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < 16; i++) {
    hex[2 * i] = digits[incarnation[i] >> 4];
    hex[2 * i + 1] = digits[incarnation[i] & 15];
  }
  hex[32] = 0;
}

unsigned sink_partition(const uint8_t incarnation[16]) {
  uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < 16; i++)
    hash = (hash ^ incarnation[i]) * 0x100000001b3;
  return (unsigned)(hash % SINK_PARTITIONS);
}
