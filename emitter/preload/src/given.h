/* Memory that the program names in a call. The kernel answers EFAULT where it cannot be read, and often does not read
 * it at all because it answers with another error first; a wrapper that reads it itself before the call would end the
 * program instead. A wrapper reads such memory after the call has succeeded with it, or asks here. */
#ifndef LIFELINE_PRELOAD_GIVEN_H
#define LIFELINE_PRELOAD_GIVEN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all bytes can be read. One system call for each page; preserves errno. */
bool io_is_readable(const void *from, size_t bytes);

/* The same for all of a text, with its end. */
bool io_is_readable_text(const char *text);

#endif
