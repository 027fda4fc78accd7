/* Where a stem or a phrase occurs. */
#include "occurrences.h"

#include <stdlib.h>

#include "phrase.h"

void kb_walk_free(kb_walk *walk) {
    free(walk->parts);
    free(walk->starts);
    *walk = (kb_walk){0};
}

bool kb_occurrences_possible(const kb_alternative *alternative, uint32_t segment) {
    for (uint32_t i = 0; i < alternative->count; i++)
        if (alternative->terms[i]->stems[segment].df == 0)
            return false;
    return true;
}

static int by_df(const void *left, const void *right) {
    const kb_part *a = left;
    const kb_part *b = right;
    if (a->postings.df != b->postings.df)
        return a->postings.df < b->postings.df ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

kb_status kb_occurrences_open(const kb_view *view, uint32_t segment, const kb_alternative *alternative, uint32_t fields,
                              kb_walk *walk, kb_occurrences *occurrences, kb_error *error) {
    const kb_terms *terms = &view->segment->terms;
    *occurrences = (kb_occurrences){.walk = walk, .count = alternative->count, .fields = fields};
    if (walk->parts_capacity < alternative->count) {
        kb_part *parts = realloc(walk->parts, alternative->count * sizeof *parts);
        if (parts == NULL)
            return KB_E_MEMORY;
        walk->parts = parts;
        walk->parts_capacity = alternative->count;
    }
    for (uint32_t i = 0; i < alternative->count; i++) {
        const kb_stem *stem = &alternative->terms[i]->stems[segment];
        walk->parts[i].place = i;
        kb_status status = kb_postings_open(terms, stem, &walk->parts[i].postings, error);
        if (status == KB_OK && alternative->count > 1)
            status = kb_positions_open(terms, stem, &walk->parts[i].positions, error);
        if (status != KB_OK)
            return status;
    }
    if (alternative->count > 1) {
        qsort(walk->parts, alternative->count, sizeof *walk->parts, by_df);
        kb_phrase_begin(occurrences);
    }
    return KB_OK;
}

static kb_status next_of_stem(kb_occurrences *occurrences, bool *found, kb_error *error) {
    kb_postings *postings = &occurrences->walk->parts[0].postings;
    *found = false;
    while (postings->left > 0) {
        kb_status status = kb_postings_next(postings, error);
        if (status != KB_OK)
            return status;
        if (!(postings->mask & occurrences->fields))
            continue;
        *found = true;
        occurrences->entry = postings->entry;
        occurrences->mask = postings->mask & occurrences->fields;
        for (uint32_t field = 0; field < KB_FIELDS; field++)
            occurrences->frequencies[field] = occurrences->fields >> field & 1 ? postings->frequencies[field] : 0;
        return KB_OK;
    }
    return KB_OK;
}

static kb_status next_of_phrase(kb_occurrences *occurrences, bool *found, kb_error *error) {
    for (;;) {
        kb_status status = kb_phrase_meet(occurrences, found, error);
        if (status != KB_OK || !*found)
            return status;
        status = kb_phrase_count(occurrences, error);
        if (status != KB_OK || occurrences->mask != 0)
            return status;
    }
}

kb_status kb_occurrences_next(kb_occurrences *occurrences, bool *found, kb_error *error) {
    return occurrences->count == 1 ? next_of_stem(occurrences, found, error)
                                   : next_of_phrase(occurrences, found, error);
}
