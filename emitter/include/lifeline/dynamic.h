/* Event types that are not known when a program is compiled: for bindings of other languages, and for tools.
 *
 *   static const ll_dynamic_field fields[] = {{LL_U64, "id", ""}, {LL_F64, "load", "%"}};
 *   ll_dynamic *type;
 *   if (ll_declare("host.load", LL_INFO, fields, 2, &type) == 0) {
 *     ll_value values[2] = {{.u64 = 7}, {.f64 = 0.5}};
 *     ll_emit_values(type, values, 2);
 *   }
 *
 * What is promised of ll_emit holds here, too: nothing blocks, what is dropped is counted, and resolutions apply. Where
 * a static declaration is checked by the compiler, this one is checked at run time, and costs some tens of nanoseconds
 * more. A dynamic type and a static one of equal name, level and fields are one type.
 *
 * ll_declare may be called from any thread, not from a signal handler. ll_emit_values and ll_is_on may be called
 * wherever ll_emit may. The first two return 0, or an errno value before anything was done.
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

/* One value, in the member that its field's type asks for. */
typedef union ll_value {
  int64_t i64;    /* LL_I32, LL_I64 */
  uint64_t u64;   /* LL_U32, LL_U64; LL_BOOL: 0 or 1 */
  double f64;     /* LL_F32 (rounded to the nearest), LL_F64 */
  ll_bytes bytes; /* LL_STRING (UTF-8, no closing 0), LL_BYTES; borrowed for the time of the call */
} ll_value;

typedef struct ll_dynamic ll_dynamic;

#define LL_DYNAMIC_FIELDS_MAX 255

#ifndef LIFELINE_DISABLE

/* Declares a type, and starts the emitter when nobody did. Everything is copied. The type is the library's and lives as
 * long as the process; declaring it again gives the same one. EINVAL for what no type may be: an empty or overlong
 * name, one that is not UTF-8, two fields of one name, an unknown level or field type, more than 255 fields; ENOSPC
 * when there are too many types, or what describes it has more than 8,192 bytes; ENOMEM. *type is NULL then. */
LL_API int ll_declare(const char *name, ll_level level, const ll_dynamic_field *fields, unsigned field_count,
                      ll_dynamic **type);

/* Emits one event with a value for each field, in their order. EINVAL for a NULL type, another number of values than
 * the type has fields, a bool that is neither 0 nor 1, or a NULL with a size; ERANGE for a value that an i32 or u32
 * cannot hold. 0 says that the event was taken or counted, as with ll_emit. */
LL_API int ll_emit_values(ll_dynamic *type, const ll_value *values, unsigned value_count);

/* 1, or 0 while the type is off, so that its values need not be gathered. */
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
