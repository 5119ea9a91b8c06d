#include "host.h"

#include "base/file.h"
#include "base/say.h"
#include "base/text.h"

#include <lifeline/events.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool load_of(char **text, double *load) {
  char *word = text_word(text), *end;
  if (word == NULL) return false;
  *load = strtod(word, &end); /* the locale is C: nothing sets another */
  return *end == '\0' && isfinite(*load) && *load >= 0;
}

/* "0.20 0.18 0.12 1/80 11206" */
bool host_load_sample(void *ctx, uint64_t now_ns) {
  static kernel_file file = {"loadavg", -1};
  const host *from = ctx;
  double loads[3];
  uint64_t running, threads;
  (void)now_ns;
  if (!ll_event_is_on(host_load)) return true;
  char *text = file_read_again(from->proc, &file);
  if (text == NULL) {
    SAY_ONCE("/proc/loadavg cannot be read: %s; host.load is not emitted", strerror(errno));
    return false;
  }
  for (int i = 0; i < 3; i++)
    if (!load_of(&text, &loads[i])) return false;
  char *counts = text_word(&text), *slash = counts != NULL ? strchr(counts, '/') : NULL;
  if (slash == NULL) return false;
  *slash++ = '\0';
  if (!text_number(&counts, &running) || !text_number(&slash, &threads)) return false;
  if (running > UINT32_MAX || threads > UINT32_MAX) return false;
  ll_emit(host_load, loads[0], loads[1], loads[2], (uint32_t)running, (uint32_t)threads);
  return true;
}
