#include "host.h"

#include "base/file.h"
#include "base/say.h"
#include "base/text.h"

#include <lifeline/events.h>

#include <errno.h>
#include <string.h>

static uint64_t bytes_of(const char *text, const char *key) {
  uint64_t kib = 0;
  text_value(text, key, &kib);
  return kib <= UINT64_MAX / 1024 ? kib * 1024 : 0;
}

bool host_memory_sample(void *ctx, uint64_t now_ns) {
  static kernel_file file = {"meminfo", -1};
  const host *from = ctx;
  (void)now_ns;
  if (!ll_event_is_on(host_memory)) return true;
  const char *text = file_read_again(from->proc, &file);
  if (text == NULL) {
    SAY_ONCE("/proc/meminfo cannot be read: %s; host.memory is not emitted", strerror(errno));
    return false;
  }
  uint64_t total = bytes_of(text, "MemTotal:"), available;
  if (total == 0) return false;
  if (!text_value(text, "MemAvailable:", &available)) {
    SAY_ONCE("this kernel does not report available memory: host.memory counts free memory and page cache instead");
    available = bytes_of(text, "MemFree:") + bytes_of(text, "Cached:");
  } else {
    available = bytes_of(text, "MemAvailable:");
  }
  ll_emit(host_memory, total, available, bytes_of(text, "Cached:"), bytes_of(text, "Dirty:"),
          bytes_of(text, "SwapTotal:"), bytes_of(text, "SwapFree:"));
  return true;
}
