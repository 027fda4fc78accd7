/* CRC-32 as in zlib (IEEE polynomial, reflected): the checksum of every page and list (README.md section 1). */
#ifndef KB_CRC32_H
#define KB_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The crc of `length` bytes; `bytes` may be NULL when length is 0. */
uint32_t kb_crc32(const uint8_t *bytes, size_t length);

/* The crc of bytes with the crc given, 0 for none, and `length` more. */
uint32_t kb_crc32_more(uint32_t crc, const uint8_t *bytes, size_t length);

#endif
