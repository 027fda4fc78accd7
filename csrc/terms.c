/* terms.idx. */
#include "terms.h"

#define WORDS 0u
#define WORD_RECORDS 2u
#define STEMS 3u
#define STEM_RECORDS 5u
#define POSTINGS 6u
#define WORD_BYTES 8u
#define STEM_BYTES 40u

kb_status kb_terms_open(const kb_container *terms_file, const kb_container *positions_file, kb_terms *terms,
                        kb_error *error) {
    uint64_t words = 0;
    uint64_t stems = 0;
    kb_status status = kb_strings_open(terms_file, WORDS, &terms->words, error);
    if (status == KB_OK)
        status = kb_table_open(terms_file, WORD_RECORDS, WORD_BYTES, &terms->word_records, &words, error);
    if (status == KB_OK)
        status = kb_strings_open(terms_file, STEMS, &terms->stems, error);
    if (status == KB_OK)
        status = kb_table_open(terms_file, STEM_RECORDS, STEM_BYTES, &terms->stem_records, &stems, error);
    if (status == KB_OK)
        status = kb_lists_open(terms_file, POSTINGS, stems, &terms->postings);
    if (status == KB_OK)
        status = kb_lists_open(positions_file, 0, stems, &terms->positions);
    if (status != KB_OK)
        return status;
    terms->entries = terms_file->entries;
    if (words != terms->words.count)
        return kb_corrupt(KB_FILE_TERMS, terms->word_records.offset, "words and their records differ in number", error);
    if (stems != terms->stems.count)
        return kb_corrupt(KB_FILE_TERMS, terms->stem_records.offset, "stems and their records differ in number", error);
    return KB_OK;
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
    const uint8_t *row = NULL;
    kb_status status = kb_table_bytes(&terms->word_records, (uint64_t)number * WORD_BYTES, WORD_BYTES, &row, error);
    if (status != KB_OK)
        return status;
    word->stem = kb_load_u32(row);
    word->form = kb_load_u32(row + 4);
    if (word->stem >= terms->stems.count)
        return kb_corrupt(KB_FILE_TERMS, terms->word_records.offset + (uint64_t)number * WORD_BYTES,
                          "a word's stem is out of range", error);
    return KB_OK;
}

kb_status kb_terms_stem(const kb_terms *terms, uint32_t number, kb_stem *stem, kb_error *error) {
    const uint8_t *row = NULL;
    kb_status status = kb_table_bytes(&terms->stem_records, (uint64_t)number * STEM_BYTES, STEM_BYTES, &row, error);
    if (status != KB_OK)
        return status;
    stem->postings_offset = kb_load_u64(row);
    stem->positions_offset = kb_load_u64(row + 8);
    stem->postings_length = kb_load_u32(row + 16);
    stem->positions_length = kb_load_u32(row + 20);
    stem->df = kb_load_u32(row + 24);
    stem->forms = kb_load_u32(row + 28);
    stem->postings_crc = kb_load_u32(row + 32);
    stem->positions_crc = kb_load_u32(row + 36);
    stem->number = number;
    if (stem->forms == 0 || stem->forms > terms->words.count)
        return kb_corrupt(KB_FILE_TERMS, terms->stem_records.offset + (uint64_t)number * STEM_BYTES,
                          "a stem's forms are out of range", error);
    if (stem->df == 0 || stem->df > terms->entries || stem->df > stem->postings_length)
        return kb_corrupt(KB_FILE_TERMS, terms->stem_records.offset + (uint64_t)number * STEM_BYTES,
                          "a stem's document frequency is out of range", error);
    return KB_OK;
}

kb_status kb_terms_find(const kb_terms *terms, const uint8_t *bytes, size_t length, bool *found, kb_stem *stem,
                        kb_error *error) {
    uint32_t number = 0;
    kb_status status = kb_strings_find(&terms->stems, bytes, length, found, &number, error);
    return status != KB_OK || !*found ? status : kb_terms_stem(terms, number, stem, error);
}

kb_status kb_postings_open(const kb_terms *terms, const kb_stem *stem, kb_postings *postings, kb_error *error) {
    *postings = (kb_postings){.terms = terms, .left = stem->df};
    kb_status status = kb_lists_get(&terms->postings, stem->number, stem->postings_offset, stem->postings_length,
                                    stem->postings_crc, &postings->cursor, error);
    return status;
}

kb_status kb_postings_corrupt(const kb_postings *postings, const char *message, kb_error *error) {
    return kb_lists_corrupt(&postings->terms->postings, &postings->cursor, message, error);
}

/* Reads mask and frequencies of a posting of kind 2. */
static bool read_fields(kb_postings *postings) {
    uint8_t mask = 0;
    if (!kb_cursor_u8(&postings->cursor, &mask) || mask == 0 || mask == 1u << KB_BODY || mask >= 1u << KB_FIELDS)
        return false;
    postings->mask = mask;
    postings->frequencies[KB_BODY] = 0;
    for (uint32_t field = 0; mask >> field != 0; field++) {
        uint32_t more = 0;
        if (!(mask >> field & 1))
            continue;
        if (!kb_cursor_varint(&postings->cursor, &more) || more == UINT32_MAX)
            return false;
        postings->frequencies[field] = more + 1;
    }
    return true;
}

kb_status kb_postings_read(kb_postings *postings, uint32_t kind, kb_error *error) {
    uint32_t more = 0;
    if (kind == 3)
        return kb_postings_corrupt(postings, "a posting is of a kind that does not occur", error);
    if (kind == 2)
        return read_fields(postings) ? KB_OK
                                     : kb_postings_corrupt(postings, "a posting's mask or frequency is wrong", error);
    if (!kb_cursor_varint(&postings->cursor, &more) || more >= UINT32_MAX - 1)
        return kb_postings_corrupt(postings, "a posting's frequency is wrong", error);
    postings->frequencies[KB_BODY] = more + 2;
    return KB_OK;
}
