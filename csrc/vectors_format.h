/* How large vectors.idx and its parts are (README.md section 10). */
#ifndef KB_VECTORS_FORMAT_H
#define KB_VECTORS_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define KB_VECTORS_MAGIC "KBVX"
#define KB_VECTORS_VERSION 1u
#define KB_VECTORS_HEADER_BYTES 11u
#define KB_VECTORS_KBID_BYTES 16u
#define KB_DIMENSIONS_MAX 65535u           /* what the header's u16 holds; sums of products in sketch.c rely on it */
#define KB_RECORDS_MAX ((uint32_t)1 << 30) /* as many as a segment has entries */

static inline size_t kb_vectors_record_bytes(uint32_t dimensions) {
    return KB_VECTORS_KBID_BYTES + (size_t)dimensions * 4;
}

static inline uint64_t kb_vectors_file_bytes(uint32_t dimensions, uint32_t records) {
    return KB_VECTORS_HEADER_BYTES + (uint64_t)records * kb_vectors_record_bytes(dimensions);
}

#endif
