/* Phrases.
 *
 * The rarest stem's entries are looked up in the others' blocks, a run at a time: as many of them as the blocks that
 * are read cover together. Only postings that meet are located, and of those only the positions are read.
 */
#include "phrase.h"

#include <stdlib.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define NOTHING UINT32_MAX /* no entry, no block */

void kb_phrase_begin(kb_occurrences *occurrences) {
    kb_walk *walk = occurrences->walk;
    walk->from = walk->first = walk->met = walk->next = 0;
    walk->ahead = NOTHING;
    for (uint32_t i = 0; i < occurrences->count; i++)
        walk->parts[i].reached = NOTHING;
}

/* Reads the block of a part that an entry from `from` on would be in, and prepares it to be looked up in. */
static kb_status reach_part(const kb_walk *walk, kb_part *part, bool *found, kb_error *error) {
    kb_postings *postings = &part->postings;
    bool is_ahead = walk->from == walk->ahead && part->ahead != NOTHING;
    *found = true;
    kb_status status = is_ahead ? kb_postings_block(postings, part->ahead, error)
                                : kb_postings_reach(postings, walk->from, found, error);
    part->ahead = NOTHING;
    if (status != KB_OK || !*found || part->reached == postings->block)
        return status;
    part->reached = postings->block;
    for (uint32_t i = postings->count; i < KB_BLOCK; i++)
        postings->entries[i] = INT32_MAX; /* above all entries, as a signed number too */
    for (uint32_t i = 0; i < KB_GROUPS; i++)
        part->lasts[i] = postings->entries[(i + 1) * KB_GROUP - 1];
    return KB_OK;
}

/* Reads for each part the block that an entry from walk->from on would be in, and moves walk->from to the first that
 * may be in all of them; *limit is the last one. *found is false when there is none. */
static kb_status reach(kb_walk *walk, uint32_t count, uint32_t *limit, bool *found, kb_error *error) {
    for (uint32_t i = 0; i < count;) {
        kb_postings *postings = &walk->parts[i].postings;
        uint32_t reached = walk->parts[i].reached;
        kb_status status = reach_part(walk, &walk->parts[i], found, error);
        if (status != KB_OK || !*found)
            return status;
        if (i == 0) {
            walk->first = walk->parts[0].reached == reached ? walk->first : 0;
            while (postings->entries[walk->first] < walk->from)
                walk->first++;
        }
        uint32_t first = postings->entries[i == 0 ? walk->first : 0];
        uint32_t last = postings->entries[postings->count - 1];
        *limit = i == 0 || last < *limit ? last : *limit;
        if (first > walk->from && i > 0)
            i = 0; /* the rarest goes next: it skips most */
        else
            i++;
        walk->from = first > walk->from ? first : walk->from;
    }
    return KB_OK;
}

#if defined(__SSE2__)
/* How many of `count` entries, a multiple of 8, are below `entry`. */
static inline uint32_t count_below(const uint32_t *entries, uint32_t count, uint32_t entry) {
    const __m128i limit = _mm_set1_epi32((int32_t)entry);
    __m128i below = _mm_setzero_si128();
    for (uint32_t i = 0; i < count; i += 8) {
        __m128i low = _mm_loadu_si128((const __m128i *)(const void *)(entries + i));
        __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(entries + i + 4));
        __m128i both = _mm_packs_epi32(_mm_cmplt_epi32(low, limit), _mm_cmplt_epi32(high, limit));
        below = _mm_sub_epi16(below, both);
    }
    below = _mm_sad_epu8(below, _mm_setzero_si128());
    return (uint32_t)(_mm_cvtsi128_si32(below) + _mm_extract_epi16(below, 4));
}
#else
static inline uint32_t count_below(const uint32_t *entries, uint32_t count, uint32_t entry) {
    uint32_t below = 0;
    for (uint32_t i = 0; i < count; i++)
        below += entries[i] < entry;
    return below;
}
#endif

/* How many entries of a part's block are below `entry`, which its last is not. Where it stands cannot be foreseen, so
 * no branch depends on it. */
static inline uint32_t entries_below(const kb_part *part, uint32_t entry) {
    uint32_t start = count_below(part->lasts, KB_GROUPS, entry) * KB_GROUP;
    return start + count_below(part->postings.entries + start, KB_GROUP, entry);
}

/* Of the postings that met so far, keeps those that part `number` has too. */
static uint32_t keep(kb_walk *walk, uint32_t number, uint32_t met) {
    const uint32_t *rarest = walk->parts[0].postings.entries;
    kb_part *part = &walk->parts[number];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < met; i++) {
        uint32_t entry = rarest[walk->parts[0].at[i]];
        uint32_t at = entries_below(part, entry);
        for (uint32_t j = 0; j < number; j++)
            walk->parts[j].at[kept] = walk->parts[j].at[i];
        part->at[kept] = (uint8_t)at;
        kept += part->postings.entries[at] == entry;
    }
    return kept;
}

/* Begins to load the blocks that the next entry of the rarest part may be in. */
static void look_ahead(kb_walk *walk, uint32_t count) {
    const kb_postings *rarest = &walk->parts[0].postings;
    walk->ahead = NOTHING;
    if (walk->first == rarest->count)
        return;
    walk->ahead = rarest->entries[walk->first];
    for (uint32_t i = 1; i < count; i++) {
        kb_part *part = &walk->parts[i];
        part->ahead = NOTHING;
        if (part->postings.entries[part->postings.count - 1] < walk->ahead &&
            kb_postings_ahead(&part->postings, walk->ahead, &part->ahead))
            kb_postings_prefetch(&part->postings, part->ahead);
    }
}

/* Finds the next run of postings that meet, which may be none; *found is false when no more runs come. */
static kb_status next_run(kb_walk *walk, uint32_t count, uint32_t *met, bool *found, kb_error *error) {
    uint32_t limit = 0;
    kb_status status = reach(walk, count, &limit, found, error);
    if (status != KB_OK || !*found)
        return status;
    kb_part *rarest = &walk->parts[0];
    kb_part *other = &walk->parts[1];
    uint32_t both = 0;
    uint32_t at = walk->first;
    uint32_t left = rarest->postings.count - at;
    uint32_t end = at + (left < KB_RUN ? left : KB_RUN);
    for (; at < end && rarest->postings.entries[at] <= limit; at++) {
        uint32_t entry = rarest->postings.entries[at];
        uint32_t there = entries_below(other, entry);
        rarest->at[both] = (uint8_t)at;
        other->at[both] = (uint8_t)there;
        both += other->postings.entries[there] == entry;
    }
    walk->first = at;
    walk->from =
        at == end && left > KB_RUN && rarest->postings.entries[at] <= limit ? rarest->postings.entries[at] : limit + 1;
    for (uint32_t i = 2; i < count; i++)
        both = keep(walk, i, both);
    look_ahead(walk, count);
    *met = both;
    return KB_OK;
}

/* Adds a run's postings to those that met. */
static kb_status locate(kb_walk *walk, uint32_t count, uint32_t run, kb_error *error) {
    for (uint32_t i = 0; i < run; i++)
        walk->entries[walk->met + i] = walk->parts[0].postings.entries[walk->parts[0].at[i]];
    for (uint32_t i = 0; i < count; i++) {
        kb_part *part = &walk->parts[i];
        kb_spot *spots = &part->met[walk->met];
        kb_status status = kb_postings_locate(&part->postings, part->at, run, spots, error);
        if (status != KB_OK)
            return status;
        kb_positions_prefetch(&part->positions, &part->postings, spots, run);
    }
    walk->met += run;
    return KB_OK;
}

kb_status kb_phrase_meet(kb_occurrences *occurrences, bool *found, kb_error *error) {
    kb_walk *walk = occurrences->walk;
    *found = true;
    if (walk->next == walk->met) {
        walk->next = walk->met = 0;
        while (*found && walk->met < KB_MET) {
            uint32_t run = 0;
            kb_status status = next_run(walk, occurrences->count, &run, found, error);
            if (status == KB_OK && run > 0)
                status = locate(walk, occurrences->count, run, error);
            if (status != KB_OK)
                return status;
        }
        *found = walk->met > 0;
    }
    if (*found)
        occurrences->entry = walk->entries[walk->next++];
    return KB_OK;
}

/* The fields that are asked for and hold all stems. */
static inline uint32_t common_fields(const kb_occurrences *occurrences) {
    const kb_walk *walk = occurrences->walk;
    uint32_t fields = occurrences->fields;
    for (uint32_t i = 0; i < occurrences->count; i++)
        fields &= walk->parts[i].met[walk->next - 1].mask;
    return fields;
}

void kb_phrase_most(kb_occurrences *occurrences) {
    const kb_walk *walk = occurrences->walk;
    uint32_t fields = common_fields(occurrences);
    occurrences->mask = fields;
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        occurrences->frequencies[field] = 0;
    for (uint32_t field = 0; fields >> field != 0; field++) {
        uint32_t most = UINT32_MAX;
        if (!(fields >> field & 1))
            continue;
        for (uint32_t i = 0; i < occurrences->count; i++) {
            uint32_t frequency = walk->parts[i].met[walk->next - 1].frequencies[field];
            most = frequency < most ? frequency : most;
        }
        occurrences->frequencies[field] = most;
    }
}

/* Reads the distinct positions of the rarest part into walk->starts; gives their number. */
static kb_status read_starts(kb_walk *walk, uint32_t field, uint32_t *count, kb_error *error) {
    kb_part *part = &walk->parts[0];
    const kb_spot *spot = &part->met[walk->next - 1];
    uint32_t frequency = spot->frequencies[field];
    kb_status status = kb_positions_go(&part->positions, &part->postings, spot, field, error);
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

#define FEW_POSITIONS 16u /* all of so many are read as fast as some of them are found */

/* Keeps those of walk->starts for which one of the few positions of a part stands where the phrase wants it. */
static kb_status keep_by_reading(kb_walk *walk, kb_part *part, uint32_t field, uint32_t *count, kb_error *error) {
    const kb_spot *spot = &part->met[walk->next - 1];
    uint32_t frequency = spot->frequencies[field];
    uint32_t kept = 0;
    kb_status status = kb_positions_go(&part->positions, &part->postings, spot, field, error);
    for (uint32_t i = 0; i < *count && status == KB_OK; i++) {
        uint64_t wanted = (uint64_t)walk->starts[i] + part->place - walk->parts[0].place;
        bool has = false;
        status = kb_positions_has(&part->positions, frequency, wanted, &has, error);
        walk->starts[kept] = walk->starts[i];
        kept += has;
    }
    *count = kept;
    return status;
}

/* The same where there are many positions, in which each wanted one is found. */
static kb_status keep_by_finding(kb_walk *walk, kb_part *part, uint32_t field, uint32_t *count, kb_error *error) {
    const kb_spot *spot = &part->met[walk->next - 1];
    uint32_t left = spot->frequencies[field];
    uint32_t *starts = walk->starts;
    uint32_t kept = 0;
    bool read = false;
    kb_status status = kb_positions_go(&part->positions, &part->postings, spot, field, error);
    for (uint32_t i = 0; i < *count && status == KB_OK; i++) {
        uint64_t wanted = (uint64_t)starts[i] + part->place;
        if (wanted < walk->parts[0].place)
            continue;
        wanted -= walk->parts[0].place;
        if (wanted > UINT32_MAX)
            break;
        if (!read || part->positions.position < wanted) {
            left = kb_positions_skip(&part->positions, left, (uint32_t)wanted);
            if (left == 0)
                break;
            status = kb_positions_next(&part->positions, error);
            read = true;
            left--;
        }
        starts[kept] = starts[i];
        kept += part->positions.position == wanted;
    }
    *count = kept;
    return status;
}

static kb_status count_field(kb_occurrences *occurrences, uint32_t field, uint32_t *count, kb_error *error) {
    kb_walk *walk = occurrences->walk;
    kb_status status = read_starts(walk, field, count, error);
    for (uint32_t i = 1; i < occurrences->count && status == KB_OK && *count > 0; i++) {
        kb_part *part = &walk->parts[i];
        bool few = part->met[walk->next - 1].frequencies[field] <= FEW_POSITIONS;
        status = (few ? keep_by_reading : keep_by_finding)(walk, part, field, count, error);
    }
    return status;
}

kb_status kb_phrase_count(kb_occurrences *occurrences, kb_error *error) {
    uint32_t fields = common_fields(occurrences);
    occurrences->mask = 0;
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        uint32_t count = 0;
        if (fields >> field & 1) {
            kb_status status = count_field(occurrences, field, &count, error);
            if (status != KB_OK)
                return status;
        }
        occurrences->frequencies[field] = count;
        occurrences->mask |= (uint32_t)(count > 0) << field;
    }
    return KB_OK;
}
