/* Which positions are taken. */
#include "places.h"

bool kb_places_check(const uint8_t *bits, uint64_t first, uint64_t count) {
    for (uint64_t bit = first; bit < first + count; bit++)
        if (!(bits[bit >> 3] >> (bit & 7) & 1))
            return false;
    return true;
}

kb_status kb_places_corrupt(const kb_segment *segment, uint32_t entry, kb_error *error) {
    uint64_t place = segment->corpus.records.offset + (uint64_t)entry * segment->corpus.shape.all;
    return kb_corrupt(KB_FILE_CORPUS, place, "the lengths of an entry are not those of its positions", error);
}

kb_status kb_places_possible(const kb_segment *segment, uint64_t total, kb_error *error) {
    const kb_lists *positions = &segment->terms.positions;
    if (total / 8 > positions->length)
        return kb_corrupt(KB_FILE_POSITIONS, positions->offset, "fewer positions than the entries' lengths tell",
                          error);
    return KB_OK;
}
