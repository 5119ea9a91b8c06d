#include "host.h"

#include "base/file.h"
#include "base/say.h"
#include "base/text.h"

#include <lifeline/events.h>

#include <errno.h>
#include <string.h>

/* "  lo: bytes packets errs drop fifo frame compressed multicast | bytes packets errs drop ...". A name may contain
 * colons (old aliases do), so the last one ends it. */
static bool emit_line(char *line) {
  enum { IN_BYTES, IN_PACKETS, IN_ERRORS, IN_DROPS, OUT_BYTES = 8, OUT_PACKETS, OUT_ERRORS, OUT_DROPS, COLUMNS };
  uint64_t columns[COLUMNS];
  char name[64], *colon = strrchr(line, ':');
  if (colon == NULL) return false;
  *colon++ = '\0';
  const char *word = text_word(&line);
  if (word == NULL || text_numbers(&colon, columns, COLUMNS) < COLUMNS) return false;
  text_copy(name, sizeof name, word);
  ll_emit(host_network, name, columns[IN_BYTES], columns[IN_PACKETS], columns[IN_ERRORS], columns[IN_DROPS],
          columns[OUT_BYTES], columns[OUT_PACKETS], columns[OUT_ERRORS], columns[OUT_DROPS]);
  return true;
}

/* Of the main thread's network namespace, which --netns may have changed: the file is opened anew. In /proc of another
 * mount net/dev is that of the reader, too. */
bool host_network_sample(void *ctx, uint64_t now_ns) {
  const host *from = ctx;
  bool good = true;
  (void)now_ns;
  if (!ll_event_is_on(host_network)) return true;
  char *text = from->is_others ? file_read(from->proc, "1/net/dev") : NULL;
  if (from->is_others && text == NULL)
    SAY_ONCE("1/net/dev of --proc cannot be read: %s; host.network has the interfaces of the probe itself",
             strerror(errno));
  if (text == NULL) text = file_read(from->proc, "net/dev");
  if (text == NULL) {
    SAY_ONCE("/proc/net/dev cannot be read: %s; host.network is not emitted", strerror(errno));
    return false;
  }
  if (text_line(&text) == NULL || text_line(&text) == NULL) return false; /* the headings */
  for (char *line; (line = text_line(&text)) != NULL;)
    good = emit_line(line) && good;
  return good;
}
