#include <string.h>

#include "internal.h"

static size_t fixed_bytes(uint8_t type) {
  switch (type) {
  case LLB_I32:
  case LLB_U32:
  case LLB_F32: return 4;
  case LLB_I64:
  case LLB_U64:
  case LLB_F64: return 8;
  case LLB_BOOL: return 1;
  default: /* string and bytes: the count before the data */ return 2;
  }
}

static bool counted(uint8_t type) {
  return type == LLB_STRING || type == LLB_BYTES;
}

size_t llb_value_bytes(uint8_t type, const uint8_t *p, const uint8_t *end, bool big) {
  size_t room = (size_t)(end - p), need = fixed_bytes(type);
  if (need > room) return 0;
  if (counted(type)) need += load16(p, big);
  return need > room ? 0 : need;
}

llb_value llb_load_value(uint8_t type, const uint8_t *p, bool big) {
  llb_value value = {0};
  if (counted(type)) {
    value.bytes = (llb_bytes){p + 2, load16(p, big)};
  } else if (type == LLB_BOOL) {
    value.boolean = p[0] != 0;
  } else if (fixed_bytes(type) == 4) {
    uint32_t bits = load32(p, big);
    memcpy(&value, &bits, sizeof bits);
  } else {
    uint64_t bits = load64(p, big);
    memcpy(&value, &bits, sizeof bits);
  }
  return value;
}

size_t llb_stored_bytes(uint8_t type, llb_value value) {
  return fixed_bytes(type) + (counted(type) ? value.bytes.size : 0);
}

void llb_store_value(uint8_t *p, uint8_t type, llb_value value, bool big) {
  if (counted(type)) {
    store_bytes(p, 2, value.bytes.size, big);
    if (value.bytes.size) memcpy(p + 2, value.bytes.data, value.bytes.size);
  } else if (type == LLB_BOOL) {
    p[0] = value.boolean;
  } else if (fixed_bytes(type) == 4) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    store_bytes(p, 4, bits, big);
  } else {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    store_bytes(p, 8, bits, big);
  }
}
