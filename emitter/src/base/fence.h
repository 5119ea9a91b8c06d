/* A fence in all other threads of the process, so that they need none themselves. */
#ifndef LIFELINE_FENCE_H
#define LIFELINE_FENCE_H

/* When this returns, each thread has passed a full fence since the call. */
void ll_fence_all_threads(void);

#endif
