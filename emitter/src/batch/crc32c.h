/* CRC-32C (Castagnoli), using the CPU's instruction where available. */
#ifndef LIFELINE_CRC32C_H
#define LIFELINE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t ll_crc32c(const void *bytes, size_t count);

/* Extends the CRC of preceding data by these bytes. */
uint32_t ll_crc32c_more(uint32_t crc, const void *bytes, size_t count);

/* The same by table only: for machines without the instruction, and as the reference of tests. */
uint32_t ll_crc32c_by_table(const void *bytes, size_t count);

#endif
