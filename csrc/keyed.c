/* Keyed lists. */
#include "keyed.h"

#include "bitmap.h"

#define RECORD_BYTES 20u

typedef struct {
    uint64_t offset;
    uint32_t length;
    uint32_t count;
    uint32_t crc;
} key_record;

kb_status kb_keyed_open(const kb_container *container, uint32_t region, kb_keyed *keyed, kb_error *error) {
    uint64_t rows = 0;
    kb_status status = kb_strings_open(container, region, &keyed->keys, error);
    if (status == KB_OK)
        status = kb_table_open(container, region + 2, RECORD_BYTES, &keyed->records, &rows, error);
    if (status == KB_OK && rows != keyed->keys.count)
        status = kb_corrupt(container->file, keyed->records.offset, "keys and their records differ in number", error);
    if (status == KB_OK)
        status = kb_lists_open(container, region + 3, rows, &keyed->lists);
    keyed->entries = container->entries;
    return status;
}

void kb_keyed_close(kb_keyed *keyed) {
    kb_strings_close(&keyed->keys);
    kb_table_close(&keyed->records);
    kb_lists_close(&keyed->lists);
}

static kb_status read_record(const kb_keyed *keyed, uint32_t number, key_record *record, kb_error *error) {
    const uint8_t *row = NULL;
    kb_status status = kb_table_bytes(&keyed->records, (uint64_t)number * RECORD_BYTES, RECORD_BYTES, &row, error);
    if (status != KB_OK)
        return status;
    record->offset = kb_load_u64(row);
    record->length = kb_load_u32(row + 8);
    record->count = kb_load_u32(row + 12);
    record->crc = kb_load_u32(row + 16);
    /* A list has a byte at least for each entry, unless it is of all of them. */
    bool whole = record->length == 0 && record->count == keyed->entries;
    if ((record->count > record->length && !whole) || record->count > keyed->entries)
        return kb_corrupt(keyed->records.file, keyed->records.offset + (uint64_t)number * RECORD_BYTES,
                          "a key has more entries than its list", error);
    return KB_OK;
}

kb_status kb_keyed_count(const kb_keyed *keyed, uint32_t number, uint32_t *count, kb_error *error) {
    key_record record;
    kb_status status = read_record(keyed, number, &record, error);
    if (status == KB_OK)
        *count = record.count;
    return status;
}

/* Decodes a list into `entries`, or into `bitmap` when that is not NULL, or into nothing. */
static kb_status decode(const kb_keyed *keyed, uint32_t number, const key_record *record, uint32_t *entries,
                        uint8_t *bitmap, kb_error *error) {
    kb_cursor cursor;
    kb_status status = kb_lists_get(&keyed->lists, number, record->offset, record->length, record->crc, &cursor, error);
    if (status != KB_OK)
        return status;
    bool whole = record->length == 0;
    uint64_t next = 0;
    for (uint32_t i = 0; i < record->count; i++) {
        uint32_t gap = 0;
        if (!whole && !kb_cursor_varint(&cursor, &gap))
            return kb_lists_corrupt(&keyed->lists, &cursor, "a list of entries holds a wrong varint", error);
        next += (uint64_t)gap + 1;
        if (next > keyed->entries)
            return kb_lists_corrupt(&keyed->lists, &cursor, "a list names an entry past the segment's", error);
        if (entries != NULL)
            entries[i] = (uint32_t)(next - 1);
        if (bitmap != NULL)
            kb_bitmap_set(bitmap, (uint32_t)(next - 1));
    }
    if (cursor.next != cursor.end || (record->count == keyed->entries && !whole))
        return kb_lists_corrupt(&keyed->lists, &cursor, "a list is longer than its entries", error);
    return KB_OK;
}

kb_status kb_keyed_entries(const kb_keyed *keyed, uint32_t number, uint32_t *entries, kb_error *error) {
    key_record record;
    kb_status status = read_record(keyed, number, &record, error);
    return status != KB_OK ? status : decode(keyed, number, &record, entries, NULL, error);
}

kb_status kb_keyed_bitmap(const kb_keyed *keyed, uint32_t number, uint8_t *bitmap, kb_error *error) {
    key_record record;
    kb_status status = read_record(keyed, number, &record, error);
    return status != KB_OK ? status : decode(keyed, number, &record, NULL, bitmap, error);
}

kb_status kb_keyed_verify(const kb_keyed *keyed, kb_error *error) {
    kb_status status = kb_strings_verify(&keyed->keys, true, error);
    uint64_t end = 0;
    for (uint32_t i = 0; i < keyed->keys.count && status == KB_OK; i++) {
        key_record record;
        status = read_record(keyed, i, &record, error);
        if (status == KB_OK && (record.offset != end || record.count == 0))
            status = kb_corrupt(keyed->records.file, keyed->records.offset + (uint64_t)i * RECORD_BYTES,
                                "a list is empty or misplaced", error);
        if (status == KB_OK)
            status = decode(keyed, i, &record, NULL, NULL, error);
        end += record.length;
    }
    if (status == KB_OK && end != keyed->lists.length)
        status = kb_corrupt(keyed->lists.file, keyed->lists.offset + end, "bytes after the last list", error);
    return status;
}
