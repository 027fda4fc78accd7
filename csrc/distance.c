/* Optimal string alignment distance: the table of edit distances between all beginnings of the two words, three rows at
 * a time. */
#include "distance.h"

#include <stdlib.h>

#include "utf8.h"

kb_status kb_distance_open(const uint8_t *word, size_t length, uint32_t most, kb_distance *distance) {
    /* A word longer by more than `most` is never near, so the other one and a row have a bound too. */
    size_t other = length + most;
    distance->characters = malloc((length + other + 3 * (other + 1)) * sizeof(uint32_t));
    if (distance->characters == NULL)
        return KB_E_MEMORY;
    distance->most = most;
    distance->length = 0;
    while (length > 0) {
        size_t size = kb_utf8_read(word, length, &distance->characters[distance->length]);
        if (size == 0)
            break;
        distance->length++;
        word += size;
        length -= size;
    }
    return KB_OK;
}

void kb_distance_close(kb_distance *distance) { free(distance->characters); }

static uint32_t least(uint32_t left, uint32_t right) { return left < right ? left : right; }

uint32_t kb_distance_to(kb_distance *distance, const uint8_t *bytes, size_t size) {
    const uint32_t *word = distance->characters;
    uint32_t length = distance->length;
    uint32_t *other = distance->characters + length;
    uint32_t count = 0;
    while (size > 0) {
        size_t read = count == length + distance->most ? 0 : kb_utf8_read(bytes, size, &other[count]);
        if (read == 0)
            return UINT32_MAX;
        count++;
        bytes += read;
        size -= read;
    }
    if (count + distance->most < length)
        return UINT32_MAX;
    uint32_t *before = other + length + distance->most;
    uint32_t *last = before + length + distance->most + 1;
    uint32_t *row = last + length + distance->most + 1;
    for (uint32_t j = 0; j <= count; j++)
        row[j] = j;
    for (uint32_t i = 1; i <= length; i++) {
        uint32_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
        row[0] = i;
        uint32_t best = i;
        for (uint32_t j = 1; j <= count; j++) {
            uint32_t edits = least(least(last[j], row[j - 1]) + 1, last[j - 1] + (word[i - 1] != other[j - 1]));
            if (i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1])
                edits = least(edits, before[j - 2] + 1);
            row[j] = edits;
            best = least(best, edits);
        }
        if (best > distance->most + 1)
            return UINT32_MAX; /* a swap reaches back one row more, by one edit; nothing later can be near */
    }
    return row[count];
}
