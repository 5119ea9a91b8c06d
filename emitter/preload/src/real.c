#include "real.h"

#include <dlfcn.h>
#include <errno.h>

extern real_call __start_real_calls[] __attribute__((visibility("hidden")));
extern real_call __stop_real_calls[] __attribute__((visibility("hidden")));

static long missing(void) {
  errno = ENOSYS;
  return -1;
}

void *real_find(real_call *call) {
  int error = errno;
  void *address = dlsym(RTLD_NEXT, call->name);
  if (address == NULL) address = (void *)missing;
  __atomic_store_n(&call->address, address, __ATOMIC_RELAXED);
  errno = error;
  return address;
}

__attribute__((constructor(101))) static void find_all(void) {
  for (real_call *call = __start_real_calls; call < __stop_real_calls; call++)
    real_address(call);
}
