#include "targets.h"

#include "base/file.h"
#include "base/say.h"
#include "base/text.h"
#include "cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH_MAX = 128, BUDGET = 50 };

#define LONGEST_NS UINT64_C(5000000000)

static target *find_in(const targets *all, unsigned count, uint32_t pid) {
  unsigned from = 0, to = count;
  while (from < to) {
    unsigned middle = (from + to) / 2;
    if (all->all[middle].pid == pid) return &all->all[middle];
    if (all->all[middle].pid < pid)
      from = middle + 1;
    else
      to = middle;
  }
  return NULL;
}

target *targets_find(const targets *all, uint32_t pid) {
  return find_in(all, all->count, pid);
}

ll_bytes target_session(const target *one) {
  return one->has_session ? (ll_bytes){one->session, SESSION_BYTES} : (ll_bytes){NULL, 0};
}

uint64_t target_period(const targets *all, const target *one, uint64_t now_ns) {
  return all->periods_ns[now_ns < one->raised_until_ns ? RATE_FAST : one->rate];
}

uint64_t targets_period(const targets *all, uint64_t now_ns) {
  uint64_t shortest = 0;
  for (unsigned i = 0; i < all->count; i++) {
    uint64_t period = target_period(all, &all->all[i], now_ns);
    if (shortest == 0 || period < shortest) shortest = period;
  }
  return shortest;
}

/* A target keeps to multiples of its period, up to a quarter of which it may come early: samplers share one clock. */
bool target_is_due(const targets *all, const target *one, uint64_t *due_ns, uint64_t now_ns) {
  uint64_t period = target_period(all, one, now_ns);
  if (*due_ns > now_ns + period) *due_ns = now_ns; /* its rate was raised */
  if (now_ns + period / 4 < *due_ns) return false;
  *due_ns = now_ns >= *due_ns + period ? now_ns + period : *due_ns + period;
  return true;
}

/* --- who is a target ---------------------------------------------------------------------------------------------- */

static bool program_is_chosen(const targets *all, const process_stat *process) {
  if (all->choice.program_count == 0) return false;
  char path[32];
  for (unsigned i = 0; i < all->choice.program_count; i++)
    if (fnmatch(all->choice.programs[i], process->program, 0) == 0) return true;
  snprintf(path, sizeof path, "%u/cmdline", process->pid);
  const char *text = file_read(all->proc, path); /* its first word, which is not cut at 15 bytes like the name */
  const char *slash = text != NULL ? strrchr(text, '/') : NULL, *name = slash != NULL ? slash + 1 : text;
  for (unsigned i = 0; name != NULL && *name && i < all->choice.program_count; i++)
    if (fnmatch(all->choice.programs[i], name, 0) == 0) return true;
  return false;
}

typedef struct membership {
  bool chosen;
  const target_root *root;
} membership;

/* Walks up to the ancestors: the nearest root of a session is the innermost session. */
static membership belongs(const targets *all, const process_stat *process, const target_root *roots, unsigned count) {
  membership found = {false, NULL};
  for (unsigned depth = 0; process != NULL && depth < DEPTH_MAX; depth++) {
    for (unsigned i = 0; i < all->choice.pid_count; i++)
      if (all->choice.pids[i] == process->pid && all->chosen_starts[i] == process->start_ticks) found.chosen = true;
    for (unsigned i = 0; i < count && found.root == NULL; i++)
      if (roots[i].pid == process->pid && roots[i].start_ticks == process->start_ticks) found.root = &roots[i];
    process = process->parent > 0 ? process_scan_find(&all->scan, process->parent) : NULL;
  }
  return found;
}

static bool has_room(targets *all) {
  if (all->count < all->room) return true;
  unsigned room = all->room ? all->room * 2 : 64;
  if (room > TARGETS_MAX) {
    SAY_ONCE("more than %u processes are chosen; the others are not sampled", all->room);
    return false;
  }
  target *larger = realloc(all->all, room * sizeof *larger);
  if (larger == NULL) return false;
  all->all = larger;
  all->room = room;
  return true;
}

static bool add(targets *all, const process_stat *process) {
  char path[16];
  process_stat again;
  if (!has_room(all)) return false;
  snprintf(path, sizeof path, "%u", process->pid);
  int directory = openat(all->proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) {
    if (errno == EMFILE || errno == ENFILE) SAY_ONCE("no descriptor is left: further processes are not sampled");
    return false;
  }
  if (!process_stat_read(directory, "stat", &again) || again.start_ticks != process->start_ticks) {
    close(directory); /* it has ended, and perhaps its number is in use again */
    return false;
  }
  target *one = &all->all[all->count++];
  *one = (target){.pid = process->pid, .start_ticks = process->start_ticks, .directory = directory};
  return true;
}

static int by_pid(const void *one, const void *other) {
  const target *a = one, *b = other;
  return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* Puts what was found into the target. True if something about it has changed. */
static bool update(target *one, const process_stat *process, membership now, const target_root *roots, unsigned count) {
  target earlier = *one;
  one->found = true;
  one->parent = process->parent;
  memcpy(one->program, process->program, sizeof one->program);
  one->chosen = one->chosen || now.chosen; /* a daemon has left its ancestors */
  one->in_session = now.root != NULL;
  if (now.root != NULL) {
    memcpy(one->session, now.root->session, SESSION_BYTES);
    one->session_owner = now.root->owner;
  } else if (one->has_session) { /* its ancestors may have ended: it stays in the session while that is open */
    for (unsigned i = 0; i < count; i++)
      one->in_session = one->in_session || (roots[i].owner == one->session_owner &&
                                            memcmp(roots[i].session, one->session, SESSION_BYTES) == 0);
  }
  one->has_session = one->has_session || one->in_session;
  if (one->in_session)
    one->rate = RATE_FAST;
  else
    one->rate = one->chosen ? RATE_NORMAL : RATE_SLOW;
  return earlier.rate != one->rate || memcmp(earlier.session, one->session, SESSION_BYTES) != 0;
}

/* The first `sorted` targets are those of earlier refreshes. */
static bool examine(targets *all, unsigned sorted, const process_stat *process, const target_root *roots,
                    unsigned count, const cgroup_members *members) {
  target *known = find_in(all, sorted, process->pid);
  if (known != NULL && known->start_ticks != process->start_ticks) known = NULL; /* its number is in use again */
  membership now = belongs(all, process, roots, count);
  now.chosen = now.chosen || (known != NULL && known->chosen) || cgroup_members_have(members, process->pid) ||
               program_is_chosen(all, process);
  if (known == NULL && (now.chosen || now.root != NULL) && add(all, process)) known = &all->all[all->count - 1];
  return known != NULL && update(known, process, now, roots, count);
}

static bool remove_ended(targets *all) {
  unsigned kept = 0;
  for (unsigned i = 0; i < all->count; i++) {
    if (all->all[i].found)
      all->all[kept++] = all->all[i];
    else
      close(all->all[i].directory);
  }
  bool removed = kept < all->count;
  all->count = kept;
  return removed;
}

/* Those numbers mean the processes that have them now, not later ones. */
static void identify_chosen(targets *all) {
  for (unsigned i = 0; i < all->choice.pid_count; i++) {
    const process_stat *process = process_scan_find(&all->scan, all->choice.pids[i]);
    if (process != NULL)
      all->chosen_starts[i] = process->start_ticks;
    else
      say("there is no process %u, or it is hidden", all->choice.pids[i]);
  }
}

/* --- when to look ------------------------------------------------------------------------------------------------- */

/* The number that the newest process or thread got: the last word of /proc/loadavg. */
static uint64_t newest_pid(int proc) {
  uint64_t pid = 0;
  const char *text = file_read(proc, "loadavg"), *blank = text != NULL ? strrchr(text, ' ') : NULL;
  char *number = (char *)(uintptr_t)blank;
  return number != NULL && text_number(&number, &pid) ? pid : 0;
}

static bool look_is_due(targets *all, uint64_t now_ns) {
  if (all->refreshed_ns == 0) return true;
  uint64_t since = now_ns - all->refreshed_ns;
  if (since < all->refresh_cost_ns * BUDGET) return false;
  if (all->stale || since >= LONGEST_NS) return true;
  uint64_t newest = newest_pid(all->proc);
  return newest == 0 || newest != all->newest_pid;
}

bool targets_refresh(targets *all, const target_root *roots, unsigned root_count, uint64_t now_ns) {
  const target_choice *choice = &all->choice;
  if (choice->pid_count + choice->program_count + choice->cgroup_count + root_count + all->count == 0) return true;
  if (!look_is_due(all, now_ns)) return true;
  struct timespec began, ended;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
  all->newest_pid = newest_pid(all->proc);
  if (!process_scan_read(&all->scan, all->proc)) {
    SAY_ONCE("/proc cannot be listed: %s; processes and their connections are not sampled", strerror(errno));
    return false;
  }
  if (process_scan_find(&all->scan, 1) == NULL)
    SAY_ONCE("/proc hides the processes of other users (mount option hidepid): only this user's are sampled; the "
             "probe lacks CAP_SYS_PTRACE, which root has outside of containers, or the group of that option gid=");
  if (all->refreshed_ns == 0) identify_chosen(all);
  cgroup_members members = cgroup_members_read(all->sys, choice->cgroups, choice->cgroup_count);
  bool changed = false;
  unsigned sorted = all->count;
  for (unsigned i = 0; i < sorted; i++)
    all->all[i].found = false;
  for (size_t i = 0; i < all->scan.count; i++)
    changed = examine(all, sorted, &all->scan.all[i], roots, root_count, &members) || changed;
  changed = remove_ended(all) || changed;
  if (all->count > 1) qsort(all->all, all->count, sizeof *all->all, by_pid);
  cgroup_members_free(&members);
  all->generation += changed;
  all->stale = false;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
  all->refreshed_ns = now_ns;
  all->refresh_cost_ns =
      (uint64_t)(ended.tv_sec - began.tv_sec) * UINT64_C(1000000000) + (uint64_t)(ended.tv_nsec - began.tv_nsec);
  return true;
}

void targets_free(targets *all) {
  for (unsigned i = 0; i < all->count; i++)
    close(all->all[i].directory);
  free(all->all);
  process_scan_free(&all->scan);
  all->all = NULL;
  all->count = all->room = 0;
}
