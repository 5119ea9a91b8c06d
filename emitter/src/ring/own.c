#include "own.h"

#include "base/atomics.h"
#include "producer.h"
#include "values.h"

bool ll_emit_own(ll_event_type *type, const ll_value *values) {
  uint8_t codes[LL_FIELDS_MAX_];
  for (unsigned i = 0; i < type->field_count; i++)
    codes[i] = type->fields[i].code;
  size_t bytes = ll_values_bytes(codes, type->field_count, values);
  ll_reservation taken = ll_reserve_for_harvester(type, bytes);
  if (taken.producer == NULL) return load_relaxed(&type->state) == LL_TYPE_OFF;
  ll_values_write(codes, type->field_count, values, taken.at + sizeof(uint64_t), bytes);
  ll_publish(taken);
  return true;
}
