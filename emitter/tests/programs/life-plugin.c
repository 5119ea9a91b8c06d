/* A shared object with its own event type, which is loaded and unloaded. */
#include <lifeline/lifeline.h>

LL_EVENT(serial, "test.serial", LL_INFO, (u64, serial, ""), (u32, pid, ""));

static uint64_t last;

__attribute__((visibility("default"))) void plugin_emit(uint64_t from, uint64_t count) {
  for (uint64_t i = from; i < from + count; i++)
    ll_emit(serial, i, 1);
  last = from + count - 1;
}

__attribute__((destructor)) static void end(void) {
  ll_emit(serial, last + 1, 1);
}
