#include "scan.h"

#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "1 (name) S 0 ...": the name may contain anything, blanks and parentheses too; the last one closes it. */
bool process_stat_parse(char *text, process_stat *stat) {
  enum { PARENT, MINOR = 6, MAJOR = 8, USER = 10, SYSTEM, THREADS = 16, START = 18, RSS = 20, COLUMNS };
  uint64_t columns[COLUMNS] = {0}, pid;
  char *open = strchr(text, '('), *close = strrchr(text, ')');
  if (open == NULL || close == NULL || close < open) return false;
  if (!text_number(&text, &pid) || pid > INT32_MAX) return false;
  *close++ = '\0';
  text_copy(stat->program, sizeof stat->program, open + 1);
  const char *state = text_word(&close);
  if (state == NULL) return false;
  for (unsigned i = 0; i < COLUMNS; i++) {
    char *word = text_word(&close);
    if (word == NULL) return false;
    if (*word != '-' && !text_number(&word, &columns[i])) return false; /* negative: a terminal, a priority */
  }
  if (columns[PARENT] > INT32_MAX) return false;
  /* The main thread of a living process may be a zombie, too. */
  stat->ended = (*state == 'Z' || *state == 'X') && columns[THREADS] <= 1;
  stat->pid = (uint32_t)pid;
  stat->parent = (uint32_t)columns[PARENT];
  stat->minor_faults = columns[MINOR];
  stat->major_faults = columns[MAJOR];
  stat->user_ticks = columns[USER];
  stat->system_ticks = columns[SYSTEM];
  stat->threads = columns[THREADS];
  stat->start_ticks = columns[START];
  stat->rss_pages = columns[RSS];
  return true;
}

bool process_stat_read(int directory, const char *path, process_stat *stat) {
  char *text = file_read(directory, path);
  return text != NULL && process_stat_parse(text, stat);
}

static bool has_room(process_scan *scan) {
  if (scan->count < scan->room) return true;
  size_t room = scan->room ? scan->room * 2 : 512;
  process_stat *all = realloc(scan->all, room * sizeof *all);
  if (all == NULL) return false;
  scan->all = all;
  scan->room = room;
  return true;
}

static int by_pid(const void *one, const void *other) {
  const process_stat *a = one, *b = other;
  return a->pid < b->pid ? -1 : a->pid > b->pid;
}

bool process_scan_read(process_scan *scan, int proc) {
  int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
  if (directory == NULL) {
    int error = errno;
    if (fd >= 0) close(fd);
    errno = error;
    return false;
  }
  scan->count = 0;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    char path[32];
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || strlen(entry->d_name) > 10) continue;
    snprintf(path, sizeof path, "%.10s/stat", entry->d_name);
    if (!has_room(scan)) break;
    process_stat *next = &scan->all[scan->count];
    if (process_stat_read(proc, path, next) && !next->ended) scan->count++;
  }
  closedir(directory);
  if (scan->count > 0) qsort(scan->all, scan->count, sizeof *scan->all, by_pid); /* usually it is sorted already */
  return true;
}

const process_stat *process_scan_find(const process_scan *scan, uint32_t pid) {
  process_stat key = {.pid = pid};
  return scan->count > 0 ? bsearch(&key, scan->all, scan->count, sizeof key, by_pid) : NULL;
}

void process_scan_free(process_scan *scan) {
  free(scan->all);
  *scan = (process_scan){NULL, 0, 0};
}
