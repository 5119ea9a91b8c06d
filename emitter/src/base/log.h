/* Logs one line per message, to stderr or to the program's log function. */
#ifndef LIFELINE_LOG_H
#define LIFELINE_LOG_H

#include <lifeline/lifeline.h>

void ll_log_to(ll_log_function function, void *ctx);
void ll_log(ll_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
