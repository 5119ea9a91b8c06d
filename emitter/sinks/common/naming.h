/* Keys and subjects of batches on a broker: FORMAT.md, section 12. */
#ifndef LIFELINE_SINK_NAMING_H
#define LIFELINE_SINK_NAMING_H

#include <stdint.h>

enum { INCARNATION_HEX_BYTES = 33, SINK_PARTITIONS = 16 };

/* FNV-1a with 64 bits over the incarnation, modulo 16: the last token of the subject. */
unsigned sink_partition(const uint8_t incarnation[16]);

/* Room for the text of a header, with a terminator: each byte of host or program may become three. */
enum { SINK_HEADER_BYTES = 3 * 255 + 1 };

/* The text of a header of host or program, in the letters that every client library of both brokers accepts: percent-
 * encoded. What does not fit is cut off, never inside of an encoded byte. */
void sink_header_text(const char *text, char header[SINK_HEADER_BYTES]);

#endif
