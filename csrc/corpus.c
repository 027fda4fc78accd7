/* corpus.dat. */
#include "corpus.h"

#include <string.h>

#include "bitmap.h"
#include "bits.h"
#include "crc32.h"

kb_status kb_corpus_open(const kb_container *container, kb_corpus *corpus, kb_error *error) {
    uint64_t kbids = 0;
    uint64_t records = 0;
    uint64_t codes = 0;
    uint64_t lengths = 0;
    uint64_t totals = 0;
    uint64_t listed = 0;
    corpus->entries = container->entries;
    kb_status status = kb_table_open(container, KB_CORPUS_KBIDS, KB_KBID_BYTES, &corpus->kbids, &kbids, error);
    if (status == KB_OK)
        status = kb_table_open(container, KB_CORPUS_RECORDS, KB_ENTRY_BYTES, &corpus->records, &records, error);
    if (status == KB_OK)
        status = kb_keyed_open(container, KB_CORPUS_FILTERS, &corpus->filters, error);
    if (status == KB_OK)
        status = kb_lists_open(container, KB_CORPUS_STORED, container->entries, &corpus->stored);
    if (status == KB_OK)
        status =
            kb_table_open(container, KB_CORPUS_REMOVED, KB_KBID_BYTES, &corpus->removed, &corpus->removed_count, error);
    if (status == KB_OK)
        status = kb_table_open(container, KB_CORPUS_CODES, KB_FIELDS, &corpus->codes, &codes, error);
    if (status == KB_OK)
        status = kb_table_open(container, KB_CORPUS_LENGTHS, 4 * KB_FIELDS, &corpus->lengths, &lengths, error);
    if (status == KB_OK)
        status = kb_table_open(container, KB_CORPUS_TOTALS, 8 * KB_FIELDS, &corpus->totals, &totals, error);
    if (status == KB_OK)
        status = kb_table_open(container, KB_CORPUS_LISTED, 1, &corpus->listed, &listed, error);
    if (status == KB_OK && (kbids != container->entries || records != container->entries ||
                            codes != container->entries || lengths != container->entries || totals != 1 ||
                            listed != (uint64_t)container->entries / 8 + (container->entries % 8 != 0)))
        status = kb_corrupt(KB_FILE_CORPUS, corpus->kbids.offset, "a table does not fit the number of entries", error);
    return status;
}

void kb_corpus_close(kb_corpus *corpus) {
    kb_table_close(&corpus->kbids);
    kb_table_close(&corpus->records);
    kb_keyed_close(&corpus->filters);
    kb_lists_close(&corpus->stored);
    kb_table_close(&corpus->removed);
    kb_table_close(&corpus->codes);
    kb_table_close(&corpus->lengths);
    kb_table_close(&corpus->totals);
    kb_table_close(&corpus->listed);
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
    const uint8_t *row = NULL;
    kb_status status = kb_table_bytes(&corpus->records, (uint64_t)number * KB_ENTRY_BYTES, KB_ENTRY_BYTES, &row, error);
    if (status != KB_OK)
        return status;
    entry->stored_offset = kb_load_u64(row);
    entry->stored_length = kb_load_u32(row + 8);
    entry->stored_crc = kb_load_u32(row + 12);
    entry->distinct = kb_load_u32(row + 16);
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

kb_status kb_corpus_stored(const kb_corpus *corpus, uint32_t number, kb_cursor *cursor, kb_error *error) {
    kb_entry entry;
    kb_status status = kb_corpus_entry(corpus, number, &entry, error);
    if (status != KB_OK)
        return status;
    return kb_lists_get(&corpus->stored, number, entry.stored_offset, entry.stored_length, entry.stored_crc, cursor,
                        error);
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

static kb_status verify_records(const kb_corpus *corpus, kb_error *error) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < corpus->entries; i++) {
        kb_entry entry;
        kb_cursor stored;
        kb_status status = kb_corpus_entry(corpus, i, &entry, error);
        if (status == KB_OK && entry.stored_offset != end)
            status = kb_corrupt(KB_FILE_CORPUS, corpus->records.offset + (uint64_t)i * KB_ENTRY_BYTES,
                                "an entry's stored bytes are misplaced", error);
        if (status == KB_OK)
            status = kb_corpus_stored(corpus, i, &stored, error);
        if (status != KB_OK)
            return status;
        end += entry.stored_length;
    }
    if (end != corpus->stored.length)
        return kb_corrupt(KB_FILE_CORPUS, corpus->stored.offset + end, "bytes after the last entry's", error);
    return KB_OK;
}

/* Checks the length codes, and that the totals are the sums they say. */
static kb_status verify_lengths(const kb_corpus *corpus, kb_error *error) {
    uint64_t totals[KB_FIELDS] = {0};
    uint64_t sums[KB_FIELDS] = {0};
    const uint8_t *codes = NULL;
    kb_status status = kb_corpus_totals(corpus, totals, error);
    if (status == KB_OK)
        status = kb_table_bytes(&corpus->codes, 0, corpus->codes.length, &codes, error);
    for (uint32_t i = 0; i < corpus->entries && status == KB_OK; i++) {
        for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++) {
            uint32_t length = 0;
            status = kb_corpus_length(corpus, i, field, &length, error);
            sums[field] += length;
            uint64_t at = (uint64_t)field * corpus->entries + i;
            if (status == KB_OK && codes[at] != kb_corpus_length_code(length))
                status = kb_corrupt(KB_FILE_CORPUS, corpus->codes.offset + at, "a length code is wrong", error);
        }
    }
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
    if (status == KB_OK)
        status = verify_records(corpus, error);
    if (status == KB_OK)
        status = verify_lengths(corpus, error);
    if (status == KB_OK)
        status = verify_listed(corpus, error);
    return status == KB_OK ? kb_keyed_verify(&corpus->filters, error) : status;
}
