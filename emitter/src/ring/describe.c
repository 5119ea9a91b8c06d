#include "describe.h"

#include "base/format.h"

#include <string.h>

static ll_text text_at(const uint8_t *at) {
  ll_text text = {(const char *)at + sizeof text.bytes, 0};
  memcpy(&text.bytes, at, sizeof text.bytes);
  return text;
}

static const uint8_t *behind(ll_text text) {
  return (const uint8_t *)text.at + text.bytes;
}

ll_text ll_describe_type(const ll_shape *shape) {
  return text_at(shape->descriptor + LL_DESCRIPTOR_NAME);
}

ll_described_field ll_describe_field(const ll_shape *shape, unsigned index) {
  const uint8_t *at = behind(ll_describe_type(shape));
  ll_described_field field;
  do {
    field.code = *at;
    field.name = text_at(at + 1);
    field.unit = text_at(behind(field.name));
    at = behind(field.unit);
  } while (index-- > 0);
  return field;
}

int ll_find_field(const ll_shape *shape, const char *name) {
  size_t bytes = strlen(name);
  for (unsigned i = 0; i < shape->field_count; i++) {
    ll_text known = ll_describe_field(shape, i).name;
    if (known.bytes == bytes && memcmp(known.at, name, bytes) == 0) return (int)i;
  }
  return -1;
}
