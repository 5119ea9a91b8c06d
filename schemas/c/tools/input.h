/* Standard input in pieces, for the two tools. */
#ifndef LIFELINE_INPUT_H
#define LIFELINE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* All that is left of the stream; free() it. NULL if it cannot be read or held. */
char *input_all(FILE *in, size_t *size);

/* One message behind its u32 little-endian length, into a buffer that grows. False at the end and, with *broken, if the
 * stream ends inside of a message. */
bool input_framed(FILE *in, char **buffer, size_t *size, bool *broken);

void output_framed(FILE *out, const void *bytes, size_t size);

#endif
