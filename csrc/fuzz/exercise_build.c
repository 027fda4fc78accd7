/* The exercised segments, built, and their checksums made right again. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "../crc32.h"
#include "exercise.h"

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

#define TEXTS ((uint32_t)(sizeof texts / sizeof *texts))
#define STEP 37u /* of entries as they come: shares no factor with their numbers */

const kb_params kb_exercise_params = {1.2, {0.5, 0.75, 0.5, 0.5, 0.5}, {2.0, 1.0, 0.5, 0.5, 0.5}};

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

void kb_exercise_stem(kb_builder *builder) {
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

/* The words of entry `number` of a large segment, most in lists of several blocks: frequencies of each code and past
 * them, gaps of each width with and without escapes, phrases that stand often in one field. */
static void write_body(uint32_t number, char *to, size_t size) {
    uint32_t often = number % 40 == 0 ? 12 : number % 2;
    size_t at = 0;
    to[0] = 0;
    for (uint32_t i = 0; i < 1 + number % 6 && number % 4 != 3; i++)
        at += (size_t)snprintf(to + at, size - at, i % 2 ? "the " : "thes ");
    for (uint32_t i = 0; i < often; i++)
        at += (size_t)snprintf(to + at, size - at, i % 3 ? "new york " : "york new news ");
    if (number % 20 == 0)
        at += (size_t)snprintf(to + at, size - at, "run ");
    if (number < 2 || number == 300)
        at += (size_t)snprintf(to + at, size - at, "far ");
    if (number == 515)
        at += (size_t)snprintf(to + at, size - at, "farthest ");
    assert(at < size);
}

/* Adds entry `number`. The last bytes of the kbid are in another order than the entries come in. */
static void add_entry(kb_builder *builder, uint32_t number, uint32_t entries) {
    uint8_t kbid[KB_KBID_BYTES] = {0};
    char body[512];
    kb_source fields[KB_FIELDS];
    kb_source filter = source_of(number % 3 ? "tag:x" : "tag:y");
    kb_source reference = source_of("doc:other");
    kbid[0] = (uint8_t)(number >> 8);
    kbid[1] = (uint8_t)number;
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        fields[field] = source_of(number < 2 * TEXTS || number % 11 == 0 ? texts[number % TEXTS][field] : "");
    if (entries > 2 * TEXTS) {
        write_body(number, body, sizeof body);
        fields[KB_BODY] = source_of(body);
    }
    assert(kb_builder_analyse(builder, kbid, fields) == KB_OK);
    fold_all(builder);
    assert(kb_builder_filter(builder, filter.bytes, filter.length) == KB_OK);
    if (number % 2)
        assert(kb_builder_reference(builder, reference.bytes, reference.length) == KB_OK);
    assert(kb_builder_commit(builder,
                             (const uint8_t *)"a\x1f"
                                              "b\x1f"
                                              "own",
                             number % 8, number % 2) == KB_OK);
}

void kb_exercise_build(uint32_t entries, kb_bytes files[KB_FILES]) {
    kb_builder builder = {0};
    assert(kb_builder_new(KB_EXERCISE_FINGERPRINT, &kb_exercise_params, 1, &builder) == KB_OK);
    for (uint32_t i = 0; i < entries; i++)
        add_entry(&builder, i * STEP % entries, entries);
    for (uint8_t i = 0; i < 3; i++) {
        uint8_t kbid[KB_KBID_BYTES] = {(uint8_t)(200 + i)};
        assert(kb_builder_remove(&builder, kbid) == KB_OK);
    }
    kb_exercise_stem(&builder);
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

/* The same for the records of stems, each of whose lists ends where that of the next record begins. */
static void reseal_stems(region records, region offsets, region postings, region positions) {
    size_t size = offsets.length < 4 ? 0 : records.length / (offsets.length / 4);
    for (size_t at = 0; size >= 20 && at + 2 * size <= records.length; at += size) {
        uint8_t *row = records.bytes + at;
        reseal_list(postings, kb_load_u40(row), (uint32_t)(kb_load_u40(row + size) - kb_load_u40(row)), row + 10);
        reseal_list(positions, kb_load_u40(row + 5), (uint32_t)(kb_load_u40(row + size + 5) - kb_load_u40(row + 5)),
                    row + 14);
    }
}

static void reseal_pages(const kb_bytes *file, region table) {
    size_t at = (size_t)(table.bytes - file->data) + (table.length + 3) / 4 * 4;
    for (size_t start = 0; start < table.length && at + 4 <= file->length; start += KB_PAGE, at += 4) {
        size_t left = table.length - start;
        kb_store_u32(file->data + at, kb_crc32(table.bytes + start, left < KB_PAGE ? left : KB_PAGE));
    }
}

void kb_exercise_reseal(kb_bytes *files) {
    kb_bytes *terms = &files[KB_FILE_TERMS];
    kb_bytes *corpus = &files[KB_FILE_CORPUS];
    kb_bytes *references = &files[KB_FILE_REFERENCES];
    region kbids = find_region(corpus, 0);
    reseal_stems(find_region(terms, 5), find_region(terms, 3), find_region(terms, 6),
                 find_region(&files[KB_FILE_POSITIONS], 0));
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
