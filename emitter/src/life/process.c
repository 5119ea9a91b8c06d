#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static size_t read_small(const char *path, char *text, size_t size) {
  text[0] = '\0';
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t count = read(fd, text, size - 1);
  close(fd);
  text[count > 0 ? count : 0] = '\0';
  return count > 0 ? (size_t)count : 0;
}

static void boot_id(uint8_t boot[16]) {
  char text[64];
  size_t count = read_small("/proc/sys/kernel/random/boot_id", text, sizeof text);
  unsigned digits = 0;
  memset(boot, 0, 16);
  for (size_t i = 0; i < count && digits < 32; i++) {
    const char *hex = "0123456789abcdef", *found = strchr(hex, text[i]);
    if (found == NULL || *found == '\0') continue;
    boot[digits / 2] |= (uint8_t)((found - hex) << (digits % 2 ? 0 : 4));
    digits++;
  }
}

/* Field 22 of /proc/<pid>/stat, in clock ticks since boot; 0 when there is no such process, or only its zombie. (A
 * first thread that ended before others is shown as a zombie, too: field 20 tells how many there are.) The second field
 * is the command, which may hold blanks and brackets: count from the last bracket. */
static uint64_t start_time(uint32_t pid) {
  char path[64], text[1024], state;
  int threads;
  unsigned long long start;
  snprintf(path, sizeof path, "/proc/%u/stat", pid);
  read_small(path, text, sizeof text);
  const char *after = strrchr(text, ')');
  if (after == NULL ||
      sscanf(after + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu", &state,
             &threads, &start) != 3)
    return 0;
  return (state == 'Z' || state == 'X') && threads <= 1 ? 0 : start;
}

static uint64_t pid_namespace(void) {
  struct stat status;
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
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
  self.start_time = start_time(self.pid);
  return self;
}

ll_liveness ll_process_liveness(const ll_process *process) {
  if (process->pid == 0) return LL_DEAD;
  uint8_t boot[16];
  boot_id(boot);
  if (memcmp(boot, process->boot, sizeof boot) != 0) return LL_DEAD;
  if (process->pid_namespace != pid_namespace()) return LL_UNKNOWN;
  if (process->pid == (uint32_t)getpid() && process->image != image()) return LL_DEAD; /* we, before an exec */
  return start_time(process->pid) == process->start_time ? LL_ALIVE : LL_DEAD;
}

void ll_random(void *bytes, unsigned count) {
  if (getrandom(bytes, count, GRND_NONBLOCK) == (ssize_t)count) return;
  /* Before the kernel's pool is ready, at boot: unique is what counts here, not secret. */
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t seed = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  seed ^= (uint64_t)getpid() << 40;
  for (unsigned i = 0; i < count; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    ((uint8_t *)bytes)[i] = (uint8_t)(seed >> 56);
  }
}
