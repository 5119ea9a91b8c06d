#include "process.h"

#include "clock.h"
#include "low.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* False with errno set when the file cannot be read. */
static bool read_small(const char *path, char *text, size_t size) {
  int fd = ll_open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t count = read(fd, text, size - 1);
  int error = errno;
  close(fd);
  errno = error;
  text[count > 0 ? count : 0] = '\0';
  return count > 0;
}

/* False, and all zeros, when it cannot be determined. */
static bool boot_id(uint8_t boot[16]) {
  char text[64];
  unsigned digits = 0;
  memset(boot, 0, 16);
  if (!read_small("/proc/sys/kernel/random/boot_id", text, sizeof text)) return false;
  for (const char *c = text; *c != '\0' && digits < 32; c++) {
    const char *hex = "0123456789abcdef", *found = strchr(hex, *c);
    if (found == NULL) continue;
    boot[digits / 2] |= (uint8_t)((found - hex) << (digits % 2 ? 0 : 4));
    digits++;
  }
  return digits == 32;
}

/* Fields 3, 4, 20 and 22. The second, the command, may contain blanks and parentheses: count from the last one. */
bool ll_process_stat_read(uint32_t pid, ll_process_stat *stat) {
  char path[64], text[1024], state;
  int threads;
  unsigned parent;
  unsigned long long start;
  snprintf(path, sizeof path, "/proc/%u/stat", pid);
  *stat = (ll_process_stat){0};
  const char *after = read_small(path, text, sizeof text) ? strrchr(text, ')') : NULL;
  if (after == NULL ||
      sscanf(after + 1, " %c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu", &state,
             &parent, &threads, &start) != 4)
    return false;
  *stat = (ll_process_stat){(state == 'Z' || state == 'X') && threads <= 1, parent, start};
  return true;
}

/* The kernel has an address for each thread, that of its robust futexes, until the thread ends. libc gives it one in
 * the main thread at the start, and in a child of fork, but not in one of clone(2), where it is ours, an empty one. */
typedef enum robust { ROBUST_UNKNOWN, ROBUST_NONE, ROBUST_SOME } robust;
static bool had_robust;

static robust robust_of_main(void) {
  void *list = NULL;
  size_t bytes;
  if (syscall(SYS_get_robust_list, getpid(), &list, &bytes) != 0) return ROBUST_UNKNOWN;
  return list != NULL ? ROBUST_SOME : ROBUST_NONE;
}

void ll_process_begin(void) {
  static struct robust_list_head empty;
  empty.list.next = &empty.list;
  if (robust_of_main() == ROBUST_NONE && gettid() == getpid()) syscall(SYS_set_robust_list, &empty, sizeof empty);
  had_robust = robust_of_main() == ROBUST_SOME;
}

/* A thread that has ended has no program any more, while it is still listed. */
static ll_main_thread main_by_its_link(void) {
  char path[64], target[1];
  int length = snprintf(path, sizeof path, "/proc/self/task/%d/exe", (int)getpid());
  if (readlink(path, target, sizeof target) >= 0) return LL_MAIN_RUNS;
  if (errno != ENOENT) return LL_MAIN_UNKNOWN;
  path[length - 4] = '\0';
  return access(path, F_OK) == 0 ? LL_MAIN_ENDED : LL_MAIN_UNKNOWN;
}

static ll_main_thread main_by_its_robust_list(void) {
  robust now = had_robust ? robust_of_main() : ROBUST_UNKNOWN;
  return now == ROBUST_SOME ? LL_MAIN_RUNS : now == ROBUST_NONE ? LL_MAIN_ENDED : LL_MAIN_UNKNOWN;
}

int ll_process_open_main(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
  return ll_low_above(ll_open(path, O_RDONLY | O_CLOEXEC));
}

static ll_main_thread main_by_its_stat(int fd, int *status) {
  char text[1024], state;
  unsigned field = 3, ended;
  ssize_t count = pread(fd, text, sizeof text - 1, 0);
  text[count > 0 ? count : 0] = '\0';
  const char *after = strrchr(text, ')');
  if (after == NULL || sscanf(after + 1, " %c", &state) != 1) return LL_MAIN_UNKNOWN;
  if (state != 'Z' && state != 'X') return LL_MAIN_RUNS;
  for (after++; field < 52 && after != NULL; field++)
    after = strchr(after + 1, ' ');
  if (after != NULL && sscanf(after, "%u", &ended) == 1) *status = (int)(ended >> 8 & 0xff);
  return LL_MAIN_ENDED;
}

int ll_process_status_of_main(int fd) {
  int status = -1;
  main_by_its_stat(fd, &status);
  return status;
}

ll_main_thread ll_process_main(int *status) {
  int fd = ll_process_open_main();
  *status = -1;
  ll_main_thread found = main_by_its_stat(fd, status);
  if (fd >= 0) close(fd);
  if (found == LL_MAIN_UNKNOWN) found = main_by_its_link();
  return found != LL_MAIN_UNKNOWN ? found : main_by_its_robust_list();
}

/* 0 when it cannot be determined. Not of "self", whose main thread may have ended. */
static uint64_t pid_namespace(void) {
  struct stat status;
  return stat("/proc/thread-self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

static uint32_t image(void) {
  uint32_t value = 0;
  const void *random = (const void *)getauxval(AT_RANDOM);
  if (random != NULL) memcpy(&value, random, sizeof value);
  return value;
}

ll_process ll_process_self(void) {
  ll_process self = {.pid_namespace = pid_namespace(), .pid = (uint32_t)getpid(), .image = image()};
  boot_id(self.boot);
  ll_process_stat stat;
  if (ll_process_stat_read(self.pid, &stat)) self.start_time = stat.start_time;
  return self;
}

ll_liveness ll_process_liveness(const ll_process *process) {
  static const uint8_t unknown_boot[16];
  if (process->pid == 0) return LL_DEAD;
  uint8_t boot[16];
  if (!boot_id(boot) || memcmp(process->boot, unknown_boot, sizeof boot) == 0) return LL_UNKNOWN;
  if (memcmp(boot, process->boot, sizeof boot) != 0) return LL_OTHER_BOOT;
  uint64_t namespace = pid_namespace();
  if (namespace == 0 || process->pid_namespace != namespace) return LL_UNKNOWN;
  if (process->pid == (uint32_t)getpid() && process->image != image()) return LL_DEAD; /* before an exec */
  if (process->pid > INT32_MAX || (kill((pid_t)process->pid, 0) != 0 && errno == ESRCH)) return LL_DEAD;
  ll_process_stat stat;
  if (!ll_process_stat_read(process->pid, &stat) || process->start_time == 0) return LL_UNKNOWN;
  return stat.ended ? LL_DEAD : stat.start_time == process->start_time ? LL_ALIVE : LL_REPLACED;
}

void ll_random(void *bytes, unsigned count) {
  if (getrandom(bytes, count, GRND_NONBLOCK) == (ssize_t)count) return;
  /* Early at boot the kernel's pool is not initialized yet: the value must be unique, not secret. */
  uint64_t seed = ll_now_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 40;
  for (unsigned i = 0; i < count; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    ((uint8_t *)bytes)[i] = (uint8_t)(seed >> 56);
  }
}
