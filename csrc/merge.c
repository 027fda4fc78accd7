/* Takes entries out of a segment into a builder (builder.h), so that a merge makes the bytes a build would. */
#include <stdlib.h>
#include <string.h>

#include "bitmap.h"
#include "builder.h"
#include "places.h"

/* What is known while one segment is taken in. */
typedef struct {
    kb_builder *builder;
    const kb_segment *segment;
    const uint8_t *keep;
    kb_built_entry *entries; /* by entry of the segment; filled for the kept ones */
    size_t *next;            /* by entry and field: where its next token goes; by entry: where its next key does */
    uint32_t *form_bases;    /* by stem: where its forms begin in form_words */
    uint32_t *form_words;    /* the segment's words, by stem and form */
    uint32_t *words;         /* by word of the segment: the builder's, KB_NONE until it is needed */
    kb_places places;
    uint32_t *entries_of_key;
    kb_numbers pair_entries;
    kb_numbers pair_keys;
} merge_task;

static bool kept(const merge_task *merge, uint32_t entry) { return kb_bitmap_has(merge->keep, entry); }

static kb_status check_new(const merge_task *merge, uint32_t *twice, kb_error *error) {
    for (uint32_t i = 0; i < merge->segment->entries; i++) {
        const uint8_t *kbid = NULL;
        uint32_t number = 0;
        kb_status status = kb_corpus_kbid(&merge->segment->corpus, i, &kbid, error);
        if (status != KB_OK)
            return status;
        if (kept(merge, i) && kb_intern_find(&merge->builder->kbids, kbid, KB_KBID_BYTES, &number)) {
            *twice = i;
            return KB_E_ARGUMENT;
        }
    }
    return KB_OK;
}

/* Fills form_bases and form_words. */
static kb_status read_forms(merge_task *merge, kb_error *error) {
    const kb_terms *terms = &merge->segment->terms;
    uint64_t base = 0;
    for (uint32_t i = 0; i < terms->stems.count; i++) {
        kb_stem stem;
        kb_status status = kb_terms_stem(terms, i, &stem, error);
        if (status != KB_OK)
            return status;
        merge->form_bases[i] = (uint32_t)base;
        base += stem.forms;
        if (base > terms->words.count)
            break;
    }
    if (base != terms->words.count)
        return kb_corrupt(KB_FILE_TERMS, terms->stem_records.offset, "stems have more or fewer forms than words",
                          error);
    merge->form_bases[terms->stems.count] = (uint32_t)base;
    memset(merge->form_words, 0xFF, terms->words.count * sizeof(uint32_t));
    for (uint32_t i = 0; i < terms->words.count; i++) {
        kb_word word;
        kb_status status = kb_terms_word(terms, i, &word, error);
        if (status != KB_OK)
            return status;
        if (word.form >= merge->form_bases[word.stem + 1] - merge->form_bases[word.stem])
            return kb_corrupt(KB_FILE_TERMS, terms->word_records.offset, "a word's form is out of range", error);
        merge->form_words[merge->form_bases[word.stem] + word.form] = i;
    }
    return KB_OK;
}

/* Counts the tokens of the kept entries by field, from the postings alone. */
static kb_status count_tokens(merge_task *merge, kb_error *error) {
    const kb_terms *terms = &merge->segment->terms;
    for (uint32_t i = 0; i < terms->stems.count; i++) {
        kb_stem stem;
        kb_postings postings;
        kb_status status = kb_terms_stem(terms, i, &stem, error);
        if (status == KB_OK)
            status = kb_postings_open(terms, &stem, &postings, error);
        while (status == KB_OK && postings.left > 0) {
            status = kb_postings_next(&postings, error);
            if (status != KB_OK || !kept(merge, postings.entry))
                continue;
            uint32_t *tokens = merge->entries[postings.entry].tokens;
            for (uint32_t field = 0; field < KB_FIELDS; field++) {
                if (postings.frequencies[field] > UINT32_MAX - tokens[field])
                    return kb_postings_corrupt(&postings, "an entry has more tokens than a field holds", error);
                tokens[field] += postings.frequencies[field];
            }
        }
        if (status != KB_OK)
            return status;
    }
    return KB_OK;
}

/* Gives each kept entry its place among the builder's tokens. */
static kb_status place_tokens(merge_task *merge, kb_error *error) {
    size_t total = 0;
    for (uint32_t i = 0; i < merge->segment->entries; i++) {
        if (!kept(merge, i))
            continue;
        merge->entries[i].first_token = merge->builder->tokens_count + total;
        for (uint32_t field = 0; field < KB_FIELDS; field++) {
            merge->next[(size_t)i * KB_FIELDS + field] = merge->builder->tokens_count + total;
            total += merge->entries[i].tokens[field];
        }
    }
    /* Each token takes a bit at least, so that a false frequency cannot ask for memory in vain. */
    const kb_lists *positions = &merge->segment->terms.positions;
    if (total / 8 > positions->length)
        return kb_corrupt(KB_FILE_POSITIONS, positions->offset, "fewer positions than the postings tell", error);
    kb_status status = kb_builder_reserve_tokens(merge->builder, total);
    if (status == KB_OK)
        merge->builder->tokens_count += total;
    return status;
}

/* The builder's number, in *word, of a form of a stem; makes sure that the two agree on the word's stem. */
static kb_status map_form(merge_task *merge, const kb_stem *stem, uint32_t form, uint32_t *word, kb_error *error) {
    const kb_terms *terms = &merge->segment->terms;
    kb_builder *builder = merge->builder;
    uint32_t number = merge->form_words[merge->form_bases[stem->number] + form];
    if (number == KB_NONE)
        return kb_corrupt(KB_FILE_TERMS, terms->word_records.offset, "two words have one form", error);
    *word = merge->words[number];
    if (*word != KB_NONE)
        return KB_OK;
    const uint8_t *bytes = NULL;
    uint32_t length = 0;
    uint32_t stem_number = 0;
    kb_status status = kb_strings_get(&terms->words, number, &bytes, &length, error);
    if (status == KB_OK)
        status = kb_builder_word(builder, bytes, length, word);
    if (status == KB_OK)
        status = kb_strings_get(&terms->stems, stem->number, &bytes, &length, error);
    if (status == KB_OK)
        status = kb_intern_add(&builder->stems, bytes, length, &stem_number);
    if (status != KB_OK)
        return status;
    if (builder->word_stems.items[*word] == KB_NONE)
        builder->word_stems.items[*word] = stem_number;
    if (builder->word_stems.items[*word] != stem_number)
        return kb_corrupt(KB_FILE_TERMS, terms->word_records.offset,
                          "a word has another stem than in an earlier segment", error);
    merge->words[number] = *word;
    return KB_OK;
}

static kb_status read_stem(merge_task *merge, const kb_stem *stem, kb_error *error) {
    kb_postings postings;
    kb_positions positions;
    kb_status status = kb_postings_open(&merge->segment->terms, stem, &postings, error);
    if (status == KB_OK)
        status = kb_positions_open(&merge->segment->terms, stem, &positions, error);
    while (status == KB_OK && postings.left > 0) {
        status = kb_postings_next(&postings, error);
        for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK && kept(merge, postings.entry); field++) {
            if (!(postings.mask >> field & 1))
                continue;
            status = kb_positions_seek(&positions, &postings, field, error);
            size_t *next = &merge->next[(size_t)postings.entry * KB_FIELDS + field];
            for (uint32_t i = 0; i < postings.frequencies[field] && status == KB_OK; i++) {
                uint32_t word = 0;
                status = kb_positions_next(&positions, error);
                if (status == KB_OK && !kb_places_mark(&merge->places, postings.entry, field, positions.position))
                    status = kb_places_corrupt(&merge->places, postings.entry, error);
                if (status == KB_OK)
                    status = map_form(merge, stem, positions.form, &word, error);
                if (status == KB_OK)
                    merge->builder->tokens[(*next)++] = (kb_token){word, positions.position};
            }
        }
    }
    return status;
}

static kb_status read_tokens(merge_task *merge, kb_error *error) {
    const kb_terms *terms = &merge->segment->terms;
    kb_status status = KB_OK;
    for (uint32_t i = 0; i < terms->stems.count && status == KB_OK; i++) {
        kb_stem stem;
        status = kb_terms_stem(terms, i, &stem, error);
        if (status == KB_OK)
            status = read_stem(merge, &stem, error);
    }
    return status;
}

static kb_status read_records(merge_task *merge, kb_error *error) {
    const kb_corpus *corpus = &merge->segment->corpus;
    kb_bytes *stored = &merge->builder->stored;
    for (uint32_t i = 0; i < merge->segment->entries; i++) {
        kb_entry record;
        kb_cursor cursor;
        kb_built_entry *entry = &merge->entries[i];
        if (!kept(merge, i))
            continue;
        kb_status status = kb_places_check(&merge->places, i, error);
        if (status == KB_OK)
            status = kb_corpus_entry(corpus, i, &record, error);
        if (status == KB_OK)
            status = kb_corpus_stored(corpus, i, &cursor, error);
        if (status != KB_OK)
            return status;
        entry->stored_offset = stored->length;
        entry->stored_length = record.stored_length;
        entry->listed = (record.flags & KB_ENTRY_LISTED) != 0;
        for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++)
            status = kb_corpus_length(corpus, i, field, &entry->lengths[field], error);
        if (status != KB_OK)
            return status;
        kb_bytes_put(stored, cursor.next, record.stored_length);
    }
    return stored->failed ? KB_E_MEMORY : KB_OK;
}

/* Puts a pair in pair_entries and pair_keys for each key of each kept entry, in the order of the segment's keys. */
static kb_status read_pairs(merge_task *merge, const kb_keyed *keyed, kb_intern *keys, kb_error *error) {
    merge->pair_entries.count = merge->pair_keys.count = 0;
    for (uint32_t key = 0; key < keyed->keys.count; key++) {
        const uint8_t *bytes = NULL;
        uint32_t length = 0;
        uint32_t count = 0;
        uint32_t number = KB_NONE;
        kb_status status = kb_keyed_count(keyed, key, &count, error);
        if (status == KB_OK)
            status = kb_keyed_entries(keyed, key, merge->entries_of_key, error);
        if (status == KB_OK)
            status = kb_strings_get(&keyed->keys, key, &bytes, &length, error);
        for (uint32_t i = 0; i < count && status == KB_OK; i++) {
            if (!kept(merge, merge->entries_of_key[i]))
                continue;
            if (number == KB_NONE)
                status = kb_intern_add(keys, bytes, length, &number);
            if (status == KB_OK)
                status = kb_numbers_put(&merge->pair_entries, merge->entries_of_key[i]);
            if (status == KB_OK)
                status = kb_numbers_put(&merge->pair_keys, number);
        }
        if (status != KB_OK)
            return status;
    }
    return KB_OK;
}

/* Adds the keys of the kept entries to `numbers`, one entry after the other. */
static kb_status read_keys(merge_task *merge, const kb_keyed *keyed, kb_intern *keys, kb_numbers *numbers, bool filters,
                           kb_error *error) {
    kb_status status = read_pairs(merge, keyed, keys, error);
    size_t first = numbers->count;
    for (size_t i = 0; i < merge->pair_keys.count && status == KB_OK; i++)
        status = kb_numbers_put(numbers, KB_NONE);
    if (status != KB_OK)
        return status;
    memset(merge->next, 0, merge->segment->entries * sizeof *merge->next);
    for (size_t i = 0; i < merge->pair_entries.count; i++)
        merge->next[merge->pair_entries.items[i]]++;
    for (uint32_t i = 0; i < merge->segment->entries; i++) {
        uint32_t count = (uint32_t)merge->next[i];
        *(filters ? &merge->entries[i].filters : &merge->entries[i].references) = count;
        *(filters ? &merge->entries[i].first_filter : &merge->entries[i].first_reference) = first;
        merge->next[i] = first;
        first += count;
    }
    for (size_t i = 0; i < merge->pair_entries.count; i++)
        numbers->items[merge->next[merge->pair_entries.items[i]]++] = merge->pair_keys.items[i];
    return KB_OK;
}

static kb_status append_entries(merge_task *merge, uint32_t *twice, kb_error *error) {
    kb_status status = KB_OK;
    for (uint32_t i = 0; i < merge->segment->entries && status == KB_OK; i++) {
        const uint8_t *kbid = NULL;
        if (!kept(merge, i))
            continue;
        status = kb_corpus_kbid(&merge->segment->corpus, i, &kbid, error);
        merge->builder->open = merge->entries[i];
        *twice = i; /* a damaged segment can hold one kbid twice */
        if (status == KB_OK)
            status = kb_builder_append(merge->builder, kbid);
    }
    return status;
}

kb_status kb_builder_merge(kb_builder *builder, const kb_segment *segment, const uint8_t *keep, uint32_t *twice,
                           kb_error *error) {
    size_t entries = segment->entries;
    size_t words = segment->terms.words.count;
    size_t stems = segment->terms.stems.count;
    merge_task merge = {.builder = builder, .segment = segment, .keep = keep};
    kb_builder_roll_back(builder);
    kb_status status = check_new(&merge, twice, error);
    if (status != KB_OK)
        return status;
    merge.entries = calloc(entries + 1, sizeof *merge.entries);
    merge.next = calloc(entries * KB_FIELDS + 1, sizeof *merge.next);
    merge.form_bases = malloc((stems + 1) * sizeof(uint32_t));
    merge.form_words = malloc((words + 1) * sizeof(uint32_t));
    merge.words = malloc((words + 1) * sizeof(uint32_t));
    merge.entries_of_key = malloc((entries + 1) * sizeof(uint32_t));
    if (!merge.entries || !merge.next || !merge.form_bases || !merge.form_words || !merge.words ||
        !merge.entries_of_key) {
        status = KB_E_MEMORY;
        goto done;
    }
    memset(merge.words, 0xFF, (words + 1) * sizeof(uint32_t));
    status = kb_places_new(segment, &merge.places, error);
    if (status == KB_OK)
        status = read_forms(&merge, error);
    if (status == KB_OK)
        status = count_tokens(&merge, error);
    if (status == KB_OK)
        status = place_tokens(&merge, error);
    if (status == KB_OK)
        status = read_tokens(&merge, error);
    if (status == KB_OK)
        status = read_records(&merge, error);
    if (status == KB_OK)
        status = read_keys(&merge, &segment->corpus.filters, &builder->filter_keys, &builder->filters, true, error);
    if (status == KB_OK)
        status = read_keys(&merge, &segment->references, &builder->reference_keys, &builder->references, false, error);
    if (status == KB_OK)
        status = append_entries(&merge, twice, error);
done:
    if (status != KB_OK)
        kb_builder_roll_back(builder);
    free(merge.entries);
    free(merge.next);
    free(merge.form_bases);
    free(merge.form_words);
    free(merge.words);
    kb_places_free(&merge.places);
    free(merge.entries_of_key);
    free(merge.pair_entries.items);
    free(merge.pair_keys.items);
    return status;
}
