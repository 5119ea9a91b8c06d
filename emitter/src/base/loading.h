/* Delays forks while a library is loaded or initialized. Otherwise the child would keep it half initialized, and crash
 * in it or wait for a lock without an owner. (Later activity of a sink's own threads is the sink's responsibility.) */
#ifndef LIFELINE_LOADING_H
#define LIFELINE_LOADING_H

void ll_loading_begin(void);
void ll_loading_end(void);

/* Called around a fork: waits until loading has finished, but for at most a second, since a fork in a library's
 * constructor holds the loader's lock, for which the loading thread may be waiting. */
void ll_loading_before_fork(void);
void ll_loading_after_fork_in_parent(void);
void ll_loading_after_fork_in_child(void);

/* In a child without threads that load. */
void ll_loading_renew(void);

#endif
