/* Every reader let loose on a segment. */
#include "exercise.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../best_blocks.h"
#include "../exhaustive.h"
#include "../merge.h"
#include "../search.h"
#include "../similar.h"
#include "../sweep.h"
#include "../words.h"

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
        kb_stored stored;
        kb_status status = kb_corpus_stored(&segment->corpus, i, &stored, &error);
        for (const uint8_t *byte = stored.shared.next; status == KB_OK && byte < stored.shared.end; byte++)
            assert(*byte <= 0xFF);
        for (const uint8_t *byte = stored.own.next; status == KB_OK && byte < stored.own.end; byte++)
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

/* Reads the tokens of a posting, some of them after a skip. */
static kb_status read_tokens(kb_positions *positions, const kb_postings *postings, kb_error *error) {
    kb_status status = KB_OK;
    for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++) {
        uint32_t left = postings->frequencies[field];
        if (left == 0)
            continue;
        status = kb_positions_seek(positions, postings, field, error);
        bool has = false;
        if (status == KB_OK)
            status = kb_positions_has(positions, left, 2, &has, error);
        while (status == KB_OK && left > 0) {
            status = kb_positions_next(positions, error);
            left = kb_positions_skip(positions, left - 1, positions->position + 2);
        }
    }
    return status;
}

/* Reads a stem's postings one after the other. */
static kb_status walk_on(const kb_segment *segment, const kb_stem *stem, kb_error *error) {
    kb_postings postings;
    kb_positions positions;
    uint32_t next = 0;
    kb_status status = kb_postings_open(&segment->terms, stem, &postings, error);
    if (status == KB_OK)
        status = kb_positions_open(&segment->terms, stem, &positions, error);
    while (status == KB_OK && postings.left > 0) {
        status = kb_postings_next(&postings, error);
        if (status != KB_OK)
            break;
        assert(postings.entry >= next && postings.entry < segment->entries);
        next = postings.entry + 1;
        status = read_tokens(&positions, &postings, error);
    }
    return status;
}

/* Finds postings from step to step, and moves to every other of those found. */
static kb_status find_on(const kb_segment *segment, const kb_stem *stem, uint32_t step, kb_error *error) {
    kb_postings postings;
    bool found = true;
    kb_status status = kb_postings_open(&segment->terms, stem, &postings, error);
    for (uint32_t entry = 0; entry < segment->entries && status == KB_OK && found; entry += step) {
        status = kb_postings_find(&postings, entry, &found, error);
        if (status != KB_OK || !found)
            break;
        assert(postings.reach < postings.count && postings.entries[postings.reach] >= entry);
        assert(postings.entries[postings.reach] < segment->entries);
        if (entry / step % 2 && (postings.at == postings.count || postings.at < postings.reach))
            status = kb_postings_move(&postings, postings.reach, error);
    }
    return status;
}

/* Reads a stem's blocks from the last to the first. */
static kb_status read_blocks(const kb_segment *segment, const kb_stem *stem, kb_error *error) {
    kb_postings postings;
    kb_status status = kb_postings_open(&segment->terms, stem, &postings, error);
    for (uint32_t block = kb_postings_blocks(stem->df); block-- > 0 && status == KB_OK;) {
        status = kb_postings_block(&postings, block, error);
        kb_spot spots[2];
        const uint8_t at[2] = {0, (uint8_t)(postings.count - 1)};
        if (status == KB_OK)
            status = kb_postings_locate(&postings, at + (postings.count == 1), 1 + (postings.count > 1), spots, error);
    }
    return status;
}

static void read_lists(const kb_segment *segment, kb_status *first) {
    kb_error error = {0};
    for (uint32_t i = 0; i < segment->terms.stems.count; i++) {
        kb_stem stem;
        kb_status status = kb_terms_stem(&segment->terms, i, &stem, &error);
        keep_first(first, status);
        if (status != KB_OK)
            continue;
        keep_first(first, walk_on(segment, &stem, &error));
        keep_first(first, find_on(segment, &stem, 1 + i % 61, &error));
        keep_first(first, read_blocks(segment, &stem, &error));
    }
}

/* Whether memory is zero, or was never needed. */
static bool is_zero(const void *memory, size_t length) {
    static const uint8_t zeros[KB_WINDOW * sizeof(uint16_t)];
    const uint8_t *bytes = memory;
    for (size_t size = 0; bytes != NULL && length > 0; bytes += size, length -= size) {
        size = length < sizeof zeros ? length : sizeof zeros;
        if (memcmp(bytes, zeros, size) != 0)
            return false;
    }
    return true;
}

/* Whether a search left its scratch as it must be for the next. */
static bool is_clean(const kb_scratch *scratch) {
    return is_zero(scratch->cells, scratch->entries * sizeof *scratch->cells) &&
           is_zero(scratch->written, (scratch->entries / 64 + 1) * sizeof *scratch->written) &&
           is_zero(scratch->shared, scratch->entries * sizeof *scratch->shared) &&
           is_zero(scratch->lanes, KB_WINDOW * sizeof *scratch->lanes);
}

#define STEMS 4u
#define HITS 9u

static const char *const asked_stems[STEMS] = {"new", "york", "run", "the"};

/* Runs a plan of stems, any of which may match, in every way there is, whatever kb_search would choose. */
static void run_strategies(const kb_searcher *searcher, const kb_plan *plan, uint32_t limit, const uint8_t *allowed,
                           kb_scratch *scratch, kb_status *first) {
    const kb_lanes_find finds[] = {kb_lanes_find_portable, kb_lanes_find_avx2()};
    for (int way = 0; way < 4; way++) {
        kb_error error = {0};
        kb_hit hits[HITS];
        kb_topk topk = {searcher, hits, limit, 0};
        kb_search_task task = {.searcher = searcher,
                               .view = &searcher->views[0],
                               .plan = plan,
                               .allowed = allowed,
                               .scratch = scratch,
                               .topk = &topk,
                               .total_limit = 3,
                               .error = &error};
        if (way < 2 && finds[way] != NULL)
            keep_first(first, kb_sweep(&task, finds[way]));
        else if (way == 2)
            keep_first(first, kb_exhaustive(&task));
        else if (way == 3 && plan->count == 1)
            keep_first(first, kb_best_blocks(&task));
        assert(topk.count <= limit);
    }
}

static void run_plain_plans(const kb_searcher *searcher, const kb_term *terms, kb_scratch *scratch, kb_status *first) {
    uint8_t *allowed = calloc((size_t)searcher->views[0].segment->entries / 8 + 1, 1);
    const kb_term *stems[STEMS];
    kb_alternative ways[STEMS];
    kb_clause clauses[STEMS];
    assert(allowed != NULL);
    memset(allowed, 0xB7, searcher->views[0].segment->entries / 8);
    for (uint32_t i = 0; i < STEMS; i++) {
        stems[i] = &terms[i];
        ways[i] = (kb_alternative){&stems[i], 1, 1.0 / (1.0 + i), terms[i].idf};
        clauses[i] = (kb_clause){&ways[i], 1, KB_ALL_FIELDS, KB_SHOULD};
    }
    for (uint32_t i = 0; i < STEMS; i++) {
        kb_plan one = {&clauses[i], 1};
        kb_plan several = {clauses, i + 1};
        run_strategies(searcher, &one, 1 + i, i % 2 ? allowed : NULL, scratch, first);
        run_strategies(searcher, &several, HITS - 2 * i, i % 2 ? NULL : allowed, scratch, first);
    }
    free(allowed);
}

/* Searches with a stem, a field, a phrase of one stem twice, one of several stems, and what must not be. */
static void run_plans(const kb_searcher *searcher, const kb_term *terms, kb_scratch *scratch, kb_status *first) {
    const kb_term *phrase[] = {&terms[0], &terms[1], &terms[0]};
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
    kb_hit hits[4];
    kb_share shares[4];
    kb_error error = {0};
    uint32_t found = 0;
    uint64_t total = 0;
    for (uint32_t i = 0; i <= 4; i++) {
        kb_plan plan = {clauses, i};
        keep_first(first, kb_search(searcher, &plan, NULL, 4, i, kb_lanes_find_portable, scratch, hits, &found, &total,
                                    &error));
        for (uint32_t entry = 0; entry < searcher->views[0].segment->entries; entry += 1 + entry * 3)
            keep_first(first, kb_explain(searcher, &plan, 0, entry, scratch, shares, &found, &error));
    }
}

/* Looks for what is like a set of stems. */
static void find_similar(const kb_searcher *searcher, kb_scratch *scratch, kb_status *first) {
    const char *const ascending[STEMS] = {"new", "run", "the", "york"};
    kb_source stems[STEMS];
    const kb_likeness wanted = {stems, STEMS, 0.2, KB_NONE, 0};
    kb_hit hits[4];
    kb_error error = {0};
    uint32_t found = 0;
    for (uint32_t i = 0; i < STEMS; i++)
        stems[i] = (kb_source){(const uint8_t *)ascending[i], strlen(ascending[i])};
    keep_first(first, kb_similar(searcher, &wanted, 4, scratch, hits, &found, &error));
}

/* Searches with the live entries that the bits of `some` tell, over and over. */
static void search(const kb_segment *segment, uint8_t some, kb_status *first) {
    kb_term terms[STEMS] = {{0}};
    kb_stem places[STEMS];
    kb_searcher searcher = {0};
    kb_bm25f_tables tables;
    kb_scratch scratch = {0};
    kb_error error = {0};
    uint8_t *live = calloc((size_t)segment->entries / 8 + 1, 1);
    kb_view view = {.segment = segment, .live = live};
    assert(live != NULL);
    memset(live, some, segment->entries / 8);
    if (some == 0xFF)
        live[segment->entries / 8] = (uint8_t)((1u << segment->entries % 8) - 1);
    kb_status status = kb_searcher_open(&view, 1, &kb_exercise_params, &searcher, &error);
    if (status == KB_OK)
        kb_bm25f_tabulate(&searcher.bm25f, &tables);
    for (uint32_t i = 0; i < STEMS && status == KB_OK; i++) {
        const char *stem = asked_stems[i];
        terms[i].stems = &places[i];
        status = kb_term_find(&searcher, (const uint8_t *)stem, strlen(stem), &terms[i], &error);
    }
    keep_first(first, status);
    if (status == KB_OK) {
        kb_scratch_new(segment->entries, &scratch);
        run_plans(&searcher, terms, &scratch, first);
        run_plain_plans(&searcher, terms, &scratch, first);
        find_similar(&searcher, &scratch, first);
        find_words(&view, first);
        find_words_of(&view, first);
        assert(is_clean(&scratch));
    }
    kb_scratch_free(&scratch);
    free(live);
}

static kb_status drop(void *context, kb_file file, uint64_t offset, const uint8_t *bytes, size_t length) {
    (void)context, (void)file, (void)offset, (void)bytes, (void)length;
    return KB_OK;
}

/* Merges the entries of the segment in two parts, with some left out. */
static void merge(const kb_segment *segment, kb_status *first) {
    kb_sink sink = {drop, NULL};
    kb_error error = {0};
    uint8_t twice[KB_KBID_BYTES];
    size_t size = (size_t)segment->entries / 8 + 1;
    uint8_t *some = calloc(size, 1);
    uint8_t *others = calloc(size, 1);
    assert(some != NULL && others != NULL);
    memset(some, 0xA5, segment->entries / 8);
    memset(others, 0x18, segment->entries / 8);
    kb_merge_part parts[] = {{segment, some}, {segment, others}};
    kb_merge_order order = {
        .parts = parts, .parts_count = 2, .fingerprint = KB_EXERCISE_FINGERPRINT, .params = kb_exercise_params};
    keep_first(first, kb_merge(&order, &sink, twice, &error));
    free(some);
    free(others);
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
        read_lists(&segment, &first);
        search(&segment, 0x6F, &first);
        search(&segment, 0xFF, &first);
        merge(&segment, &first);
        keep_first(&first, kb_segment_verify(&segment, &error));
    }
    kb_segment_close(&segment);
    return first;
}
