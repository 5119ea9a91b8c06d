#include "process.h"

#include "base/file.h"
#include "base/say.h"
#include "base/text.h"
#include "targets.h"

#include <lifeline/events.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

static uint64_t to_ms(uint64_t ticks) {
  static uint64_t hz;
  if (hz == 0) hz = (uint64_t)sysconf(_SC_CLK_TCK);
  return ticks / hz * 1000 + ticks % hz * 1000 / hz;
}

/* "ran_ns waited_ns slices", of the main thread. */
static uint64_t waited_ns(int directory) {
  uint64_t columns[2];
  char *text = file_read(directory, "schedstat");
  if (text != NULL && text_numbers(&text, columns, 2) == 2) return columns[1];
  if (access("/proc/thread-self/schedstat", F_OK) != 0) /* else the process has ended */
    SAY_ONCE("/proc/PID/schedstat cannot be read (kernel without CONFIG_SCHED_INFO): `wait` of host.process is 0");
  return 0;
}

typedef enum outcome { SAMPLED, ENDED, UNREADABLE } outcome;

static outcome sample_stat(const target *one) {
  static uint64_t page_bytes;
  process_stat now;
  uint64_t switches = 0, preemptions = 0;
  errno = 0;
  if (!process_stat_read(one->directory, "stat", &now)) return errno == ESRCH || errno == ENOENT ? ENDED : UNREADABLE;
  if (now.ended) return ENDED;
  const char *status = file_read(one->directory, "status");
  if (status != NULL) {
    text_value(status, "voluntary_ctxt_switches:", &switches);
    text_value(status, "nonvoluntary_ctxt_switches:", &preemptions);
  }
  if (page_bytes == 0) page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  ll_emit(host_process, one->pid, target_session(one), now.program, now.parent, to_ms(now.user_ticks),
          to_ms(now.system_ticks), waited_ns(one->directory), now.rss_pages * page_bytes,
          now.threads <= UINT32_MAX ? (uint32_t)now.threads : UINT32_MAX, switches, preemptions, now.minor_faults,
          now.major_faults);
  return SAMPLED;
}

static bool sample_io(target *one) {
  const char *text = file_read(one->directory, "io");
  uint64_t read, written, reads, writes, disk_read, disk_written, cancelled = 0;
  if (text == NULL) {
    process_stat now;
    bool forbidden = errno == EACCES || errno == EPERM;
    if (!process_stat_read(one->directory, "stat", &now) || now.ended) return true;
    if (forbidden)
      SAY_ONCE("/proc/PID/io of other users' processes cannot be read: host.process.io of them is not emitted; the "
               "probe lacks CAP_SYS_PTRACE, which root has outside of containers");
    return false;
  }
  if (!text_value(text, "rchar:", &read) || !text_value(text, "wchar:", &written)) return false;
  if (!text_value(text, "syscr:", &reads) || !text_value(text, "syscw:", &writes)) return false;
  if (!text_value(text, "read_bytes:", &disk_read) || !text_value(text, "write_bytes:", &disk_written)) return false;
  text_value(text, "cancelled_write_bytes:", &cancelled);
  /* What was written may be deleted later, but a counter does not fall. */
  if (disk_written > cancelled && disk_written - cancelled > one->disk_written)
    one->disk_written = disk_written - cancelled;
  ll_emit(host_process_io, one->pid, target_session(one), read, written, reads, writes, disk_read, one->disk_written);
  return true;
}

/* A process that has ended is no failure: the next look at /proc removes it. */
bool process_sample(void *ctx, uint64_t now_ns) {
  targets *all = ctx;
  bool good = true;
  for (unsigned i = 0; i < all->count; i++) {
    target *one = &all->all[i];
    if (!target_is_due(all, one, &one->process_due_ns, now_ns)) continue;
    outcome stat = ll_event_is_on(host_process) ? sample_stat(one) : SAMPLED;
    good = good && stat != UNREADABLE;
    if (stat == ENDED)
      all->stale = true;
    else if (ll_event_is_on(host_process_io))
      good = sample_io(one) && good;
  }
  return good;
}
