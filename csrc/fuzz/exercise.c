/* A small segment and every reader let loose on it. */
#include "exercise.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../builder.h"
#include "../crc32.h"
#include "../search.h"
#include "../similar.h"
#include "../words.h"

static const char *const texts[][KB_FIELDS] = {
    {"Running the server", "The server runs. Run the servers, then run them again.", "", "ops run", "Guide"},
    {"", "cat cats act cast the of a the the", "about cats", "", "Animals"},
    {"Configuration", "set max_connections and camelCase, v1.2.3 or src/main.c", "", "ops", "Guide"},
    {"Empty", "", "", "", ""},
    {"Phrases", "new york new york new york city", "new york", "", "new york"},
    {"\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E", "\xE6\x97\xA5\xE6\x9C\xAC \xE8\xAA\x9E na\xC3\xAFve caf\xC3\xA9", "", "",
     ""},
    {"again", "The server runs. Run the servers, then run them again!", "", "", ""},
};

#define TEXTS (sizeof texts / sizeof *texts)

/* The stem of a word: without its last byte when that is an s. */
static size_t stem_length(const uint8_t *word, size_t length) {
    return length > 1 && word[length - 1] == 's' ? length - 1 : length;
}

/* Gives every word that needs one a folded form and a stem, in the simplest way. */
static void fold_all(kb_builder *builder) {
    while (builder->raws_folded < builder->raws.count) {
        size_t length = 0;
        const uint8_t *raw = kb_intern_bytes(&builder->raws, builder->raws_folded, &length);
        assert(kb_builder_fold(builder, raw, length) == KB_OK);
    }
}

static void stem_all(kb_builder *builder) {
    assert(kb_builder_sort_words(builder) == KB_OK);
    for (size_t i = 0; i < builder->sorted_words.count; i++) {
        uint32_t word = builder->sorted_words.items[i];
        size_t length = 0;
        const uint8_t *bytes = kb_intern_bytes(&builder->words, word, &length);
        if (builder->word_stems.items[word] == KB_NONE)
            assert(kb_builder_set_stem(builder, word, bytes, stem_length(bytes, length)) == KB_OK);
    }
}

static kb_source source_of(const char *text) { return (kb_source){(const uint8_t *)text, strlen(text)}; }

void kb_exercise_build(kb_bytes files[KB_FILES]) {
    kb_builder builder = {0};
    uint8_t kbid[KB_KBID_BYTES] = {0};
    assert(kb_builder_new(KB_EXERCISE_FINGERPRINT, 1, &builder) == KB_OK);
    for (uint32_t i = 0; i < 2 * TEXTS; i++) {
        kb_source fields[KB_FIELDS];
        kb_source filter = source_of(i % 3 ? "tag:x" : "tag:y");
        kb_source reference = source_of("doc:other");
        kbid[0] = (uint8_t)(i * 37);
        for (uint32_t field = 0; field < KB_FIELDS; field++)
            fields[field] = source_of(texts[i % TEXTS][field]);
        assert(kb_builder_analyse(&builder, kbid, fields) == KB_OK);
        fold_all(&builder);
        assert(kb_builder_filter(&builder, filter.bytes, filter.length) == KB_OK);
        if (i % 2)
            assert(kb_builder_reference(&builder, reference.bytes, reference.length) == KB_OK);
        assert(kb_builder_commit(&builder, (const uint8_t *)"stored", i % 7, i % 2) == KB_OK);
    }
    for (uint8_t i = 0; i < 3; i++) {
        kbid[0] = kbid[15] = (uint8_t)(200 + i);
        assert(kb_builder_remove(&builder, kbid) == KB_OK);
    }
    stem_all(&builder);
    assert(kb_builder_write(&builder, files) == KB_OK);
    kb_builder_free(&builder);
}

/* A region of a file as its header tells it, cut to what is inside the file. */
typedef struct {
    uint8_t *bytes;
    size_t length;
} region;

static region find_region(const kb_bytes *file, uint32_t number) {
    size_t at = 32 + (size_t)number * 16;
    if (file->length < at + 16)
        return (region){NULL, 0};
    uint64_t offset = kb_load_u64(file->data + at);
    uint64_t length = kb_load_u64(file->data + at + 8);
    if (offset > file->length || length > file->length - offset)
        return (region){NULL, 0};
    return (region){file->data + offset, (size_t)length};
}

/* Puts the crc of a list into the record that points at it. */
static void reseal_list(region lists, uint64_t offset, uint32_t length, uint8_t *crc) {
    if (lists.bytes != NULL && offset <= lists.length && length <= lists.length - offset)
        kb_store_u32(crc, kb_crc32(lists.bytes + offset, length));
}

static void reseal_records(region records, region lists, size_t size, size_t offset, size_t length, size_t crc) {
    for (size_t at = 0; at + size <= records.length; at += size) {
        uint8_t *row = records.bytes + at;
        reseal_list(lists, kb_load_u64(row + offset), kb_load_u32(row + length), row + crc);
    }
}

static void reseal_pages(const kb_bytes *file, region table) {
    size_t at = (size_t)(table.bytes - file->data) + (table.length + 3) / 4 * 4;
    for (size_t start = 0; start < table.length && at + 4 <= file->length; start += KB_PAGE, at += 4) {
        size_t left = table.length - start;
        kb_store_u32(file->data + at, kb_crc32(table.bytes + start, left < KB_PAGE ? left : KB_PAGE));
    }
}

void kb_exercise_reseal(kb_bytes files[KB_FILES]) {
    kb_bytes *terms = &files[KB_FILE_TERMS];
    kb_bytes *corpus = &files[KB_FILE_CORPUS];
    kb_bytes *references = &files[KB_FILE_REFERENCES];
    region kbids = find_region(corpus, 0);
    reseal_records(find_region(terms, 5), find_region(terms, 6), 40, 0, 16, 32);
    reseal_records(find_region(terms, 5), find_region(&files[KB_FILE_POSITIONS], 0), 40, 8, 20, 36);
    reseal_records(find_region(corpus, 1), find_region(corpus, 6), KB_ENTRY_BYTES, 0, 8, 12);
    reseal_records(find_region(corpus, 4), find_region(corpus, 5), 20, 0, 8, 16);
    reseal_records(find_region(references, 2), find_region(references, 3), 20, 0, 8, 16);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++) {
        size_t header = 32 + (size_t)kb_container_regions(file) * 16;
        if (files[file].length < header + 4)
            continue;
        for (uint32_t i = 0; i < kb_container_regions(file); i++)
            if (!kb_container_is_lists(file, i) && find_region(&files[file], i).bytes != NULL)
                reseal_pages(&files[file], find_region(&files[file], i));
        if (kbids.bytes != NULL)
            kb_store_u32(files[file].data + 28, kb_crc32(kbids.bytes, kbids.length));
        kb_store_u32(files[file].data + header, kb_crc32(files[file].data, header));
    }
}

static void keep_first(kb_status *first, kb_status status) {
    if (*first == KB_OK)
        *first = status;
}

static void read_keys(const kb_keyed *keyed, kb_status *first) {
    kb_error error = {0};
    for (uint32_t i = 0; i < keyed->keys.count; i++) {
        uint32_t count = 0;
        kb_status status = kb_keyed_count(keyed, i, &count, &error);
        uint32_t *entries = malloc(((size_t)count + 1) * sizeof *entries);
        uint8_t *bitmap = calloc((size_t)keyed->entries / 8 + 1, 1);
        assert(entries != NULL && bitmap != NULL);
        if (status == KB_OK)
            status = kb_keyed_entries(keyed, i, entries, &error);
        if (status == KB_OK)
            status = kb_keyed_bitmap(keyed, i, bitmap, &error);
        keep_first(first, status);
        free(entries);
        free(bitmap);
    }
}

static void read_entries(const kb_segment *segment, kb_status *first) {
    kb_error error = {0};
    for (uint32_t i = 0; i < segment->entries; i++) {
        kb_cursor stored = {0};
        kb_status status = kb_corpus_stored(&segment->corpus, i, &stored, &error);
        for (const uint8_t *byte = stored.next; status == KB_OK && byte < stored.end; byte++)
            assert(*byte <= 0xFF);
        keep_first(first, status);
    }
}

static void find_words_of(const kb_view *view, kb_status *first) {
    const kb_terms *terms = &view->segment->terms;
    kb_error error = {0};
    for (uint32_t i = 0; i < terms->stems.count; i++) {
        kb_found_words words = {0};
        kb_stem stem;
        kb_status status = kb_terms_stem(terms, i, &stem, &error);
        keep_first(first, status == KB_OK ? kb_words_of_stem(terms, &stem, &words, &error) : status);
        kb_found_words_free(&words);
    }
}

static void find_words(const kb_view *view, kb_status *first) {
    static const char *const asked[] = {"runs", "s", "\xE6\x97\xA5", "srever", ""};
    kb_error error = {0};
    for (int kind = KB_WORDS_EQUAL; kind <= KB_WORDS_NEAR; kind++) {
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            kb_found_words words = {0};
            const uint8_t *text = (const uint8_t *)asked[i];
            keep_first(first, kb_words_find(view, (kb_words_kind)kind, text, strlen(asked[i]), 2, &words, &error));
            kb_found_words_free(&words);
        }
    }
}

/* Searches with a stem, a field, a phrase of one stem twice, one of several stems, and what must not be. */
static void run_plans(const kb_searcher *searcher, const kb_term *terms, uint32_t count, kb_status *first) {
    const kb_term *phrase[] = {&terms[0], &terms[1], &terms[0]};
    kb_similar_stem set[] = {{&terms[0], NULL}, {&terms[1], NULL}, {&terms[2], NULL}, {&terms[3], NULL}};
    const kb_term *unwanted[] = {&terms[3]};
    kb_alternative ways[] = {
        {&phrase[0], 1, 1.0, terms[0].idf},
        {&phrase[0], 2, 2.0, terms[0].idf},
        {&phrase[0], 3, 0.5, terms[1].idf},
        {&unwanted[0], 1, 1.0, terms[3].idf},
    };
    kb_clause clauses[] = {
        {&ways[0], 1, KB_ALL_FIELDS, KB_SHOULD},
        {&ways[0], 3, KB_ALL_FIELDS, KB_SHOULD},
        {&ways[1], 1, 1u << KB_BODY, KB_MUST},
        {&ways[3], 1, KB_ALL_FIELDS, KB_MUST_NOT},
    };
    kb_scratch scratch = {0};
    kb_hit hits[4];
    kb_share shares[4];
    kb_error error = {0};
    uint32_t found = 0;
    uint64_t total = 0;
    assert(count == 4 && kb_scratch_new(searcher->views[0].segment->entries, &scratch) == KB_OK);
    for (uint32_t i = 0; i <= 4; i++) {
        kb_plan plan = {clauses, i};
        keep_first(first, kb_search(searcher, &plan, NULL, 4, &scratch, hits, &found, &total, &error));
        for (uint32_t entry = 0; entry < searcher->views[0].segment->entries; entry += 5)
            keep_first(first, kb_explain(searcher, &plan, 0, entry, &scratch, shares, &found, &error));
    }
    keep_first(first, kb_similar(searcher, set, count, 0.2, 4, &scratch, hits, &found, &error));
    kb_scratch_free(&scratch);
}

static void search(const kb_segment *segment, kb_status *first) {
    static const char *const stems[4] = {"new", "york", "run", "the"};
    static const kb_params params = {1.2, {0.5, 0.75, 0.5, 0.5, 0.5}, {2.0, 1.0, 0.5, 0.5, 0.5}};
    kb_term terms[4] = {{0}};
    kb_stem places[4];
    kb_lengths lengths = {0};
    kb_searcher searcher = {0};
    kb_error error = {0};
    uint8_t *live = calloc((size_t)segment->entries / 8 + 1, 1);
    kb_view view = {segment, &lengths, live, false};
    assert(live != NULL);
    memset(live, 0x6F, segment->entries / 8);
    kb_status status = kb_lengths_read(segment, &lengths, &error);
    if (status == KB_OK)
        status = kb_searcher_open(&view, 1, &params, &searcher);
    for (uint32_t i = 0; i < 4 && status == KB_OK; i++) {
        terms[i].stems = &places[i];
        status = kb_term_find(&searcher, (const uint8_t *)stems[i], strlen(stems[i]), &terms[i], &error);
    }
    keep_first(first, status);
    if (status == KB_OK) {
        run_plans(&searcher, terms, 4, first);
        find_words(&view, first);
        find_words_of(&view, first);
    }
    kb_searcher_close(&searcher);
    kb_lengths_free(&lengths);
    free(live);
}

static void merge(const kb_segment *segment, kb_status *first) {
    kb_builder builder = {0};
    kb_bytes files[KB_FILES] = {{0}};
    kb_error error = {0};
    uint32_t twice = 0;
    uint8_t *keep = calloc((size_t)segment->entries / 8 + 1, 1);
    assert(keep != NULL && kb_builder_new(KB_EXERCISE_FINGERPRINT, 1, &builder) == KB_OK);
    memset(keep, 0xBD, segment->entries / 8);
    kb_status status = kb_builder_merge(&builder, segment, keep, &twice, &error);
    stem_all(&builder);
    kb_status written = kb_builder_write(&builder, files);
    keep_first(first, status != KB_OK ? status : written);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        kb_bytes_free(&files[file]);
    kb_builder_free(&builder);
    free(keep);
}

kb_status kb_exercise_read(const kb_bytes files[KB_FILES]) {
    kb_source sources[KB_FILES];
    kb_segment segment = {0};
    kb_error error = {0};
    kb_status first = KB_OK;
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        sources[file] = (kb_source){files[file].data, files[file].length};
    keep_first(&first, kb_segment_open(sources, KB_EXERCISE_FINGERPRINT, &segment, &error));
    if (first == KB_OK) {
        read_entries(&segment, &first);
        read_keys(&segment.corpus.filters, &first);
        read_keys(&segment.references, &first);
        search(&segment, &first);
        merge(&segment, &first);
        keep_first(&first, kb_segment_verify(&segment, &error));
    }
    kb_segment_close(&segment);
    return first;
}
