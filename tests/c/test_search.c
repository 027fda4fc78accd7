/* Tests of searches: every strategy gives what the exhaustive one does, bit for bit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../csrc/best_blocks.h"
#include "../../csrc/exhaustive.h"
#include "../../csrc/fuzz/exercise.h"
#include "../../csrc/search.h"
#include "../../csrc/sweep.h"
#include "check.h"
#include "random.h"

#define WORDS 12u
#define HITS_MAX 64u
#define TEXT_BYTES 16384u

/* A segment of random texts over a dozen words, the first the most frequent. */
typedef struct {
    kb_bytes files[KB_FILES];
    kb_segment segment;
    uint8_t *live;
    uint8_t *allowed;
} corpus;

/* Writes random words. */
static size_t write_words(uint64_t *state, uint32_t count, char *to, size_t size) {
    size_t at = 0;
    to[0] = 0;
    for (uint32_t left = count; left > 0; left--) {
        uint32_t word = random_below(state, 1 + random_below(state, WORDS));
        for (uint32_t often = random_below(state, 9) == 0 ? 2 + random_below(state, 7) : 1; often > 0; often--)
            at += (size_t)snprintf(to + at, size - at, "%c ", (char)('a' + word));
    }
    return at;
}

static void open_corpus(corpus *made) {
    kb_source sources[KB_FILES];
    kb_error error = {0};
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        sources[file] = (kb_source){made->files[file].data, made->files[file].length};
    made->segment = (kb_segment){0};
    CHECK(kb_segment_open(sources, KB_EXERCISE_FINGERPRINT, &made->segment, &error) == KB_OK);
}

static void make_corpus(uint32_t entries, uint32_t body, uint64_t seed, corpus *made) {
    kb_builder builder = {0};
    kb_error error = {0};
    uint64_t state = seed;
    CHECK(kb_builder_new(KB_EXERCISE_FINGERPRINT, &kb_exercise_params, 1, &builder) == KB_OK);
    for (uint32_t i = 0; i < entries; i++) {
        char texts[KB_FIELDS][TEXT_BYTES];
        kb_source fields[KB_FIELDS];
        uint8_t kbid[KB_KBID_BYTES] = {(uint8_t)(seed + i), (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};
        for (uint32_t field = 0; field < KB_FIELDS; field++) {
            uint32_t most = field == KB_BODY ? body : i % 7 == field ? 3 : 0;
            fields[field].length = write_words(&state, random_below(&state, most + 1), texts[field], TEXT_BYTES);
            fields[field].bytes = (const uint8_t *)texts[field];
        }
        CHECK(kb_builder_analyse(&builder, kbid, fields) == KB_OK);
        CHECK(kb_builder_commit(&builder, NULL, 0, true) == KB_OK);
    }
    kb_exercise_stem(&builder);
    CHECK(kb_builder_write(&builder, made->files) == KB_OK);
    kb_builder_free(&builder);
    open_corpus(made);
    CHECK(kb_segment_verify(&made->segment, &error) == KB_OK);
    made->live = calloc(entries / 8 + 1, 1);
    made->allowed = calloc(entries / 8 + 1, 1);
    for (uint32_t i = 0; i < entries; i++) {
        if (random_below(&state, 10) > 0)
            kb_bitmap_set(made->live, i);
        if (random_below(&state, 3) > 0)
            kb_bitmap_set(made->allowed, i);
    }
}

static void free_corpus(corpus *made) {
    kb_segment_close(&made->segment);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        kb_bytes_free(&made->files[file]);
    free(made->live);
    free(made->allowed);
}

typedef enum { EXHAUSTIVE, SWEEP_PORTABLE, SWEEP_AVX2, BEST_BLOCKS, STRATEGIES } strategy;

/* What a search found. */
typedef struct {
    kb_hit hits[HITS_MAX];
    uint32_t count;
    uint64_t total;
} outcome;

/* Searches all segments with one strategy. */
static kb_status run(strategy way, const kb_searcher *searcher, const kb_plan *plan, const uint8_t *const *allowed,
                     uint32_t limit, uint64_t total_limit, kb_scratch *scratch, outcome *result) {
    kb_topk topk = {searcher, result->hits, limit, 0};
    kb_error error = {0};
    kb_status status = KB_OK;
    result->total = 0;
    for (uint32_t i = 0; i < searcher->count && status == KB_OK; i++) {
        kb_search_task task = {.searcher = searcher,
                               .view = &searcher->views[i],
                               .segment = i,
                               .plan = plan,
                               .allowed = allowed == NULL ? NULL : allowed[i],
                               .scratch = scratch,
                               .topk = &topk,
                               .total = result->total,
                               .total_limit = total_limit,
                               .error = &error};
        status = way == EXHAUSTIVE       ? kb_exhaustive(&task)
                 : way == BEST_BLOCKS    ? kb_best_blocks(&task)
                 : way == SWEEP_PORTABLE ? kb_sweep(&task, kb_lanes_find_portable)
                                         : kb_sweep(&task, kb_lanes_find_avx2());
        result->total = task.total;
    }
    kb_topk_finish(&topk);
    result->count = topk.count;
    return status;
}

static bool is_same(const outcome *expected, const outcome *found, uint64_t total_limit) {
    if (found->count != expected->count)
        return false;
    for (uint32_t i = 0; i < found->count; i++) {
        const kb_hit *left = &expected->hits[i];
        const kb_hit *right = &found->hits[i];
        if (left->segment != right->segment || left->entry != right->entry || left->matched != right->matched ||
            memcmp(&left->score, &right->score, sizeof left->score) != 0)
            return false;
    }
    return expected->total <= total_limit ? found->total == expected->total : found->total > total_limit;
}

/* Compares all strategies for some plans of one to six stems. */
static void compare(const kb_searcher *searcher, const uint8_t *const *allowed, uint64_t *state, uint32_t rounds) {
    static const double weights[] = {1.0, 1.0, 0.5, 1e-3, 0.0, 1e-310};
    kb_term terms[WORDS] = {{0}};
    kb_scratch scratch = {0};
    kb_error error = {0};
    kb_scratch_new(UINT16_MAX, &scratch);
    for (uint32_t i = 0; i < WORDS; i++) {
        uint8_t stem = (uint8_t)('a' + i);
        terms[i].stems = calloc(searcher->count, sizeof *terms[i].stems);
        CHECK(kb_term_find(searcher, &stem, 1, &terms[i], &error) == KB_OK);
    }
    for (uint32_t round = 0; round < rounds; round++) {
        const kb_term *stems[6];
        kb_alternative ways[6];
        kb_clause clauses[6];
        kb_plan plan = {clauses, 1 + random_below(state, 6)};
        uint32_t limit = random_below(state, 4) == 0 ? HITS_MAX : 1 + random_below(state, 12);
        uint64_t total_limit = random_below(state, 3) == 0 ? 1000000 : random_below(state, 3) * 400;
        outcome expected;
        for (uint32_t i = 0; i < plan.count; i++) {
            stems[i] = &terms[random_below(state, WORDS)];
            ways[i] = (kb_alternative){&stems[i], 1, weights[random_below(state, 6)], stems[i]->idf};
            clauses[i] = (kb_clause){&ways[i], 1, KB_ALL_FIELDS, KB_SHOULD};
        }
        CHECK(run(EXHAUSTIVE, searcher, &plan, allowed, limit, total_limit, &scratch, &expected) == KB_OK);
        for (strategy way = SWEEP_PORTABLE; way < STRATEGIES; way++) {
            outcome found;
            if ((way == SWEEP_AVX2 && kb_lanes_find_avx2() == NULL) || (way == BEST_BLOCKS && plan.count > 1))
                continue;
            CHECK(run(way, searcher, &plan, allowed, limit, total_limit, &scratch, &found) == KB_OK);
            CHECK(is_same(&expected, &found, total_limit));
        }
        outcome chosen;
        CHECK(kb_search(searcher, &plan, allowed, limit, total_limit, kb_lanes_find_portable, &scratch, chosen.hits,
                        &chosen.count, &chosen.total, &error) == KB_OK);
        CHECK(is_same(&expected, &chosen, total_limit));
    }
    for (uint32_t i = 0; i < WORDS; i++)
        free(terms[i].stems);
    kb_scratch_free(&scratch);
}

void test_strategies(void) {
    static const uint32_t sizes[] = {40, 600, 9000, 25000};
    static const uint32_t bodies[] = {12, 700, 10, 12}; /* long ones have no exact length code */
    uint64_t state = 3;
    kb_error error = {0};
    corpus made[4] = {0};
    kb_view views[4];
    const uint8_t *allowed[4];
    kb_searcher searcher;
    kb_bm25f_tables tables;
    for (uint32_t i = 0; i < 4; i++) {
        make_corpus(sizes[i], bodies[i], i * 50, &made[i]);
        views[i] = (kb_view){.segment = &made[i].segment, .live = made[i].live};
        allowed[i] = made[i].allowed;
        CHECK(kb_searcher_open(&views[i], 1, &kb_exercise_params, &searcher, &error) == KB_OK);
        kb_bm25f_tabulate(&searcher.bm25f, &tables);
        compare(&searcher, NULL, &state, i < 2 ? 1000 : 60);
        compare(&searcher, &allowed[i], &state, i < 2 ? 500 : 40);
    }
    CHECK(kb_searcher_open(views, 4, &kb_exercise_params, &searcher, &error) == KB_OK);
    kb_bm25f_tabulate(&searcher.bm25f, &tables);
    compare(&searcher, NULL, &state, 60);
    compare(&searcher, allowed, &state, 40);
    for (uint32_t i = 0; i < 4; i++)
        free_corpus(&made[i]);
}

/* Impacts that are too small can hide entries, but lead to no number past its type. */
void test_false_impacts(void) {
    corpus made = {0};
    kb_searcher searcher;
    kb_bm25f_tables tables;
    kb_scratch scratch = {0};
    kb_error error = {0};
    kb_stem stems[2];
    kb_term terms[2] = {{.stems = &stems[0]}, {.stems = &stems[1]}};
    const kb_term *asked[2] = {&terms[0], &terms[1]};
    kb_alternative ways[2] = {{&asked[0], 1, 1.0, 0.0}, {&asked[1], 1, 1e-9, 0.0}};
    kb_clause clauses[2] = {{&ways[0], 1, KB_ALL_FIELDS, KB_SHOULD}, {&ways[1], 1, KB_ALL_FIELDS, KB_SHOULD}};
    kb_plan plan = {clauses, 2};
    outcome found;
    make_corpus(600, 12, 9, &made);
    kb_view view = {.segment = &made.segment, .live = made.live};
    CHECK(kb_searcher_open(&view, 1, &kb_exercise_params, &searcher, &error) == KB_OK);
    kb_bm25f_tabulate(&searcher.bm25f, &tables);
    CHECK(kb_term_find(&searcher, (const uint8_t *)"a", 1, &terms[0], &error) == KB_OK);
    uint8_t *list = made.files[KB_FILE_TERMS].data + made.segment.terms.postings.offset + stems[0].postings_offset;
    kb_ref_shape shape =
        kb_ref_shape_of(600, kb_postings_blocks(stems[0].df), stems[0].postings_length, stems[0].positions_length);
    for (uint32_t i = 0; i < kb_postings_blocks(stems[0].df); i++)
        list[(size_t)i * shape.all] = 0;
    kb_exercise_reseal(made.files);
    kb_segment_close(&made.segment);
    open_corpus(&made);
    kb_scratch_new(600, &scratch);
    for (uint32_t i = 0; i < 2; i++) {
        const uint8_t stem = (uint8_t)('a' + i);
        CHECK(kb_term_find(&searcher, &stem, 1, &terms[i], &error) == KB_OK);
        ways[i].idf = terms[i].idf;
    }
    for (strategy way = EXHAUSTIVE; way <= SWEEP_PORTABLE; way++) {
        CHECK(run(way, &searcher, &plan, NULL, 5, 1000, &scratch, &found) == KB_OK);
        CHECK(found.count == 5);
    }
    kb_scratch_free(&scratch);
    free_corpus(&made);
}

/* Changes some bytes of the lists of postings or of what points at them, and searches over several windows. */
static void search_changed(corpus *made, uint64_t *state) {
    const kb_terms *terms = &made->segment.terms;
    const uint64_t starts[] = {terms->postings.offset, terms->stem_records.offset};
    const uint64_t lengths[] = {terms->postings.length, terms->stem_records.length};
    kb_searcher searcher;
    kb_bm25f_tables tables;
    kb_scratch scratch = {0};
    kb_error error = {0};
    kb_term terms_found[4] = {{0}};
    kb_stem stems[4];
    const kb_term *asked[4];
    kb_alternative ways[4];
    kb_clause clauses[4];
    kb_plan plan = {clauses, 4};
    outcome found;
    for (uint32_t left = 1 + random_below(state, 4); left > 0; left--) {
        uint32_t region = random_below(state, 8) == 0;
        uint64_t end = region == 0 && random_below(state, 2) ? 4000 : lengths[region];
        made->files[KB_FILE_TERMS].data[starts[region] + random_below(state, (uint32_t)end)] =
            (uint8_t)random_below(state, random_below(state, 2) ? 2 : 256);
    }
    kb_exercise_reseal(made->files);
    kb_segment_close(&made->segment);
    open_corpus(made);
    kb_view view = {.segment = &made->segment, .live = made->live};
    kb_status status = kb_searcher_open(&view, 1, &kb_exercise_params, &searcher, &error);
    if (status == KB_OK)
        kb_bm25f_tabulate(&searcher.bm25f, &tables);
    for (uint32_t i = 0; i < 4 && status == KB_OK; i++) {
        const uint8_t stem = (uint8_t)('a' + random_below(state, WORDS));
        terms_found[i].stems = &stems[i];
        asked[i] = &terms_found[i];
        status = kb_term_find(&searcher, &stem, 1, &terms_found[i], &error);
        ways[i] = (kb_alternative){&asked[i], 1, 1.0, terms_found[i].idf};
        clauses[i] = (kb_clause){&ways[i], 1, KB_ALL_FIELDS, KB_SHOULD};
    }
    kb_scratch_new(view.segment->entries, &scratch);
    for (strategy way = EXHAUSTIVE; way <= SWEEP_PORTABLE && status == KB_OK; way++) {
        kb_status searched = run(way, &searcher, &plan, NULL, 3, 10, &scratch, &found);
        CHECK(searched == KB_OK || searched == KB_E_CORRUPT);
    }
    kb_scratch_free(&scratch);
}

void test_hostile_windows(void) {
    corpus made = {0};
    uint64_t state = 10;
    make_corpus(13000, 6, 11, &made);
    kb_bytes *file = &made.files[KB_FILE_TERMS];
    uint8_t *right = malloc(file->length);
    memcpy(right, file->data, file->length);
    for (uint32_t i = 0; i < 150; i++) {
        search_changed(&made, &state);
        memcpy(file->data, right, file->length);
    }
    free(right);
    free_corpus(&made);
}
