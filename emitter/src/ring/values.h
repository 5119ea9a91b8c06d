/* Values that are known at run time, laid out as fields of a record. */
#ifndef LIFELINE_VALUES_H
#define LIFELINE_VALUES_H

#include <lifeline/dynamic.h>

/* 0, or EINVAL or ERANGE: see ll_emit_values. */
int ll_values_check(const uint8_t *codes, unsigned count, const ll_value *values);

/* The record's length with its first word, padded; more than LL_RECORD_MAX where it is too long for any record. */
size_t ll_values_bytes(const uint8_t *codes, unsigned count, const ll_value *values);

/* Writes the record's fields at `at`, which is behind its first word, and its padding. `bytes` is from above. */
void ll_values_write(const uint8_t *codes, unsigned count, const ll_value *values, uint8_t *at, size_t bytes);

#endif
