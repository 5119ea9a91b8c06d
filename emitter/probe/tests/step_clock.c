/* Preloaded into a probe under test: the time of day is an hour later as soon as the file $STEP_CLOCK exists. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time);

int clock_gettime(clockid_t clock, struct timespec *time) {
  const char *file = getenv("STEP_CLOCK");
  long status = syscall(SYS_clock_gettime, clock, time);
  if (status == 0 && clock == CLOCK_REALTIME && file != NULL && access(file, F_OK) == 0) time->tv_sec += 3600;
  return (int)status;
}
