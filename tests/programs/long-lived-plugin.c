/* What long-lived loads and unloads: a shared object with an event type of its own. */
#include <lifeline/lifeline.h>

LL_EVENT(test_plugin, "test.plugin", LL_INFO, (u32, run, ""), (u32, worker, ""), (u64, serial, ""));

void plugin_emit(uint64_t serial);

void plugin_emit(uint64_t serial) {
  ll_emit(test_plugin, 0, 1, serial);
}
