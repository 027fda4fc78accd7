/* Bitmaps over a segment's entries (README.md section 1). */
#ifndef KB_BITMAP_H
#define KB_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cursor.h"

static inline bool kb_bitmap_has(const uint8_t *bitmap, uint32_t entry) {
    return bitmap[entry >> 3] >> (entry & 7) & 1;
}

static inline void kb_bitmap_set(uint8_t *bitmap, uint32_t entry) {
    bitmap[entry >> 3] = (uint8_t)(bitmap[entry >> 3] | 1u << (entry & 7));
}

/* Bits 64 * number to 64 * number + 63 of a bitmap over `entries` entries; those past its end are 0. */
static inline uint64_t kb_bitmap_word(const uint8_t *bitmap, uint32_t entries, uint32_t number) {
    size_t start = (size_t)number * 8;
    size_t left = ((size_t)entries + 7) / 8 - start;
    uint64_t word = 0;
    if (left >= 8)
        return kb_load_u64(bitmap + start);
    for (size_t i = 0; i < left; i++)
        word |= (uint64_t)bitmap[start + i] << 8 * i;
    return word;
}

/* How many of the first `entries` bits are set; the bits past them are 0. */
static inline uint32_t kb_bitmap_count(const uint8_t *bitmap, uint32_t entries) {
    uint32_t count = 0;
    for (size_t i = 0; i < ((size_t)entries + 7) / 8; i++) {
        unsigned byte = bitmap[i];
        byte = (byte & 0x55u) + (byte >> 1 & 0x55u);
        byte = (byte & 0x33u) + (byte >> 2 & 0x33u);
        count += (byte & 0x0Fu) + (byte >> 4);
    }
    return count;
}

#endif
