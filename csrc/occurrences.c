/* Where a stem or a phrase occurs. */
#include "occurrences.h"

#include <stdlib.h>

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
    if (alternative->count > 1)
        qsort(walk->parts, alternative->count, sizeof *walk->parts, by_df);
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

/* Moves all parts to the next entry, from `entry` on, that has all of them; *found is false when there is none. */
static kb_status align(kb_occurrences *occurrences, uint32_t entry, bool *found, kb_error *error) {
    kb_part *parts = occurrences->walk->parts;
    uint32_t agreed = 0;
    for (uint32_t i = 0; agreed < occurrences->count; i = i + 1 < occurrences->count ? i + 1 : 0) {
        kb_postings *postings = &parts[i].postings;
        kb_status status = kb_postings_find(postings, entry, found, error);
        if (status != KB_OK || !*found)
            return status;
        uint32_t reached = postings->entries[postings->reach];
        agreed = reached == entry ? agreed + 1 : i == 0;
        if (agreed == 0)
            i = occurrences->count - 1; /* the rarest goes next: it skips most */
        entry = reached;
    }
    for (uint32_t i = 0; i < occurrences->count; i++) {
        kb_status status = kb_postings_move(&parts[i].postings, parts[i].postings.reach, error);
        if (status != KB_OK)
            return status;
    }
    return KB_OK;
}

/* Reads the distinct positions of the rarest part in a field into walk->starts. */
static kb_status read_starts(kb_walk *walk, uint32_t field, size_t *count, kb_error *error) {
    kb_part *part = &walk->parts[0];
    uint32_t frequency = part->postings.frequencies[field];
    kb_status status = kb_positions_seek(&part->positions, &part->postings, field, error);
    if (status == KB_OK && walk->starts_capacity < frequency) {
        uint32_t *starts = realloc(walk->starts, (size_t)frequency * sizeof *starts);
        if (starts == NULL)
            return KB_E_MEMORY;
        walk->starts = starts;
        walk->starts_capacity = frequency;
    }
    *count = 0;
    for (uint32_t i = 0; i < frequency && status == KB_OK; i++) {
        status = kb_positions_next(&part->positions, error);
        if (*count == 0 || walk->starts[*count - 1] != part->positions.position)
            walk->starts[(*count)++] = part->positions.position;
    }
    return status;
}

#define FEW_POSITIONS 8u /* so many are read as fast as some of them are found */

/* Keeps of walk->starts those for which another part stands at its place in the phrase. */
static kb_status keep_starts(kb_walk *walk, uint32_t number, uint32_t field, size_t *count, kb_error *error) {
    kb_part *part = &walk->parts[number];
    uint32_t left = part->postings.frequencies[field];
    bool few = left <= FEW_POSITIONS;
    size_t kept = 0;
    bool read = false;
    kb_status status = kb_positions_seek(&part->positions, &part->postings, field, error);
    for (size_t i = 0; i < *count && status == KB_OK; i++) {
        uint64_t wanted = (uint64_t)walk->starts[i] + part->place;
        if (wanted < walk->parts[0].place)
            continue;
        wanted -= walk->parts[0].place;
        if (wanted > UINT32_MAX)
            break;
        if (!few && !(read && part->positions.position >= wanted)) {
            left = kb_positions_skip(&part->positions, left, (uint32_t)wanted);
            read = false;
        }
        while (status == KB_OK && left > 0 && !(read && part->positions.position >= wanted)) {
            status = kb_positions_next(&part->positions, error);
            read = true;
            left--;
        }
        if (read && part->positions.position == wanted)
            walk->starts[kept++] = walk->starts[i];
    }
    *count = kept;
    return status;
}

/* Counts the phrase in each field of the entry that all parts stand at. */
static kb_status count_phrase(kb_occurrences *occurrences, bool *found, kb_error *error) {
    kb_walk *walk = occurrences->walk;
    uint32_t fields = occurrences->fields;
    for (uint32_t i = 0; i < occurrences->count; i++)
        fields &= walk->parts[i].postings.mask;
    occurrences->mask = 0;
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        size_t count = 0;
        if (fields >> field & 1) {
            kb_status status = read_starts(walk, field, &count, error);
            for (uint32_t i = 1; i < occurrences->count && status == KB_OK && count > 0; i++)
                status = keep_starts(walk, i, field, &count, error);
            if (status != KB_OK)
                return status;
        }
        occurrences->frequencies[field] = (uint32_t)count;
        occurrences->mask |= (uint32_t)(count > 0) << field;
    }
    *found = occurrences->mask != 0;
    return KB_OK;
}

static kb_status next_of_phrase(kb_occurrences *occurrences, bool *found, kb_error *error) {
    for (;;) {
        bool counted = false;
        uint64_t next = occurrences->walk->parts[0].postings.next;
        if (next > UINT32_MAX) {
            *found = false;
            return KB_OK;
        }
        kb_status status = align(occurrences, (uint32_t)next, found, error);
        if (status != KB_OK || !*found)
            return status;
        status = count_phrase(occurrences, &counted, error);
        if (status != KB_OK || counted) {
            occurrences->entry = occurrences->walk->parts[0].postings.entry;
            return status;
        }
    }
}

kb_status kb_occurrences_next(kb_occurrences *occurrences, bool *found, kb_error *error) {
    return occurrences->count == 1 ? next_of_stem(occurrences, found, error)
                                   : next_of_phrase(occurrences, found, error);
}
