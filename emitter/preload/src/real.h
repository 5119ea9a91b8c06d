/* The functions behind the wrappers: what the program would have called without us, which may be another preload's.
 *
 *   WRAPPED(ssize_t, read, (int fd, void *buffer, size_t bytes)) {
 *     return CALL(read)(fd, buffer, bytes);
 *   }
 *
 * Each is looked up in its first call, since a process has a few of them: without a lock, and without memory.
 */
#ifndef LIFELINE_PRELOAD_REAL_H
#define LIFELINE_PRELOAD_REAL_H

#include <stddef.h>

typedef struct real_call {
  const char *name;
  void *address;
} real_call;

/* The address; that of a function that fails with ENOSYS if there is none. */
void *real_find(real_call *call) __attribute__((cold));

static inline void *real_address(real_call *call) {
  void *address = __atomic_load_n(&call->address, __ATOMIC_RELAXED);
  return __builtin_expect(address != NULL, 1) ? address : real_find(call);
}

#define CALL(name) ((__typeof__(&name))real_address(&real_##name))

#define WRAPPED(result_type, name, parameters)                                                                         \
  static real_call real_##name __attribute__((section("real_calls"), used, aligned(8))) = {#name, NULL};               \
  extern __typeof__(name) name __attribute__((visibility("default")));                                                 \
  result_type name parameters

#endif
