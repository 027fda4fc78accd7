/* Distinct byte strings and their numbers: a hash table with linear probing, at most half full. */
#include "intern.h"

#include <stdlib.h>
#include <string.h>

#include "cursor.h"

#define FIRST_CAPACITY 64u /* small: a segment of one section makes five tables */

static uint32_t hash(uint64_t seed, const uint8_t *bytes, size_t length) {
    uint64_t value = seed ^ length;
    while (length > 0) {
        uint64_t part = 0;
        size_t size = length < 8 ? length : 8;
        if (size == 8)
            part = kb_load_u64(bytes);
        else
            for (size_t i = 0; i < size; i++)
                part |= (uint64_t)bytes[i] << 8 * i;
        value = (value ^ part) * 0x9E3779B97F4A7C15u;
        value ^= value >> 29 ^ seed;
        bytes += size;
        length -= size;
    }
    value *= 0xBF58476D1CE4E5B9u;
    return (uint32_t)(value >> 32);
}

kb_status kb_intern_init(kb_intern *intern, uint64_t seed) {
    intern->seed = seed;
    intern->capacity = FIRST_CAPACITY;
    intern->mask = FIRST_CAPACITY * 2 - 1;
    intern->offsets = malloc((FIRST_CAPACITY + 1) * sizeof *intern->offsets);
    intern->hashes = malloc(FIRST_CAPACITY * sizeof *intern->hashes);
    intern->slots = calloc(FIRST_CAPACITY * 2, sizeof *intern->slots);
    if (intern->offsets == NULL || intern->hashes == NULL || intern->slots == NULL ||
        kb_bytes_reserve(&intern->bytes, FIRST_CAPACITY) == NULL)
        return KB_E_MEMORY;
    intern->offsets[0] = 0;
    return KB_OK;
}

void kb_intern_free(kb_intern *intern) {
    kb_bytes_free(&intern->bytes);
    free(intern->offsets);
    free(intern->hashes);
    free(intern->slots);
    *intern = (kb_intern){0};
}

/* The slot that holds the string, or the free one where it belongs. */
static uint32_t find_slot(const kb_intern *intern, uint32_t hashed, const uint8_t *bytes, size_t length) {
    uint32_t slot = hashed & intern->mask;
    while (intern->slots[slot] != 0) {
        uint32_t number = intern->slots[slot] - 1;
        if (intern->hashes[number] == hashed) {
            size_t size = 0;
            const uint8_t *other = kb_intern_bytes(intern, number, &size);
            if (size == length && (length == 0 || memcmp(other, bytes, length) == 0))
                break;
        }
        slot = (slot + 1) & intern->mask;
    }
    return slot;
}

static kb_status grow(kb_intern *intern) {
    if (intern->capacity >= 1u << 30)
        return KB_E_TOO_LARGE;
    uint32_t capacity = intern->capacity * 2;
    uint64_t *offsets = realloc(intern->offsets, ((size_t)capacity + 1) * sizeof *offsets);
    if (offsets == NULL)
        return KB_E_MEMORY;
    intern->offsets = offsets;
    uint32_t *hashes = realloc(intern->hashes, (size_t)capacity * sizeof *hashes);
    if (hashes == NULL)
        return KB_E_MEMORY;
    intern->hashes = hashes;
    uint32_t *slots = calloc((size_t)capacity * 2, sizeof *slots);
    if (slots == NULL)
        return KB_E_MEMORY;
    free(intern->slots);
    intern->slots = slots;
    intern->capacity = capacity;
    intern->mask = capacity * 2 - 1;
    for (uint32_t i = 0; i < intern->count; i++) {
        uint32_t slot = intern->hashes[i] & intern->mask;
        while (slots[slot] != 0)
            slot = (slot + 1) & intern->mask;
        slots[slot] = i + 1;
    }
    return KB_OK;
}

kb_status kb_intern_add(kb_intern *intern, const uint8_t *bytes, size_t length, uint32_t *number) {
    uint32_t hashed = hash(intern->seed, bytes, length);
    uint32_t slot = find_slot(intern, hashed, bytes, length);
    if (intern->slots[slot] != 0) {
        *number = intern->slots[slot] - 1;
        return KB_OK;
    }
    if (intern->count == intern->capacity) {
        kb_status status = grow(intern);
        if (status != KB_OK)
            return status;
        slot = find_slot(intern, hashed, bytes, length);
    }
    kb_bytes_put(&intern->bytes, bytes, length);
    if (intern->bytes.failed)
        return KB_E_MEMORY;
    *number = intern->count++;
    intern->hashes[*number] = hashed;
    intern->offsets[intern->count] = intern->bytes.length;
    intern->slots[slot] = *number + 1;
    return KB_OK;
}

bool kb_intern_find(const kb_intern *intern, const uint8_t *bytes, size_t length, uint32_t *number) {
    uint32_t slot = find_slot(intern, hash(intern->seed, bytes, length), bytes, length);
    if (intern->slots[slot] == 0)
        return false;
    *number = intern->slots[slot] - 1;
    return true;
}

/* A string's first 8 bytes, big-endian, decide most comparisons without touching the string. */
typedef struct {
    uint64_t prefix;
    uint32_t number;
} sort_key;

static uint64_t prefix_of(const uint8_t *bytes, size_t length) {
    uint64_t prefix = 0;
    for (size_t i = 0; i < 8; i++)
        prefix = prefix << 8 | (i < length ? bytes[i] : 0u);
    return prefix;
}

static bool is_before(const kb_intern *intern, const sort_key *left, const sort_key *right) {
    if (left->prefix != right->prefix)
        return left->prefix < right->prefix;
    size_t left_length = 0;
    size_t right_length = 0;
    const uint8_t *left_bytes = kb_intern_bytes(intern, left->number, &left_length);
    const uint8_t *right_bytes = kb_intern_bytes(intern, right->number, &right_length);
    size_t shorter = left_length < right_length ? left_length : right_length;
    int order = shorter == 0 ? 0 : memcmp(left_bytes, right_bytes, shorter);
    return order != 0 ? order < 0 : left_length < right_length;
}

kb_status kb_intern_sort(const kb_intern *intern, uint32_t *numbers, size_t count) {
    sort_key *keys = malloc((count + 1) * 2 * sizeof *keys);
    if (keys == NULL)
        return KB_E_MEMORY;
    sort_key *from = keys;
    sort_key *to = keys + count;
    for (size_t i = 0; i < count; i++) {
        size_t length = 0;
        const uint8_t *bytes = kb_intern_bytes(intern, numbers[i], &length);
        from[i] = (sort_key){prefix_of(bytes, length), numbers[i]};
    }
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t middle = count - start < width ? count : start + width;
            size_t end = count - start < 2 * width ? count : start + 2 * width;
            size_t left = start;
            size_t right = middle;
            for (size_t i = start; i < end; i++) {
                bool take_right = right < end && (left == middle || is_before(intern, &from[right], &from[left]));
                to[i] = take_right ? from[right++] : from[left++];
            }
        }
        sort_key *other = from;
        from = to;
        to = other;
    }
    for (size_t i = 0; i < count; i++)
        numbers[i] = from[i].number;
    free(keys);
    return KB_OK;
}
