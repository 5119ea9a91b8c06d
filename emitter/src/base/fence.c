#include "fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void ll_fence_all_threads(void) {
  static const struct timespec moment = {0, 1000000};
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0 ||
      syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
    nanosleep(&moment, NULL); /* old kernel: store buffers drain sooner than that */
}
