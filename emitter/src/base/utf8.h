/* Text in headers and descriptors must be UTF-8, or readers refuse the whole batch for it. */
#ifndef LIFELINE_UTF8_H
#define LIFELINE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

bool ll_is_utf8(const char *text);

/* How many bytes come before the first that is not part of a well-formed sequence, or before the end. */
size_t ll_utf8_prefix(const char *text);

/* Puts '?' for every byte that is not part of a well-formed sequence. */
void ll_make_utf8(char *text);

#endif
