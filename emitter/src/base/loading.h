/* No fork happens while we load a library, or set one up: its child would have it half made for ever, and crash in it
 * or wait for a lock that nobody holds. (What a sink's own threads do later is the sink's affair.) */
#ifndef LIFELINE_LOADING_H
#define LIFELINE_LOADING_H

void ll_loading_begin(void);
void ll_loading_end(void);

/* Around a fork: waits for the end of what is being loaded. For a second at most: who forks in a constructor of a
 * library has the loader's own lock, for which we may be waiting. */
void ll_loading_before_fork(void);
void ll_loading_after_fork_in_parent(void);
void ll_loading_after_fork_in_child(void);

#endif
