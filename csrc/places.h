/* Which positions of each entry's fields some token stands at: a field of length n must have one at each of 0 to n - 1
 * (README.md section 6). Verification and merging, which read all tokens, check it so, with a bit for each position. */
#ifndef KB_PLACES_H
#define KB_PLACES_H

#include "segment.h"

/* Marks a position of a field whose bits begin with `first`; false when it is past the field's length. */
static inline bool kb_places_mark(uint8_t *bits, uint64_t first, uint32_t length, uint32_t position) {
    uint64_t bit = first + position;
    if (position >= length)
        return false;
    bits[bit >> 3] = (uint8_t)(bits[bit >> 3] | 1u << (bit & 7));
    return true;
}

/* Whether all `count` bits from `first` on are marked. */
bool kb_places_check(const uint8_t *bits, uint64_t first, uint64_t count);

/* The fault that the positions of a segment's entry are not those that its lengths tell. */
kb_status kb_places_corrupt(const kb_segment *segment, uint32_t entry, kb_error *error);

/* Checks that the positions of a segment are not fewer than lengths that sum up to `total` tell: each token takes a bit
 * at least, so that a false length cannot ask for memory in vain. KB_E_CORRUPT. */
kb_status kb_places_possible(const kb_segment *segment, uint64_t total, kb_error *error);

#endif
