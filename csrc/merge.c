/* Merges segments: entries first, then terms (merge_terms.c), then the rest (merge_corpus.c). */
#include "merge.h"

#include <stdlib.h>
#include <string.h>

#include "bitmap.h"
#include "merge_task.h"

static kb_status number_entries(kb_merge_task *merge, kb_error *error) {
    kb_union *entries = &merge->entries;
    kb_status status = kb_union_new(merge->order->parts_count, entries);
    for (uint32_t part = 0; part < merge->order->parts_count && status == KB_OK; part++) {
        const kb_segment *segment = merge->order->parts[part].segment;
        status = kb_union_add_kbids(entries, part, &segment->corpus);
        for (uint32_t i = 0; i < segment->entries && status == KB_OK; i++)
            if (!kb_bitmap_has(merge->order->parts[part].keep, i))
                entries->sets[part].numbers[i] = KB_NONE;
    }
    if (status == KB_OK)
        status = kb_union_number(entries, &merge->current, error);
    return status == KB_OK && entries->count > KB_ENTRIES_MAX ? KB_E_TOO_LARGE : status;
}

static kb_status check_distinct(kb_merge_task *merge, uint8_t *twice, kb_error *error) {
    kb_union *entries = &merge->entries;
    for (kb_union_walk(entries); kb_union_next(entries);) {
        if (entries->holders_count == 1)
            continue;
        const uint8_t *kbid = NULL;
        uint32_t length = 0;
        kb_status status = kb_union_string(entries, &kbid, &length, error);
        if (status == KB_OK)
            memcpy(twice, kbid, KB_KBID_BYTES);
        return status == KB_OK ? KB_E_ARGUMENT : status;
    }
    return KB_OK;
}

static kb_status read_lengths_of(kb_merge_task *merge, uint32_t part, kb_error *error) {
    const kb_segment *segment = kb_merge_read(merge, part);
    const uint32_t *numbers = merge->entries.sets[part].numbers;
    uint64_t total = 0;
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        for (uint32_t i = 0; i < segment->entries; i++) {
            if (numbers[i] == KB_NONE)
                continue;
            uint32_t *length = &merge->merged[numbers[i]].lengths[field];
            kb_status status = kb_corpus_length(&segment->corpus, i, field, length, error);
            if (status != KB_OK)
                return status;
            merge->totals[field] += *length;
            total += *length;
        }
    }
    return kb_places_possible(segment, total, error);
}

static kb_status read_lengths(kb_merge_task *merge, kb_error *error) {
    kb_status status = KB_OK;
    merge->merged = calloc((size_t)merge->entries.count + 1, sizeof *merge->merged);
    if (merge->merged == NULL)
        return KB_E_MEMORY;
    for (uint32_t part = 0; part < merge->order->parts_count && status == KB_OK; part++)
        status = read_lengths_of(merge, part, error);
    return status;
}

kb_status kb_merge_begin_strings(const kb_union *strings, kb_container_writer *file, uint32_t region) {
    if (strings->bytes > UINT32_MAX)
        return KB_E_TOO_LARGE;
    kb_region_begin_table(file, region, ((uint64_t)strings->count + 1) * 4);
    kb_region_begin_table(file, region + 1, strings->bytes);
    kb_region_put_u32(file, region, 0);
    return KB_OK;
}

kb_status kb_merge_put_string(kb_merge_task *merge, const kb_union *strings, kb_container_writer *file, uint32_t region,
                              uint32_t *end, kb_error *error) {
    const uint8_t *bytes = NULL;
    uint32_t length = 0;
    merge->current = strings->holders[0];
    kb_status status = kb_union_string(strings, &bytes, &length, error);
    if (status != KB_OK)
        return status;
    *end += length;
    kb_region_put_u32(file, region, *end);
    kb_region_put(file, region + 1, bytes, length);
    return KB_OK;
}

void kb_merge_end_strings(kb_container_writer *file, uint32_t region) {
    kb_region_end(file, region);
    kb_region_end(file, region + 1);
}

/* Hands bytes to the caller's sink until that refuses some. */
static kb_status write(void *context, kb_file file, uint64_t offset, const uint8_t *bytes, size_t length) {
    kb_merge_task *merge = context;
    if (merge->refused == KB_OK)
        merge->refused = merge->sink->write(merge->sink->context, file, offset, bytes, length);
    return merge->refused;
}

kb_status kb_merge(const kb_merge_order *order, const kb_sink *sink, uint8_t twice[KB_KBID_BYTES], kb_error *error) {
    kb_merge_task merge = {.order = order, .sink = sink};
    const kb_sink guarded = {write, &merge};
    uint32_t kbids_crc = 0;
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        merge.files[file] = (kb_container_writer){.file = file, .sink = &guarded};
    kb_status status = number_entries(&merge, error);
    if (status == KB_OK)
        status = check_distinct(&merge, twice, error);
    if (status == KB_OK)
        status = read_lengths(&merge, error);
    if (status == KB_OK)
        status = kb_merge_terms(&merge, error);
    if (status == KB_OK)
        status = kb_merge_corpus(&merge, &kbids_crc, error);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++) {
        if (status == KB_OK)
            status = kb_container_end(&merge.files[file], order->fingerprint, merge.entries.count, kbids_crc);
        kb_container_writer_free(&merge.files[file]);
    }
    if (status == KB_E_CORRUPT)
        error->segment = merge.current;
    kb_union_free(&merge.entries);
    free(merge.merged);
    return status;
}
