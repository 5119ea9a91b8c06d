#include "clients.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/low.h"
#include "threads.h"

static uint32_t clients;

void kafka_client_begins(void) {
  __atomic_add_fetch(&clients, 1, __ATOMIC_RELAXED);
}

void kafka_client_ends(void) {
  __atomic_sub_fetch(&clients, 1, __ATOMIC_RELAXED);
}

void kafka_threads_renew(void) {
  if (sink_threads_renew()) __atomic_store_n(&clients, 0, __ATOMIC_RELAXED);
}

static int name_of(int tasks, const char *task, char *name, size_t bytes) {
  char path[32];
  snprintf(path, sizeof path, "%.20s/comm", task);
  int fd = ll_openat(tasks, path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd >= 0 ? read(fd, name, bytes - 1) : -1;
  if (fd >= 0) close(fd);
  name[length > 0 ? length : 0] = '\0';
  return length > 0;
}

/* librdkafka starts threads as brokers become known, and names them. Each client has one main thread, which ends after
 * its others. Interceptors could count them, but with one librdkafka 2.0 frees the configuration twice if it cannot
 * start. */
uint32_t kafka_threads(void) {
  uint32_t all = 0, mains = 0;
  ll_low held = ll_low_hold();
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks && (task = readdir(tasks));) {
    char name[32];
    if (task->d_name[0] == '.' || !name_of(dirfd(tasks), task->d_name, name, sizeof name)) continue;
    all += strncmp(name, "rdk:", 4) == 0;
    mains += strcmp(name, "rdk:main\n") == 0;
  }
  if (tasks) closedir(tasks);
  ll_low_release(held);
  return sink_threads() + (mains <= __atomic_load_n(&clients, __ATOMIC_RELAXED) ? all : 0);
}
