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
        kb_status status = kb_postings_open(terms, stem, &walk->parts[i].postings, error);
        if (status == KB_OK && alternative->count > 1)
            status = kb_positions_open(terms, stem, &walk->parts[i].positions, error);
        if (status != KB_OK)
            return status;
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
        for (uint32_t field = 0; field < KB_FIELDS; field++)
            occurrences->frequencies[field] = occurrences->fields >> field & 1 ? postings->frequencies[field] : 0;
        return KB_OK;
    }
    return KB_OK;
}

/* Moves a part to the first of its postings whose `next` (entry + 1, 0 before the first) is not below `next`; *found is
 * false when none is left. */
static kb_status advance(kb_part *part, uint64_t next, bool *found, kb_error *error) {
    while (part->postings.next < next) {
        *found = part->postings.left > 0;
        if (!*found)
            return KB_OK;
        kb_positions_leave(&part->positions, &part->postings);
        kb_status status = kb_postings_next(&part->postings, error);
        if (status != KB_OK)
            return status;
        kb_positions_enter(&part->positions);
    }
    return KB_OK;
}

/* Moves all parts to the next entry that has all of them; *found is false when there is none. */
static kb_status align(kb_occurrences *occurrences, bool *found, kb_error *error) {
    kb_part *parts = occurrences->walk->parts;
    *found = true;
    kb_status status = advance(&parts[0], parts[0].postings.next + 1, found, error);
    for (uint32_t i = 1; i < occurrences->count && status == KB_OK && *found; i++) {
        status = advance(&parts[i], parts[0].postings.next, found, error);
        if (status == KB_OK && *found && parts[i].postings.next > parts[0].postings.next) {
            status = advance(&parts[0], parts[i].postings.next, found, error);
            i = 0;
        }
    }
    return status;
}

/* Reads the distinct positions of part 0 in a field into walk->starts. */
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

/* Keeps of walk->starts those that part `number` continues: where it stands at start + number. */
static kb_status keep_starts(kb_walk *walk, uint32_t number, uint32_t field, size_t *count, kb_error *error) {
    kb_part *part = &walk->parts[number];
    size_t from = 0;
    size_t to = 0;
    kb_status status = kb_positions_seek(&part->positions, &part->postings, field, error);
    for (uint32_t i = part->postings.frequencies[field]; i > 0 && status == KB_OK; i--) {
        status = kb_positions_next(&part->positions, error);
        uint64_t position = part->positions.position;
        while (from < *count && (uint64_t)walk->starts[from] + number < position)
            from++;
        if (from < *count && (uint64_t)walk->starts[from] + number == position)
            walk->starts[to++] = walk->starts[from++];
    }
    *count = to;
    return status;
}

/* Counts the phrase in each field of the entry that all parts stand at. */
static kb_status count_phrase(kb_occurrences *occurrences, bool *found, kb_error *error) {
    kb_walk *walk = occurrences->walk;
    uint32_t fields = occurrences->fields;
    for (uint32_t i = 0; i < occurrences->count; i++)
        fields &= walk->parts[i].postings.mask;
    *found = false;
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
        *found = *found || count > 0;
    }
    return KB_OK;
}

static kb_status next_of_phrase(kb_occurrences *occurrences, bool *found, kb_error *error) {
    for (;;) {
        bool counted = false;
        kb_status status = align(occurrences, found, error);
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
