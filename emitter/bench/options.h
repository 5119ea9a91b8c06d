/* Numbers from a command line. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value) {
  char *end;
  errno = 0;
  uint64_t number = strtoull(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || number < least || number > most) return false;
  *value = number;
  return true;
}

#endif
