/* Tests of vectors: both ways to multiply give the same bits, no sketch promises too little, searches of any way find
 * the same, damage is found, and what a sink refuses is told. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../csrc/bitmap.h"
#include "../../csrc/bytes_out.h"
#include "../../csrc/fuzz/exercise_vectors.h"
#include "../../csrc/vector_search.h"
#include "../../csrc/vectors_write.h"
#include "check.h"
#include "random.h"

static float number(uint64_t *state) { return (float)random_below(state, 1u << 24) / 8388608.0f - 1.0f; }

static void store_f32(uint8_t *to, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    kb_store_u32(to, bits);
}

void test_dot(void) {
    static const float odd[] = {3.4e38f, -3.4e38f, 1e-45f, -0.0f};
    uint64_t state = 1;
    for (uint32_t count = 0; count < 70; count++) {
        uint8_t *bytes = malloc((size_t)count * 4 + 1); /* unaligned, and exactly so long */
        double *wide = malloc(count * sizeof *wide + 1);
        double expected[8] = {0.0};
        for (uint32_t i = 0; i < count; i++) {
            float value = random_below(&state, 5) ? number(&state) : odd[random_below(&state, 4)];
            store_f32(bytes + 1 + 4 * (size_t)i, value);
            wide[i] = (double)number(&state);
            expected[i % 8] += wide[i] * (double)value;
        }
        double sum = ((expected[0] + expected[4]) + (expected[2] + expected[6])) +
                     ((expected[1] + expected[5]) + (expected[3] + expected[7]));
        double found = kb_dot_portable(wide, bytes + 1, count);
        CHECK(memcmp(&sum, &found, sizeof sum) == 0);
        if (kb_dot_avx2() != NULL) {
            found = kb_dot_avx2()(wide, bytes + 1, count);
            CHECK(memcmp(&sum, &found, sizeof sum) == 0);
        }
        free(wide);
        free(bytes);
    }
    CHECK(kb_cosine(1.0000000000000002, 1.0, 1.0) == 1.0 && kb_cosine(-1.0000000000000002, 1.0, 1.0) == -1.0);
}

/* Some shapes of vectors that are hard to sketch. */
static void fill(uint32_t shape, uint32_t dimensions, uint64_t *state, uint8_t *components) {
    for (uint32_t i = 0; i < dimensions; i++) {
        float value = number(state);
        if (shape == 1) /* one number far out */
            value = i == dimensions / 2 ? 50.0f : value;
        else if (shape == 2) /* all alike */
            value = 0.3f;
        else if (shape == 3) /* few numbers */
            value = i % 7 == 0 ? value : 0.0f;
        else if (shape == 4) /* tiny */
            value *= 1e-42f;
        else if (shape == 5) /* huge, of many sizes */
            value = ldexpf(value, 126 - (int)(i % 100));
        store_f32(components + 4 * (size_t)i, value);
    }
}

/* Compares what sketches promise with the cosines of all records and the first. */
static void check_bounds(const kb_vectors *vectors, const double *lengths, const kb_sketches *sketches,
                         uint32_t number_of_query) {
    const uint8_t *query = kb_vectors_components(vectors, number_of_query);
    double *wide = malloc(vectors->dimensions * sizeof *wide);
    int8_t *codes = malloc(kb_sketch_query_bytes(vectors->dimensions));
    kb_sketch_query sketch;
    kb_dot_widen(query, vectors->dimensions, wide);
    kb_sketch_query_new(wide, vectors->dimensions, lengths[number_of_query], codes, &sketch);
    for (uint32_t block = 0; block * KB_SKETCH_BLOCK < vectors->count; block++) {
        float most[KB_SKETCH_BLOCK];
        uint64_t found = kb_sketch_portable.find(sketches, block, &sketch, 0.4f, most);
        if (kb_sketch_avx2() != NULL) {
            float same[KB_SKETCH_BLOCK];
            CHECK(kb_sketch_avx2()->find(sketches, block, &sketch, 0.4f, same) == found);
            CHECK(memcmp(most, same, sizeof most) == 0);
        }
        for (uint32_t i = 0; i < KB_SKETCH_BLOCK && block * KB_SKETCH_BLOCK + i < vectors->count; i++) {
            uint32_t record = block * KB_SKETCH_BLOCK + i;
            double product = kb_dot_portable(wide, kb_vectors_components(vectors, record), vectors->dimensions);
            double cosine = kb_cosine(product, lengths[number_of_query], lengths[record]);
            kb_sketch_bound bound = kb_sketch_refine(sketches, &kb_sketch_portable, record, &sketch, most[i]);
            CHECK(cosine <= (double)most[i] && cosine <= (double)bound.most);
            CHECK(cosine >= (double)bound.least);
            CHECK((found >> i & 1) == (most[i] >= 0.4f));
            if (kb_sketch_avx2() != NULL) {
                kb_sketch_bound same = kb_sketch_refine(sketches, kb_sketch_avx2(), record, &sketch, most[i]);
                CHECK(memcmp(&bound, &same, sizeof same) == 0);
            }
        }
    }
    free(codes);
    free(wide);
}

void test_sketch_bounds(void) {
    static const uint32_t dimensions[] = {1, 2, 3, 8, 63, 64, 65, 384, 1500};
    uint64_t state = 2;
    for (size_t size = 0; size < sizeof dimensions / sizeof *dimensions; size++) {
        const uint32_t count = 150;
        const size_t bytes = kb_vectors_record_bytes(dimensions[size]);
        uint8_t *records = calloc(count, bytes);
        uint8_t *kbids = malloc((size_t)count * KB_KBID_BYTES);
        double *lengths = malloc(count * sizeof *lengths);
        kb_vectors vectors = {records, bytes, count, dimensions[size]};
        kb_sketches sketches;
        kb_error error = {0};
        for (uint32_t i = 0; i < count; i++) {
            records[i * bytes] = (uint8_t)i;
            fill(i % 6, dimensions[size], &state, records + i * bytes + KB_VECTORS_KBID_BYTES);
        }
        CHECK(kb_vectors_check(&vectors, kb_dot_portable, kbids, lengths, &error) == KB_OK);
        CHECK(kb_sketches_new(&vectors, lengths, &sketches) == KB_OK);
        for (uint32_t query = 0; query < 6; query++)
            if (lengths[query] > 0.0)
                check_bounds(&vectors, lengths, &sketches, query);
        kb_sketches_free(&sketches);
        free(lengths);
        free(kbids);
        free(records);
    }
}

void test_vector_searches(void) {
    static const uint32_t dimensions[] = {1, 5, 64, 100};
    static const uint32_t records[] = {0, 1, 63, 64, 65, 300};
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
        for (size_t k = 0; k < sizeof records / sizeof *records; k++) {
            kb_bytes file = {0};
            kb_exercise_vectors_build(dimensions[i], records[k], i, &file);
            CHECK(kb_exercise_vectors_read(file.data, file.length) == KB_OK);
            kb_bytes_free(&file);
        }
}

/* So many vectors beside each other that more wait for a look than there is room for. */
static void search_crowd(uint32_t count, uint32_t limit) {
    const uint32_t dimensions = 40;
    const size_t bytes = kb_vectors_record_bytes(dimensions);
    uint64_t state = 7;
    uint8_t *records = calloc(count, bytes);
    uint8_t *kbids = malloc((size_t)count * KB_KBID_BYTES);
    double *lengths = malloc(count * sizeof *lengths);
    kb_owner *owners = calloc(count, sizeof *owners);
    uint8_t *pointing = calloc(count / 8 + 1, 1);
    kb_vector_hit *expected = malloc(limit * sizeof *expected);
    kb_vector_hit *hits = malloc(limit * sizeof *hits);
    kb_vectors vectors = {records, bytes, count, dimensions};
    kb_sketches sketches;
    kb_error error = {0};
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *record = records + i * bytes;
        uint8_t kbid[KB_KBID_BYTES] = {(uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};
        memcpy(record, kbid, sizeof kbid);
        for (uint32_t k = 0; k < dimensions; k++)
            store_f32(record + KB_VECTORS_KBID_BYTES + 4 * (size_t)k, 1.0f + 0.3f * number(&state));
        owners[i] = (kb_owner){0, i};
        kb_bitmap_set(pointing, i);
    }
    CHECK(kb_vectors_check(&vectors, kb_dot_portable, kbids, lengths, &error) == KB_OK);
    CHECK(kb_sketches_new(&vectors, lengths, &sketches) == KB_OK);
    kb_vector_part part = {&vectors, kbids, lengths, &sketches, owners, pointing};
    kb_vector_searcher searcher = {&part, 1, dimensions, count};
    kb_vector_ways all = {kb_dot_portable, NULL};
    CHECK(kb_vector_search(&searcher, records + KB_VECTORS_KBID_BYTES, NULL, limit, &all, expected, &found) == KB_OK);
    CHECK(found == limit);
    for (int way = 0; way < 2; way++) {
        kb_vector_ways ways = {kb_dot_portable, way == 0 ? &kb_sketch_portable : kb_sketch_avx2()};
        CHECK(kb_vector_search(&searcher, records + KB_VECTORS_KBID_BYTES, NULL, limit, &ways, hits, &found) == KB_OK);
        CHECK(found == limit);
        for (uint32_t i = 0; i < found; i++)
            CHECK(hits[i].owner.entry == expected[i].owner.entry && hits[i].score == expected[i].score);
    }
    kb_sketches_free(&sketches);
    free(hits);
    free(expected);
    free(pointing);
    free(owners);
    free(lengths);
    free(kbids);
    free(records);
}

void test_vector_damage(void) {
    kb_bytes built = {0};
    uint64_t state = 3;
    kb_exercise_vectors_build(6, 90, 4, &built);
    for (uint32_t round = 0; round < 400; round++) {
        size_t length = random_below(&state, 8) ? built.length : random_below(&state, (uint32_t)built.length);
        uint8_t *file = malloc(length + 1); /* ends where its memory does */
        memcpy(file + 1, built.data, length);
        for (uint32_t left = random_below(&state, 4); left > 0 && length > 0; left--)
            file[1 + random_below(&state, (uint32_t)(random_below(&state, 2) && length > 40 ? 40 : length))] =
                (uint8_t)random_below(&state, 256);
        kb_status status = kb_exercise_vectors_read(file + 1, length);
        CHECK(status == KB_OK || status == KB_E_CORRUPT || status == KB_E_STALE);
        free(file);
    }
    kb_bytes_free(&built);
    search_crowd(6000, 10);
    search_crowd(11000, 2000);
}

/* A sink that refuses to take more pieces than `room`. */
typedef struct {
    kb_bytes file;
    size_t pieces;
    size_t room;
} kept_file;

static kb_status keep(void *context, kb_file file, uint64_t offset, const uint8_t *bytes, size_t length) {
    kept_file *kept = context;
    CHECK(file == KB_FILE_VECTORS && offset == kept->file.length);
    if (kept->pieces++ == kept->room)
        return KB_E_SINK;
    kb_bytes_put(&kept->file, bytes, length);
    return KB_OK;
}

void test_vector_sinks(void) {
    const uint32_t dimensions = 1000;
    const uint32_t count = 900; /* 3.6 MB */
    uint8_t *kbids = calloc(count, KB_KBID_BYTES);
    uint8_t *components = calloc(count, (size_t)dimensions * 4);
    uint32_t *order = malloc(count * sizeof *order);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        kbids[i * KB_KBID_BYTES] = (uint8_t)((count - i) >> 8);
        kbids[i * KB_KBID_BYTES + 1] = (uint8_t)(count - i);
        order[i] = count - 1 - i;
        store_f32(components + (size_t)i * dimensions * 4, (float)i);
    }
    kb_vectors_new new = {dimensions, count, kbids, components, order};
    for (size_t room = 0; room < 6; room++) {
        kept_file kept = {.room = room};
        kb_sink sink = {keep, &kept};
        kb_status status = kb_vectors_write(&new, &sink, &wrong);
        CHECK(status == (room < kept.pieces ? KB_E_SINK : KB_OK));
        CHECK(status != KB_OK || kept.file.length == kb_vectors_file_bytes(dimensions, count));
        CHECK(status != KB_OK || kb_exercise_vectors_read(kept.file.data, kept.file.length) == KB_OK);
        kb_bytes_free(&kept.file);
    }
    kept_file kept = {.room = 9};
    kb_sink sink = {keep, &kept};
    order[0] = order[1];
    CHECK(kb_vectors_write(&new, &sink, &wrong) == KB_E_ARGUMENT && wrong == count);
    store_f32(components + 5 * (size_t)dimensions * 4, INFINITY);
    CHECK(kb_vectors_write(&new, &sink, &wrong) == KB_E_ARGUMENT && wrong == 5);
    kb_bytes_free(&kept.file);
    free(order);
    free(components);
    free(kbids);
}
