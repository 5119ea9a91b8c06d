/* Preloaded into a probe under test: the time of day is an hour later as soon as the file $STEP_CLOCK exists; and so is
 * the time since the machine's start, as after a suspension, as soon as $SUSPEND_CLOCK exists. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time);

static int exists(const char *variable) {
  const char *file = getenv(variable);
  return file != NULL && access(file, F_OK) == 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  long status = syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_REALTIME && exists("STEP_CLOCK")) time->tv_sec += 3600;
  if ((clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME) && exists("SUSPEND_CLOCK")) time->tv_sec += 3600;
  return (int)status;
}
