/* Distinct byte strings and their numbers: a hash table with linear probing, at most half full. */
#include "intern.h"

#include <stdlib.h>
#include <string.h>

#include "cursor.h"

#define FIRST_CAPACITY 64u /* small: a segment of one section makes five tables */

static inline uint64_t mix(uint64_t seed, uint64_t value, uint64_t part) {
    value = (value ^ part) * 0x9E3779B97F4A7C15u;
    return value ^ value >> 29 ^ seed;
}

static inline uint32_t hash_head(uint64_t seed, kb_head head) {
    uint64_t value = mix(seed, mix(seed, seed, head.low), head.high);
    return (uint32_t)(value * 0xBF58476D1CE4E5B9u >> 32);
}

/* Up to 8 bytes as a number, the first lowest. Most are read at once, twice where they are not 4 or 8. */
static uint64_t load_part(const uint8_t *bytes, size_t length) {
    if (length >= 8)
        return kb_load_u64(bytes);
    if (length >= 4)
        return kb_load_u32(bytes) | (uint64_t)kb_load_u32(bytes + length - 4) << 8 * (length - 4);
    uint64_t part = 0;
    for (size_t i = 0; i < length; i++)
        part |= (uint64_t)bytes[i] << 8 * i;
    return part;
}

static kb_head head_of(const uint8_t *bytes, size_t length) {
    kb_head head = {load_part(bytes, length), (uint64_t)(length < 255 ? length : 255) << 56};
    if (length > 8)
        head.high |= load_part(bytes + 8, length < KB_HEAD_BYTES ? length - 8 : KB_HEAD_BYTES - 8);
    return head;
}

static uint32_t hash(uint64_t seed, kb_head head, const uint8_t *bytes, size_t length) {
    if (length <= KB_HEAD_BYTES)
        return hash_head(seed, head);
    uint64_t value = mix(seed, mix(seed, seed ^ length, head.low), head.high);
    for (size_t at = KB_HEAD_BYTES; at < length; at += 8)
        value = mix(seed, value, load_part(bytes + at, length - at));
    return (uint32_t)(value * 0xBF58476D1CE4E5B9u >> 32);
}

kb_status kb_intern_init(kb_intern *intern, uint64_t seed) {
    intern->seed = seed;
    intern->capacity = FIRST_CAPACITY;
    intern->mask = FIRST_CAPACITY * 2 - 1;
    intern->offsets = malloc((FIRST_CAPACITY + 1) * sizeof *intern->offsets);
    intern->slots = calloc(FIRST_CAPACITY * 2, sizeof *intern->slots);
    if (intern->offsets == NULL || intern->slots == NULL || kb_bytes_reserve(&intern->bytes, FIRST_CAPACITY) == NULL)
        return KB_E_MEMORY;
    intern->offsets[0] = 0;
    return KB_OK;
}

void kb_intern_free(kb_intern *intern) {
    kb_bytes_free(&intern->bytes);
    free(intern->offsets);
    free(intern->slots);
    *intern = (kb_intern){0};
}

/* The slot that holds the string, or the free one where it belongs. */
static inline uint32_t find_slot(const kb_intern *intern, uint32_t hashed, kb_head head, const uint8_t *bytes,
                                 size_t length) {
    uint32_t slot = hashed & intern->mask;
    for (; intern->slots[slot].next != 0; slot = (slot + 1) & intern->mask) {
        const kb_intern_slot *found = &intern->slots[slot];
        if (found->head.low != head.low || found->head.high != head.high || found->hash != hashed)
            continue;
        if (length <= KB_HEAD_BYTES)
            break;
        size_t size = 0;
        const uint8_t *other = kb_intern_bytes(intern, found->next - 1, &size);
        if (size == length && memcmp(other + KB_HEAD_BYTES, bytes + KB_HEAD_BYTES, length - KB_HEAD_BYTES) == 0)
            break;
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
    kb_intern_slot *slots = calloc((size_t)capacity * 2, sizeof *slots);
    if (slots == NULL)
        return KB_E_MEMORY;
    uint32_t mask = capacity * 2 - 1;
    for (size_t i = 0; i <= intern->mask; i++) {
        uint32_t slot = intern->slots[i].hash & mask;
        if (intern->slots[i].next == 0)
            continue;
        while (slots[slot].next != 0)
            slot = (slot + 1) & mask;
        slots[slot] = intern->slots[i];
    }
    free(intern->slots);
    intern->slots = slots;
    intern->capacity = capacity;
    intern->mask = mask;
    return KB_OK;
}

kb_status kb_intern_add(kb_intern *intern, const uint8_t *bytes, size_t length, uint32_t *number) {
    kb_head head = head_of(bytes, length);
    uint32_t hashed = hash(intern->seed, head, bytes, length);
    uint32_t slot = find_slot(intern, hashed, head, bytes, length);
    if (intern->slots[slot].next != 0) {
        *number = intern->slots[slot].next - 1;
        return KB_OK;
    }
    if (intern->count == intern->capacity) {
        kb_status status = grow(intern);
        if (status != KB_OK)
            return status;
        slot = find_slot(intern, hashed, head, bytes, length);
    }
    kb_bytes_put(&intern->bytes, bytes, length);
    if (intern->bytes.failed)
        return KB_E_MEMORY;
    *number = intern->count++;
    intern->offsets[intern->count] = intern->bytes.length;
    intern->slots[slot] = (kb_intern_slot){head, hashed, *number + 1};
    return KB_OK;
}

bool kb_intern_find(const kb_intern *intern, const uint8_t *bytes, size_t length, uint32_t *number) {
    kb_head head = head_of(bytes, length);
    uint32_t slot = find_slot(intern, hash(intern->seed, head, bytes, length), head, bytes, length);
    if (intern->slots[slot].next == 0)
        return false;
    *number = intern->slots[slot].next - 1;
    return true;
}

uint32_t kb_intern_expect(const kb_intern *intern, kb_head head) {
    uint32_t hashed = hash_head(intern->seed, head);
    __builtin_prefetch(&intern->slots[hashed & intern->mask]);
    return hashed;
}

bool kb_intern_find_short(const kb_intern *intern, kb_head head, uint32_t expected, uint32_t *number) {
    uint32_t slot = find_slot(intern, expected, head, NULL, 0);
    if (intern->slots[slot].next == 0)
        return false;
    *number = intern->slots[slot].next - 1;
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
