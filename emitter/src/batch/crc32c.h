/* CRC-32C (Castagnoli), by the CPU's instruction where it has one. */
#ifndef LIFELINE_CRC32C_H
#define LIFELINE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t ll_crc32c(const void *bytes, size_t count);

/* Of what has this CRC so far, followed by these bytes. */
uint32_t ll_crc32c_more(uint32_t crc, const void *bytes, size_t count);

/* The same by table alone: what machines without the instruction run, and what tests compare with. */
uint32_t ll_crc32c_by_table(const void *bytes, size_t count);

#endif
