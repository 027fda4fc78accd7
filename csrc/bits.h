/* Numbers of a fixed width in bits, packed from the lowest bit of the first byte on (README.md section 5). */
#ifndef KB_BITS_H
#define KB_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "bytes_out.h"
#include "cursor.h"

/* The bits that `value` needs; 0 for 0. */
static inline uint32_t kb_bits_width(uint32_t value) { return value == 0 ? 0 : 32 - (uint32_t)__builtin_clz(value); }

/* The bytes that `count` numbers take. */
static inline uint64_t kb_bits_bytes(uint64_t count, uint32_t width) { return (count * width + 7) / 8; }

/* The eight bytes from that of bit `at` on, those from `end` on as 0; `at` must be before `end`. */
static inline uint64_t kb_bits_word(const uint8_t *bytes, const uint8_t *end, uint64_t at) {
    const uint8_t *from = bytes + at / 8;
    uint64_t word = 0;
    if (end - from >= 8)
        return kb_load_u64(from);
    for (size_t i = 0; i < (size_t)(end - from); i++)
        word |= (uint64_t)from[i] << 8 * i;
    return word;
}

/* The number at bit `at` of bytes that end at `end`, which holds it whole; `width` is at most 32. */
static inline uint32_t kb_bits_get(const uint8_t *bytes, const uint8_t *end, uint64_t at, uint32_t width) {
    return (uint32_t)(kb_bits_word(bytes, end, at) >> at % 8 & (((uint64_t)1 << width) - 1));
}

/* Appends `count` numbers. */
static inline void kb_bits_put(kb_bytes *out, const uint32_t *values, size_t count, uint32_t width) {
    size_t length = (size_t)kb_bits_bytes(count, width);
    uint8_t *to = kb_bytes_reserve(out, length);
    uint64_t held = 0;
    uint32_t bits = 0;
    if (to == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        held |= (uint64_t)values[i] << bits;
        for (bits += width; bits >= 8; bits -= 8) {
            *to++ = (uint8_t)held;
            held >>= 8;
        }
    }
    if (bits > 0)
        *to = (uint8_t)held;
    out->length += length;
}

#endif
