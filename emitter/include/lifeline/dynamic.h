/* Event types declared at run time: for language bindings and tools.
 *
 *   static const ll_dynamic_field fields[] = {{LL_U64, "id", ""}, {LL_F64, "load", "%"}};
 *   ll_dynamic *type;
 *   if (ll_declare("host.load", LL_INFO, fields, 2, &type) == 0) {
 *     ll_value values[2] = {{.u64 = 7}, {.f64 = 0.5}};
 *     ll_emit_values(type, values, 2);
 *   }
 *
 * The guarantees of ll_emit hold here, too: nothing blocks, dropped events are counted, and resolutions apply. Values
 * are checked at run time, which costs some tens of nanoseconds more. A dynamic type and a static one of equal name,
 * level and fields are the same type.
 *
 * ll_declare may be called from any thread, but not from a signal handler; ll_emit_values and ll_is_on wherever ll_emit
 * may. The first two return 0, or an errno value, and then have had no effect.
 */
#ifndef LIFELINE_DYNAMIC_H
#define LIFELINE_DYNAMIC_H

#include <lifeline/lifeline.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are those of FORMAT.md, section 5. */
typedef enum ll_field_type {
  LL_I32 = 1,
  LL_I64,
  LL_F32,
  LL_F64,
  LL_STRING,
  LL_U32,
  LL_U64,
  LL_BOOL,
  LL_BYTES
} ll_field_type;

typedef struct ll_dynamic_field {
  ll_field_type type;
  const char *name;
  const char *unit; /* "" or NULL: none */
} ll_dynamic_field;

/* One value, in the member for its field's type. */
typedef union ll_value {
  int64_t i64;    /* LL_I32, LL_I64 */
  uint64_t u64;   /* LL_U32, LL_U64; LL_BOOL: 0 or 1 */
  double f64;     /* LL_F32 (rounded to the nearest), LL_F64 */
  ll_bytes bytes; /* LL_STRING (UTF-8, no closing 0), LL_BYTES; borrowed during the call */
} ll_value;

typedef struct ll_dynamic ll_dynamic;

#define LL_DYNAMIC_FIELDS_MAX 255

#ifndef LIFELINE_DISABLE

/* Declares a type, and starts the emitter if it is not running. Everything is copied. The library owns the type, which
 * lives as long as the process; declaring it again returns the same one. EINVAL: the name is empty, too long or not
 * UTF-8, two fields have the same name, a level or field type is unknown, or there are more than 255 fields. ENOSPC:
 * there are too many types, or its description exceeds 8,192 bytes. ENOMEM. On error *type is NULL. */
LL_API int ll_declare(const char *name, ll_level level, const ll_dynamic_field *fields, unsigned field_count,
                      ll_dynamic **type);

/* Emits one event with a value per field, in declaration order. EINVAL: the type is NULL, the number of values differs
 * from that of the fields, a bool is neither 0 nor 1, or a NULL has a size. ERANGE: a value does not fit i32 or u32.
 * 0: the event was emitted or counted, as with ll_emit. */
LL_API int ll_emit_values(ll_dynamic *type, const ll_value *values, unsigned value_count);

/* 0 while the type is off, to skip computing its values; otherwise 1. */
LL_API int ll_is_on(const ll_dynamic *type);

#else

static inline int ll_declare(const char *name, ll_level level, const ll_dynamic_field *fields, unsigned field_count,
                             ll_dynamic **type) {
  (void)name, (void)level, (void)fields, (void)field_count;
  *type = NULL;
  return 0;
}
static inline int ll_emit_values(ll_dynamic *type, const ll_value *values, unsigned value_count) {
  return (void)type, (void)values, (void)value_count, 0;
}
static inline int ll_is_on(const ll_dynamic *type) {
  return (void)type, 0;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
