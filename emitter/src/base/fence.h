/* A memory fence on behalf of all other threads of the process, so that they need none themselves. */
#ifndef LIFELINE_FENCE_H
#define LIFELINE_FENCE_H

/* On return, each thread has executed a full fence since the call. */
void ll_fence_all_threads(void);

#endif
