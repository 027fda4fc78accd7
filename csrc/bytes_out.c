/* A buffer that grows. */
#include "bytes_out.h"

#include <stdlib.h>
#include <string.h>

void kb_bytes_free(kb_bytes *bytes) {
    free(bytes->data);
    *bytes = (kb_bytes){0};
}

uint8_t *kb_bytes_grow(kb_bytes *bytes, size_t more) {
    if (bytes->failed)
        return NULL;
    if (bytes->capacity - bytes->length < more) {
        size_t least = bytes->length + more;
        size_t capacity = least < bytes->capacity * 2 ? bytes->capacity * 2 : least < 64 ? 64 : least;
        uint8_t *data = least < more ? NULL : realloc(bytes->data, capacity);
        if (data == NULL) {
            bytes->failed = true;
            bytes->capacity = bytes->length; /* no room, so that whatever comes ends up here */
            return NULL;
        }
        bytes->data = data;
        bytes->capacity = capacity;
    }
    return bytes->data + bytes->length;
}

void kb_bytes_put(kb_bytes *bytes, const uint8_t *data, size_t length) {
    uint8_t *to = length == 0 ? NULL : kb_bytes_reserve(bytes, length);
    if (to != NULL) {
        memcpy(to, data, length);
        bytes->length += length;
    }
}

void kb_bytes_put_zeros(kb_bytes *bytes, size_t count) {
    uint8_t *to = count == 0 ? NULL : kb_bytes_reserve(bytes, count);
    if (to != NULL) {
        memset(to, 0, count);
        bytes->length += count;
    }
}

static void put_little_endian(kb_bytes *bytes, uint64_t value, size_t width) {
    uint8_t *to = kb_bytes_reserve(bytes, width);
    if (to != NULL) {
        for (size_t i = 0; i < width; i++)
            to[i] = (uint8_t)(value >> 8 * i);
        bytes->length += width;
    }
}

void kb_bytes_put_u16(kb_bytes *bytes, uint16_t value) { put_little_endian(bytes, value, 2); }

void kb_bytes_put_u64(kb_bytes *bytes, uint64_t value) { put_little_endian(bytes, value, 8); }
