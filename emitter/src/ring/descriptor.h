/* Descriptors of event types, in wire format: FORMAT.md, section 4. */
#ifndef LIFELINE_DESCRIPTOR_H
#define LIFELINE_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LL_DESCRIPTOR_MAX 8192

/* The identity of the type whose entry, without padding, has that many bytes. */
uint64_t ll_descriptor_hash(const uint8_t *entry, size_t bytes);

/* The length that the entry claims; 0 if no entry of that length fits into `available` bytes. */
uint32_t ll_descriptor_bytes(const uint8_t *entry, size_t available);

/* Whether every reader accepts the entry of that length: its texts, its types, and the hash of all of it. */
bool ll_descriptor_is_sound(const uint8_t *entry, uint32_t bytes);

#endif
