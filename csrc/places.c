/* Which positions are taken. */
#include "places.h"

#include <stdlib.h>

kb_status kb_places_new(const kb_segment *segment, kb_places *places, kb_error *error) {
    const kb_lists *positions = &segment->terms.positions;
    uint64_t total = 0;
    places->segment = segment;
    places->starts = malloc(((size_t)segment->entries * KB_FIELDS + 1) * sizeof *places->starts);
    if (places->starts == NULL)
        return KB_E_MEMORY;
    for (uint32_t i = 0; i < segment->entries; i++) {
        for (uint32_t field = 0; field < KB_FIELDS; field++) {
            uint32_t length = 0;
            kb_status status = kb_corpus_length(&segment->corpus, i, field, &length, error);
            if (status != KB_OK)
                return status;
            places->starts[(size_t)i * KB_FIELDS + field] = total;
            total += length;
        }
    }
    places->starts[(size_t)segment->entries * KB_FIELDS] = total;
    /* Each token takes a bit at least, so that a false length cannot ask for memory in vain. */
    if (total / 8 > positions->length)
        return kb_corrupt(KB_FILE_POSITIONS, positions->offset, "fewer positions than the entries' lengths tell",
                          error);
    places->bits = calloc((size_t)(total / 8 + 1), 1);
    return places->bits == NULL ? KB_E_MEMORY : KB_OK;
}

void kb_places_free(kb_places *places) {
    free(places->starts);
    free(places->bits);
    *places = (kb_places){0};
}

kb_status kb_places_check(const kb_places *places, uint32_t entry, kb_error *error) {
    const uint64_t *start = &places->starts[(size_t)entry * KB_FIELDS];
    for (uint64_t bit = start[0]; bit < start[KB_FIELDS]; bit++)
        if (!(places->bits[bit >> 3] >> (bit & 7) & 1))
            return kb_places_corrupt(places, entry, error);
    return KB_OK;
}

kb_status kb_places_corrupt(const kb_places *places, uint32_t entry, kb_error *error) {
    uint64_t place = places->segment->corpus.records.offset + (uint64_t)entry * KB_ENTRY_BYTES;
    return kb_corrupt(KB_FILE_CORPUS, place, "the lengths of an entry are not those of its positions", error);
}
