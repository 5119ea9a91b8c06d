/* Reads descriptors, for code that reports the names of a type. */
#ifndef LIFELINE_DESCRIBE_H
#define LIFELINE_DESCRIBE_H

#include "types.h"

/* Not NUL-terminated. */
typedef struct ll_text {
  const char *at;
  uint16_t bytes;
} ll_text;

typedef struct ll_described_field {
  uint8_t code;
  ll_text name;
  ll_text unit;
} ll_described_field;

ll_text ll_describe_type(const ll_shape *shape);
ll_described_field ll_describe_field(const ll_shape *shape, unsigned index);

/* The field of that name, or -1. */
int ll_find_field(const ll_shape *shape, const char *name);

#endif
