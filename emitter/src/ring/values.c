#include "values.h"

#include "base/bytes.h"

#include <errno.h>

int ll_values_check(const uint8_t *codes, unsigned count, const ll_value *values) {
  for (unsigned i = 0; i < count; i++) {
    const ll_value *value = &values[i];
    switch (codes[i]) {
    case LL_I32:
      if (value->i64 < INT32_MIN || value->i64 > INT32_MAX) return ERANGE;
      break;
    case LL_U32:
      if (value->u64 > UINT32_MAX) return ERANGE;
      break;
    case LL_BOOL:
      if (value->u64 > 1) return EINVAL;
      break;
    case LL_STRING:
    case LL_BYTES:
      if (value->bytes.data == NULL && value->bytes.size > 0) return EINVAL;
      break;
    default: break;
    }
  }
  return 0;
}

size_t ll_values_bytes(const uint8_t *codes, unsigned count, const ll_value *values) {
  size_t bytes = sizeof(uint64_t);
  for (unsigned i = 0; i < count; i++) {
    switch (codes[i]) {
    case LL_I32:
    case LL_F32:
    case LL_U32: bytes += 4; break;
    case LL_BOOL: bytes += 1; break;
    case LL_STRING:
    case LL_BYTES: bytes += sizeof(uint16_t) + ll_cut(values[i].bytes.size); break;
    default: bytes += 8;
    }
  }
  return LL_PADDED_(bytes);
}

void ll_values_write(const uint8_t *codes, unsigned count, const ll_value *values, uint8_t *at, size_t bytes) {
  memset(at - sizeof(uint64_t) + bytes - 8, 0, bytes > 8 ? 8 : 0);
  for (unsigned i = 0; i < count; i++) {
    const ll_value *value = &values[i];
    switch (codes[i]) {
    case LL_I32: at = ll_append(at, &(int32_t){(int32_t)value->i64}, 4); break;
    case LL_U32: at = ll_append(at, &(uint32_t){(uint32_t)value->u64}, 4); break;
    case LL_F32: at = ll_append(at, &(float){(float)value->f64}, 4); break;
    case LL_BOOL: *at++ = (uint8_t)value->u64; break;
    case LL_STRING:
    case LL_BYTES:
      at = ll_append(at, &(uint16_t){(uint16_t)value->bytes.size}, 2);
      at = ll_append(at, value->bytes.data, value->bytes.size);
      break;
    default: at = ll_append(at, value, 8);
    }
  }
}
