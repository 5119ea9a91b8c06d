/* What LL_EVENT, LL_EVENT_CONST, ll_emit and ll_event_is_on of lifeline.h expand to.
 *
 * Not an interface: the library and this header change together.
 */
#ifndef LIFELINE_DETAIL_DECLARE_H
#define LIFELINE_DETAIL_DECLARE_H

#include <lifeline/detail/each.h>
#include <lifeline/detail/emit.h>

#define LL_EVENT(...) LL_EVENT_(__VA_ARGS__, LL_NO_MORE)
#define LL_EVENT_(ident, name, level, ...) LL_DECLARE_(ident, name, level, (LL_NO_MORE), __VA_ARGS__)

#define LL_EVENT_CONST(...) LL_EVENT_CONST_(__VA_ARGS__, LL_NO_MORE)
#define LL_EVENT_CONST_(ident, name, level, constants, ...)                                                            \
  LL_DECLARE_(ident, name, level, (LL_STRIP_ constants, LL_NO_MORE), __VA_ARGS__)

#define ll_emit(...) LL_EMIT_(__VA_ARGS__, LL_END_OF_VALUES)

#define ll_event_is_on(ident) LL_IS_ON_(ident)

/* Closes each argument list, so that an event without fields is a call with one argument. */
typedef enum ll_end_of_values { LL_END_OF_VALUES } ll_end_of_values;

#ifdef __cplusplus
#define LL_ASSERT_ static_assert
#else
#define LL_ASSERT_ _Static_assert
#endif

enum { LL_FIELDS_MAX_ = 32, LL_CONSTANTS_MAX_ = 8, LL_TOO_MANY = 1000 };

/* Rejects a field whose name is a macro (errno, say), which would be another field, or none. The expansion of such a
 * macro is no member of a structure in C. In C++ it is taken for a function, but the text can be checked. */
#ifdef __cplusplus
#define LL_NAME_(type, field, ...) static_assert(#field[0] != '(', "a field's name is a macro");
#else
#define LL_NAME_(type, field, ...) char field;
#endif

#define LL_CHECK_(ident, constant_list, ...)                                                                           \
  LL_ASSERT_(LL_COUNT_(__VA_ARGS__) <= LL_FIELDS_MAX_, "an event type has at most 32 fields");                         \
  LL_ASSERT_(LL_COUNT_ constant_list <= LL_CONSTANTS_MAX_, "an event type has at most 8 constants");                   \
  struct ll_names_that_are_no_macros_##ident {                                                                         \
    LL_EACH(LL_NAME_, __VA_ARGS__)                                                                                     \
    LL_EACH(LL_NAME_, LL_STRIP_ constant_list)                                                                         \
    char ll_end;                                                                                                       \
  }

#ifdef LIFELINE_DISABLE

#define LL_IS_ON_(ident) 0

#define LL_EMIT_(ident, ...)                                                                                           \
  do {                                                                                                                 \
    if (0) ll_emit_##ident(__VA_ARGS__);                                                                               \
  } while (0)

#define LL_DECLARE_(ident, event_name, event_level, constant_list, ...)                                                \
  LL_CHECK_(ident, constant_list, __VA_ARGS__);                                                                        \
  __attribute__((unused)) static inline void ll_emit_##ident(LL_EACH(LL_PARAMETER_, __VA_ARGS__)                       \
                                                                 ll_end_of_values ll_end) {                            \
    LL_EACH(LL_IGNORE_, __VA_ARGS__)(void) ll_end;                                                                     \
  }                                                                                                                    \
  struct ll_semicolon

#else

#define LL_EMIT_(ident, ...) ll_emit_##ident(__VA_ARGS__)
#define LL_IS_ON_(ident) (__atomic_load_n(&ll_type_##ident.state, __ATOMIC_RELAXED) != LL_TYPE_OFF)

#define LL_EVENT_TYPE_(ident, event_name, event_level, event_kind, constant_list, ...)                                 \
  static const ll_field ll_fields_##ident[] = {LL_EACH(LL_FIELD_, __VA_ARGS__){0, NULL, NULL}};                        \
  static const ll_constant ll_constants_##ident[] = {                                                                  \
      LL_EACH(LL_CONSTANT_, LL_STRIP_ constant_list){0, NULL, NULL, 0, 0, NULL}};                                      \
  static ll_event_type ll_type_##ident = {LL_TYPE_NEW,                                                                 \
                                          event_level,                                                                 \
                                          sizeof ll_fields_##ident / sizeof ll_fields_##ident[0] - 1,                  \
                                          sizeof ll_constants_##ident / sizeof ll_constants_##ident[0] - 1,            \
                                          event_name,                                                                  \
                                          ll_fields_##ident,                                                           \
                                          ll_constants_##ident,                                                        \
                                          LL_OBJECT_,                                                                  \
                                          NULL,                                                                        \
                                          0,                                                                           \
                                          event_kind}

#define LL_DECLARE_(ident, event_name, event_level, constant_list, ...)                                                \
  LL_CHECK_(ident, constant_list, __VA_ARGS__);                                                                        \
  LL_EVENT_TYPE_(ident, event_name, event_level, LL_KIND_EVENT, constant_list, __VA_ARGS__);                           \
  __attribute__((unused, noinline)) static void ll_emit_slowly_##ident(LL_EACH(LL_PARAMETER_, __VA_ARGS__)             \
                                                                           ll_end_of_values ll_end) {                  \
    (void)ll_end;                                                                                                      \
    uint32_t ll_way = 0, ll_passed = 0;                                                                                \
    uint32_t ll_state = __atomic_load_n(&ll_type_##ident.state, __ATOMIC_RELAXED);                                     \
    if (ll_state == LL_TYPE_OFF) return; /* since the caller read it */                                                \
    if (ll_state > LL_TYPE_NUMBER_MAX) {                                                                               \
      const ll_number ll_numbers[] = {LL_EACH(LL_NUMBER_, __VA_ARGS__) ll_unsigned(0)};                                \
      if ((ll_state & LL_TYPE_SUMMED) != 0 && ll_put(ll_state & LL_TYPE_NUMBER_MAX, ll_numbers)) return;               \
      if (!ll_admit(&ll_type_##ident, ll_numbers, &ll_way)) return;                                                    \
      if (ll_way == 0) ll_passed = __atomic_load_n(&ll_type_##ident.number, __ATOMIC_RELAXED);                         \
    }                                                                                                                  \
    LL_EACH(LL_MEASURE_, __VA_ARGS__)                                                                                  \
    size_t ll_size = sizeof(uint64_t) LL_EACH(LL_SIZE_, __VA_ARGS__);                                                  \
    ll_reservation ll_taken = {NULL, 0, NULL};                                                                         \
    if (ll_passed != 0) ll_taken = ll_reserve(ll_passed, LL_PADDED_(ll_size));                                         \
    if (ll_taken.producer == NULL) ll_taken = ll_reserve_slowly(&ll_type_##ident, LL_PADDED_(ll_size), ll_way);        \
    if (ll_taken.producer == NULL) return;                                                                             \
    LL_WRITE_(LL_EACH(LL_STORE_, __VA_ARGS__))                                                                         \
  }                                                                                                                    \
  __attribute__((unused)) static inline void ll_emit_##ident(LL_EACH(LL_PARAMETER_, __VA_ARGS__)                       \
                                                                 ll_end_of_values ll_end) {                            \
    uint32_t ll_state = __atomic_load_n(&ll_type_##ident.state, __ATOMIC_RELAXED);                                     \
    if (ll_state == LL_TYPE_OFF) return;                                                                               \
    LL_EACH(LL_MEASURE_, __VA_ARGS__)                                                                                  \
    size_t ll_size = sizeof(uint64_t) LL_EACH(LL_SIZE_, __VA_ARGS__);                                                  \
    ll_reservation ll_taken = ll_reserve(ll_state, LL_PADDED_(ll_size));                                               \
    if (LL_UNLIKELY(ll_taken.producer == NULL)) {                                                                      \
      ll_emit_slowly_##ident(LL_EACH(LL_ARGUMENT_, __VA_ARGS__) ll_end);                                               \
      return;                                                                                                          \
    }                                                                                                                  \
    LL_WRITE_(LL_EACH(LL_STORE_, __VA_ARGS__))                                                                         \
  }                                                                                                                    \
  struct ll_semicolon

#define LL_PADDED_(size) (((size) + 7) & ~(size_t)7)

/* Fills in the record. Zeroes the padding first, since its word may begin with the last field. */
#define LL_WRITE_(stores)                                                                                              \
  if (ll_size != LL_PADDED_(ll_size)) memset(ll_taken.at + LL_PADDED_(ll_size) - 8, 0, 8);                             \
  uint8_t *ll_cursor = ll_taken.at + sizeof(uint64_t);                                                                 \
  stores(void) ll_cursor;                                                                                              \
  ll_publish(ll_taken);

#endif

/* Expansions of one field or constant in the declaration above. */
#define LL_PARAMETER_(type, field, unit) LL_C_##type field,
#define LL_ARGUMENT_(type, field, unit) field,
#define LL_IGNORE_(type, field, unit) (void)field;
#define LL_FIELD_(type, field, unit) {LL_CODE_##type, #field, unit},
#define LL_NUMBER_(type, field, unit) LL_NUMBER_##type(field),
#define LL_MEASURE_(type, field, unit) LL_MEASURE_##type(field)
#define LL_SIZE_(type, field, unit) +LL_SIZE_##type(field)
#define LL_STORE_(type, field, unit) LL_STORE_##type(field)
#define LL_CONSTANT_(type, constant, unit, value) {LL_CODE_##type, #constant, unit, LL_CONSTANT_##type(value)},

#define LL_C_i32 int32_t
#define LL_C_i64 int64_t
#define LL_C_f32 float
#define LL_C_f64 double
#define LL_C_string const char *
#define LL_C_u32 uint32_t
#define LL_C_u64 uint64_t
#define LL_C_bool bool
#define LL_C_bytes ll_bytes

#define LL_CODE_i32 1
#define LL_CODE_i64 2
#define LL_CODE_f32 3
#define LL_CODE_f64 4
#define LL_CODE_string 5
#define LL_CODE_u32 6
#define LL_CODE_u64 7
#define LL_CODE_bool 8
#define LL_CODE_bytes 9

#define LL_NUMBER_i32(field) ll_signed(field)
#define LL_NUMBER_i64(field) ll_signed(field)
#define LL_NUMBER_f32(field) ll_real((double)field)
#define LL_NUMBER_f64(field) ll_real(field)
#define LL_NUMBER_string(field) ll_unsigned(0)
#define LL_NUMBER_u32(field) ll_unsigned(field)
#define LL_NUMBER_u64(field) ll_unsigned(field)
#define LL_NUMBER_bool(field) ll_unsigned(field)
#define LL_NUMBER_bytes(field) ll_unsigned(0)

#define LL_MEASURE_i32(field)
#define LL_MEASURE_i64(field)
#define LL_MEASURE_f32(field)
#define LL_MEASURE_f64(field)
#define LL_MEASURE_string(field) size_t ll_count_##field = ll_cut(field ? strlen(field) : 0);
#define LL_MEASURE_u32(field)
#define LL_MEASURE_u64(field)
#define LL_MEASURE_bool(field)
#define LL_MEASURE_bytes(field) size_t ll_count_##field = ll_cut(field.size);

#define LL_SIZE_i32(field) sizeof(int32_t)
#define LL_SIZE_i64(field) sizeof(int64_t)
#define LL_SIZE_f32(field) sizeof(float)
#define LL_SIZE_f64(field) sizeof(double)
#define LL_SIZE_string(field) sizeof(uint16_t) + ll_count_##field
#define LL_SIZE_u32(field) sizeof(uint32_t)
#define LL_SIZE_u64(field) sizeof(uint64_t)
#define LL_SIZE_bool(field) sizeof(uint8_t)
#define LL_SIZE_bytes(field) sizeof(uint16_t) + ll_count_##field

#define LL_STORE_FIXED_(field)                                                                                         \
  memcpy(ll_cursor, &field, sizeof field);                                                                             \
  ll_cursor += sizeof field;
#define LL_STORE_COUNTED_(field, source)                                                                               \
  {                                                                                                                    \
    uint16_t ll_count = (uint16_t)ll_count_##field;                                                                    \
    memcpy(ll_cursor, &ll_count, sizeof ll_count);                                                                     \
    ll_cursor += sizeof ll_count;                                                                                      \
    if (ll_count > 0) memcpy(ll_cursor, source, ll_count);                                                             \
    ll_cursor += ll_count;                                                                                             \
  }

#define LL_STORE_i32(field) LL_STORE_FIXED_(field)
#define LL_STORE_i64(field) LL_STORE_FIXED_(field)
#define LL_STORE_f32(field) LL_STORE_FIXED_(field)
#define LL_STORE_f64(field) LL_STORE_FIXED_(field)
#define LL_STORE_string(field) LL_STORE_COUNTED_(field, field)
#define LL_STORE_u32(field) LL_STORE_FIXED_(field)
#define LL_STORE_u64(field) LL_STORE_FIXED_(field)
#define LL_STORE_bool(field) *ll_cursor++ = field ? 1 : 0;
#define LL_STORE_bytes(field) LL_STORE_COUNTED_(field, field.data)

#define LL_CONSTANT_i32(value) (int64_t)(value), 0, NULL
#define LL_CONSTANT_i64(value) (int64_t)(value), 0, NULL
#define LL_CONSTANT_f32(value) 0, (double)(float)(value), NULL
#define LL_CONSTANT_f64(value) 0, (double)(value), NULL
#define LL_CONSTANT_string(value) 0, 0, value
#define LL_CONSTANT_u32(value) (int64_t)(value), 0, NULL
#define LL_CONSTANT_u64(value) (int64_t)(value), 0, NULL
#define LL_CONSTANT_bool(value) (value) ? 1 : 0, 0, NULL
#define LL_CONSTANT_bytes(value) (int64_t)sizeof(value) - 1, 0, value /* a string literal */

/* In C, <stdbool.h> expands bool to _Bool before these names are pasted. */
#define LL_C__Bool LL_C_bool
#define LL_CODE__Bool LL_CODE_bool
#define LL_NUMBER__Bool LL_NUMBER_bool
#define LL_MEASURE__Bool(field)
#define LL_SIZE__Bool LL_SIZE_bool
#define LL_STORE__Bool LL_STORE_bool
#define LL_CONSTANT__Bool LL_CONSTANT_bool

#endif
