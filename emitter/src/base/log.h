/* Logs one line per message, to stderr or to the program's log function.
 *
 * Either may block, and the function may need a mutex that another thread holds during an emit. So a line of a thread
 * that holds the lock waits in a queue, and ll_unlock writes it once the lock is free and the signals are unblocked. */
#ifndef LIFELINE_LOG_H
#define LIFELINE_LOG_H

#include <lifeline/lifeline.h>
#include <stdbool.h>

void ll_log_to(ll_log_function function, void *ctx);
void ll_log(ll_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For lock.c. */
typedef struct ll_log_line {
  ll_log_level level;
  char text[1024];
} ll_log_line;

/* Whether lines wait, with the lock held; takes the first of them: false if there is none. */
bool ll_log_waits(void);
bool ll_log_take(ll_log_line *line);
void ll_log_write(ll_log_line *line);

/* In a forked child: the waiting lines are the parent's. */
void ll_log_forget(void);

#endif
