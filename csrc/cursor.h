/* The one way to read bytes of a file: little-endian loads, and a cursor that never passes its end.
 *
 * Loads read exactly their width from bytes the caller knows to be there (a table's, checked by kb_table_bytes). Lists
 * are read through a kb_cursor, whose functions return false where the bytes run out or are not a varint (README.md
 * section 1).
 */
#ifndef KB_CURSOR_H
#define KB_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const uint8_t *next;
    const uint8_t *end;
} kb_cursor;

static inline uint16_t kb_load_u16(const uint8_t *bytes) { return (uint16_t)(bytes[0] | bytes[1] << 8); }

static inline uint32_t kb_load_u32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t kb_load_u64(const uint8_t *bytes) {
    return (uint64_t)kb_load_u32(bytes) | (uint64_t)kb_load_u32(bytes + 4) << 32;
}

/* An IEEE 754 number of 32 bits. */
static inline float kb_load_f32(const uint8_t *bytes) {
    uint32_t bits = kb_load_u32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bytes, 1 to 4, that a number needs; and a number of so many. */
static inline uint32_t kb_narrow_width(uint32_t value) {
    return value < 1u << 8 ? 1 : value < 1u << 16 ? 2 : value < 1u << 24 ? 3 : 4;
}

static inline uint32_t kb_load_narrow(const uint8_t *bytes, uint32_t width) {
    uint32_t value = bytes[0];
    if (width > 1)
        value |= (uint32_t)bytes[1] << 8;
    if (width > 2)
        value |= (uint32_t)bytes[2] << 16;
    if (width > 3)
        value |= (uint32_t)bytes[3] << 24;
    return value;
}

static inline uint64_t kb_load_u40(const uint8_t *bytes) { return kb_load_u32(bytes) | (uint64_t)bytes[4] << 32; }

static inline size_t kb_cursor_left(const kb_cursor *cursor) { return (size_t)(cursor->end - cursor->next); }

/* Reads a varint of two bytes or more; kb_cursor_varint is the door. */
static inline bool kb_cursor_long_varint(kb_cursor *cursor, uint32_t *value) {
    const uint8_t *next = cursor->next;
    uint32_t result = 0;
    for (unsigned shift = 0; shift <= 28; shift += 7) {
        if (next == cursor->end)
            return false;
        uint8_t byte = *next++;
        if (shift == 28 && byte > 0x0F)
            return false; /* past 32 bits, or a sixth byte */
        result |= (uint32_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            if (byte == 0 && shift > 0)
                return false; /* longer than needed */
            cursor->next = next;
            *value = result;
            return true;
        }
    }
    return false;
}

static inline bool kb_cursor_varint(kb_cursor *cursor, uint32_t *value) {
    if (cursor->next < cursor->end && *cursor->next < 0x80) {
        *value = *cursor->next++;
        return true;
    }
    return kb_cursor_long_varint(cursor, value);
}

static inline bool kb_cursor_u8(kb_cursor *cursor, uint8_t *value) {
    if (cursor->next == cursor->end)
        return false;
    *value = *cursor->next++;
    return true;
}

/* Steps over `count` varints without looking at their values: a varint ends at each byte below 128. */
static inline bool kb_cursor_skip(kb_cursor *cursor, uint64_t count) {
    const uint8_t *next = cursor->next;
    while (count >= 8 && cursor->end - next >= 8) {
        uint64_t ends = ~kb_load_u64(next) & 0x8080808080808080u;
        next += 8;
        count -= (ends >> 7) * 0x0101010101010101u >> 56;
    }
    while (count > 0) {
        if (next == cursor->end)
            return false;
        count -= *next++ < 0x80;
    }
    cursor->next = next;
    return true;
}

#endif
