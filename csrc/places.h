/* Which positions of each entry's fields some token stands at: a field of length n must have one at each of 0 to n - 1
 * (README.md section 6). Verification and merging, which read all tokens, check it so. */
#ifndef KB_PLACES_H
#define KB_PLACES_H

#include "segment.h"

typedef struct {
    const kb_segment *segment;
    uint64_t *starts; /* by entry and field: its first bit; and one more, the end */
    uint8_t *bits;
} kb_places;

/* Begins with no position marked. The struct must be zero before; the owner calls kb_places_free, also after a failure.
 * KB_E_CORRUPT when there are fewer tokens than lengths, KB_E_MEMORY. */
kb_status kb_places_new(const kb_segment *segment, kb_places *places, kb_error *error);
void kb_places_free(kb_places *places);

/* Marks a position; false when it is past the field's length. */
static inline bool kb_places_mark(kb_places *places, uint32_t entry, uint32_t field, uint32_t position) {
    const uint64_t *start = &places->starts[(size_t)entry * KB_FIELDS + field];
    uint64_t bit = start[0] + position;
    if (bit >= start[1])
        return false;
    places->bits[bit >> 3] = (uint8_t)(places->bits[bit >> 3] | 1u << (bit & 7));
    return true;
}

/* KB_E_CORRUPT when a position of the entry's fields is not marked. */
kb_status kb_places_check(const kb_places *places, uint32_t entry, kb_error *error);

/* The fault of a position past its field. */
kb_status kb_places_corrupt(const kb_places *places, uint32_t entry, kb_error *error);

#endif
