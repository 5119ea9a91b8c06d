/* Input and output of the two tools. */
#ifndef LIFELINE_INPUT_H
#define LIFELINE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Reads the rest of the stream; free() the result. NULL if it cannot be read or memory is short. */
char *input_all(FILE *in, size_t *size);

/* Reads one message after its u32 little-endian length, into a growing buffer. False at the end, with *broken set if
 * the stream ends inside a message. */
bool input_framed(FILE *in, char **buffer, size_t *size, bool *broken);

void output_framed(FILE *out, const void *bytes, size_t size);

#endif
