#include "host.h"

#include "base/file.h"
#include "base/say.h"
#include "base/text.h"

#include <lifeline/events.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The kernel has 32 bits of these times, which the requests of a busy disk fill in days. */
typedef struct disk {
  char name[64];
  uint64_t device[2], reads, writes;
  uint64_t read_ms, write_ms, busy_ms; /* without the kernel's wraps since the first sample */
  bool listed;                         /* in this sample */
} disk;

static disk *all;
static size_t count;

/* What is known of the disk; NULL without memory. */
static disk *disk_of(const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(all[i].name, name) == 0) return &all[i];
  disk *larger = realloc(all, (count + 1) * sizeof *all);
  if (larger == NULL) return NULL;
  all = larger;
  disk *made = &all[count++];
  *made = (disk){.reads = UINT64_MAX};
  strcpy(made->name, name);
  return made;
}

/* A disk that comes back is another one, whose times begin anew. */
static void forget_unlisted(void) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (all[i].listed) all[kept++] = all[i];
  }
  count = kept;
  for (size_t i = 0; i < count; i++)
    all[i].listed = false;
}

static void advance(uint64_t *ms, uint64_t now) {
  *ms += (uint32_t)(now - *ms);
}

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
  disk *known = disk_of(name);
  if (known == NULL) return false;
  known->listed = true;
  if (columns[READS] < known->reads || columns[WRITES] < known->writes || device[0] != known->device[0] ||
      device[1] != known->device[1]) { /* the first sample, or another disk of this name */
    known->read_ms = columns[READ_MS];
    known->write_ms = columns[WRITE_MS];
    known->busy_ms = columns[BUSY_MS];
  }
  memcpy(known->device, device, sizeof device);
  known->reads = columns[READS];
  known->writes = columns[WRITES];
  advance(&known->read_ms, columns[READ_MS]);
  advance(&known->write_ms, columns[WRITE_MS]);
  advance(&known->busy_ms, columns[BUSY_MS]);
  ll_emit(host_disk, name, columns[READS], columns[READ_SECTORS] * 512, known->read_ms, columns[WRITES],
          columns[WRITE_SECTORS] * 512, known->write_ms, known->busy_ms,
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
  forget_unlisted();
  return good;
}
