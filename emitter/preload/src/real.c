#include "real.h"

#include <dlfcn.h>
#include <errno.h>

extern real_call __start_real_calls[] __attribute__((visibility("hidden")));
extern real_call __stop_real_calls[] __attribute__((visibility("hidden")));

static long missing(void) {
  errno = ENOSYS;
  return -1;
}

/* The one wrapped library that may be loaded after us, by a plugin whose names RTLD_NEXT does not search. */
static void *in_libseccomp(const char *name) {
  void *library = dlopen("libseccomp.so.2", RTLD_LAZY | RTLD_NOLOAD);
  return library != NULL ? dlsym(library, name) : NULL;
}

static void *find(real_call *call) {
  int error = errno;
  void *address = dlsym(RTLD_NEXT, call->name);
  __atomic_store_n(&call->address, address, __ATOMIC_RELAXED);
  errno = error;
  return address;
}

/* What is missing may be loaded later, so only what is there is kept. */
void *real_find(real_call *call) {
  int error = errno;
  void *address = find(call);
  if (address == NULL) address = in_libseccomp(call->name);
  __atomic_store_n(&call->address, address, __ATOMIC_RELAXED);
  errno = error;
  return address != NULL ? address : (void *)missing;
}

__attribute__((constructor(101))) static void find_all(void) {
  for (real_call *call = __start_real_calls; call < __stop_real_calls; call++)
    find(call);
}
