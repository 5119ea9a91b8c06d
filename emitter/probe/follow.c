#include "follow.h"

#include "base/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void follow_targets(follow *all, const targets *chosen) {
  if (all->generation == chosen->generation && all->pids != NULL) return;
  for (unsigned i = 0; i < all->count; i++)
    if (targets_find(chosen, all->pids[i]) == NULL) kernel_forget(all->kernel, all->pids[i]);
  uint32_t *pids = realloc(all->pids, (chosen->count + 1) * sizeof *pids);
  if (pids == NULL) return; /* again at the next sample */
  all->pids = pids;
  all->count = 0;
  for (unsigned i = 0; i < chosen->count; i++) {
    const target *one = &chosen->all[i];
    int error = kernel_watch(all->kernel, one->pid, one->has_session ? one->session : NULL);
    if (error == 0)
      all->pids[all->count++] = one->pid;
    else if (error != ESRCH)
      SAY_ONCE("kernel events of process %u are not measured: %s", one->pid, strerror(error));
  }
  kernel_watch_children(all->kernel);
  all->generation = chosen->generation;
}

void follow_close(follow *all) {
  kernel_close(all->kernel);
  free(all->pids);
  memset(all, 0, sizeof *all);
}
