/* Reads a whole segment and checks that its files agree with each other; the rest of segment.h is in segment.c. */
#include <stdlib.h>
#include <string.h>

#include "lists_write.h"
#include "places.h"

/* What the lists have told of each entry so far, and what was seen of the current stem's forms. */
typedef struct {
    const kb_segment *segment;
    uint32_t *lengths;  /* by field and entry */
    uint64_t *starts;   /* by entry: the bit of its first position; and one more, the end */
    uint8_t *places;    /* by bit: whether a token stands there */
    uint32_t *distinct; /* by entry: stems in title and body */
    uint8_t *forms;     /* by form: whether a word of the current stem occurred */
} census;

/* Checks the word records: each word's form is its rank among the words of its stem. */
static kb_status verify_words(const kb_segment *segment, uint32_t *ranks, kb_error *error) {
    const kb_terms *terms = &segment->terms;
    kb_status status = KB_OK;
    for (uint32_t i = 0; i < terms->words.count && status == KB_OK; i++) {
        kb_word word;
        status = kb_terms_word(terms, i, &word, error);
        if (status == KB_OK && word.form != ranks[word.stem]++)
            status = kb_corrupt(KB_FILE_TERMS, terms->word_records.offset + (uint64_t)i * terms->shape.word,
                                "a word's form is not its rank", error);
    }
    uint32_t most = 0;
    for (uint32_t i = 0; i < terms->stems.count && status == KB_OK; i++) {
        kb_stem stem;
        status = kb_terms_stem(terms, i, &stem, error);
        most = ranks[i] > most ? ranks[i] : most;
        if (status == KB_OK && stem.forms != ranks[i])
            status = kb_corrupt(KB_FILE_TERMS, terms->stem_records.offset + (uint64_t)i * terms->shape.stem,
                                "a stem's forms are not as many as its words", error);
    }
    uint32_t width = kb_narrow_width(most);
    if (status == KB_OK && (terms->shape.forms != width || (terms->words.count > 0 && terms->shape.word_form != width)))
        status = kb_corrupt(KB_FILE_TERMS, terms->word_records.offset, "records are wider than they should be", error);
    return status;
}

/* Reads the tokens of one field of one posting. */
static kb_status verify_field(census *seen, kb_positions *positions, const kb_postings *postings, uint32_t field,
                              kb_error *error) {
    uint32_t before = 0;
    uint32_t form = 0;
    const uint32_t *length = seen->lengths + postings->entry;
    uint64_t first = seen->starts[postings->entry];
    for (uint32_t i = 0; i < field; i++, length += seen->segment->entries)
        first += *length;
    kb_status status = kb_positions_seek(positions, postings, field, error);
    for (uint32_t i = 0; i < postings->frequencies[field] && status == KB_OK; i++) {
        status = kb_positions_next(positions, error);
        if (status != KB_OK)
            return status;
        if (i > 0 && positions->position == before && positions->form < form)
            return kb_positions_corrupt(positions, "words at one position are not in order", error);
        if (i > 0 && positions->position < before)
            return kb_positions_corrupt(positions, "positions in a field fall", error);
        if (!kb_places_mark(seen->places, first, *length, positions->position))
            return kb_places_corrupt(seen->segment, postings->entry, error);
        before = positions->position;
        form = positions->form;
        seen->forms[form] = 1;
    }
    return status;
}

/* Checks, at the last posting of a block, that it is written in the one right way. */
static kb_status verify_block(const kb_postings *postings, kb_positions *positions, kb_error *error) {
    uint32_t next = postings->block > 0 ? kb_postings_last(postings, postings->block - 1) + 1 : 0;
    uint32_t escapes = 0;
    uint32_t bits = kb_lists_gap_bits(postings->entries, postings->count, next, &escapes);
    uint32_t others = kb_lists_codes_count(postings->codes);
    bool dense = kb_lists_codes_dense(postings->count, others);
    uint32_t spare = postings->count % 4;
    if ((postings->place[0] & ~KB_CODES_DENSE) != bits)
        return kb_postings_corrupt(postings, "a block's gaps are wider or narrower than they should be", error);
    if (dense != ((postings->place[0] & KB_CODES_DENSE) != 0))
        return kb_postings_corrupt(postings, "a block's codes take more bytes than needed", error);
    if (spare != 0 && postings->codes[postings->count / 4] >> spare * 2 != 0)
        return kb_postings_corrupt(postings, "the bits after a block's codes are not 0", error);
    return kb_positions_verify_block(positions, postings, error);
}

static kb_status verify_stem(census *seen, const kb_stem *stem, kb_error *error) {
    kb_postings postings;
    kb_positions positions;
    kb_status status = kb_postings_open(&seen->segment->terms, stem, &postings, error);
    if (status == KB_OK)
        status = kb_positions_open(&seen->segment->terms, stem, &positions, error);
    memset(seen->forms, 0, stem->forms);
    while (status == KB_OK && postings.left > 0) {
        status = kb_postings_next(&postings, error);
        for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++)
            if (postings.mask >> field & 1)
                status = verify_field(seen, &positions, &postings, field, error);
        if (status == KB_OK && postings.mask & 3)
            seen->distinct[postings.entry]++;
        if (status == KB_OK && postings.at + 1 == postings.count)
            status = verify_block(&postings, &positions, error);
    }
    if (status == KB_OK && memchr(seen->forms, 0, stem->forms) != NULL)
        status = kb_positions_corrupt(&positions, "a word occurs nowhere", error);
    return status;
}

static kb_status verify_stems(census *seen, kb_error *error) {
    const kb_terms *terms = &seen->segment->terms;
    uint64_t postings_end = 0;
    uint64_t positions_end = 0;
    for (uint32_t i = 0; i < terms->stems.count; i++) {
        kb_stem stem;
        kb_status status = kb_terms_stem(terms, i, &stem, error);
        if (status == KB_OK && (stem.postings_offset != postings_end || stem.positions_offset != positions_end))
            status = kb_corrupt(KB_FILE_TERMS, terms->stem_records.offset + (uint64_t)i * terms->shape.stem,
                                "a stem's lists are misplaced", error);
        if (status == KB_OK)
            status = verify_stem(seen, &stem, error);
        if (status != KB_OK)
            return status;
        postings_end += stem.postings_length;
        positions_end += stem.positions_length;
    }
    if (postings_end != terms->postings.length)
        return kb_corrupt(KB_FILE_TERMS, terms->postings.offset + postings_end, "bytes after the last list", error);
    if (positions_end != terms->positions.length)
        return kb_corrupt(KB_FILE_POSITIONS, terms->positions.offset + positions_end, "bytes after the last list",
                          error);
    return KB_OK;
}

/* Compares what the lists told with the entry records. */
static kb_status verify_entries(const census *seen, kb_error *error) {
    const kb_corpus *corpus = &seen->segment->corpus;
    for (uint32_t i = 0; i < seen->segment->entries; i++) {
        kb_entry entry;
        kb_status status = kb_corpus_entry(corpus, i, &entry, error);
        if (status != KB_OK)
            return status;
        if (entry.distinct != seen->distinct[i])
            return kb_corrupt(KB_FILE_CORPUS, corpus->records.offset + (uint64_t)i * corpus->shape.all,
                              "an entry has more or fewer distinct stems than it says", error);
        if (!kb_places_check(seen->places, seen->starts[i], seen->starts[i + 1] - seen->starts[i]))
            return kb_places_corrupt(seen->segment, i, error);
    }
    return KB_OK;
}

/* Begins with no position seen. */
static kb_status begin_places(census *seen, kb_error *error) {
    const kb_segment *segment = seen->segment;
    uint64_t total = 0;
    kb_status status = KB_OK;
    seen->lengths = malloc(((size_t)segment->entries * KB_FIELDS + 1) * sizeof *seen->lengths);
    seen->starts = malloc(((size_t)segment->entries + 1) * sizeof *seen->starts);
    if (seen->lengths == NULL || seen->starts == NULL)
        return KB_E_MEMORY;
    for (uint32_t i = 0; i < segment->entries && status == KB_OK; i++) {
        seen->starts[i] = total;
        for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++) {
            uint32_t *length = &seen->lengths[(size_t)field * segment->entries + i];
            status = kb_corpus_length(&segment->corpus, i, field, length, error);
            total += status == KB_OK ? *length : 0;
        }
    }
    if (status != KB_OK)
        return status;
    seen->starts[segment->entries] = total;
    status = kb_places_possible(segment, total, error);
    if (status != KB_OK)
        return status;
    seen->places = calloc((size_t)(total / 8 + 1), 1);
    return seen->places == NULL ? KB_E_MEMORY : KB_OK;
}

kb_status kb_segment_verify(const kb_segment *segment, kb_error *error) {
    const kb_terms *terms = &segment->terms;
    census seen = {.segment = segment};
    uint32_t *ranks = NULL;
    kb_status status = KB_OK;
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES && status == KB_OK; file++)
        status = kb_container_verify(&segment->files[file], error);
    if (status == KB_OK)
        status = kb_corpus_verify(&segment->corpus, segment->files[KB_FILE_CORPUS].kbids_crc, error);
    if (status == KB_OK)
        status = kb_keyed_verify(&segment->references, error);
    if (status == KB_OK)
        status = kb_strings_verify(&terms->words, true, error);
    if (status == KB_OK)
        status = kb_strings_verify(&terms->stems, true, error);
    if (status != KB_OK)
        return status;
    ranks = calloc((size_t)terms->stems.count + 1, sizeof *ranks);
    seen.distinct = calloc((size_t)segment->entries + 1, sizeof *seen.distinct);
    seen.forms = malloc((size_t)terms->words.count + 1);
    if (ranks == NULL || seen.distinct == NULL || seen.forms == NULL) {
        status = KB_E_MEMORY;
        goto done;
    }
    status = begin_places(&seen, error);
    if (status == KB_OK)
        status = verify_words(segment, ranks, error);
    if (status == KB_OK)
        status = verify_stems(&seen, error);
    if (status == KB_OK)
        status = verify_entries(&seen, error);
done:
    free(ranks);
    free(seen.lengths);
    free(seen.starts);
    free(seen.places);
    free(seen.distinct);
    free(seen.forms);
    return status;
}
