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

static inline uint32_t kb_popcount(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    return (uint32_t)(((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
}

/* Words of a bitmap over `entries` entries. */
static inline uint32_t kb_bitmap_words(uint32_t entries) { return entries / 64 + (entries % 64 != 0); }

/* How many of the first `entries` bits are set; the bits past them are 0. */
static inline uint32_t kb_bitmap_count(const uint8_t *bitmap, uint32_t entries) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < kb_bitmap_words(entries); i++)
        count += kb_popcount(kb_bitmap_word(bitmap, entries, i));
    return count;
}

/* The first entry from `from` on whose bit is 0; `entries` when there is none. */
static inline uint32_t kb_bitmap_next_clear(const uint8_t *bitmap, uint32_t entries, uint32_t from) {
    for (uint32_t i = from / 64; i < kb_bitmap_words(entries); i++) {
        uint64_t clear = ~kb_bitmap_word(bitmap, entries, i);
        if (i == from / 64)
            clear &= ~(uint64_t)0 << from % 64;
        if (clear != 0) {
            uint64_t entry = (uint64_t)i * 64 + (uint32_t)__builtin_ctzll(clear);
            return entry < entries ? (uint32_t)entry : entries;
        }
    }
    return entries;
}

#endif
