/* UTF-8: its validity, and code points out of valid text. */
#ifndef KB_UTF8_H
#define KB_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character that begins with `lead`; 0 when none does. */
static inline size_t kb_utf8_size(uint8_t lead) {
    return lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
}

/* Reads one character, which must not be cut off, and returns its bytes; 0 when it is not strict UTF-8 (no surrogates,
 * nothing overlong). */
static inline size_t kb_utf8_read(const uint8_t *bytes, size_t length, uint32_t *character) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = length == 0 ? 0 : kb_utf8_size(bytes[0]);
    if (size <= 1) {
        *character = size == 0 ? 0 : bytes[0];
        return size;
    }
    if (size > length)
        return 0;
    uint32_t value = bytes[0] & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (bytes[i] & 0x3Fu);
    }
    *character = value;
    return value < least[size] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000) ? 0 : size;
}

static inline bool kb_utf8_valid(const uint8_t *bytes, size_t length) {
    while (length > 0) {
        uint32_t character = 0;
        size_t size = kb_utf8_read(bytes, length, &character);
        if (size == 0)
            return false;
        bytes += size;
        length -= size;
    }
    return true;
}

#endif
