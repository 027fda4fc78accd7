/* terms.idx. */
#include "terms.h"

#include <string.h>

#include "bitmap.h"
#include "bits.h"

#define WORDS 0u
#define WORD_RECORDS 2u
#define STEMS 3u
#define STEM_RECORDS 5u
#define POSTINGS 6u
#define LEAST_REF_BYTES 2u

kb_terms_shape kb_terms_shape_of(uint32_t entries, uint32_t stems, uint32_t forms) {
    kb_terms_shape shape = {kb_narrow_width(stems),   kb_narrow_width(forms), 0,
                            kb_narrow_width(entries), kb_narrow_width(forms), 0};
    shape.word = shape.word_stem + shape.word_form;
    shape.stem = 18 + shape.df + shape.forms;
    return shape;
}

/* Finds how wide the numbers of the records are: what is not told by other tables, their length tells. */
static kb_status find_shape(kb_terms *terms, kb_error *error) {
    uint64_t words = terms->words.count;
    uint64_t stems = (uint64_t)terms->stems.count + 1;
    kb_terms_shape shape = kb_terms_shape_of(terms->entries, terms->stems.count, 0);
    uint64_t word = words == 0 ? shape.word : terms->word_records.length / words;
    uint64_t stem = terms->stem_records.length / stems;
    uint64_t word_form = word - shape.word_stem;
    uint64_t forms = stem - (shape.stem - shape.forms);
    if (word * words != terms->word_records.length || word_form == 0 || word_form > 4)
        return kb_corrupt(KB_FILE_TERMS, terms->word_records.offset, "words and their records differ in number", error);
    if (stem * stems != terms->stem_records.length || forms == 0 || forms > 4)
        return kb_corrupt(KB_FILE_TERMS, terms->stem_records.offset, "stems and their records differ in number", error);
    terms->shape = (kb_terms_shape){shape.word_stem, (uint32_t)word_form, (uint32_t)word,
                                    shape.df,        (uint32_t)forms,     (uint32_t)stem};
    return KB_OK;
}

kb_status kb_terms_open(const kb_container *terms_file, const kb_container *positions_file, kb_terms *terms,
                        kb_error *error) {
    uint64_t bytes = 0;
    kb_status status = kb_strings_open(terms_file, WORDS, &terms->words, error);
    if (status == KB_OK)
        status = kb_table_open(terms_file, WORD_RECORDS, 1, &terms->word_records, &bytes, error);
    if (status == KB_OK)
        status = kb_strings_open(terms_file, STEMS, &terms->stems, error);
    if (status == KB_OK)
        status = kb_table_open(terms_file, STEM_RECORDS, 1, &terms->stem_records, &bytes, error);
    if (status == KB_OK)
        status = kb_lists_open(terms_file, POSTINGS, terms->stems.count, &terms->postings);
    if (status == KB_OK)
        status = kb_lists_open(positions_file, 0, terms->stems.count, &terms->positions);
    if (status != KB_OK)
        return status;
    terms->entries = terms_file->entries;
    terms->read_gaps = kb_gaps_read_avx2();
    if (terms->read_gaps == NULL)
        terms->read_gaps = kb_gaps_read_portable;
    return find_shape(terms, error);
}

void kb_terms_close(kb_terms *terms) {
    kb_strings_close(&terms->words);
    kb_table_close(&terms->word_records);
    kb_strings_close(&terms->stems);
    kb_table_close(&terms->stem_records);
    kb_lists_close(&terms->postings);
    kb_lists_close(&terms->positions);
}

kb_status kb_terms_word(const kb_terms *terms, uint32_t number, kb_word *word, kb_error *error) {
    const kb_terms_shape *shape = &terms->shape;
    const uint8_t *row = NULL;
    uint64_t at = (uint64_t)number * shape->word;
    kb_status status = kb_table_bytes(&terms->word_records, at, shape->word, &row, error);
    if (status != KB_OK)
        return status;
    word->stem = kb_load_narrow(row, shape->word_stem);
    word->form = kb_load_narrow(row + shape->word_stem, shape->word_form);
    if (word->stem >= terms->stems.count)
        return kb_corrupt(KB_FILE_TERMS, terms->word_records.offset + at, "a word's stem is out of range", error);
    return KB_OK;
}

kb_status kb_terms_stem(const kb_terms *terms, uint32_t number, kb_stem *stem, kb_error *error) {
    const kb_terms_shape *shape = &terms->shape;
    const uint8_t *row = NULL;
    uint64_t at = (uint64_t)number * shape->stem;
    kb_status status = kb_table_bytes(&terms->stem_records, at, 2 * (uint64_t)shape->stem, &row, error);
    if (status != KB_OK)
        return status;
    uint64_t postings_end = kb_load_u40(row + shape->stem);
    uint64_t positions_end = kb_load_u40(row + shape->stem + 5);
    stem->postings_offset = kb_load_u40(row);
    stem->positions_offset = kb_load_u40(row + 5);
    stem->postings_crc = kb_load_u32(row + 10);
    stem->positions_crc = kb_load_u32(row + 14);
    stem->df = kb_load_narrow(row + 18, shape->df);
    stem->forms = kb_load_narrow(row + 18 + shape->df, shape->forms);
    if (stem->postings_offset > postings_end || postings_end - stem->postings_offset > UINT32_MAX ||
        stem->positions_offset > positions_end || positions_end - stem->positions_offset > UINT32_MAX)
        return kb_corrupt(KB_FILE_TERMS, terms->stem_records.offset + at, "a stem's lists are misplaced", error);
    stem->postings_length = (uint32_t)(postings_end - stem->postings_offset);
    stem->positions_length = (uint32_t)(positions_end - stem->positions_offset);
    stem->number = number;
    if (stem->forms == 0 || stem->forms > terms->words.count)
        return kb_corrupt(KB_FILE_TERMS, terms->stem_records.offset + at, "a stem's forms are out of range", error);
    if (stem->df == 0 || stem->df > terms->entries ||
        (uint64_t)kb_postings_blocks(stem->df) * LEAST_REF_BYTES > stem->postings_length)
        return kb_corrupt(KB_FILE_TERMS, terms->stem_records.offset + at, "a stem's document frequency is out of range",
                          error);
    return KB_OK;
}

kb_status kb_terms_find(const kb_terms *terms, const uint8_t *bytes, size_t length, bool *found, kb_stem *stem,
                        kb_error *error) {
    uint32_t number = 0;
    kb_status status = kb_strings_find(&terms->stems, bytes, length, found, &number, error);
    return status != KB_OK || !*found ? status : kb_terms_stem(terms, number, stem, error);
}

kb_status kb_postings_open(const kb_terms *terms, const kb_stem *stem, kb_postings *postings, kb_error *error) {
    kb_cursor list;
    kb_status status = kb_lists_get(&terms->postings, stem->number, stem->postings_offset, stem->postings_length,
                                    stem->postings_crc, &list, error);
    if (status != KB_OK)
        return status;
    uint32_t blocks = kb_postings_blocks(stem->df);
    postings->terms = terms;
    postings->refs = postings->place = list.next;
    postings->shape = kb_ref_shape_of(terms->entries, blocks, stem->postings_length, stem->positions_length);
    postings->df = stem->df;
    kb_postings_rewind(postings);
    memset(postings->codes + KB_BLOCK / 4, 0, sizeof postings->codes - KB_BLOCK / 4);
    uint64_t refs_length = (uint64_t)blocks * postings->shape.all;
    if (refs_length > kb_cursor_left(&list))
        return kb_postings_corrupt(postings, "a list is too short for its blocks", error);
    postings->blocks = postings->place = list.next + refs_length;
    postings->blocks_length = (uint32_t)(list.end - postings->blocks);
    postings->positions_length = stem->positions_length;
    kb_block_ref last = kb_postings_ref(postings, blocks - 1);
    if (last.last >= terms->entries)
        return kb_postings_corrupt(postings, "a posting names an entry past the segment's", error);
    if (last.postings_end != postings->blocks_length || last.positions_end != stem->positions_length)
        return kb_postings_corrupt(postings, "a list is longer or shorter than its blocks", error);
    return KB_OK;
}

kb_status kb_postings_corrupt(const kb_postings *postings, const char *message, kb_error *error) {
    const kb_lists *lists = &postings->terms->postings;
    return kb_corrupt(lists->file, lists->offset + (uint64_t)(postings->place - lists->bytes), message, error);
}

/* Reads the codes of the block that begins at the cursor. */
static bool read_codes(kb_postings *postings, bool dense, kb_cursor *block) {
    const uint8_t *places = block->next;
    memset(postings->codes, 0, KB_BLOCK / 4);
    if (dense) {
        uint32_t bytes = postings->count / 4 + (postings->count % 4 != 0);
        if (kb_cursor_left(block) < bytes)
            return false;
        memcpy(postings->codes, places, bytes);
        block->next += bytes;
        return true;
    }
    uint8_t count = 0;
    if (!kb_cursor_u8(block, &count) || kb_cursor_left(block) < count + kb_bits_bytes(count, 2))
        return false;
    const uint8_t *listed = ++places + count;
    block->next = listed + kb_bits_bytes(count, 2);
    if (count % 4 != 0 && block->next[-1] >> count % 4 * 2 != 0)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t code = listed[i / 4] >> i % 4 * 2 & 3u;
        uint32_t place = places[i];
        if (code == 0 || place >= postings->count || (i > 0 && place <= places[i - 1]))
            return false;
        postings->codes[place / 4] = (uint8_t)(postings->codes[place / 4] | code << place % 4 * 2);
    }
    return true;
}

/* Reads the entries of a block, whose gaps begin at the cursor; `next` is the entry that a gap of 0 gives first. */
static kb_status read_entries(kb_postings *postings, uint32_t bits, uint32_t escapes, uint32_t next, kb_cursor *block,
                              kb_error *error) {
    const kb_terms *terms = postings->terms;
    uint64_t symbols = (uint64_t)postings->count + escapes;
    uint64_t bytes = kb_bits_bytes(symbols, bits);
    if (bits > KB_GAP_BITS_MAX || bytes > kb_cursor_left(block))
        return kb_postings_corrupt(postings, "a block's gaps are longer than the block", error);
    const uint8_t *gaps = block->next;
    block->next += bytes;
    uint32_t spare = (uint32_t)(bytes * 8 - symbols * bits);
    if (!terms->read_gaps(gaps, terms->postings.bytes + terms->postings.length, symbols, bits, postings->count, next,
                          postings->entries) ||
        (spare > 0 && block->next[-1] >> (8 - spare) != 0))
        return kb_postings_corrupt(postings, "a block's gaps are more or fewer than its postings", error);
    return KB_OK;
}

kb_status kb_postings_block(kb_postings *postings, uint32_t block, kb_error *error) {
    uint32_t blocks = kb_postings_blocks(postings->df);
    kb_block_ref ref = kb_postings_ref(postings, block);
    kb_block_ref before = {0};
    if (block > 0)
        before = kb_postings_ref(postings, block - 1);
    postings->block = block;
    postings->reach = 0;
    postings->count = postings->at = block + 1 < blocks ? KB_BLOCK : postings->df - (blocks - 1) * KB_BLOCK;
    postings->tokens = 0;
    postings->left = postings->df - block * KB_BLOCK;
    postings->place = postings->blocks;
    if (before.postings_end > ref.postings_end || ref.postings_end > postings->blocks_length ||
        ref.last > kb_postings_last(postings, blocks - 1))
        return kb_postings_corrupt(postings, "a block of postings is misplaced", error);
    kb_cursor read = {postings->blocks + before.postings_end, postings->blocks + ref.postings_end};
    uint8_t first = 0;
    uint32_t escapes = 0;
    postings->place = read.next;
    if (!kb_cursor_u8(&read, &first) || !kb_cursor_varint(&read, &escapes) ||
        !read_codes(postings, first & KB_CODES_DENSE, &read))
        return kb_postings_corrupt(postings, "a block's codes are wrong or end with it", error);
    kb_status status =
        read_entries(postings, first & ~KB_CODES_DENSE, escapes, block > 0 ? before.last + 1 : 0, &read, error);
    if (status != KB_OK)
        return status;
    if (postings->entries[postings->count - 1] != ref.last || (block > 0 && before.last >= ref.last))
        return kb_postings_corrupt(postings, "a block does not end at its last entry", error);
    postings->exceptions = read;
    return KB_OK;
}

/* Sets the current posting's frequencies to that of the body alone. */
static inline void put_body(kb_postings *postings, uint32_t frequency) {
    postings->mask = 1u << KB_BODY;
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        postings->frequencies[field] = field == KB_BODY ? frequency : 0;
    postings->total = frequency;
}

/* Reads an exception that has a mask. */
static bool read_exception(kb_postings *postings) {
    uint8_t first = 0;
    if (!kb_cursor_u8(&postings->exceptions, &first))
        return false;
    bool once = first & KB_EXCEPTION_ONCE;
    uint32_t mask = first & ~KB_EXCEPTION_ONCE;
    uint32_t most = 0;
    if (mask == 0 || mask >= 1u << KB_FIELDS)
        return false;
    postings->mask = mask;
    postings->total = 0;
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        uint32_t more = 0;
        postings->frequencies[field] = 0;
        if (!(mask >> field & 1))
            continue;
        if (!once && (!kb_cursor_varint(&postings->exceptions, &more) || more == UINT32_MAX))
            return false;
        most = more > most ? more : most;
        postings->frequencies[field] = more + 1;
        postings->total += postings->frequencies[field];
    }
    return (once || most > 0) && (mask != 1u << KB_BODY ||
                                  postings->frequencies[KB_BODY] > UINT8_MAX - KB_EXCEPTION_BODY + KB_EXCEPTION_LEAST);
}

/* Takes the next exception when it is of the body only, and sets *frequency to that. */
static inline bool take_body(kb_postings *postings, uint32_t *frequency) {
    kb_cursor *exceptions = &postings->exceptions;
    if (kb_cursor_left(exceptions) == 0 || *exceptions->next < KB_EXCEPTION_BODY)
        return false;
    *frequency = *exceptions->next++ - KB_EXCEPTION_BODY + KB_EXCEPTION_LEAST;
    return true;
}

kb_status kb_postings_exception(kb_postings *postings, kb_error *error) {
    uint32_t body = 0;
    if (take_body(postings, &body)) {
        put_body(postings, body);
        return KB_OK;
    }
    if (!read_exception(postings))
        return kb_postings_corrupt(postings, "an exception's mask or frequency is wrong", error);
    return KB_OK;
}

/* Of at most `count` exceptions at the cursor, how many of the first 8 are of the body only, as nearly all of the most
 * frequent stems are; adds their tokens. */
static inline uint32_t pass_bodies(kb_postings *postings, uint32_t count, uint64_t *tokens) {
    const uint64_t lane = 0x0101010101010101u;
    const kb_lists *lists = &postings->terms->postings;
    const uint8_t *next = postings->exceptions.next;
    uint64_t left = kb_cursor_left(&postings->exceptions);
    /* Eight bytes may be loaded, though the block may end before. */
    if (lists->bytes + lists->length - next < 8)
        return 0;
    uint32_t most = count < 8 ? count : 8;
    most = left < most ? (uint32_t)left : most;
    uint64_t bytes = kb_load_u64(next);
    uint64_t others = ~bytes & KB_EXCEPTION_BODY * lane;
    uint32_t bodies = others == 0 ? 8 : (uint32_t)__builtin_ctzll(others) / 8;
    bodies = bodies < most ? bodies : most;
    if (bodies == 0)
        return 0;
    bytes = (bytes & (KB_EXCEPTION_BODY - 1) * lane) << (8 - bodies) * 8;
    uint64_t pairs = (bytes & 0x00FF00FF00FF00FFu) + (bytes >> 8 & 0x00FF00FF00FF00FFu);
    *tokens += bodies * KB_EXCEPTION_LEAST + (pairs * 0x0001000100010001u >> 48);
    postings->exceptions.next += bodies;
    return bodies;
}

/* Adds the tokens of the next `count` exceptions to *tokens. */
static inline kb_status pass_exceptions(kb_postings *postings, uint32_t count, uint64_t *tokens, kb_error *error) {
    while (count > 0) {
        uint32_t bodies = pass_bodies(postings, count, tokens);
        count -= bodies;
        if (bodies > 0)
            continue;
        kb_status status = kb_postings_exception(postings, error);
        if (status != KB_OK)
            return status;
        *tokens += postings->total;
        count--;
    }
    return KB_OK;
}

/* Adds the tokens of postings `from` to `end - 1`, whose exceptions must be the next ones, to *tokens. */
static inline kb_status pass(kb_postings *postings, uint32_t from, uint32_t end, uint64_t *tokens, kb_error *error) {
    for (uint32_t at = from - from % 4; at < end; at += 32) {
        uint64_t codes = kb_postings_codes(postings, at, end);
        uint32_t first = at < from ? from - at : 0; /* these were passed before */
        codes = codes >> first * 2 << first * 2;
        uint64_t exceptions = kb_postings_exceptions(codes);
        /* A code c stands for c + 1 tokens; an exception's do not count. */
        *tokens += (end - at < 32 ? end - at : 32) - first + kb_postings_codes_sum(codes);
        if (exceptions == 0)
            continue;
        uint32_t count = kb_popcount(exceptions);
        *tokens -= (KB_CODE_EXCEPTION + 1) * count;
        kb_status status = pass_exceptions(postings, count, tokens, error);
        if (status != KB_OK)
            return status;
    }
    return KB_OK;
}

kb_status kb_postings_locate(kb_postings *postings, const uint8_t *at, uint32_t count, kb_spot *spots,
                             kb_error *error) {
    bool stands = postings->at < postings->count;
    uint32_t from = stands ? postings->at + 1 : 0;
    uint64_t tokens = postings->tokens + (stands ? postings->total : 0);
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        kb_status status = pass(postings, from, at[i], &tokens, error);
        uint32_t code = kb_postings_code(postings, at[i]);
        uint32_t body = code + 1;
        bool alone = code < KB_CODE_EXCEPTION || take_body(postings, &body);
        kb_spot *spot = &spots[i];
        spot->block = postings->block;
        spot->mask = 1u << KB_BODY;
        for (uint32_t field = 0; field < KB_FIELDS; field++)
            spot->frequencies[field] = field == KB_BODY ? body : 0;
        total = body;
        spot->first = tokens;
        if (!alone && status == KB_OK) {
            status = kb_postings_exception(postings, error);
            spot->mask = postings->mask;
            for (uint32_t field = 0; field < KB_FIELDS; field++)
                spot->frequencies[field] = postings->frequencies[field];
            total = postings->total;
        }
        if (status != KB_OK)
            return status;
        tokens += total;
        from = at[i] + 1u;
    }
    if (count == 0)
        return KB_OK;
    postings->at = postings->reach = from - 1;
    postings->tokens = tokens - total;
    postings->total = total;
    return from == postings->count ? kb_postings_block_end(postings, error) : KB_OK;
}

kb_status kb_postings_move(kb_postings *postings, uint32_t at, kb_error *error) {
    kb_status status = KB_OK;
    uint32_t from = 0;
    if (postings->at < postings->count) {
        postings->tokens += postings->total;
        from = postings->at + 1;
    }
    if (from < at)
        status = pass(postings, from, at, &postings->tokens, error);
    if (status != KB_OK)
        return status;
    uint32_t code = kb_postings_code(postings, at);
    postings->at = postings->reach = at;
    postings->entry = postings->entries[at];
    postings->next = (uint64_t)postings->entry + 1;
    postings->left = postings->df - postings->block * KB_BLOCK - at - 1;
    if (code == KB_CODE_EXCEPTION) {
        status = kb_postings_exception(postings, error);
    } else {
        put_body(postings, code + 1);
    }
    return status == KB_OK && at + 1 == postings->count ? kb_postings_block_end(postings, error) : status;
}

bool kb_postings_ahead(const kb_postings *postings, uint32_t entry, uint32_t *block) {
    uint32_t low = postings->count == 0 ? 0 : postings->block + 1;
    uint32_t step = 1;
    uint32_t high = kb_postings_blocks(postings->df) - 1;
    if (kb_postings_last(postings, high) < entry)
        return false;
    while (low + step <= high && kb_postings_last(postings, low + step - 1) < entry) {
        low += step;
        step *= 2;
    }
    if (low + step - 1 < high)
        high = low + step - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (kb_postings_last(postings, middle) < entry)
            low = middle + 1;
        else
            high = middle;
    }
    *block = low;
    return true;
}

#define CACHE_LINE 64u
#define BLOCK_LINES 8u /* more than nearly all blocks have */

void kb_postings_prefetch(const kb_postings *postings, uint32_t block) {
    uint32_t start = block > 0 ? kb_postings_ref(postings, block - 1).postings_end : 0;
    uint32_t end = kb_postings_ref(postings, block).postings_end;
    /* A damaged block may be misplaced; loading what is not there does nothing. */
    for (uint32_t i = 0; i < BLOCK_LINES && start < end && i * CACHE_LINE < end - start; i++)
        __builtin_prefetch(postings->blocks + start + i * CACHE_LINE);
}

kb_status kb_postings_reach_on(kb_postings *postings, uint32_t entry, bool *found, kb_error *error) {
    uint32_t block = 0;
    *found = kb_postings_ahead(postings, entry, &block);
    return *found ? kb_postings_block(postings, block, error) : KB_OK;
}

kb_status kb_postings_seek(kb_postings *postings, uint32_t entry, bool *found, kb_error *error) {
    *found = true;
    if (postings->next > entry)
        return KB_OK;
    kb_status status = kb_postings_find(postings, entry, found, error);
    return status == KB_OK && *found ? kb_postings_move(postings, postings->reach, error) : status;
}
