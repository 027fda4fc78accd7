/* Sorted byte strings in two tables. */
#include "strings.h"

#include <string.h>

#include "utf8.h"

kb_status kb_strings_open(const kb_container *container, uint32_t region, kb_strings *strings, kb_error *error) {
    uint64_t rows = 0;
    uint64_t size = 0;
    kb_status status = kb_table_open(container, region, 4, &strings->offsets, &rows, error);
    if (status == KB_OK)
        status = kb_table_open(container, region + 1, 1, &strings->bytes, &size, error);
    if (status != KB_OK)
        return status;
    if (rows == 0 || rows > UINT32_MAX)
        return kb_corrupt(container->file, container->offsets[region], "a table of offsets has a wrong length", error);
    strings->count = (uint32_t)(rows - 1);
    return KB_OK;
}

void kb_strings_close(kb_strings *strings) {
    kb_table_close(&strings->offsets);
    kb_table_close(&strings->bytes);
}

kb_status kb_strings_get(const kb_strings *strings, uint32_t number, const uint8_t **bytes, uint32_t *length,
                         kb_error *error) {
    const uint8_t *offsets = NULL;
    kb_status status = kb_table_bytes(&strings->offsets, (uint64_t)number * 4, 8, &offsets, error);
    if (status != KB_OK)
        return status;
    uint32_t start = kb_load_u32(offsets);
    uint32_t end = kb_load_u32(offsets + 4);
    if (start > end || end > strings->bytes.length)
        return kb_corrupt(strings->offsets.file, strings->offsets.offset + (uint64_t)number * 4,
                          "offsets of strings fall", error);
    *length = end - start;
    return kb_table_bytes(&strings->bytes, start, *length, bytes, error);
}

static int compare(const uint8_t *left, size_t left_length, const uint8_t *right, size_t right_length) {
    size_t shorter = left_length < right_length ? left_length : right_length;
    int order = shorter == 0 ? 0 : memcmp(left, right, shorter);
    return order != 0 ? order : (left_length > right_length) - (left_length < right_length);
}

/* The first string from `low` on and before `high` that is not below the given one, or `high`; with `past_prefix`,
 * that is also past all that begin with it. */
static kb_status seek(const kb_strings *strings, uint32_t low, uint32_t high, const uint8_t *bytes, size_t length,
                      bool past_prefix, uint32_t *number, kb_error *error) {
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint8_t *candidate = NULL;
        uint32_t size = 0;
        kb_status status = kb_strings_get(strings, middle, &candidate, &size, error);
        if (status != KB_OK)
            return status;
        int order = compare(candidate, past_prefix && size > length ? length : size, bytes, length);
        if (order < 0 || (past_prefix && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    *number = low;
    return KB_OK;
}

kb_status kb_strings_seek(const kb_strings *strings, const uint8_t *bytes, size_t length, uint32_t *number,
                          kb_error *error) {
    return seek(strings, 0, strings->count, bytes, length, false, number, error);
}

kb_status kb_strings_find(const kb_strings *strings, const uint8_t *bytes, size_t length, bool *found, uint32_t *number,
                          kb_error *error) {
    return kb_strings_find_between(strings, 0, strings->count, bytes, length, found, number, error);
}

kb_status kb_strings_find_between(const kb_strings *strings, uint32_t low, uint32_t high, const uint8_t *bytes,
                                  size_t length, bool *found, uint32_t *number, kb_error *error) {
    kb_status status = seek(strings, low, high, bytes, length, false, number, error);
    *found = false;
    if (status != KB_OK || *number == high)
        return status;
    const uint8_t *candidate = NULL;
    uint32_t size = 0;
    status = kb_strings_get(strings, *number, &candidate, &size, error);
    *found = status == KB_OK && compare(candidate, size, bytes, length) == 0;
    return status;
}

kb_status kb_strings_prefix(const kb_strings *strings, const uint8_t *bytes, size_t length, uint32_t *first,
                            uint32_t *end, kb_error *error) {
    kb_status status = seek(strings, 0, strings->count, bytes, length, false, first, error);
    return status != KB_OK ? status : seek(strings, 0, strings->count, bytes, length, true, end, error);
}

kb_status kb_strings_verify(const kb_strings *strings, bool text, kb_error *error) {
    kb_file file = strings->offsets.file;
    const uint8_t *before = NULL;
    uint32_t before_length = 0;
    const uint8_t *ends = NULL;
    kb_status status = kb_table_bytes(&strings->offsets, 0, strings->offsets.length, &ends, error);
    if (status != KB_OK)
        return status;
    if (kb_load_u32(ends) != 0 || kb_load_u32(ends + (uint64_t)strings->count * 4) != strings->bytes.length)
        return kb_corrupt(file, strings->offsets.offset, "offsets of strings leave gaps", error);
    for (uint32_t i = 0; i < strings->count; i++) {
        const uint8_t *bytes = NULL;
        uint32_t length = 0;
        status = kb_strings_get(strings, i, &bytes, &length, error);
        if (status != KB_OK)
            return status;
        uint64_t place = strings->bytes.offset + (uint64_t)(bytes - strings->bytes.bytes);
        if (text && !kb_utf8_valid(bytes, length))
            return kb_corrupt(file, place, "a string is not UTF-8", error);
        if (length == 0 || (i > 0 && compare(before, before_length, bytes, length) >= 0))
            return kb_corrupt(file, place, "strings are not in ascending order", error);
        before = bytes;
        before_length = length;
    }
    return KB_OK;
}
