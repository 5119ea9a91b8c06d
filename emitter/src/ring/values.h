/* Encodes values known at run time as fields of a record. */
#ifndef LIFELINE_VALUES_H
#define LIFELINE_VALUES_H

#include <lifeline/dynamic.h>

/* 0, or EINVAL or ERANGE: see ll_emit_values. */
int ll_values_check(const uint8_t *codes, unsigned count, const ll_value *values);

/* The record's padded length, including its first word; more than LL_RECORD_MAX when it is too long. */
size_t ll_values_bytes(const uint8_t *codes, unsigned count, const ll_value *values);

/* Writes the record's fields and its padding at `at`, behind its first word. `bytes` is the result of
 * ll_values_bytes. */
void ll_values_write(const uint8_t *codes, unsigned count, const ll_value *values, uint8_t *at, size_t bytes);

#endif
