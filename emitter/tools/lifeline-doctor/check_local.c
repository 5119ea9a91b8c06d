/* Checks of this machine, which need no broker. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/clock.h"
#include "doctor.h"
#include "resolution/rules.h"

#define MIB (1024.0 * 1024)

enum { MOST_TRIGGER_BYTES = 65536, FAIR_ERROR_NS = 1000, FAIR_CLOCK_US = 100000 };

static void check_synchronisation(void) {
  struct timex state = {0};
  int result = adjtimex(&state);
  if (result < 0)
    report(SKIPPED, "clock sync", "the kernel does not report it: %s", strerror(errno));
  else if (result == TIME_ERROR || (state.status & STA_UNSYNC))
    report(WARN, "clock sync",
           "the clock of this machine is not synchronised, so that its events may be out of order with those of "
           "others; run chrony or systemd-timesyncd (in a virtual machine or container, on the host)");
  else if (state.maxerror > FAIR_CLOCK_US)
    report(WARN, "clock sync", "synchronised, but it may be %.1f ms off", (double)state.maxerror / 1000);
  else
    report(OK, "clock sync", "synchronised, at most %.1f ms off", (double)state.maxerror / 1000);
}

void check_clock(void) {
  ll_calibrations calibrations = {0};
  bool cpu = ll_cpu_clock_usable();
  ll_clock_kind kind = cpu ? LL_CLOCK_CPU : LL_CLOCK_MONOTONIC;
  uint32_t best = UINT32_MAX;
  for (int i = 0; i < 5; i++, usleep(2000)) {
    ll_calibrate(&calibrations, kind);
    uint32_t error = calibrations.at[calibrations.count - 1].error_ns;
    if (error < best) best = error;
  }
  if (cpu)
    report(OK, "clock", "the CPU's counter has a constant rate");
  else
    report(WARN, "clock", "the CPU's counter has no constant rate; clock_gettime is used instead, which is slower");
  report(best <= FAIR_ERROR_NS ? OK : WARN, "clock calibration", "ticks are mapped to the time of day within %u ns%s",
         best,
         best <= FAIR_ERROR_NS ? ""
                               : ": this machine interrupts processes often, or reads its clock with a system call");
  check_synchronisation();
}

static const char *parent_of(const char *path, char *parent, size_t bytes) {
  snprintf(parent, bytes, "%s", path);
  char *slash = strrchr(parent, '/');
  if (slash && slash != parent)
    *slash = 0;
  else
    snprintf(parent, bytes, "/");
  return parent;
}

/* True if the directory is the user's own, or can be created. Writes the path whose free space counts. */
static bool check_directory(const char *subject, const char *path, char *place, size_t place_bytes) {
  struct stat status;
  char parent[PATH_MAX];
  snprintf(place, place_bytes, "%s", path);
  if (lstat(path, &status) != 0) {
    snprintf(place, place_bytes, "%s", parent_of(path, parent, sizeof parent));
    if (errno == ENOENT && access(place, W_OK | X_OK) == 0) return true;
    report(FAIL, subject, "%s does not exist and cannot be created in %s: %s", path, place, strerror(errno));
  } else if (!S_ISDIR(status.st_mode)) {
    report(FAIL, subject, "%s is not a directory", path);
  } else if (status.st_uid != geteuid()) {
    report(FAIL, subject, "%s belongs to user %u, not to you; choose another", path, (unsigned)status.st_uid);
  } else if (status.st_mode & 022) {
    report(FAIL, subject, "%s can be written by others: run chmod go-w %s", path, path);
  } else if (access(path, W_OK | X_OK) != 0) {
    report(FAIL, subject, "%s cannot be written: %s", path, strerror(errno));
  } else {
    return true;
  }
  return false;
}

void check_ring_directory(const ll_config *config) {
  static const char subject[] = "ring directory";
  char path[PATH_MAX], place[PATH_MAX];
  struct statfs room;
  double budget = config->budget_bytes ? (double)config->budget_bytes : 64 * MIB;
  if (!ll_config_ring_dir(NULL, path, sizeof path)) {
    report(FAIL, subject, "LIFELINE_RING_DIR is too long");
    return;
  }
  if (!check_directory(subject, path, place, sizeof place)) return;
  if (statfs(place, &room) != 0) {
    report(FAIL, subject, "%s: %s", place, strerror(errno));
    return;
  }
  double free_bytes = (double)room.f_bavail * (double)room.f_bsize;
  if (free_bytes < budget)
    report(FAIL, subject,
           "%s has %s free, but a program may need %s, or its events do not survive a crash: free space, lower "
           "LIFELINE_BUDGET_BYTES, or set LIFELINE_RING_DIR",
           place, bytes_text(free_bytes), bytes_text(budget));
  else if (room.f_type != TMPFS_MAGIC)
    report(WARN, subject, "%s is on a disk, and a program stalls whenever the disk does; use /dev/shm", place);
  else
    report(OK, subject, "%s is in memory, %s free", path, bytes_text(free_bytes));
}

void check_spool(void) {
  const char *path = getenv("LIFELINE_SPOOL");
  char place[PATH_MAX];
  struct statfs room;
  if (!path || !*path) {
    report(OK, "spool",
           "none: while the broker is unreachable, events that do not fit into the ring file are dropped "
           "(LIFELINE_SPOOL)");
    return;
  }
  const char *bound = getenv("LIFELINE_SPOOL_BYTES");
  double wanted = bound && *bound ? strtod(bound, NULL) : 1024 * MIB;
  if (!check_directory("spool", path, place, sizeof place)) return;
  if (statfs(place, &room) != 0) {
    report(FAIL, "spool", "%s: %s", place, strerror(errno));
    return;
  }
  double free_bytes = (double)room.f_bavail * (double)room.f_bsize;
  if (free_bytes < wanted)
    report(WARN, "spool", "%s has %s free, less than the %s that LIFELINE_SPOOL_BYTES allows", path,
           bytes_text(free_bytes), bytes_text(wanted));
  else if (room.f_type == TMPFS_MAGIC)
    report(WARN, "spool", "%s is in memory: its contents do not survive a restart of the machine", path);
  else
    report(OK, "spool", "%s, %s free", path, bytes_text(free_bytes));
}

/* Reports the first illegal line. */
static bool check_lines(const char *subject, char *text, const char *separator) {
  ll_rule rule;
  char why[256];
  unsigned number = 0;
  for (char *line; (line = strsep(&text, separator));) {
    number++;
    size_t blank = strspn(line, " \t\r");
    if (!line[blank] || line[blank] == '#' || strcmp(line, "end") == 0) continue;
    if (ll_rule_parse(&rule, line, strlen(line), why, sizeof why)) continue;
    report(FAIL, subject, "line %u: %s", number, why);
    return false;
  }
  return true;
}

static bool check_trigger_file(const char *path, const struct stat *status, char *text) {
  size_t length = strlen(text);
  if (status->st_uid != geteuid())
    report(FAIL, "trigger file", "%s belongs to user %u, not to you, and is not read", path, (unsigned)status->st_uid);
  else if (status->st_mode & 022)
    report(FAIL, "trigger file", "%s can be written by others, and is not read: run chmod go-w %s", path, path);
  else if (status->st_size > MOST_TRIGGER_BYTES)
    report(FAIL, "trigger file", "%s is larger than 64 KiB, and is not read", path);
  else if (length < 4 || strcmp(text + length - 4, "end\n") != 0 || (length > 4 && text[length - 5] != '\n'))
    report(FAIL, "trigger file", "%s does not end with the line \"end\", and is not read", path);
  else
    return check_lines("trigger file", text, "\n");
  return false;
}

void check_triggers(void) {
  const char *path = getenv("LIFELINE_TRIGGERS");
  static char text[MOST_TRIGGER_BYTES + 1];
  struct stat status;
  if (!path || !*path) {
    report(OK, "trigger file", "none (LIFELINE_TRIGGERS)");
    return;
  }
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0 && errno == ENOENT) {
    report(OK, "trigger file", "%s does not exist, which is the same as an empty one", path);
    return;
  }
  if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    report(FAIL, "trigger file", "%s: %s", path, file < 0 ? strerror(errno) : "is not a regular file");
    if (file >= 0) close(file);
    return;
  }
  ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[size > 0 ? size : 0] = 0;
  if (check_trigger_file(path, &status, text)) report(OK, "trigger file", "%s is valid", path);
}

void check_file(const char *path) {
  char parent[PATH_MAX];
  struct stat status;
  if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
    report(FAIL, "file", "%s is not a regular file", path);
  else if (access(path, R_OK | W_OK) == 0)
    report(OK, "file", "batches are appended to %s", path);
  else if (errno != ENOENT)
    report(FAIL, "file", "%s cannot be written: %s", path, strerror(errno));
  else if (access(parent_of(path, parent, sizeof parent), W_OK | X_OK) == 0)
    report(OK, "file", "%s will be created", path);
  else
    report(FAIL, "file", "%s cannot be created in %s: %s", path, parent, strerror(errno));
}
