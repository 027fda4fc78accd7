/* Surface words of live entries. */
#include "words.h"

#include <stdlib.h>
#include <string.h>

#include "bitmap.h"
#include "distance.h"
#include "utf8.h"

void kb_found_words_free(kb_found_words *words) {
    free(words->items);
    *words = (kb_found_words){0};
}

static kb_status put_word(const kb_terms *terms, uint32_t number, uint32_t distance, kb_found_words *words,
                          kb_error *error) {
    kb_word word;
    kb_status status = kb_terms_word(terms, number, &word, error);
    if (status != KB_OK)
        return status;
    if (words->count == words->capacity) {
        size_t capacity = words->capacity == 0 ? 32 : words->capacity * 2;
        kb_found_word *items = realloc(words->items, capacity * sizeof *items);
        if (items == NULL)
            return KB_E_MEMORY;
        words->items = items;
        words->capacity = capacity;
    }
    words->items[words->count++] = (kb_found_word){number, word.stem, word.form, distance, 0};
    return KB_OK;
}

static kb_status put_range(const kb_terms *terms, uint32_t first, uint32_t end, kb_found_words *words,
                           kb_error *error) {
    kb_status status = KB_OK;
    for (uint32_t i = first; i < end && status == KB_OK; i++)
        status = put_word(terms, i, 0, words, error);
    return status;
}

/* Where `part`, which is not empty, next begins in [at, end); `end` when nowhere. */
static const uint8_t *find_part(const uint8_t *at, const uint8_t *end, const uint8_t *part, size_t length) {
    while ((size_t)(end - at) >= length) {
        const uint8_t *first = memchr(at, part[0], (size_t)(end - at) - length + 1);
        if (first == NULL)
            break;
        if (memcmp(first, part, length) == 0)
            return first;
        at = first + 1;
    }
    return end;
}

/* Searches all words as one text; a place that crosses the end of a word is none. */
static kb_status find_containing(const kb_terms *terms, const uint8_t *part, size_t length, kb_found_words *words,
                                 kb_error *error) {
    const kb_strings *strings = &terms->words;
    const uint8_t *offsets = NULL;
    const uint8_t *bytes = NULL;
    if (length == 0)
        return put_range(terms, 0, strings->count, words, error);
    kb_status status = kb_table_bytes(&strings->offsets, 0, strings->offsets.length, &offsets, error);
    if (status == KB_OK)
        status = kb_table_bytes(&strings->bytes, 0, strings->bytes.length, &bytes, error);
    if (status != KB_OK || strings->bytes.length == 0)
        return status;
    const uint8_t *end = bytes + strings->bytes.length;
    uint32_t number = 0;
    for (const uint8_t *at = find_part(bytes, end, part, length); at != end && status == KB_OK;) {
        uint64_t place = (uint64_t)(at - bytes);
        while (number < strings->count && kb_load_u32(offsets + 4 * ((size_t)number + 1)) <= place)
            number++;
        if (number == strings->count)
            break;
        uint64_t word_end = kb_load_u32(offsets + 4 * ((size_t)number + 1));
        bool inside = place + length <= word_end;
        if (inside)
            status = put_word(terms, number, 0, words, error);
        at = find_part(inside && word_end <= strings->bytes.length ? bytes + word_end : at + 1, end, part, length);
    }
    return status;
}

static kb_status find_near(const kb_terms *terms, const uint8_t *text, size_t length, uint32_t most,
                           kb_found_words *words, kb_error *error) {
    uint32_t first = 0;
    uint32_t end = 0;
    kb_distance distance = {0};
    size_t lead = length == 0 ? 0 : kb_utf8_size(text[0]);
    kb_status status = kb_distance_open(text, length, most, &distance);
    if (status == KB_OK && lead > 0)
        status = kb_strings_prefix(&terms->words, text, lead, &first, &end, error);
    for (uint32_t i = first; i < end && status == KB_OK; i++) {
        const uint8_t *word = NULL;
        uint32_t word_length = 0;
        status = kb_strings_get(&terms->words, i, &word, &word_length, error);
        if (status != KB_OK)
            break;
        uint32_t edits = kb_distance_to(&distance, word, word_length);
        if (edits >= 1 && edits <= most)
            status = put_word(terms, i, edits, words, error);
    }
    kb_distance_close(&distance);
    return status;
}

static int by_stem(const void *left, const void *right) {
    const kb_found_word *a = left;
    const kb_found_word *b = right;
    return (a->stem > b->stem) - (a->stem < b->stem);
}

/* Counts for each form of a stem the live entries that hold it, in `counts`; `last` is for this function alone. Both
 * have room for all forms. */
static kb_status count_forms(const kb_view *view, const kb_stem *stem, uint32_t *counts, uint32_t *last,
                             kb_error *error) {
    kb_postings postings;
    kb_positions positions;
    memset(counts, 0, stem->forms * sizeof *counts);
    memset(last, 0, stem->forms * sizeof *last);
    kb_status status = kb_postings_open(&view->segment->terms, stem, &postings, error);
    if (status == KB_OK)
        status = kb_positions_open(&view->segment->terms, stem, &positions, error);
    while (status == KB_OK && postings.left > 0) {
        status = kb_postings_next(&postings, error);
        for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK && kb_bitmap_has(view->live, postings.entry);
             field++) {
            if (postings.frequencies[field] > 0)
                status = kb_positions_seek(&positions, &postings, field, error);
            for (uint32_t i = postings.frequencies[field]; i > 0 && status == KB_OK; i--) {
                status = kb_positions_next(&positions, error);
                if (status == KB_OK && last[positions.form] != postings.entry + 1) {
                    last[positions.form] = postings.entry + 1;
                    counts[positions.form]++;
                }
            }
        }
    }
    return status;
}

/* Fills the df of words of one stem. */
static kb_status count_group(const kb_view *view, kb_found_word *words, size_t count, kb_error *error) {
    const kb_terms *terms = &view->segment->terms;
    kb_stem stem;
    kb_status status = kb_terms_stem(terms, words[0].stem, &stem, error);
    if (status != KB_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if (words[i].form >= stem.forms)
            return kb_corrupt(KB_FILE_TERMS, terms->word_records.offset, "a word's form is out of range", error);
    if (stem.forms == 1 && view->all_live) {
        words[0].df = stem.df;
        return KB_OK;
    }
    uint32_t *counts = malloc((size_t)stem.forms * 2 * sizeof *counts);
    if (counts == NULL)
        return KB_E_MEMORY;
    status = count_forms(view, &stem, counts, counts + stem.forms, error);
    for (size_t i = 0; i < count && status == KB_OK; i++)
        words[i].df = counts[words[i].form];
    free(counts);
    return status;
}

static kb_status count_words(const kb_view *view, kb_found_words *words, kb_error *error) {
    kb_status status = KB_OK;
    if (words->count > 1)
        qsort(words->items, words->count, sizeof *words->items, by_stem);
    for (size_t start = 0, end = 0; start < words->count && status == KB_OK; start = end) {
        while (end < words->count && words->items[end].stem == words->items[start].stem)
            end++;
        status = count_group(view, &words->items[start], end - start, error);
    }
    return status;
}

static kb_status put_if_of(const kb_terms *terms, uint32_t number, const kb_stem *stem, kb_found_words *words,
                           kb_error *error) {
    kb_word word;
    kb_status status = kb_terms_word(terms, number, &word, error);
    return status == KB_OK && word.stem == stem->number ? put_word(terms, number, 0, words, error) : status;
}

/* Looks from where the stem would stand among the words, in both directions: nearly always its words are next to it. */
kb_status kb_words_of_stem(const kb_terms *terms, const kb_stem *stem, kb_found_words *words, kb_error *error) {
    const uint8_t *bytes = NULL;
    uint32_t length = 0;
    uint32_t above = 0;
    kb_status status = kb_strings_get(&terms->stems, stem->number, &bytes, &length, error);
    if (status == KB_OK)
        status = kb_strings_seek(&terms->words, bytes, length, &above, error);
    uint32_t below = above;
    while (status == KB_OK && words->count < stem->forms && (below > 0 || above < terms->words.count)) {
        if (above < terms->words.count)
            status = put_if_of(terms, above++, stem, words, error);
        if (status == KB_OK && below > 0)
            status = put_if_of(terms, --below, stem, words, error);
    }
    return status;
}

kb_status kb_words_find(const kb_view *view, kb_words_kind kind, const uint8_t *text, size_t length, uint32_t distance,
                        kb_found_words *words, kb_error *error) {
    const kb_terms *terms = &view->segment->terms;
    kb_status status = KB_OK;
    bool found = false;
    uint32_t first = 0;
    uint32_t end = 0;
    switch (kind) {
        case KB_WORDS_EQUAL:
            status = kb_strings_find(&terms->words, text, length, &found, &first, error);
            if (status == KB_OK && found)
                status = put_word(terms, first, 0, words, error);
            break;
        case KB_WORDS_PREFIX:
            status = kb_strings_prefix(&terms->words, text, length, &first, &end, error);
            if (status == KB_OK)
                status = put_range(terms, first, end, words, error);
            break;
        case KB_WORDS_CONTAINING:
            status = find_containing(terms, text, length, words, error);
            break;
        case KB_WORDS_NEAR:
            status = find_near(terms, text, length, distance, words, error);
            break;
    }
    return status == KB_OK ? count_words(view, words, error) : status;
}
