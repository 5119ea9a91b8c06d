#include "host.h"

#include "base/file.h"
#include "base/say.h"
#include "base/text.h"

#include <lifeline/events.h>

#include <errno.h>
#include <string.h>

/* "254 0 vda reads merged sectors ms writes merged sectors ms in_flight busy_ms weighted_ms ...", in sectors of 512
 * bytes. Devices that never moved anything (unused loop and RAM disks) are left out. */
static bool emit_line(char *line) {
  enum {
    READS,
    READS_MERGED,
    READ_SECTORS,
    READ_MS,
    WRITES,
    WRITES_MERGED,
    WRITE_SECTORS,
    WRITE_MS,
    IN_FLIGHT,
    BUSY_MS,
    COLUMNS
  };
  uint64_t device[2], columns[COLUMNS];
  char name[64];
  if (text_numbers(&line, device, 2) < 2) return false;
  const char *word = text_word(&line);
  if (word == NULL || text_numbers(&line, columns, COLUMNS) < COLUMNS) return false;
  if (columns[READS] + columns[WRITES] + columns[IN_FLIGHT] == 0) return true;
  text_copy(name, sizeof name, word);
  ll_emit(host_disk, name, columns[READS], columns[READ_SECTORS] * 512, columns[READ_MS], columns[WRITES],
          columns[WRITE_SECTORS] * 512, columns[WRITE_MS], columns[BUSY_MS],
          columns[IN_FLIGHT] <= UINT32_MAX ? (uint32_t)columns[IN_FLIGHT] : UINT32_MAX);
  return true;
}

bool host_disk_sample(void *ctx, uint64_t now_ns) {
  static kernel_file file = {"diskstats", -1};
  const host *from = ctx;
  bool good = true;
  (void)now_ns;
  if (!ll_event_is_on(host_disk)) return true;
  char *text = file_read_again(from->proc, &file);
  if (text == NULL) {
    SAY_ONCE("/proc/diskstats cannot be read: %s; host.disk is not emitted", strerror(errno));
    return false;
  }
  for (char *line; (line = text_line(&text)) != NULL;)
    good = emit_line(line) && good;
  return good;
}
