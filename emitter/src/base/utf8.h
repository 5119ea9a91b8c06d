/* Text in headers and descriptors must be UTF-8; otherwise readers refuse the whole batch. */
#ifndef LIFELINE_UTF8_H
#define LIFELINE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

bool ll_is_utf8(const char *text);

/* Length of the longest well-formed prefix. */
size_t ll_utf8_prefix(const char *text);

/* Replaces every byte that is not part of a well-formed sequence by '?'. */
void ll_make_utf8(char *text);

#endif
