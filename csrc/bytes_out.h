/* A buffer that grows, in which builders write regions and files.
 *
 * Failure is sticky: a function that finds no memory sets `failed` and from then on the buffer takes nothing; the
 * writer looks once, at the end. An all-zero struct is an empty buffer. The owner calls kb_bytes_free.
 */
#ifndef KB_BYTES_OUT_H
#define KB_BYTES_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t *data;
    size_t length;
    size_t capacity;
    bool failed;
} kb_bytes;

void kb_bytes_free(kb_bytes *bytes);

/* What kb_bytes_reserve does when there is no room yet. */
uint8_t *kb_bytes_grow(kb_bytes *bytes, size_t more);

/* `data` may be NULL when length is 0. */
void kb_bytes_put(kb_bytes *bytes, const uint8_t *data, size_t length);
void kb_bytes_put_zeros(kb_bytes *bytes, size_t count);
void kb_bytes_put_u16(kb_bytes *bytes, uint16_t value);
void kb_bytes_put_u64(kb_bytes *bytes, uint64_t value);

/* Stores at `to`, where there is room. */
static inline void kb_store_u32(uint8_t *to, uint32_t value) {
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* Stores at most 5 bytes at `to`; returns how many. */
static inline size_t kb_store_varint(uint8_t *to, uint32_t value) {
    size_t length = 0;
    while (value >= 0x80) {
        to[length++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    to[length++] = (uint8_t)value;
    return length;
}

/* What follows is put thousands of times for a small segment, a few bytes at a time: it stands where it is called. */

/* Makes room for `more` bytes after `length` and returns where they go; NULL when there is no memory. The caller adds
 * what it wrote to `length`. */
static inline uint8_t *kb_bytes_reserve(kb_bytes *bytes, size_t more) {
    size_t room = bytes->capacity - bytes->length;
    return more > 0 && more <= room ? bytes->data + bytes->length : kb_bytes_grow(bytes, more);
}

static inline void kb_bytes_put_u8(kb_bytes *bytes, uint8_t value) {
    uint8_t *to = kb_bytes_reserve(bytes, 1);
    if (to != NULL) {
        *to = value;
        bytes->length++;
    }
}

/* The lowest `width` bytes, at most 4. */
static inline void kb_bytes_put_narrow(kb_bytes *bytes, uint32_t value, uint32_t width) {
    uint8_t *to = kb_bytes_reserve(bytes, 4);
    if (to != NULL) {
        kb_store_u32(to, value);
        bytes->length += width;
    }
}

static inline void kb_bytes_put_u32(kb_bytes *bytes, uint32_t value) { kb_bytes_put_narrow(bytes, value, 4); }

/* The lowest 5 bytes. */
static inline void kb_bytes_put_u40(kb_bytes *bytes, uint64_t value) {
    uint8_t *to = kb_bytes_reserve(bytes, 5);
    if (to != NULL) {
        kb_store_u32(to, (uint32_t)value);
        to[4] = (uint8_t)(value >> 32);
        bytes->length += 5;
    }
}

static inline void kb_bytes_put_varint(kb_bytes *bytes, uint32_t value) {
    uint8_t *to = kb_bytes_reserve(bytes, 5);
    if (to != NULL)
        bytes->length += kb_store_varint(to, value);
}

#endif
