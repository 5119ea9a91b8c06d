#include "noise.h"

#include "timing.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* /proc counts in ticks of 10 ms: a few ticks may be rounding errors. */
enum { ROUNDING_TICKS = 2 };
static const double FOREIGN_MAX = 0.05, STOLEN_MAX = 0.01;

static pid_t kin[NOISE_KIN_MAX];
static unsigned kin_count;

void noise_add_kin(pid_t pid) {
  if (kin_count < NOISE_KIN_MAX) kin[kin_count++] = pid;
}

static uint64_t process_ticks(pid_t pid) {
  char path[64], line[1024] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  size_t got = fread(line, 1, sizeof line - 1, file);
  fclose(file);
  line[got] = '\0';
  const char *rest = strrchr(line, ')'); /* the name before it may contain any character */
  uint64_t user = 0, system = 0;
  if (rest != NULL)
    sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &user, &system);
  return user + system;
}

static void read_machine(noise_reading *reading) {
  uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
  FILE *file = fopen("/proc/stat", "re");
  if (file == NULL) return;
  if (fscanf(file, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
             &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) == 8) {
    reading->idle_ticks = idle + iowait;
    reading->stolen_ticks = steal;
    reading->total_ticks = user + nice + system + idle + iowait + irq + softirq + steal;
  }
  fclose(file);
}

/* Reads one thread's schedstat: time on a processor, time runnable without one. */
static bool read_thread(const char *tid, uint64_t *ran_ns, uint64_t *waited_ns) {
  char path[300];
  snprintf(path, sizeof path, "/proc/self/task/%.200s/schedstat", tid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  bool read = fscanf(file, "%" SCNu64 " %" SCNu64, ran_ns, waited_ns) == 2;
  fclose(file);
  return read;
}

static bool thread_is_called(const char *tid, const char *name) {
  char path[300], comm[32] = "";
  snprintf(path, sizeof path, "/proc/self/task/%.200s/comm", tid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  if (fgets(comm, sizeof comm, file) != NULL) comm[strcspn(comm, "\n")] = '\0';
  fclose(file);
  return strcmp(comm, name) == 0;
}

static uint64_t waited_by_all(void) {
  uint64_t total = 0, ran, waited;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;)
    if (task->d_name[0] != '.' && read_thread(task->d_name, &ran, &waited)) total += waited;
  if (tasks != NULL) closedir(tasks);
  return total;
}

uint64_t noise_thread_cpu_ns(const char *name, bool others) {
  uint64_t total = 0, ran, waited;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;)
    if (task->d_name[0] != '.' && thread_is_called(task->d_name, name) != others &&
        read_thread(task->d_name, &ran, &waited))
      total += ran;
  if (tasks != NULL) closedir(tasks);
  return total;
}

noise_reading noise_read(void) {
  noise_reading reading = {0};
  struct timespec own;
  read_machine(&reading);
  for (unsigned i = 0; i < kin_count; i++)
    reading.kin_ticks += process_ticks(kin[i]);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  reading.own_ns = (uint64_t)own.tv_sec * 1000000000u + (uint64_t)own.tv_nsec;
  reading.waited_ns = waited_by_all();
  reading.at_ns = now_ns();
  return reading;
}

double noise_kin_cpu_ns(const noise_reading *before, const noise_reading *after) {
  return (double)(after->kin_ticks - before->kin_ticks) * 1e9 / (double)sysconf(_SC_CLK_TCK);
}

noise noise_between(const noise_reading *before, const noise_reading *after) {
  double tick_ns = 1e9 / (double)sysconf(_SC_CLK_TCK);
  double total = (double)(after->total_ticks - before->total_ticks);
  double idle = (double)(after->idle_ticks - before->idle_ticks);
  double stolen = (double)(after->stolen_ticks - before->stolen_ticks);
  double own = (double)(after->own_ns - before->own_ns) / tick_ns;
  double kin_time = (double)(after->kin_ticks - before->kin_ticks);
  double foreign = total - idle - stolen - own - kin_time;
  if (total < 1) total = 1;
  noise found = {.foreign = foreign > 0 ? foreign / total : 0,
                 .stolen = stolen / total,
                 .waited = (double)(after->waited_ns - before->waited_ns) / (double)(after->at_ns - before->at_ns + 1)};
  found.disturbed = foreign > FOREIGN_MAX * total + ROUNDING_TICKS || stolen > STOLEN_MAX * total + ROUNDING_TICKS;
  return found;
}
