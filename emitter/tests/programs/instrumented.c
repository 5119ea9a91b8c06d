/* A shared object with its own events, loaded and unloaded by tests. */
#include <lifeline/lifeline.h>

LL_EVENT(loaded, "object.loaded", LL_INFO, (u64, value, ""));
LL_EVENT(unloading, "object.unloading", LL_INFO);

void emit_loaded(uint64_t value);
void emit_loaded(uint64_t value) {
  ll_emit(loaded, value);
}

/* Runs before the object's last destructor, and is the first emit of its type. */
__attribute__((destructor)) static void say_so(void) {
  ll_emit(unloading);
}
