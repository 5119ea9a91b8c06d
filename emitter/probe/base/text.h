/* Words and numbers of kernel files. Nothing is expected of their contents: a file may be of another kernel, or
 * hostile. */
#ifndef LIFELINE_PROBE_TEXT_H
#define LIFELINE_PROBE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Cuts the next line off `*at`, without its end; NULL at the end of the text. */
char *text_line(char **at);

/* Cuts the next word off `*at`, which blanks separate; NULL if there is none. */
char *text_word(char **at);

/* Reads a decimal number, which a blank or the end follows, and moves behind it. False, without a move, if there is
 * none that fits. */
bool text_number(char **at, uint64_t *value);

/* Reads `count` numbers; returns how many there are. */
unsigned text_numbers(char **at, uint64_t *values, unsigned count);

/* The number behind `key` at the beginning of a line: "VmRSS:" or "usage_usec". False if there is none. */
bool text_value(const char *text, const char *key, uint64_t *value);

/* Copies at most bytes - 1 bytes, as valid UTF-8 without control characters. */
void text_copy(char *to, size_t bytes, const char *from);

#endif
