/* Tests of postings and positions: what was written reads back, from any place and in any way. */
#include <stdlib.h>
#include <string.h>

#include "../../csrc/crc32.h"
#include "../../csrc/lists_write.h"
#include "../../csrc/positions.h"
#include "check.h"
#include "random.h"

#define POSTINGS_MAX 1200u
#define TOKENS_MAX 40000u

/* A stem's lists as they were put in, and as a kb_terms of this one stem. */
typedef struct {
    uint32_t df;
    uint32_t entries[POSTINGS_MAX];
    uint32_t frequencies[POSTINGS_MAX][KB_FIELDS];
    uint32_t first[POSTINGS_MAX + 1]; /* by posting: its first token */
    uint32_t positions[TOKENS_MAX];
    uint32_t forms[TOKENS_MAX];
    kb_lists_writer writer;
    kb_terms terms;
    kb_stem stem;
} list;

/* Chooses frequencies: most of the body alone, and few. */
static void choose_frequencies(uint64_t *state, uint32_t frequencies[KB_FIELDS]) {
    memset(frequencies, 0, KB_FIELDS * sizeof *frequencies);
    if (random_below(state, 10) > 0) {
        frequencies[KB_BODY] = 1 + random_below(state, random_below(state, 8) ? 6 : 140);
        return;
    }
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        frequencies[field] = random_below(state, 2) ? random_below(state, random_below(state, 4) ? 3 : 150) : 0;
    frequencies[random_below(state, KB_FIELDS)] += 1;
}

static void put_posting(list *made, uint32_t number, uint32_t forms, uint32_t step, uint64_t *state) {
    uint32_t *frequencies = made->frequencies[number];
    uint32_t at = made->first[number];
    choose_frequencies(state, frequencies);
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        uint32_t position = 0;
        uint32_t form = 0;
        for (uint32_t i = 0; i < frequencies[field]; i++, at++) {
            uint32_t more = random_below(state, step);
            position += more;
            form = more > 0 ? random_below(state, forms) : form;
            made->positions[at] = position;
            made->forms[at] = form;
            CHECK(kb_lists_value(&made->writer, position, form) == KB_OK);
        }
    }
    made->first[number + 1] = at;
    static const uint32_t lengths[KB_FIELDS];
    CHECK(kb_lists_posting(&made->writer, made->entries[number], frequencies, lengths) == KB_OK);
}

static uint8_t *copy_exactly(const kb_bytes *bytes) {
    uint8_t *copy = malloc(bytes->length);
    memcpy(copy, bytes->data, bytes->length);
    return copy;
}

/* Makes a list whose gaps are below `gap`, and whose positions are `step` or less apart. */
static void make_list(list *made, uint32_t df, uint32_t gap, uint32_t forms, uint32_t step, uint64_t *state) {
    static const kb_params params = {1.2, {0.5, 0.75, 0.5, 0.5, 0.5}, {2.0, 1.0, 0.5, 0.5, 0.5}};
    static const uint64_t totals[KB_FIELDS] = {9, 9, 9, 9, 9};
    kb_bm25f bm25f;
    kb_bm25f_prepare(&params, 1, totals, &bm25f);
    made->df = df;
    uint32_t next = 0;
    for (uint32_t i = 0; i < df; i++) {
        made->entries[i] = next + random_below(state, gap);
        next = made->entries[i] + 1;
    }
    made->writer.bm25f = &bm25f;
    made->writer.entries_count = next;
    made->writer.shape = kb_terms_shape_of(next, 1, forms);
    kb_lists_begin(&made->writer, forms);
    for (uint32_t i = 0; i < df; i++)
        put_posting(made, i, forms, step, state);
    CHECK(kb_lists_end(&made->writer) == KB_OK);
    const uint8_t *record = made->writer.records.data;
    const kb_terms_shape *shape = &made->writer.shape;
    CHECK(made->writer.records.length == shape->stem);
    made->stem = (kb_stem){.postings_length = (uint32_t)made->writer.postings.length,
                           .positions_length = (uint32_t)made->writer.positions.length,
                           .postings_crc = kb_load_u32(record + 10),
                           .positions_crc = kb_load_u32(record + 14),
                           .df = kb_load_narrow(record + 18, shape->df),
                           .forms = kb_load_narrow(record + 18 + shape->df, shape->forms)};
    CHECK(made->stem.df == df && made->stem.forms == forms);
    made->terms.entries = next;
    made->terms.read_gaps = kb_gaps_read_portable;
    made->terms.postings = (kb_lists){.bytes = copy_exactly(&made->writer.postings),
                                      .length = made->writer.postings.length,
                                      .checked = calloc(1, sizeof(uint32_t))};
    made->terms.positions = (kb_lists){.bytes = copy_exactly(&made->writer.positions),
                                       .length = made->writer.positions.length,
                                       .checked = calloc(1, sizeof(uint32_t)),
                                       .file = KB_FILE_POSITIONS};
}

static void free_list(list *made) {
    free((void *)(uintptr_t)made->terms.postings.bytes);
    free((void *)(uintptr_t)made->terms.positions.bytes);
    kb_lists_close(&made->terms.postings);
    kb_lists_close(&made->terms.positions);
    kb_lists_writer_free(&made->writer);
}

static bool is_at(const list *made, const kb_postings *postings, uint32_t number) {
    uint32_t block_start = number - number % KB_BLOCK;
    uint32_t mask = 0;
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        mask |= (uint32_t)(made->frequencies[number][field] > 0) << field;
    return postings->entry == made->entries[number] && postings->next == (uint64_t)made->entries[number] + 1 &&
           postings->mask == mask && postings->left == made->df - number - 1 &&
           memcmp(postings->frequencies, made->frequencies[number], sizeof postings->frequencies) == 0 &&
           postings->total == made->first[number + 1] - made->first[number] &&
           postings->tokens == made->first[number] - made->first[block_start];
}

/* Asks for a position of the `count` tokens from `at` on, or for one near it. */
static void check_has(const list *made, const kb_positions *positions, uint32_t at, uint32_t count, uint64_t *state) {
    kb_error error = {0};
    uint64_t wanted = (uint64_t)made->positions[at + random_below(state, count)] + random_below(state, 2);
    bool has = false;
    bool held = false;
    for (uint32_t i = at; i < at + count; i++)
        held |= made->positions[i] == wanted;
    CHECK(kb_positions_has(positions, count, wanted, &has, &error) == KB_OK && has == held);
}

/* Reads the tokens of each field; from time to time skips to a position. */
static void check_tokens(const list *made, const kb_postings *postings, kb_positions *positions, uint32_t number,
                         uint64_t *state) {
    kb_error error = {0};
    uint32_t at = made->first[number];
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        uint32_t left = made->frequencies[number][field];
        uint32_t end = at + left;
        if (left == 0)
            continue;
        CHECK(kb_positions_seek(positions, postings, field, &error) == KB_OK);
        check_has(made, positions, at, left, state);
        while (at < end) {
            if (random_below(state, 3) == 0) {
                uint32_t wanted = made->positions[at] + random_below(state, made->positions[end - 1] + 2);
                while (at < end && made->positions[at] < wanted)
                    at++;
                left = kb_positions_skip(positions, left, wanted);
                CHECK(left == end - at);
            }
            if (at == end)
                break;
            CHECK(kb_positions_next(positions, &error) == KB_OK);
            CHECK(positions->position == made->positions[at] && positions->form == made->forms[at]);
            at++;
            left--;
        }
    }
}

static void read_on(const list *made, uint64_t *state) {
    kb_postings postings;
    kb_positions positions;
    kb_error error = {0};
    CHECK(kb_postings_open(&made->terms, &made->stem, &postings, &error) == KB_OK && postings.left == made->df);
    CHECK(kb_positions_open(&made->terms, &made->stem, &positions, &error) == KB_OK);
    for (uint32_t i = 0; i < made->df; i++) {
        CHECK(kb_postings_next(&postings, &error) == KB_OK && is_at(made, &postings, i));
        check_tokens(made, &postings, &positions, i, state);
        if (postings.at + 1 == postings.count)
            CHECK(kb_positions_verify_block(&positions, &postings, &error) == KB_OK);
    }
    CHECK(postings.left == 0);
}

/* Goes through the list in leaps of up to `leap` entries, in all ways there are, twice. */
static void leap_on(const list *made, uint32_t leap, uint64_t *state) {
    kb_postings postings;
    kb_positions positions;
    kb_error error = {0};
    CHECK(kb_postings_open(&made->terms, &made->stem, &postings, &error) == KB_OK);
    CHECK(kb_positions_open(&made->terms, &made->stem, &positions, &error) == KB_OK);
    for (int round = 0; round < 2; round++) {
        uint32_t number = 0; /* the first posting that may be found next */
        uint32_t wanted = random_below(state, leap);
        bool found = true;
        while (found) {
            uint32_t way = random_below(state, 4);
            while (number < made->df && made->entries[number] < wanted)
                number++;
            CHECK((way < 2 ? kb_postings_seek : kb_postings_find)(&postings, wanted, &found, &error) == KB_OK);
            CHECK(found == (number < made->df));
            if (!found)
                break;
            if (way >= 2)
                CHECK(postings.entries[postings.reach] == made->entries[number]);
            if (way == 2 && (postings.at == postings.count || postings.at < postings.reach))
                CHECK(kb_postings_move(&postings, postings.reach, &error) == KB_OK);
            if (way <= 2) {
                CHECK(is_at(made, &postings, number));
                check_tokens(made, &postings, &positions, number, state);
                if (postings.left > 0 && random_below(state, 2)) {
                    CHECK(kb_postings_next(&postings, &error) == KB_OK && is_at(made, &postings, ++number));
                }
            }
            wanted = made->entries[number] + random_below(state, leap + 1);
        }
        kb_postings_rewind(&postings);
        CHECK(postings.left == made->df);
    }
}

static bool is_spot(const list *made, const kb_spot *spot, uint32_t number) {
    uint32_t mask = 0;
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        mask |= (uint32_t)(made->frequencies[number][field] > 0) << field;
    return spot->block == number / KB_BLOCK && spot->mask == mask &&
           memcmp(spot->frequencies, made->frequencies[number], sizeof spot->frequencies) == 0 &&
           spot->first == made->first[number] - made->first[number - number % KB_BLOCK];
}

/* Locates some postings of each block, in one or two goes, and reads their positions. */
static void locate(const list *made, uint64_t *state) {
    kb_postings postings;
    kb_positions positions;
    kb_error error = {0};
    bool found = true;
    CHECK(kb_postings_open(&made->terms, &made->stem, &postings, &error) == KB_OK);
    CHECK(kb_positions_open(&made->terms, &made->stem, &positions, &error) == KB_OK);
    for (uint32_t block = 0; block < kb_postings_blocks(made->df); block++) {
        uint8_t at[KB_BLOCK];
        kb_spot spots[KB_BLOCK];
        uint32_t count = 0;
        CHECK(kb_postings_reach(&postings, made->entries[block * KB_BLOCK], &found, &error) == KB_OK && found);
        CHECK(postings.block == block);
        uint32_t step = 1 + random_below(state, 70);
        for (uint32_t i = random_below(state, 40); i < postings.count; i += 1 + random_below(state, step))
            at[count++] = (uint8_t)i;
        uint32_t half = random_below(state, count + 1);
        CHECK(kb_postings_locate(&postings, at, half, spots, &error) == KB_OK);
        CHECK(kb_postings_locate(&postings, at + half, count - half, spots + half, &error) == KB_OK);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t number = block * KB_BLOCK + at[i];
            CHECK(is_spot(made, &spots[i], number));
            kb_positions_prefetch(&positions, &postings, &spots[i], 1);
            for (uint32_t field = 0, token = made->first[number]; field < KB_FIELDS; field++) {
                uint32_t frequency = made->frequencies[number][field];
                if (frequency == 0)
                    continue;
                CHECK(kb_positions_go(&positions, &postings, &spots[i], field, &error) == KB_OK);
                CHECK(kb_positions_next(&positions, &error) == KB_OK);
                CHECK(positions.position == made->positions[token]);
                token += frequency;
            }
        }
    }
    CHECK(kb_postings_reach(&postings, made->entries[made->df - 1] + 1, &found, &error) == KB_OK && !found);
}

/* Reads blocks in any order, and in each some of the postings. */
static void read_blocks(const list *made, uint64_t *state) {
    kb_postings postings;
    kb_error error = {0};
    uint32_t blocks = kb_postings_blocks(made->df);
    CHECK(kb_postings_open(&made->terms, &made->stem, &postings, &error) == KB_OK);
    for (uint32_t i = 0; i < 2 * blocks; i++) {
        uint32_t block = random_below(state, blocks);
        CHECK(kb_postings_block(&postings, block, &error) == KB_OK);
        for (uint32_t at = random_below(state, 40); at < postings.count; at += 1 + random_below(state, 70)) {
            CHECK(kb_postings_move(&postings, at, &error) == KB_OK);
            CHECK(is_at(made, &postings, block * KB_BLOCK + at));
        }
    }
}

static void read_all(const list *made, uint32_t gap, uint64_t *state) {
    read_on(made, state);
    for (uint32_t leap = 1; leap / 300 <= gap; leap = leap * 5 + 1)
        leap_on(made, leap, state);
    locate(made, state);
    read_blocks(made, state);
}

void test_lists(void) {
    static const uint32_t dfs[] = {1, 2, 3, 4, 5, 127, 128, 129, 132, 256, 257, POSTINGS_MAX};
    static const uint32_t gaps[] = {1, 3, 20, 60, 300, 1500, 140000};
    static const uint32_t forms[] = {1, 2, 3, 300};
    static const uint32_t steps[] = {2, 40, 1000};
    uint64_t state = 5;
    for (uint32_t i = 0; i < sizeof dfs / sizeof *dfs; i++) {
        for (uint32_t j = 0; j < sizeof gaps / sizeof *gaps; j++) {
            list *made = calloc(1, sizeof *made);
            make_list(made, dfs[i], gaps[j], forms[(i + j) % 4], steps[(i + j) % 3], &state);
            read_all(made, gaps[j], &state);
            made->terms.read_gaps = kb_gaps_read_avx2();
            if (made->terms.read_gaps != NULL)
                read_all(made, gaps[j], &state);
            free_list(made);
            free(made);
        }
    }
}

/* The bits left over after a block's gaps are 0. */
void test_bits_after_gaps(void) {
    for (uint32_t value = 0; value < 64; value++) {
        list *made = calloc(1, sizeof *made);
        uint64_t state = 7;
        kb_postings postings;
        kb_error error = {0};
        make_list(made, 5, 3, 1, 2, &state);
        CHECK(kb_postings_open(&made->terms, &made->stem, &postings, &error) == KB_OK);
        CHECK(kb_postings_block(&postings, 0, &error) == KB_OK);
        uint8_t *last = (uint8_t *)(uintptr_t)postings.exceptions.next - 1;
        CHECK((postings.place[0] & ~KB_CODES_DENSE) == 2 && *last >> 2 == 0);
        *last = (uint8_t)(*last | value << 2);
        made->stem.postings_crc = kb_crc32(made->terms.postings.bytes, made->terms.postings.length);
        CHECK(kb_postings_open(&made->terms, &made->stem, &postings, &error) == KB_OK);
        CHECK(kb_postings_next(&postings, &error) == (value == 0 ? KB_OK : KB_E_CORRUPT));
        free_list(made);
        free(made);
    }
}
