/* Merges what segments hold beside terms: entries, keyed lists, stored bytes (README.md sections 3 and 6). */
#include <stdlib.h>
#include <string.h>

#include "bitmap.h"
#include "crc32.h"
#include "merge_task.h"

#define KEY_BYTES 20u

/* The part and entry that the walk over the merged entries is at. */
static const kb_corpus *current(kb_merge_task *merge, uint32_t *entry) {
    uint32_t part = merge->entries.holders[0];
    *entry = merge->entries.sets[part].at;
    return &kb_merge_read(merge, part)->corpus;
}

/* What is stored with the merged entries. */
typedef struct {
    kb_union shared;
    uint64_t length;   /* of the entries' own bytes */
    uint32_t distinct; /* most stems of an entry */
} stored_task;

/* Adds the part's shared strings to the union, but for those of no kept entry, and the lengths of own bytes. */
static kb_status read_stored(kb_merge_task *merge, stored_task *stored, uint32_t part, kb_error *error) {
    const kb_corpus *corpus = &kb_merge_read(merge, part)->corpus;
    const uint32_t *numbers = merge->entries.sets[part].numbers;
    uint32_t *shared = NULL;
    kb_status status = kb_union_add_strings(&stored->shared, part, &corpus->shared);
    if (status == KB_OK) {
        shared = stored->shared.sets[part].numbers;
        memset(shared, 0xFF, corpus->shared.count * sizeof *shared);
    }
    for (uint32_t i = 0; i < corpus->entries && status == KB_OK; i++) {
        kb_entry entry = {0};
        if (numbers[i] == KB_NONE)
            continue;
        status = kb_corpus_entry(corpus, i, &entry, error);
        if (status == KB_OK && entry.shared > 0)
            shared[entry.shared - 1] = 0;
        stored->length += entry.stored_length;
    }
    return status;
}

static kb_status read_all_stored(kb_merge_task *merge, stored_task *stored, kb_error *error) {
    kb_status status = kb_union_new(merge->order->parts_count, &stored->shared);
    for (uint32_t part = 0; part < merge->order->parts_count && status == KB_OK; part++)
        status = read_stored(merge, stored, part, error);
    if (status == KB_OK)
        status = kb_union_number(&stored->shared, &merge->current, error);
    for (uint32_t i = 0; i < merge->entries.count; i++) {
        uint32_t distinct = merge->merged[i].distinct;
        stored->distinct = distinct > stored->distinct ? distinct : stored->distinct;
    }
    return status == KB_OK && stored->length > UINT32_MAX ? KB_E_TOO_LARGE : status;
}

/* Writes kbids and entry records. */
static kb_status put_entries(kb_merge_task *merge, const stored_task *stored, uint32_t *kbids_crc, kb_error *error) {
    kb_container_writer *file = &merge->files[KB_FILE_CORPUS];
    kb_record_shape shape = kb_record_shape_of((uint32_t)stored->length, stored->shared.count, stored->distinct);
    kb_bytes record = {0};
    uint32_t offset = 0;
    kb_status status = KB_OK;
    kb_region_begin_table(file, KB_CORPUS_KBIDS, (uint64_t)merge->entries.count * KB_KBID_BYTES);
    kb_region_begin_table(file, KB_CORPUS_RECORDS, (uint64_t)merge->entries.count * shape.all);
    for (kb_union_walk(&merge->entries); status == KB_OK && kb_union_next(&merge->entries);) {
        const uint8_t *kbid = NULL;
        uint32_t number = 0;
        kb_entry entry;
        const kb_corpus *corpus = current(merge, &number);
        const uint32_t *shared = stored->shared.sets[merge->current].numbers;
        status = kb_corpus_kbid(corpus, number, &kbid, error);
        if (status == KB_OK)
            status = kb_corpus_entry(corpus, number, &entry, error);
        if (status != KB_OK)
            break;
        *kbids_crc = kb_crc32_more(*kbids_crc, kbid, KB_KBID_BYTES);
        kb_region_put(file, KB_CORPUS_KBIDS, kbid, KB_KBID_BYTES);
        record.length = 0;
        kb_bytes_put_narrow(&record, offset, shape.stored);
        kb_bytes_put_narrow(&record, entry.shared == 0 ? 0 : shared[entry.shared - 1] + 1, shape.shared);
        kb_bytes_put_narrow(&record, merge->merged[merge->entries.number].distinct, shape.distinct);
        kb_region_put(file, KB_CORPUS_RECORDS, record.data, record.length);
        offset += entry.stored_length;
        status = record.failed ? KB_E_MEMORY : file->status;
    }
    kb_region_end(file, KB_CORPUS_KBIDS);
    kb_region_end(file, KB_CORPUS_RECORDS);
    kb_bytes_free(&record);
    return status;
}

static kb_status put_shared(kb_merge_task *merge, kb_union *shared, kb_error *error) {
    kb_container_writer *file = &merge->files[KB_FILE_CORPUS];
    uint32_t end = 0;
    kb_status status = kb_merge_begin_strings(shared, file, KB_CORPUS_SHARED);
    for (kb_union_walk(shared); status == KB_OK && kb_union_next(shared);)
        status = kb_merge_put_string(merge, shared, file, KB_CORPUS_SHARED, &end, error);
    kb_merge_end_strings(file, KB_CORPUS_SHARED);
    return status;
}

static kb_status put_listed(kb_merge_task *merge, kb_error *error) {
    kb_container_writer *file = &merge->files[KB_FILE_CORPUS];
    kb_bytes bitmap = {0};
    kb_status status = KB_OK;
    kb_bytes_put_zeros(&bitmap, merge->entries.count / 8 + (merge->entries.count % 8 != 0));
    for (kb_union_walk(&merge->entries); status == KB_OK && !bitmap.failed && kb_union_next(&merge->entries);) {
        const uint8_t *listed = NULL;
        uint32_t number = 0;
        status = kb_corpus_listed(current(merge, &number), &listed, error);
        if (status == KB_OK && kb_bitmap_has(listed, number))
            kb_bitmap_set(bitmap.data, merge->entries.number);
    }
    if (bitmap.failed)
        status = KB_E_MEMORY;
    if (status == KB_OK) {
        kb_region_begin_table(file, KB_CORPUS_LISTED, bitmap.length);
        kb_region_put(file, KB_CORPUS_LISTED, bitmap.data, bitmap.length);
        kb_region_end(file, KB_CORPUS_LISTED);
    }
    kb_bytes_free(&bitmap);
    return status;
}

static kb_status put_stored(kb_merge_task *merge, uint64_t length, kb_error *error) {
    kb_container_writer *file = &merge->files[KB_FILE_CORPUS];
    kb_status status = KB_OK;
    kb_region_begin_table(file, KB_CORPUS_STORED, length);
    for (kb_union_walk(&merge->entries); status == KB_OK && kb_union_next(&merge->entries);) {
        kb_stored stored;
        uint32_t number = 0;
        const kb_corpus *corpus = current(merge, &number);
        status = kb_corpus_stored(corpus, number, &stored, error);
        if (status == KB_OK)
            kb_region_put(file, KB_CORPUS_STORED, stored.own.next, kb_cursor_left(&stored.own));
        if (status == KB_OK)
            status = file->status;
    }
    kb_region_end(file, KB_CORPUS_STORED);
    return status;
}

/* Writes the removed kbids, less those that are entries. */
static kb_status put_removed(kb_merge_task *merge, kb_error *error) {
    kb_container_writer *file = &merge->files[KB_FILE_CORPUS];
    static const uint8_t none[1] = {0}; /* where nothing was removed, there may be no bytes to point at */
    const uint8_t *next = merge->order->removed_count == 0 ? none : merge->order->removed;
    const uint8_t *end = next + merge->order->removed_count * KB_KBID_BYTES;
    kb_bytes removed = {0};
    for (kb_union_walk(&merge->entries); next < end && kb_union_next(&merge->entries);) {
        const uint8_t *kbid = NULL;
        uint32_t length = 0;
        merge->current = merge->entries.holders[0];
        kb_status status = kb_union_string(&merge->entries, &kbid, &length, error);
        if (status != KB_OK) {
            kb_bytes_free(&removed);
            return status;
        }
        int order = 1;
        for (; next < end && (order = memcmp(next, kbid, KB_KBID_BYTES)) < 0; next += KB_KBID_BYTES)
            kb_bytes_put(&removed, next, KB_KBID_BYTES);
        next += order == 0 ? KB_KBID_BYTES : 0;
    }
    kb_bytes_put(&removed, next, (size_t)(end - next));
    kb_region_begin_table(file, KB_CORPUS_REMOVED, removed.length);
    kb_region_put(file, KB_CORPUS_REMOVED, removed.data, removed.length);
    kb_region_end(file, KB_CORPUS_REMOVED);
    kb_status status = removed.failed ? KB_E_MEMORY : KB_OK;
    kb_bytes_free(&removed);
    return status;
}

static void put_lengths(kb_merge_task *merge) {
    kb_container_writer *file = &merge->files[KB_FILE_CORPUS];
    uint64_t count = merge->entries.count;
    uint8_t widths[KB_FIELDS];
    uint64_t all = 0;
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        uint32_t longest = 0;
        for (uint32_t i = 0; i < count; i++)
            longest = merge->merged[i].lengths[field] > longest ? merge->merged[i].lengths[field] : longest;
        widths[field] = (uint8_t)kb_corpus_length_width(longest);
        all += widths[field];
    }
    kb_region_begin_table(file, KB_CORPUS_CODES, count * KB_FIELDS);
    kb_region_begin_table(file, KB_CORPUS_LENGTHS, count * all);
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t length = merge->merged[i].lengths[field];
            uint8_t code = (uint8_t)kb_corpus_length_code(length);
            uint8_t bytes[4];
            kb_store_u32(bytes, length);
            kb_region_put(file, KB_CORPUS_CODES, &code, 1);
            kb_region_put(file, KB_CORPUS_LENGTHS, bytes, widths[field]);
        }
    }
    kb_region_end(file, KB_CORPUS_CODES);
    kb_region_end(file, KB_CORPUS_LENGTHS);
    kb_region_begin_table(file, KB_CORPUS_TOTALS, 9 * KB_FIELDS);
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        kb_region_put_u32(file, KB_CORPUS_TOTALS, (uint32_t)merge->totals[field]);
        kb_region_put_u32(file, KB_CORPUS_TOTALS, (uint32_t)(merge->totals[field] >> 32));
    }
    kb_region_put(file, KB_CORPUS_TOTALS, widths, KB_FIELDS);
    kb_region_end(file, KB_CORPUS_TOTALS);
}

/* The entries of a key in one part, as numbers of the merged segment. */
typedef struct {
    uint32_t *next;
    uint32_t *end;
} run;

/* Keyed lists being merged: filters or references. */
typedef struct {
    kb_merge_task *merge;
    kb_container_writer *file;
    bool filters;
    kb_union keys;
    uint32_t *entries; /* room for those of one key */
    run *runs;         /* one a part that has the key */
    kb_bytes list;
} keyed_task;

static const kb_keyed *keyed_of(keyed_task *task, uint32_t part) {
    const kb_segment *segment = kb_merge_read(task->merge, part);
    return task->filters ? &segment->corpus.filters : &segment->references;
}

/* Reads those entries of a part's key that are kept. */
static kb_status read_run(keyed_task *task, uint32_t part, uint32_t key, uint32_t *room, run *kept, kb_error *error) {
    const kb_keyed *keyed = keyed_of(task, part);
    const uint32_t *numbers = task->merge->entries.sets[part].numbers;
    uint32_t count = 0;
    kb_status status = kb_keyed_count(keyed, key, &count, error);
    if (status == KB_OK)
        status = kb_keyed_entries(keyed, key, room, error);
    if (status != KB_OK)
        return status;
    *kept = (run){room, room};
    for (uint32_t i = 0; i < count; i++)
        if (numbers[room[i]] != KB_NONE)
            *kept->end++ = numbers[room[i]];
    return KB_OK;
}

/* Adds the part's keys to the union, but for those that no kept entry has. */
static kb_status add_keys(keyed_task *task, uint32_t part, kb_error *error) {
    const kb_keyed *keyed = keyed_of(task, part);
    kb_status status = kb_union_add_strings(&task->keys, part, &keyed->keys);
    for (uint32_t key = 0; key < keyed->keys.count && status == KB_OK; key++) {
        run kept = {NULL, NULL};
        status = read_run(task, part, key, task->entries, &kept, error);
        if (status == KB_OK && kept.next == kept.end)
            task->keys.sets[part].numbers[key] = KB_NONE;
    }
    return status;
}

/* Writes the entries of the runs to the list, in order. */
static uint32_t put_runs(keyed_task *task, uint32_t runs_count) {
    uint32_t count = 0;
    uint32_t next = 0; /* the entry that a gap of 0 means */
    while (runs_count > 0) {
        run *first = task->runs;
        for (uint32_t i = 1; i < runs_count; i++)
            if (*task->runs[i].next < *first->next)
                first = &task->runs[i];
        kb_bytes_put_varint(&task->list, *first->next - next);
        next = *first->next + 1;
        count++;
        if (++first->next == first->end)
            *first = task->runs[--runs_count];
    }
    return count;
}

/* Writes the list and the record of the union's current key. */
static kb_status put_key(keyed_task *task, uint32_t region, uint64_t *offset, kb_error *error) {
    uint32_t *room = task->entries;
    uint32_t runs_count = 0;
    for (uint32_t i = 0; i < task->keys.holders_count; i++) {
        uint32_t part = task->keys.holders[i];
        run *kept = &task->runs[runs_count++];
        kb_status status = read_run(task, part, task->keys.sets[part].at, room, kept, error);
        if (status != KB_OK)
            return status;
        room = kept->end;
    }
    task->list.length = 0;
    uint32_t count = put_runs(task, runs_count);
    if (count == task->merge->entries.count)
        task->list.length = 0; /* the list of all entries */
    if (task->list.failed)
        return KB_E_MEMORY;
    if (task->list.length > UINT32_MAX)
        return KB_E_TOO_LARGE;
    kb_region_put_u32(task->file, region + 2, (uint32_t)*offset);
    kb_region_put_u32(task->file, region + 2, (uint32_t)(*offset >> 32));
    kb_region_put_u32(task->file, region + 2, (uint32_t)task->list.length);
    kb_region_put_u32(task->file, region + 2, count);
    kb_region_put_u32(task->file, region + 2, kb_crc32(task->list.data, task->list.length));
    kb_region_put(task->file, region + 3, task->list.data, task->list.length);
    *offset += task->list.length;
    return task->file->status;
}

static kb_status put_keys(keyed_task *task, uint32_t region, kb_error *error) {
    kb_status status = kb_merge_begin_strings(&task->keys, task->file, region);
    uint32_t end = 0;
    uint64_t offset = 0;
    kb_region_begin_table(task->file, region + 2, (uint64_t)task->keys.count * KEY_BYTES);
    kb_region_begin_lists(task->file, region + 3);
    for (kb_union_walk(&task->keys); status == KB_OK && kb_union_next(&task->keys);) {
        status = kb_merge_put_string(task->merge, &task->keys, task->file, region, &end, error);
        if (status == KB_OK)
            status = put_key(task, region, &offset, error);
    }
    kb_merge_end_strings(task->file, region);
    kb_region_end(task->file, region + 2);
    kb_region_end(task->file, region + 3);
    return status;
}

/* Writes four regions of keyed lists. */
static kb_status put_keyed(kb_merge_task *merge, kb_file file, kb_error *error) {
    keyed_task task = {.merge = merge, .file = &merge->files[file], .filters = file == KB_FILE_CORPUS};
    uint32_t parts = merge->order->parts_count;
    size_t entries = 1;
    for (uint32_t part = 0; part < parts; part++)
        entries += merge->order->parts[part].segment->entries;
    task.entries = malloc(entries * sizeof *task.entries);
    task.runs = malloc(((size_t)parts + 1) * sizeof *task.runs);
    kb_status status = task.entries && task.runs ? kb_union_new(parts, &task.keys) : KB_E_MEMORY;
    for (uint32_t part = 0; part < parts && status == KB_OK; part++)
        status = add_keys(&task, part, error);
    if (status == KB_OK)
        status = kb_union_number(&task.keys, &merge->current, error);
    if (status == KB_OK)
        status = put_keys(&task, task.filters ? KB_CORPUS_FILTERS : 0, error);
    kb_union_free(&task.keys);
    free(task.entries);
    free(task.runs);
    kb_bytes_free(&task.list);
    return status;
}

kb_status kb_merge_corpus(kb_merge_task *merge, uint32_t *kbids_crc, kb_error *error) {
    stored_task stored = {0};
    kb_status status = read_all_stored(merge, &stored, error);
    if (status == KB_OK)
        status = put_entries(merge, &stored, kbids_crc, error);
    if (status == KB_OK)
        status = put_keyed(merge, KB_FILE_CORPUS, error);
    if (status == KB_OK)
        status = put_stored(merge, stored.length, error);
    if (status == KB_OK)
        status = put_removed(merge, error);
    if (status == KB_OK)
        put_lengths(merge);
    if (status == KB_OK)
        status = put_listed(merge, error);
    if (status == KB_OK)
        status = put_shared(merge, &stored.shared, error);
    kb_union_free(&stored.shared);
    return status == KB_OK ? put_keyed(merge, KB_FILE_REFERENCES, error) : status;
}
