/* CRC-32C (Castagnoli) of a file, block by block: crc = crc32c(crc, data, nbytes), beginning with 0. */
#ifndef REMOTE_COPY_CRC32C_H
#define REMOTE_COPY_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *data, size_t nbytes);

#endif
