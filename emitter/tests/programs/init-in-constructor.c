/* A library that starts the emitter, and emits, while it is being loaded: dlopen holds the loader's lock, which the
 * sink needs to load its own libraries. */
#include <lifeline/lifeline.h>

LL_EVENT(loaded, "test.loaded", LL_INFO, (u64, value, ""));

__attribute__((constructor)) static void when_loaded(void) {
  ll_init(NULL);
  ll_emit(loaded, 1);
}
