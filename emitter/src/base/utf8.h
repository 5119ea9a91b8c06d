/* Text in headers and descriptors must be UTF-8; otherwise readers refuse the whole batch. */
#ifndef LIFELINE_UTF8_H
#define LIFELINE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool ll_is_utf8(const char *text);

/* The same for counted text, which may contain NUL. */
bool ll_is_utf8_bytes(const uint8_t *text, size_t bytes);

/* Length of the longest well-formed prefix. */
size_t ll_utf8_prefix(const char *text);

/* Replaces every byte that is not part of a well-formed sequence by '?'. */
void ll_make_utf8(char *text);

#endif
