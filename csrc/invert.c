/* Turns what a builder collected into a segment's four files (builder.h).
 *
 * The tokens are sorted by stem: counted, then dealt out, in rounds of so many that the sorted ones fit a bounded
 * amount of memory. Within a stem they keep the order they were dealt in: by entry, field, position.
 */
#include <stdlib.h>
#include <string.h>

#include "bitmap.h"
#include "builder.h"
#include "crc32.h"
#include "lists_write.h"

#define ROUND_TOKENS ((size_t)1 << 21) /* 25 MB sorted at a time; smaller means more passes over all tokens */

/* A token in its stem's list. The field is part of `form`, below the form, so that one number holds both. */
typedef struct {
    uint32_t entry;
    uint32_t position;
    uint32_t form;
} occurrence;

#define FIELD_BITS 3u
#define FIELD_OF(form) ((form) & ((1u << FIELD_BITS) - 1))

typedef struct {
    kb_builder *builder;
    uint32_t *order; /* the builder's entries in kbid order */
    uint32_t *stems; /* the builder's stems that occur, ascending */
    uint32_t stems_count;
    uint32_t *word_ranks;  /* by word: the rank of its stem */
    uint32_t *word_forms;  /* by word: its form */
    uint32_t *stem_forms;  /* by rank: the number of forms */
    uint32_t *stem_places; /* by rank: the place of its first word; and one more, the end */
    uint32_t *word_places; /* by word: its place among all words, by stem and form */
    uint32_t *place_stems; /* by place: the rank of its stem */
    size_t *stem_tokens;   /* by rank: the number of tokens */
    uint32_t *distinct;    /* by entry in kbid order: stems in title and body */
    size_t *next;          /* by rank, in a round: where the next token goes */
    occurrence *occurrences;
    size_t occurrences_capacity;
    kb_bytes regions[KB_REGIONS_MAX];
    kb_bytes lengths;        /* region 9 of corpus.dat */
    uint32_t *entry_lengths; /* the same by entry, close together: every posting asks for its entry's */
    uint8_t length_widths[KB_FIELDS];
    uint64_t totals[KB_FIELDS];
    kb_bm25f bm25f;
    kb_bm25f_tables *tables; /* of a segment that is not small */
    kb_lists_writer writer;
    uint32_t kbids_crc;
} inversion_task;

static uint32_t *new_numbers(size_t count) { return calloc(count + 1, sizeof(uint32_t)); }

/* Sorts entries and stems, and numbers the words' forms. */
static kb_status rank(inversion_task *inversion) {
    const kb_builder *builder = inversion->builder;
    for (uint32_t i = 0; i < builder->entries_count; i++)
        inversion->order[i] = i;
    kb_status status = kb_intern_sort(&builder->kbids, inversion->order, builder->entries_count);
    uint32_t *stem_ranks = new_numbers(builder->stems.count);
    if (status != KB_OK || stem_ranks == NULL) {
        free(stem_ranks);
        return KB_E_MEMORY;
    }
    for (size_t i = 0; i < builder->sorted_words.count; i++)
        stem_ranks[builder->word_stems.items[builder->sorted_words.items[i]]] = 1;
    for (uint32_t i = 0; i < builder->stems.count; i++)
        if (stem_ranks[i])
            inversion->stems[inversion->stems_count++] = i;
    status = kb_intern_sort(&builder->stems, inversion->stems, inversion->stems_count);
    for (uint32_t i = 0; i < inversion->stems_count; i++)
        stem_ranks[inversion->stems[i]] = i;
    for (size_t i = 0; i < builder->sorted_words.count && status == KB_OK; i++) {
        uint32_t word = builder->sorted_words.items[i];
        uint32_t stem = stem_ranks[builder->word_stems.items[word]];
        inversion->word_ranks[word] = stem;
        inversion->word_forms[word] = inversion->stem_forms[stem]++;
        if (inversion->word_forms[word] >= 1u << (32 - FIELD_BITS))
            status = KB_E_TOO_LARGE;
    }
    free(stem_ranks);
    return status;
}

/* Gives every word its place. */
static void place_words(inversion_task *inversion) {
    const kb_builder *builder = inversion->builder;
    for (uint32_t i = 0; i < inversion->stems_count; i++)
        inversion->stem_places[i + 1] = inversion->stem_places[i] + inversion->stem_forms[i];
    for (size_t i = 0; i < builder->sorted_words.count; i++) {
        uint32_t word = builder->sorted_words.items[i];
        uint32_t place = inversion->stem_places[inversion->word_ranks[word]] + inversion->word_forms[word];
        inversion->word_places[word] = place;
        inversion->place_stems[place] = inversion->word_ranks[word];
    }
}

/* Makes tokens name places instead of words: then those of a range of stems are told by one comparison. */
static void rename_tokens(inversion_task *inversion) {
    kb_builder *builder = inversion->builder;
    for (size_t i = 0; i < builder->tokens_count; i++) {
        uint32_t place = inversion->word_places[builder->tokens[i] & KB_TOKEN_WORD];
        builder->tokens[i] = place | (builder->tokens[i] & KB_TOKEN_STEP);
    }
}

/* Counts the tokens of each stem, and the distinct stems of each entry's title and body. */
static kb_status count_tokens(inversion_task *inversion) {
    const kb_builder *builder = inversion->builder;
    uint32_t *seen = new_numbers(inversion->stems_count);
    if (seen == NULL)
        return KB_E_MEMORY;
    for (uint32_t i = 0; i < builder->entries_count; i++) {
        const kb_built_entry *entry = &builder->entries[inversion->order[i]];
        const kb_token *token = builder->tokens + entry->first_token;
        for (uint32_t field = 0; field < KB_FIELDS; field++) {
            for (uint32_t left = entry->tokens[field]; left > 0; left--, token++) {
                uint32_t stem = inversion->place_stems[*token & KB_TOKEN_WORD];
                inversion->stem_tokens[stem]++;
                if (field <= KB_BODY && seen[stem] != i + 1) {
                    seen[stem] = i + 1;
                    inversion->distinct[i]++;
                }
            }
        }
    }
    free(seen);
    return KB_OK;
}

/* Deals the tokens of stems `first` to `end - 1` out. */
static void deal(inversion_task *inversion, uint32_t first, uint32_t end) {
    const kb_builder *builder = inversion->builder;
    uint32_t low = inversion->stem_places[first];
    uint32_t size = inversion->stem_places[end] - low;
    for (uint32_t i = 0; i < builder->entries_count; i++) {
        const kb_built_entry *entry = &builder->entries[inversion->order[i]];
        const kb_token *token = builder->tokens + entry->first_token;
        for (uint32_t field = 0; field < KB_FIELDS; field++) {
            uint32_t position = 0;
            for (uint32_t left = entry->tokens[field]; left > 0; left--, token++) {
                uint32_t place = *token & KB_TOKEN_WORD;
                position += *token >> KB_TOKEN_STEP_SHIFT;
                if (place - low >= size)
                    continue;
                uint32_t stem = inversion->place_stems[place];
                uint32_t form = place - inversion->stem_places[stem];
                inversion->occurrences[inversion->next[stem]++] = (occurrence){i, position, form << FIELD_BITS | field};
            }
        }
    }
}

/* Sorts the tokens of one stem in one entry by field, position, form. They come nearly so: only words at one position
 * can be out of order. */
static void sort_group(occurrence *group, size_t count) {
    for (size_t i = 1; i < count; i++) {
        occurrence moved = group[i];
        size_t at = i;
        while (at > 0 && FIELD_OF(group[at - 1].form) == FIELD_OF(moved.form) &&
               group[at - 1].position == moved.position && group[at - 1].form > moved.form) {
            group[at] = group[at - 1];
            at--;
        }
        group[at] = moved;
    }
}

#define AHEAD 8u /* tokens */

/* Writes one stem's lists and record. */
static kb_status put_stem(inversion_task *inversion, occurrence *tokens, size_t count, uint32_t forms) {
    kb_lists_writer *writer = &inversion->writer;
    kb_lists_begin(writer, forms);
    for (size_t start = 0, end = 0; start < count; start = end) {
        uint32_t frequencies[KB_FIELDS] = {0};
        kb_status status = KB_OK;
        /* A rare stem's entries stand far apart, and asking for each one's lengths would wait for memory. */
        if (count - start > AHEAD)
            __builtin_prefetch(inversion->entry_lengths + (size_t)tokens[start + AHEAD].entry * KB_FIELDS);
        while (end < count && tokens[end].entry == tokens[start].entry)
            end++;
        sort_group(tokens + start, end - start);
        for (size_t i = start; i < end && status == KB_OK; i++) {
            frequencies[FIELD_OF(tokens[i].form)]++;
            status = kb_lists_value(writer, tokens[i].position, tokens[i].form >> FIELD_BITS);
        }
        if (status == KB_OK) {
            uint32_t entry = tokens[start].entry;
            status = kb_lists_posting(writer, entry, frequencies, inversion->entry_lengths + (size_t)entry * KB_FIELDS);
        }
        if (status != KB_OK)
            return status;
    }
    return kb_lists_end(writer);
}

/* Makes room for the tokens of a round. The same memory serves all rounds: the first is seldom much smaller. */
static bool reserve_occurrences(inversion_task *inversion, size_t count) {
    if (count <= inversion->occurrences_capacity)
        return true;
    free(inversion->occurrences);
    inversion->occurrences = malloc(count * sizeof *inversion->occurrences);
    inversion->occurrences_capacity = inversion->occurrences == NULL ? 0 : count;
    return inversion->occurrences != NULL;
}

static kb_status put_stems(inversion_task *inversion) {
    uint32_t end = 0;
    for (uint32_t first = 0; first < inversion->stems_count; first = end) {
        size_t total = 0;
        for (; end < inversion->stems_count && (end == first || total + inversion->stem_tokens[end] <= ROUND_TOKENS);
             end++) {
            inversion->next[end] = total;
            total += inversion->stem_tokens[end];
        }
        if (!reserve_occurrences(inversion, total))
            return KB_E_MEMORY;
        deal(inversion, first, end);
        for (uint32_t i = first; i < end; i++) {
            size_t tokens = inversion->stem_tokens[i];
            kb_status status = put_stem(inversion, inversion->occurrences + inversion->next[i] - tokens, tokens,
                                        inversion->stem_forms[i]);
            if (status != KB_OK)
                return status;
        }
    }
    return kb_lists_end_all(&inversion->writer);
}

/* Writes strings to an offsets and a bytes region. */
static kb_status put_strings(const kb_intern *strings, const uint32_t *numbers, size_t count, kb_bytes *offsets,
                             kb_bytes *bytes) {
    kb_bytes_put_u32(offsets, 0);
    for (size_t i = 0; i < count; i++) {
        size_t length = 0;
        const uint8_t *string = kb_intern_bytes(strings, numbers[i], &length);
        kb_bytes_put(bytes, string, length);
        if (bytes->length > UINT32_MAX)
            return KB_E_TOO_LARGE;
        kb_bytes_put_u32(offsets, (uint32_t)bytes->length);
    }
    return bytes->failed || offsets->failed ? KB_E_MEMORY : KB_OK;
}

static kb_status finish_file(inversion_task *inversion, kb_file file, kb_bytes *regions, kb_bytes *out) {
    kb_region parts[KB_REGIONS_MAX];
    bool failed = false;
    for (uint32_t i = 0; i < kb_container_regions(file); i++) {
        parts[i] = (kb_region){regions[i].data, regions[i].length};
        failed = failed || regions[i].failed;
    }
    if (!failed)
        kb_container_write(file, inversion->builder->fingerprint, inversion->builder->entries_count,
                           inversion->kbids_crc, parts, out);
    for (uint32_t i = 0; i < kb_container_regions(file); i++)
        kb_bytes_free(&regions[i]);
    return failed || out->failed ? KB_E_MEMORY : KB_OK;
}

static kb_status write_terms(inversion_task *inversion, kb_bytes *terms, kb_bytes *positions) {
    const kb_builder *builder = inversion->builder;
    kb_bytes *regions = inversion->regions;
    const kb_numbers *words = &builder->sorted_words;
    kb_status status = put_strings(&builder->words, words->items, words->count, &regions[0], &regions[1]);
    uint32_t forms = 0;
    for (uint32_t i = 0; i < inversion->stems_count; i++)
        forms = inversion->stem_forms[i] > forms ? inversion->stem_forms[i] : forms;
    kb_terms_shape shape = kb_terms_shape_of(builder->entries_count, inversion->stems_count, forms);
    for (size_t i = 0; i < words->count; i++) {
        kb_bytes_put_narrow(&regions[2], inversion->word_ranks[words->items[i]], shape.word_stem);
        kb_bytes_put_narrow(&regions[2], inversion->word_forms[words->items[i]], shape.word_form);
    }
    inversion->writer.shape = shape;
    if (status == KB_OK)
        status = put_strings(&builder->stems, inversion->stems, inversion->stems_count, &regions[3], &regions[4]);
    if (status == KB_OK)
        status = put_stems(inversion);
    /* The files are largest from here on, and the tokens have been dealt out. */
    free(inversion->occurrences);
    inversion->occurrences = NULL;
    kb_builder_forget_tokens(inversion->builder);
    regions[5] = inversion->writer.records;
    regions[6] = inversion->writer.postings;
    kb_bytes lists = inversion->writer.positions;
    inversion->writer.records = inversion->writer.postings = inversion->writer.positions = (kb_bytes){0};
    if (status == KB_OK)
        status = finish_file(inversion, KB_FILE_TERMS, regions, terms);
    if (status == KB_OK)
        status = finish_file(inversion, KB_FILE_POSITIONS, &lists, positions);
    kb_bytes_free(&lists);
    return status;
}

/* The keys of one entry: where they begin among the builder's, and how many. */
static uint32_t keys_of(const kb_built_entry *entry, bool filters, size_t *first) {
    *first = filters ? entry->first_filter : entry->first_reference;
    return filters ? entry->filters : entry->references;
}

/* Writes the list of `count` of `all` entries; when it is all of them, that is said without bytes. */
static void put_list(kb_bytes *records, kb_bytes *lists, const uint32_t *entries, uint32_t count, uint32_t all) {
    size_t start = lists->length;
    for (uint32_t i = 0; i < count && count < all; i++)
        kb_bytes_put_varint(lists, i == 0 ? entries[0] : entries[i] - entries[i - 1] - 1);
    if (lists->failed)
        return;
    kb_bytes_put_u64(records, start);
    kb_bytes_put_u32(records, (uint32_t)(lists->length - start));
    kb_bytes_put_u32(records, count);
    kb_bytes_put_u32(records, kb_crc32(lists->data + start, lists->length - start));
}

/* Writes the four regions of keyed lists. */
static kb_status put_keyed(const inversion_task *inversion, bool filters, kb_bytes regions[4]) {
    const kb_builder *builder = inversion->builder;
    const kb_intern *keys = filters ? &builder->filter_keys : &builder->reference_keys;
    const kb_numbers *numbers = filters ? &builder->filters : &builder->references;
    uint32_t *counts = new_numbers(keys->count);
    uint32_t *used = new_numbers(keys->count);
    uint32_t *entries = new_numbers(numbers->count);
    size_t *ends = calloc((size_t)keys->count + 1, sizeof *ends);
    uint32_t used_count = 0;
    size_t end = 0;
    kb_status status = KB_E_MEMORY;
    if (counts == NULL || used == NULL || entries == NULL || ends == NULL)
        goto done;
    for (size_t i = 0; i < numbers->count; i++)
        counts[numbers->items[i]]++;
    for (uint32_t i = 0; i < keys->count; i++) {
        if (counts[i] > 0)
            used[used_count++] = i;
        ends[i] = end;
        end += counts[i];
    }
    for (uint32_t i = 0; i < builder->entries_count; i++) {
        size_t first = 0;
        uint32_t count = keys_of(&builder->entries[inversion->order[i]], filters, &first);
        for (uint32_t key = 0; key < count; key++)
            entries[ends[numbers->items[first + key]]++] = i;
    }
    status = kb_intern_sort(keys, used, used_count);
    if (status == KB_OK)
        status = put_strings(keys, used, used_count, &regions[0], &regions[1]);
    for (uint32_t i = 0; i < used_count && status == KB_OK; i++)
        put_list(&regions[2], &regions[3], entries + ends[used[i]] - counts[used[i]], counts[used[i]],
                 builder->entries_count);
done:
    free(counts);
    free(used);
    free(entries);
    free(ends);
    return status;
}

/* Writes the removed kbids, less those that are entries. */
static kb_status put_removed(const kb_builder *builder, kb_bytes *out) {
    uint32_t *numbers = new_numbers(builder->removed.count);
    size_t count = 0;
    kb_status status = numbers == NULL ? KB_E_MEMORY : KB_OK;
    for (uint32_t i = 0; i < builder->removed.count && status == KB_OK; i++) {
        size_t length = 0;
        uint32_t number = 0;
        const uint8_t *kbid = kb_intern_bytes(&builder->removed, i, &length);
        if (!kb_intern_find(&builder->kbids, kbid, length, &number))
            numbers[count++] = i;
    }
    if (status == KB_OK)
        status = kb_intern_sort(&builder->removed, numbers, count);
    for (size_t i = 0; i < count && status == KB_OK; i++) {
        size_t length = 0;
        const uint8_t *kbid = kb_intern_bytes(&builder->removed, numbers[i], &length);
        kb_bytes_put(out, kbid, length);
    }
    free(numbers);
    return status;
}

static void put_kbids(inversion_task *inversion, kb_bytes *out) {
    const kb_builder *builder = inversion->builder;
    for (uint32_t i = 0; i < builder->entries_count; i++) {
        size_t length = 0;
        const uint8_t *kbid = kb_intern_bytes(&builder->kbids, inversion->order[i], &length);
        kb_bytes_put(out, kbid, length);
    }
    if (!out->failed)
        inversion->kbids_crc = kb_crc32(out->data, out->length);
}

/* Writes the shared strings that entries begin with, and numbers them, from 1 on, in `ranks`. */
static kb_status put_shared(const kb_builder *builder, uint32_t *ranks, uint32_t *count, kb_bytes regions[2]) {
    uint32_t *used = new_numbers(builder->shared.count);
    if (used == NULL)
        return KB_E_MEMORY;
    for (uint32_t i = 0; i < builder->entries_count; i++)
        if (builder->entries[i].shared != KB_NONE)
            ranks[builder->entries[i].shared] = 1;
    for (uint32_t i = 0; i < builder->shared.count; i++)
        if (ranks[i] > 0)
            used[(*count)++] = i;
    kb_status status = kb_intern_sort(&builder->shared, used, *count);
    for (uint32_t i = 0; i < *count; i++)
        ranks[used[i]] = i + 1;
    if (status == KB_OK)
        status = put_strings(&builder->shared, used, *count, &regions[0], &regions[1]);
    free(used);
    return status;
}

/* Writes the entries' records and what is stored with them. */
static kb_status put_entries(inversion_task *inversion) {
    const kb_builder *builder = inversion->builder;
    kb_bytes *records = &inversion->regions[KB_CORPUS_RECORDS];
    kb_bytes *stored = &inversion->regions[KB_CORPUS_STORED];
    uint32_t *ranks = new_numbers(builder->shared.count);
    uint32_t shared = 0;
    uint32_t distinct = 0;
    kb_status status = builder->stored.length > UINT32_MAX ? KB_E_TOO_LARGE : KB_OK;
    if (ranks == NULL)
        return KB_E_MEMORY;
    if (status == KB_OK)
        status = put_shared(builder, ranks, &shared, &inversion->regions[KB_CORPUS_SHARED]);
    for (uint32_t i = 0; i < builder->entries_count; i++)
        distinct = inversion->distinct[i] > distinct ? inversion->distinct[i] : distinct;
    kb_record_shape shape = kb_record_shape_of((uint32_t)builder->stored.length, shared, distinct);
    for (uint32_t i = 0; i < builder->entries_count && status == KB_OK; i++) {
        const kb_built_entry *entry = &builder->entries[inversion->order[i]];
        const uint8_t *bytes = entry->stored_length == 0 ? NULL : builder->stored.data + entry->stored_offset;
        kb_bytes_put_narrow(records, (uint32_t)stored->length, shape.stored);
        kb_bytes_put_narrow(records, entry->shared == KB_NONE ? 0 : ranks[entry->shared], shape.shared);
        kb_bytes_put_narrow(records, inversion->distinct[i], shape.distinct);
        kb_bytes_put(stored, bytes, entry->stored_length);
    }
    free(ranks);
    return status;
}

/* Writes the lengths, sums them, and prepares the scores that impacts are made of. */
static kb_status put_lengths(inversion_task *inversion) {
    const kb_builder *builder = inversion->builder;
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        uint32_t longest = 0;
        for (uint32_t i = 0; i < builder->entries_count; i++) {
            uint32_t length = builder->entries[inversion->order[i]].lengths[field];
            inversion->entry_lengths[(size_t)i * KB_FIELDS + field] = length;
            longest = length > longest ? length : longest;
            inversion->totals[field] += length;
        }
        uint32_t width = kb_corpus_length_width(longest);
        inversion->length_widths[field] = (uint8_t)width;
        for (uint32_t i = 0; i < builder->entries_count && width > 0; i++)
            kb_bytes_put_narrow(&inversion->lengths, inversion->entry_lengths[(size_t)i * KB_FIELDS + field], width);
    }
    kb_bm25f_prepare(&builder->params, builder->entries_count, inversion->totals, &inversion->bm25f);
    inversion->writer.bm25f = &inversion->bm25f;
    inversion->writer.entries_count = builder->entries_count;
    if (inversion->lengths.failed)
        return KB_E_MEMORY;
    if (builder->entries_count < KB_TABULATED_FROM)
        return KB_OK;
    inversion->tables = malloc(sizeof *inversion->tables);
    if (inversion->tables == NULL)
        return KB_E_MEMORY;
    kb_bm25f_tabulate(&inversion->bm25f, inversion->tables);
    return KB_OK;
}

static void put_codes_and_totals(inversion_task *inversion, kb_bytes *codes, kb_bytes *totals) {
    const kb_builder *builder = inversion->builder;
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        for (uint32_t i = 0; i < builder->entries_count; i++) {
            kb_bytes_put_u8(codes,
                            (uint8_t)kb_corpus_length_code(builder->entries[inversion->order[i]].lengths[field]));
        }
    }
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        kb_bytes_put_u64(totals, inversion->totals[field]);
    kb_bytes_put(totals, inversion->length_widths, KB_FIELDS);
}

static void put_listed(const inversion_task *inversion, kb_bytes *bitmap) {
    const kb_builder *builder = inversion->builder;
    kb_bytes_put_zeros(bitmap, builder->entries_count / 8 + (builder->entries_count % 8 != 0));
    for (uint32_t i = 0; i < builder->entries_count && !bitmap->failed; i++)
        if (builder->entries[inversion->order[i]].listed)
            kb_bitmap_set(bitmap->data, i);
}

static kb_status write_corpus(inversion_task *inversion, kb_bytes *out) {
    const kb_builder *builder = inversion->builder;
    kb_bytes *regions = inversion->regions;
    kb_status status = put_entries(inversion);
    if (status == KB_OK)
        status = put_keyed(inversion, true, regions + 2);
    if (status == KB_OK)
        status = put_removed(builder, &regions[7]);
    put_codes_and_totals(inversion, &regions[8], &regions[10]);
    put_listed(inversion, &regions[11]);
    regions[9] = inversion->lengths;
    inversion->lengths = (kb_bytes){0};
    return status == KB_OK ? finish_file(inversion, KB_FILE_CORPUS, regions, out) : status;
}

kb_status kb_builder_write(kb_builder *builder, kb_bytes files[KB_FILES]) {
    inversion_task inversion = {
        .builder = builder,
        .order = new_numbers(builder->entries_count),
        .stems = new_numbers(builder->stems.count),
        .word_ranks = new_numbers(builder->words.count),
        .word_forms = new_numbers(builder->words.count),
        .stem_forms = new_numbers(builder->stems.count),
        .stem_tokens = calloc((size_t)builder->stems.count + 1, sizeof(size_t)),
        .stem_places = new_numbers((size_t)builder->stems.count + 1),
        .word_places = new_numbers(builder->words.count),
        .place_stems = new_numbers(builder->words.count),
        .next = calloc((size_t)builder->stems.count + 1, sizeof(size_t)),
        .distinct = new_numbers(builder->entries_count),
        .entry_lengths = new_numbers((size_t)builder->entries_count * KB_FIELDS),
    };
    kb_bytes kbids = {0};
    kb_status status = KB_E_MEMORY;
    if (inversion.order && inversion.stems && inversion.word_ranks && inversion.word_forms && inversion.stem_forms &&
        inversion.stem_tokens && inversion.stem_places && inversion.word_places && inversion.place_stems &&
        inversion.next && inversion.distinct && inversion.entry_lengths)
        status = rank(&inversion);
    if (status == KB_OK) {
        place_words(&inversion);
        rename_tokens(&inversion);
        status = count_tokens(&inversion);
    }
    if (status == KB_OK)
        put_kbids(&inversion, &kbids);
    if (status == KB_OK)
        status = put_lengths(&inversion);
    if (status == KB_OK)
        status = write_terms(&inversion, &files[KB_FILE_TERMS], &files[KB_FILE_POSITIONS]);
    if (status == KB_OK) {
        inversion.regions[0] = kbids;
        kbids = (kb_bytes){0};
        status = write_corpus(&inversion, &files[KB_FILE_CORPUS]);
    }
    if (status == KB_OK)
        status = put_keyed(&inversion, false, inversion.regions);
    if (status == KB_OK)
        status = finish_file(&inversion, KB_FILE_REFERENCES, inversion.regions, &files[KB_FILE_REFERENCES]);
    for (uint32_t i = 0; i < KB_REGIONS_MAX; i++)
        kb_bytes_free(&inversion.regions[i]);
    kb_bytes_free(&inversion.lengths);
    kb_lists_writer_free(&inversion.writer);
    kb_bytes_free(&kbids);
    free(inversion.order);
    free(inversion.stems);
    free(inversion.word_ranks);
    free(inversion.word_forms);
    free(inversion.stem_forms);
    free(inversion.stem_tokens);
    free(inversion.stem_places);
    free(inversion.word_places);
    free(inversion.place_stems);
    free(inversion.next);
    free(inversion.distinct);
    free(inversion.entry_lengths);
    free(inversion.occurrences);
    free(inversion.tables);
    return status;
}
