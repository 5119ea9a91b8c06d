#include "host.h"

#include "base/file.h"
#include "base/say.h"
#include "base/text.h"

#include <lifeline/events.h>

#include <errno.h>
#include <string.h>

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=86803389": the total, in microseconds. */
static bool total_of(const char *text, const char *kind, uint64_t *total) {
  size_t bytes = strlen(kind);
  for (const char *line = text; line != NULL && *line; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, kind, bytes) != 0) continue;
    const char *at = strstr(line, "total="), *end = strchr(line, '\n');
    if (at == NULL || (end != NULL && at > end)) return false;
    char *number = (char *)(uintptr_t)(at + strlen("total="));
    return text_number(&number, total);
  }
  return false;
}

bool host_pressure_sample(void *ctx, uint64_t now_ns) {
  static kernel_file files[] = {{"pressure/cpu", -1}, {"pressure/memory", -1}, {"pressure/io", -1}};
  const host *from = ctx;
  bool good = true;
  (void)now_ns;
  if (!ll_event_is_on(host_pressure)) return true;
  for (unsigned i = 0; i < 3; i++) {
    uint64_t some, full = 0;
    const char *text = file_read_again(from->proc, &files[i]);
    if (text == NULL) {
      SAY_ONCE("/proc/%s cannot be read: %s; host.pressure is not emitted (kernels before 4.20, and those booted "
               "without psi=1, have no pressure stall information)",
               files[i].path, strerror(errno));
      return false;
    }
    bool known = total_of(text, "some ", &some);
    if (known) total_of(text, "full ", &full); /* of the processor: only from Linux 5.13 on */
    if (known) ll_emit(host_pressure, files[i].path + strlen("pressure/"), some, full);
    good = good && known;
  }
  return good;
}
