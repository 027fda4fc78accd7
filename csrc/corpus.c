/* corpus.dat. */
#include "corpus.h"

#include <stdlib.h>
#include <string.h>

#include "bitmap.h"
#include "bits.h"
#include "crc32.h"

#define TOTALS_BYTES (9u * KB_FIELDS)

kb_record_shape kb_record_shape_of(uint32_t stored, uint32_t shared, uint32_t distinct) {
    kb_record_shape shape = {kb_narrow_width(stored), kb_narrow_width(shared), kb_narrow_width(distinct), 0};
    shape.all = shape.stored + shape.shared + shape.distinct;
    return shape;
}

/* Finds how wide the numbers of the records are: what is not told by the other tables, their length tells. */
static kb_status find_shape(kb_corpus *corpus, kb_error *error) {
    uint64_t length = corpus->records.length;
    uint64_t row = corpus->entries == 0 ? 0 : length / corpus->entries;
    if (corpus->stored.length <= UINT32_MAX) {
        kb_record_shape shape = kb_record_shape_of((uint32_t)corpus->stored.length, corpus->shared.count, 0);
        uint64_t distinct = row - shape.stored - shape.shared;
        corpus->shape = (kb_record_shape){shape.stored, shape.shared, (uint32_t)distinct, (uint32_t)row};
        if (row * corpus->entries == length && (corpus->entries == 0 || (distinct > 0 && distinct <= 4)))
            return KB_OK;
    }
    return kb_corrupt(KB_FILE_CORPUS, corpus->records.offset, "the records do not fit the number of entries", error);
}

/* Finds where the lengths of each field are. */
static kb_status find_lengths(kb_corpus *corpus, kb_error *error) {
    const uint8_t *totals = NULL;
    uint64_t at = 0;
    kb_status status = kb_table_bytes(&corpus->totals, 0, TOTALS_BYTES, &totals, error);
    if (status != KB_OK)
        return status;
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        corpus->length_widths[field] = totals[8 * KB_FIELDS + field];
        corpus->length_offsets[field] = at;
        at += (uint64_t)corpus->length_widths[field] * corpus->entries;
        if (corpus->length_widths[field] > 4)
            return kb_corrupt(KB_FILE_CORPUS, corpus->totals.offset, "lengths are wider than they can be", error);
    }
    if (at != corpus->lengths.length)
        return kb_corrupt(KB_FILE_CORPUS, corpus->lengths.offset, "the lengths do not fit the number of entries",
                          error);
    return KB_OK;
}

kb_status kb_corpus_open(const kb_container *container, kb_corpus *corpus, kb_error *error) {
    uint64_t kbids = 0;
    uint64_t records = 0;
    uint64_t stored = 0;
    uint64_t codes = 0;
    uint64_t lengths = 0;
    uint64_t totals = 0;
    uint64_t listed = 0;
    corpus->entries = container->entries;
    kb_status status = kb_table_open(container, KB_CORPUS_KBIDS, KB_KBID_BYTES, &corpus->kbids, &kbids, error);
    if (status == KB_OK)
        status = kb_table_open(container, KB_CORPUS_RECORDS, 1, &corpus->records, &records, error);
    if (status == KB_OK)
        status = kb_keyed_open(container, KB_CORPUS_FILTERS, &corpus->filters, error);
    if (status == KB_OK)
        status = kb_table_open(container, KB_CORPUS_STORED, 1, &corpus->stored, &stored, error);
    if (status == KB_OK)
        status =
            kb_table_open(container, KB_CORPUS_REMOVED, KB_KBID_BYTES, &corpus->removed, &corpus->removed_count, error);
    if (status == KB_OK)
        status = kb_table_open(container, KB_CORPUS_CODES, KB_FIELDS, &corpus->codes, &codes, error);
    if (status == KB_OK)
        status = kb_table_open(container, KB_CORPUS_LENGTHS, 1, &corpus->lengths, &lengths, error);
    if (status == KB_OK)
        status = kb_table_open(container, KB_CORPUS_TOTALS, TOTALS_BYTES, &corpus->totals, &totals, error);
    if (status == KB_OK)
        status = kb_table_open(container, KB_CORPUS_LISTED, 1, &corpus->listed, &listed, error);
    if (status == KB_OK)
        status = kb_strings_open(container, KB_CORPUS_SHARED, &corpus->shared, error);
    if (status == KB_OK && (kbids != container->entries || codes != container->entries || totals != 1 ||
                            listed != (uint64_t)container->entries / 8 + (container->entries % 8 != 0)))
        status = kb_corrupt(KB_FILE_CORPUS, corpus->kbids.offset, "a table does not fit the number of entries", error);
    if (status == KB_OK)
        status = find_shape(corpus, error);
    return status == KB_OK ? find_lengths(corpus, error) : status;
}

void kb_corpus_close(kb_corpus *corpus) {
    kb_table_close(&corpus->kbids);
    kb_table_close(&corpus->records);
    kb_keyed_close(&corpus->filters);
    kb_table_close(&corpus->stored);
    kb_table_close(&corpus->removed);
    kb_table_close(&corpus->codes);
    kb_table_close(&corpus->lengths);
    kb_table_close(&corpus->totals);
    kb_table_close(&corpus->listed);
    kb_strings_close(&corpus->shared);
}

kb_status kb_corpus_kbid(const kb_corpus *corpus, uint32_t entry, const uint8_t **kbid, kb_error *error) {
    return kb_table_bytes(&corpus->kbids, (uint64_t)entry * KB_KBID_BYTES, KB_KBID_BYTES, kbid, error);
}

kb_status kb_corpus_find(const kb_corpus *corpus, const uint8_t *kbid, bool *found, uint32_t *entry, kb_error *error) {
    const uint8_t *candidate = NULL;
    uint32_t low = 0;
    uint32_t high = corpus->entries;
    *found = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        kb_status status = kb_corpus_kbid(corpus, middle, &candidate, error);
        if (status != KB_OK)
            return status;
        if (memcmp(candidate, kbid, KB_KBID_BYTES) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == corpus->entries)
        return KB_OK;
    kb_status status = kb_corpus_kbid(corpus, low, &candidate, error);
    *found = status == KB_OK && memcmp(candidate, kbid, KB_KBID_BYTES) == 0;
    *entry = low;
    return status;
}

kb_status kb_corpus_entry(const kb_corpus *corpus, uint32_t number, kb_entry *entry, kb_error *error) {
    const kb_record_shape *shape = &corpus->shape;
    const uint8_t *row = NULL;
    uint64_t at = (uint64_t)number * shape->all;
    bool last = number + 1 == corpus->entries;
    kb_status status = kb_table_bytes(&corpus->records, at, last ? shape->all : 2 * (uint64_t)shape->all, &row, error);
    if (status != KB_OK)
        return status;
    uint32_t end = last ? (uint32_t)corpus->stored.length : kb_load_narrow(row + shape->all, shape->stored);
    entry->stored_offset = kb_load_narrow(row, shape->stored);
    entry->stored_length = end - entry->stored_offset;
    entry->shared = kb_load_narrow(row + shape->stored, shape->shared);
    entry->distinct = kb_load_narrow(row + shape->stored + shape->shared, shape->distinct);
    if (entry->stored_offset > end || end > corpus->stored.length || entry->shared > corpus->shared.count)
        return kb_corrupt(KB_FILE_CORPUS, corpus->records.offset + at, "an entry's stored bytes are misplaced", error);
    return KB_OK;
}

kb_status kb_corpus_totals(const kb_corpus *corpus, uint64_t totals[KB_FIELDS], kb_error *error) {
    const uint8_t *bytes = NULL;
    kb_status status = kb_table_bytes(&corpus->totals, 0, corpus->totals.length, &bytes, error);
    for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++)
        totals[field] = kb_load_u64(bytes + 8 * field);
    return status;
}

#define CODE_PLAIN 64u /* lengths below it are their own code */
#define CODE_STEPS 5u  /* bits after the first that a code keeps */

uint32_t kb_corpus_length_code(uint32_t length) {
    if (length < CODE_PLAIN)
        return length;
    uint32_t exponent = kb_bits_width(length) - 1;
    uint32_t code = CODE_PLAIN + 32 * (exponent - 6) + (length >> (exponent - CODE_STEPS) & 31);
    return code < KB_LENGTH_CODE_MAX ? code : KB_LENGTH_CODE_MAX;
}

uint32_t kb_corpus_code_length(uint32_t code) {
    if (code < CODE_PLAIN)
        return code;
    uint32_t exponent = (code - CODE_PLAIN) / 32 + 6;
    return (32 + (code - CODE_PLAIN) % 32) << (exponent - CODE_STEPS);
}

uint32_t kb_corpus_length_width(uint32_t longest) { return longest < CODE_PLAIN ? 0 : kb_narrow_width(longest); }

uint32_t kb_corpus_shared_length(const uint8_t *bytes, uint32_t length) {
    while (length > 0 && bytes[length - 1] != KB_SHARED_END)
        length--;
    return length;
}

kb_status kb_corpus_stored(const kb_corpus *corpus, uint32_t number, kb_stored *stored, kb_error *error) {
    kb_entry entry;
    uint32_t length = 0;
    *stored = (kb_stored){{NULL, NULL}, {NULL, NULL}};
    kb_status status = kb_corpus_entry(corpus, number, &entry, error);
    if (status == KB_OK && entry.shared > 0) {
        status = kb_strings_get(&corpus->shared, entry.shared - 1, &stored->shared.next, &length, error);
        if (status == KB_OK)
            stored->shared.end = stored->shared.next + length;
    }
    if (status == KB_OK)
        status = kb_table_bytes(&corpus->stored, entry.stored_offset, entry.stored_length, &stored->own.next, error);
    if (status == KB_OK)
        stored->own.end = stored->own.next + entry.stored_length;
    return status;
}

kb_status kb_corpus_listed(const kb_corpus *corpus, const uint8_t **bitmap, kb_error *error) {
    return kb_table_bytes(&corpus->listed, 0, corpus->listed.length, bitmap, error);
}

/* Checks that a table of kbids ascends without repeats. */
static kb_status verify_kbids(const kb_table *table, kb_error *error) {
    const uint8_t *bytes = NULL;
    kb_status status = kb_table_bytes(table, 0, table->length, &bytes, error);
    if (status != KB_OK)
        return status;
    for (uint64_t at = KB_KBID_BYTES; at < table->length; at += KB_KBID_BYTES)
        if (memcmp(bytes + at - KB_KBID_BYTES, bytes + at, KB_KBID_BYTES) >= 0)
            return kb_corrupt(table->file, table->offset + at, "kbids are not in ascending order", error);
    return KB_OK;
}

/* Checks that each shared string is what entries share, and is used. */
static kb_status verify_shared(const kb_corpus *corpus, const uint8_t *used, kb_error *error) {
    kb_status status = kb_strings_verify(&corpus->shared, false, error);
    for (uint32_t i = 0; i < corpus->shared.count && status == KB_OK; i++) {
        const uint8_t *bytes = NULL;
        uint32_t length = 0;
        status = kb_strings_get(&corpus->shared, i, &bytes, &length, error);
        if (status == KB_OK && (bytes[length - 1] != KB_SHARED_END || !kb_bitmap_has(used, i)))
            status =
                kb_corrupt(KB_FILE_CORPUS, corpus->shared.bytes.offset + (uint64_t)(bytes - corpus->shared.bytes.bytes),
                           "stored bytes are shared by no entry", error);
    }
    return status;
}

static kb_status verify_records(const kb_corpus *corpus, uint8_t *used, kb_error *error) {
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < corpus->entries; i++) {
        kb_entry entry;
        kb_stored stored;
        kb_status status = kb_corpus_entry(corpus, i, &entry, error);
        if (status == KB_OK)
            status = kb_corpus_stored(corpus, i, &stored, error);
        if (status != KB_OK)
            return status;
        if ((i == 0 && entry.stored_offset != 0) || kb_corpus_shared_length(stored.own.next, entry.stored_length) > 0)
            return kb_corrupt(KB_FILE_CORPUS, corpus->records.offset + (uint64_t)i * corpus->shape.all,
                              "an entry's stored bytes are misplaced", error);
        distinct = entry.distinct > distinct ? entry.distinct : distinct;
        if (entry.shared > 0)
            kb_bitmap_set(used, entry.shared - 1);
    }
    if (corpus->entries == 0 ? corpus->stored.length > 0 : corpus->shape.distinct != kb_narrow_width(distinct))
        return kb_corrupt(KB_FILE_CORPUS, corpus->records.offset, "records are wider than they should be", error);
    return verify_shared(corpus, used, error);
}

/* Checks the length codes, and that the totals are the sums they say. */
static kb_status verify_lengths(const kb_corpus *corpus, kb_error *error) {
    uint64_t totals[KB_FIELDS] = {0};
    uint64_t sums[KB_FIELDS] = {0};
    uint32_t longest[KB_FIELDS] = {0};
    const uint8_t *codes = NULL;
    kb_status status = kb_corpus_totals(corpus, totals, error);
    if (status == KB_OK)
        status = kb_table_bytes(&corpus->codes, 0, corpus->codes.length, &codes, error);
    for (uint32_t i = 0; i < corpus->entries && status == KB_OK; i++) {
        for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++) {
            uint32_t length = 0;
            status = kb_corpus_length(corpus, i, field, &length, error);
            sums[field] += length;
            longest[field] = length > longest[field] ? length : longest[field];
            uint64_t at = (uint64_t)field * corpus->entries + i;
            if (status == KB_OK && codes[at] != kb_corpus_length_code(length))
                status = kb_corrupt(KB_FILE_CORPUS, corpus->codes.offset + at, "a length code is wrong", error);
        }
    }
    for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++)
        if (corpus->length_widths[field] != kb_corpus_length_width(longest[field]))
            status = kb_corrupt(KB_FILE_CORPUS, corpus->totals.offset, "lengths are wider than they should be", error);
    if (status == KB_OK && memcmp(totals, sums, sizeof totals) != 0)
        status = kb_corrupt(KB_FILE_CORPUS, corpus->totals.offset, "a total is not the sum of the lengths", error);
    return status;
}

static kb_status verify_listed(const kb_corpus *corpus, kb_error *error) {
    const uint8_t *bitmap = NULL;
    kb_status status = kb_corpus_listed(corpus, &bitmap, error);
    uint32_t last = corpus->entries % 8;
    if (status == KB_OK && last != 0 && bitmap[corpus->entries / 8] >> last != 0)
        return kb_corrupt(KB_FILE_CORPUS, corpus->listed.offset + corpus->entries / 8,
                          "the bits after the last entry are not 0", error);
    return status;
}

kb_status kb_corpus_verify(const kb_corpus *corpus, uint32_t kbids_crc, kb_error *error) {
    kb_status status = verify_kbids(&corpus->kbids, error);
    if (status == KB_OK && kb_crc32(corpus->kbids.bytes, (size_t)corpus->kbids.length) != kbids_crc)
        status = kb_corrupt(KB_FILE_CORPUS, 28, "the checksum of the kbids is wrong", error);
    if (status == KB_OK)
        status = verify_kbids(&corpus->removed, error);
    for (uint64_t at = 0; at < corpus->removed.length && status == KB_OK; at += KB_KBID_BYTES) {
        bool found = false;
        uint32_t entry = 0;
        status = kb_corpus_find(corpus, corpus->removed.bytes + at, &found, &entry, error);
        if (status == KB_OK && found)
            status = kb_corrupt(KB_FILE_CORPUS, corpus->removed.offset + at, "an entry is also removed", error);
    }
    uint8_t *used = calloc((size_t)corpus->shared.count / 8 + 1, 1);
    if (used == NULL)
        return KB_E_MEMORY;
    if (status == KB_OK)
        status = verify_records(corpus, used, error);
    free(used);
    if (status == KB_OK)
        status = verify_lengths(corpus, error);
    if (status == KB_OK)
        status = verify_listed(corpus, error);
    return status == KB_OK ? kb_keyed_verify(&corpus->filters, error) : status;
}
