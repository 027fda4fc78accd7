/* Files of vectors, made and read in every way. */
#include "exercise_vectors.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../bitmap.h"
#include "../vector_search.h"
#include "../vectors_write.h"

#define HITS 40u
#define CROWDS 5u

static uint32_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void put_f32(kb_bytes *out, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    kb_bytes_put_u32(out, bits);
}

/* A number of a vector: of one of some crowds, mostly. */
static float number_of(uint32_t record, uint32_t dimension, uint64_t *state) {
    static const float odd[] = {0.0f, 3.4e38f, -1e-45f, 7.0f};
    uint64_t crowd = record % CROWDS + 1;
    for (uint32_t i = 0; i <= dimension % 3; i++)
        crowd = crowd * 2862933555777941757u + dimension + 3037000493u;
    float centre = (float)(crowd >> 40) / 8388608.0f - 1.0f;
    float noise = (float)next(state) / 1073741824.0f - 1.0f;
    if (record % 11 == 10)
        return record % 2 ? 0.0f : odd[(record / 22 + dimension) % 4];
    return centre + noise * (record % 7 == 6 ? 0.0f : 0.4f);
}

void kb_exercise_vectors_build(uint32_t dimensions, uint32_t records, uint64_t seed, kb_bytes *file) {
    uint64_t state = seed;
    kb_bytes_put(file, (const uint8_t *)"KBVX\1", 5);
    kb_bytes_put_u16(file, (uint16_t)dimensions);
    kb_bytes_put_u32(file, records);
    for (uint32_t i = 0; i < records; i++) {
        uint8_t kbid[KB_KBID_BYTES] = {(uint8_t)(i >> 8), (uint8_t)i, 0, i % 13 == 12};
        kb_bytes_put(file, kbid, sizeof kbid);
        for (uint32_t k = 0; k < dimensions; k++)
            put_f32(file, number_of(i, k, &state));
    }
    assert(!file->failed);
}

/* An open file and what is made of it. */
typedef struct {
    kb_vectors vectors;
    kb_sketches sketches;
    uint8_t *kbids;
    double *lengths;
    kb_owner *owners;
    uint8_t *pointing;
} opened;

static void close_file(opened *file) {
    kb_sketches_free(&file->sketches);
    free(file->kbids);
    free(file->lengths);
    free(file->owners);
    free(file->pointing);
}

/* Checks the records with both ways to add products up, which must find the same. */
static kb_status check(opened *file) {
    const uint32_t count = file->vectors.count;
    kb_error error = {0};
    /* Of exactly their sizes, so that the sanitizer sees a byte too many. */
    file->kbids = malloc((size_t)count * KB_KBID_BYTES);
    file->lengths = malloc(count * sizeof *file->lengths);
    kb_status status = kb_vectors_check(&file->vectors, kb_dot_portable, file->kbids, file->lengths, &error);
    if (kb_dot_avx2() != NULL) {
        double *lengths = malloc(count * sizeof *lengths);
        assert(kb_vectors_check(&file->vectors, kb_dot_avx2(), file->kbids, lengths, &error) == status);
        assert(status != KB_OK || count == 0 || memcmp(lengths, file->lengths, count * sizeof *lengths) == 0);
        free(lengths);
    }
    return status;
}

static kb_status append(void *context, kb_file file, uint64_t offset, const uint8_t *bytes, size_t length) {
    kb_bytes *to = context;
    assert(file == KB_FILE_VECTORS && offset == to->length);
    kb_bytes_put(to, bytes, length);
    return KB_OK;
}

/* Merged with itself, a file stays as it is. */
static void merge(const opened *file, const uint8_t *bytes, size_t length) {
    uint8_t *all = malloc((file->vectors.count + 7) / 8 + 1);
    kb_bytes merged = {0};
    kb_sink sink = {append, &merged};
    memset(all, 0xFF, (file->vectors.count + 7) / 8 + 1);
    kb_vectors_part parts[] = {{&file->vectors, file->kbids, all}, {&file->vectors, file->kbids, all}};
    assert(kb_vectors_merge(parts, 2, file->vectors.dimensions, &sink) == KB_OK);
    assert(merged.length == length && memcmp(merged.data, bytes, length) == 0);
    kb_bytes_free(&merged);
    free(all);
}

static void find_all(const opened *file) {
    for (uint32_t i = 0; i < file->vectors.count; i++) {
        uint32_t record = 0;
        const uint8_t *kbid = kb_vectors_kbid(&file->vectors, i);
        assert(kb_vectors_find(file->kbids, file->vectors.count, kbid, &record) && record == i);
    }
}

static bool is_same(const kb_vector_hit *left, const kb_vector_hit *right) {
    return memcmp(&left->score, &right->score, sizeof left->score) == 0 &&
           left->owner.segment == right->owner.segment && left->owner.entry == right->owner.entry &&
           left->kbid == right->kbid;
}

/* Searches in each way; all must find the same. */
static void search(const kb_vector_searcher *searcher, const uint8_t *query, const uint8_t *const *allowed,
                   uint32_t limit) {
    const kb_vector_ways ways[] = {{kb_dot_portable, NULL},
                                   {kb_dot_portable, &kb_sketch_portable},
                                   {kb_dot_avx2(), NULL},
                                   {kb_dot_avx2(), kb_sketch_avx2()}};
    kb_vector_hit expected[HITS];
    uint32_t expected_count = 0;
    assert(kb_vector_search(searcher, query, allowed, limit, &ways[0], expected, &expected_count) == KB_OK);
    assert(expected_count <= limit);
    for (size_t way = 1; way < sizeof ways / sizeof *ways; way++) {
        kb_vector_hit hits[HITS];
        uint32_t count = 0;
        if (ways[way].dot == NULL)
            continue;
        assert(kb_vector_search(searcher, query, allowed, limit, &ways[way], hits, &count) == KB_OK);
        assert(count == expected_count);
        for (uint32_t i = 0; i < count; i++)
            assert(is_same(&hits[i], &expected[i]));
    }
}

/* The segment that all files are joined with; once. */
static const kb_segment *segment(void) {
    static kb_segment made;
    static kb_bytes files[KB_FILES];
    kb_source sources[KB_FILES];
    kb_error error = {0};
    if (made.entries > 0)
        return &made;
    kb_exercise_build(KB_EXERCISE_LARGE, files);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        sources[file] = (kb_source){files[file].data, files[file].length};
    assert(kb_segment_open(sources, KB_EXERCISE_FINGERPRINT, &made, &error) == KB_OK);
    return &made;
}

static void search_all(opened *file) {
    const uint32_t count = file->vectors.count;
    uint8_t live[(KB_EXERCISE_LARGE + 7) / 8] = {0};
    uint8_t few[(KB_EXERCISE_LARGE + 7) / 8] = {0};
    const uint8_t *allowed[] = {few};
    uint8_t *missing[] = {live};
    kb_error error = {0};
    for (uint32_t i = 0; i < KB_EXERCISE_LARGE; i++) {
        live[i / 8] = (uint8_t)(live[i / 8] | (i % 17 != 16) << i % 8);
        few[i / 8] = (uint8_t)(few[i / 8] | (i % 5 == 1) << i % 8);
    }
    file->owners = malloc(count * sizeof *file->owners);
    file->pointing = calloc(((size_t)count + 7) / 8 + 1, 1);
    kb_view view = {.segment = segment(), .live = live};
    kb_vector_part part = {&file->vectors, file->kbids, file->lengths, &file->sketches, file->owners, file->pointing};
    kb_vector_searcher searcher = {&part, 1, file->vectors.dimensions, 0};
    assert(kb_vector_searcher_open(&view, 1, &searcher, &error) == KB_OK);
    for (uint32_t i = 0; i < count; i += 1 + i * 2) {
        const uint8_t *query = kb_vectors_components(&file->vectors, i);
        search(&searcher, query, NULL, 1 + i % HITS);
        search(&searcher, query, i % 2 ? allowed : NULL, HITS);
        search(&searcher, query, allowed, 3);
    }
    uint32_t left = 0;
    uint8_t *held = calloc((size_t)count / 8 + 1, 1);
    uint32_t all = kb_bitmap_count(live, KB_EXERCISE_LARGE);
    kb_vector_missing(&searcher, missing);
    kb_vector_held(&part, held);
    left = kb_bitmap_count(live, KB_EXERCISE_LARGE);
    assert(all - left == searcher.sections && kb_bitmap_count(held, count) == searcher.sections);
    free(held);
}

kb_status kb_exercise_vectors_read(const uint8_t *bytes, size_t length) {
    opened file = {.kbids = NULL};
    kb_error error = {0};
    kb_status status = kb_vectors_open(bytes, length, &file.vectors, &error);
    if (status == KB_OK)
        status = check(&file);
    if (status == KB_OK) {
        assert(kb_sketches_new(&file.vectors, file.lengths, &file.sketches) == KB_OK);
        merge(&file, bytes, length);
        find_all(&file);
        search_all(&file);
    }
    close_file(&file);
    return status;
}
