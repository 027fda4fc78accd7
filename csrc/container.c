/* The container of a segment's files. */
#include "container.h"

#include <stdlib.h>
#include <string.h>

#include "crc32.h"

#define HEADER_BYTES 32u /* before the region_refs */
#define REFERENCE_BYTES 16u

typedef struct {
    char magic[5];
    uint8_t regions;
    uint8_t lists; /* bit i set: region i is lists */
} file_kind;

static const file_kind kinds[KB_FILES] = {
    [KB_FILE_TERMS] = {"KBTI", 7, 1u << 6},
    [KB_FILE_POSITIONS] = {"KBPO", 1, 1u << 0},
    [KB_FILE_CORPUS] = {"KBCO", 14, 1u << 5},
    [KB_FILE_REFERENCES] = {"KBRF", 4, 1u << 3},
};

static uint64_t align(uint64_t offset, uint64_t to) { return (offset + to - 1) / to * to; }

static uint64_t pages(uint64_t length) { return (length + KB_PAGE - 1) / KB_PAGE; }

static uint64_t header_bytes(kb_file file) { return HEADER_BYTES + REFERENCE_BYTES * kinds[file].regions + 4; }

/* The bytes a region takes in the file, page crcs included. */
static uint64_t stored_bytes(kb_file file, uint32_t region, uint64_t length) {
    return kb_container_is_lists(file, region) ? length : align(length, 4) + 4 * pages(length);
}

uint32_t kb_container_regions(kb_file file) { return kinds[file].regions; }

bool kb_container_is_lists(kb_file file, uint32_t region) { return kinds[file].lists >> region & 1; }

static kb_status check_header(kb_file file, const uint8_t *bytes, size_t length, uint64_t fingerprint,
                              kb_error *error) {
    uint64_t size = header_bytes(file);
    if (length < 6)
        return kb_corrupt(file, length, "the file ends inside its header", error);
    if (memcmp(bytes, kinds[file].magic, 4) != 0)
        return kb_corrupt(file, 0, "the file does not begin with its magic bytes", error);
    if (kb_load_u16(bytes + 4) != KB_VERSION) {
        kb_corrupt(file, 4, "made in another format version", error);
        return KB_E_STALE;
    }
    if (length < size)
        return kb_corrupt(file, length, "the file ends inside its header", error);
    if (kb_load_u32(bytes + size - 4) != kb_crc32(bytes, size - 4))
        return kb_corrupt(file, size - 4, "the header's checksum is wrong", error);
    if (kb_load_u64(bytes + 16) != fingerprint) {
        kb_corrupt(file, 16, "made by another analyser", error);
        return KB_E_STALE;
    }
    if (kb_load_u16(bytes + 6) != kinds[file].regions)
        return kb_corrupt(file, 6, "the number of regions is wrong", error);
    if (kb_load_u64(bytes + 8) != length)
        return kb_corrupt(file, 8, "the file is not as long as it says", error);
    if (kb_load_u32(bytes + 24) > KB_ENTRIES_MAX)
        return kb_corrupt(file, 24, "more entries than a segment holds", error);
    return KB_OK;
}

kb_status kb_container_open(kb_file file, const uint8_t *bytes, size_t length, uint64_t fingerprint,
                            kb_container *container, kb_error *error) {
    kb_status status = check_header(file, bytes, length, fingerprint, error);
    if (status != KB_OK)
        return status;
    container->bytes = bytes;
    container->file = file;
    container->entries = kb_load_u32(bytes + 24);
    container->kbids_crc = kb_load_u32(bytes + 28);
    uint64_t end = header_bytes(file);
    for (uint32_t i = 0; i < kinds[file].regions; i++) {
        uint64_t at = HEADER_BYTES + REFERENCE_BYTES * i;
        uint64_t offset = kb_load_u64(bytes + at);
        uint64_t size = kb_load_u64(bytes + at + 8);
        if (offset != align(end, 8) || offset > length)
            return kb_corrupt(file, at, "a region does not follow the one before", error);
        if (size > length - offset || stored_bytes(file, i, size) > length - offset)
            return kb_corrupt(file, at + 8, "a region ends past the file", error);
        container->offsets[i] = offset;
        container->lengths[i] = size;
        end = offset + stored_bytes(file, i, size);
    }
    if (end != length)
        return kb_corrupt(file, 8, "the regions do not end where the file does", error);
    return KB_OK;
}

/* One bit each for `count` things, all 0; never empty, so that NULL means no memory. */
static _Atomic uint32_t *bits_new(uint64_t count) {
    return count / 32 >= SIZE_MAX / sizeof(uint32_t) ? NULL : calloc((size_t)(count / 32 + 1), sizeof(uint32_t));
}

kb_status kb_table_open(const kb_container *container, uint32_t region, uint32_t row, kb_table *table, uint64_t *rows,
                        kb_error *error) {
    uint64_t length = container->lengths[region];
    if (length % row != 0)
        return kb_corrupt(container->file, container->offsets[region], "a table has part of a row", error);
    *rows = length / row;
    table->bytes = container->bytes + container->offsets[region];
    table->length = length;
    table->offset = container->offsets[region];
    table->file = container->file;
    table->checked = bits_new(pages(length));
    return table->checked == NULL ? KB_E_MEMORY : KB_OK;
}

void kb_table_close(kb_table *table) { free((void *)table->checked); }

kb_status kb_lists_open(const kb_container *container, uint32_t region, uint64_t count, kb_lists *lists) {
    lists->bytes = container->bytes + container->offsets[region];
    lists->length = container->lengths[region];
    lists->offset = container->offsets[region];
    lists->file = container->file;
    lists->checked = bits_new(count);
    return lists->checked == NULL ? KB_E_MEMORY : KB_OK;
}

void kb_lists_close(kb_lists *lists) { free((void *)lists->checked); }

static kb_status check_page(const kb_table *table, uint64_t page, kb_error *error) {
    uint64_t start = page * KB_PAGE;
    uint64_t size = table->length - start < KB_PAGE ? table->length - start : KB_PAGE;
    const uint8_t *crc = table->bytes + align(table->length, 4) + 4 * page;
    if (kb_crc32(table->bytes + start, (size_t)size) != kb_load_u32(crc))
        return kb_corrupt(table->file, table->offset + start, "the checksum of a page is wrong", error);
    return KB_OK;
}

kb_status kb_table_check(const kb_table *table, uint64_t first, uint64_t last, kb_error *error) {
    for (uint64_t page = first; page <= last; page++) {
        uint32_t bit = 1u << page % 32;
        if (atomic_load_explicit(&table->checked[page / 32], memory_order_relaxed) & bit)
            continue;
        kb_status status = check_page(table, page, error);
        if (status != KB_OK)
            return status;
        atomic_fetch_or_explicit(&table->checked[page / 32], bit, memory_order_relaxed);
    }
    return KB_OK;
}

kb_status kb_lists_get(const kb_lists *lists, uint64_t number, uint64_t offset, uint64_t length, uint32_t crc,
                       kb_cursor *cursor, kb_error *error) {
    if (offset > lists->length || length > lists->length - offset) {
        uint64_t place = lists->offset + (offset < lists->length ? offset : lists->length);
        return kb_corrupt(lists->file, place, "a list does not lie inside its region", error);
    }
    uint32_t bit = 1u << number % 32;
    if (!(atomic_load_explicit(&lists->checked[number / 32], memory_order_relaxed) & bit)) {
        if (kb_crc32(lists->bytes + offset, (size_t)length) != crc)
            return kb_corrupt(lists->file, lists->offset + offset, "the checksum of a list is wrong", error);
        atomic_fetch_or_explicit(&lists->checked[number / 32], bit, memory_order_relaxed);
    }
    cursor->next = lists->bytes + offset;
    cursor->end = cursor->next + length;
    return KB_OK;
}

kb_status kb_lists_corrupt(const kb_lists *lists, const kb_cursor *cursor, const char *message, kb_error *error) {
    return kb_corrupt(lists->file, lists->offset + (uint64_t)(cursor->next - lists->bytes), message, error);
}

static kb_status check_zeros(const kb_container *container, uint64_t start, uint64_t end, kb_error *error) {
    for (uint64_t i = start; i < end; i++)
        if (container->bytes[i] != 0)
            return kb_corrupt(container->file, i, "the bytes between two regions are not 0", error);
    return KB_OK;
}

kb_status kb_container_verify(const kb_container *container, kb_error *error) {
    uint64_t end = header_bytes(container->file);
    for (uint32_t i = 0; i < kinds[container->file].regions; i++) {
        uint64_t offset = container->offsets[i];
        uint64_t length = container->lengths[i];
        kb_status status = check_zeros(container, end, offset, error);
        if (status != KB_OK)
            return status;
        if (!kb_container_is_lists(container->file, i)) {
            kb_table table = {container->bytes + offset, length, offset, NULL, container->file};
            for (uint64_t page = 0; page < pages(length) && status == KB_OK; page++)
                status = check_page(&table, page, error);
            if (status == KB_OK)
                status = check_zeros(container, offset + length, offset + align(length, 4), error);
            if (status != KB_OK)
                return status;
        }
        end = offset + stored_bytes(container->file, i, length);
    }
    return KB_OK;
}

static void put_header(kb_file file, uint64_t fingerprint, uint32_t entries, uint32_t kbids_crc,
                       const uint64_t *offsets, const uint64_t *lengths, uint64_t end, kb_bytes *out) {
    size_t start = out->length;
    kb_bytes_put(out, (const uint8_t *)kinds[file].magic, 4);
    kb_bytes_put_u16(out, KB_VERSION);
    kb_bytes_put_u16(out, kinds[file].regions);
    kb_bytes_put_u64(out, end);
    kb_bytes_put_u64(out, fingerprint);
    kb_bytes_put_u32(out, entries);
    kb_bytes_put_u32(out, kbids_crc);
    for (uint32_t i = 0; i < kinds[file].regions; i++) {
        kb_bytes_put_u64(out, offsets[i]);
        kb_bytes_put_u64(out, lengths[i]);
    }
    if (!out->failed)
        kb_bytes_put_u32(out, kb_crc32(out->data + start, out->length - start));
}

static void put_page_crcs(const uint8_t *bytes, size_t length, kb_bytes *out) {
    for (size_t at = 0; at < length; at += KB_PAGE)
        kb_bytes_put_u32(out, kb_crc32(bytes + at, length - at < KB_PAGE ? length - at : KB_PAGE));
}

void kb_container_write(kb_file file, uint64_t fingerprint, uint32_t entries, uint32_t kbids_crc,
                        const kb_region *regions, kb_bytes *out) {
    uint64_t offsets[KB_REGIONS_MAX] = {0};
    uint64_t lengths[KB_REGIONS_MAX] = {0};
    uint64_t end = header_bytes(file);
    for (uint32_t i = 0; i < kinds[file].regions; i++) {
        offsets[i] = align(end, 8);
        lengths[i] = regions[i].length;
        end = offsets[i] + stored_bytes(file, i, regions[i].length);
    }
    size_t start = out->length;
    if (kb_bytes_reserve(out, (size_t)end) == NULL)
        return;
    put_header(file, fingerprint, entries, kbids_crc, offsets, lengths, end, out);
    for (uint32_t i = 0; i < kinds[file].regions; i++) {
        const kb_region *region = &regions[i];
        kb_bytes_put_zeros(out, start + (size_t)offsets[i] - out->length);
        kb_bytes_put(out, region->bytes, region->length);
        if (kb_container_is_lists(file, i))
            continue;
        kb_bytes_put_zeros(out, (size_t)(align(region->length, 4) - region->length));
        put_page_crcs(region->bytes, region->length, out);
    }
}

/* Where the file's bytes end after a region that has begun. */
static uint64_t end_after(const kb_container_writer *writer, uint32_t region) {
    const kb_region_writer *last = &writer->regions[region];
    return last->offset + stored_bytes(writer->file, region, last->length);
}

void kb_region_begin_table(kb_container_writer *writer, uint32_t region, uint64_t length) {
    uint64_t end = region == 0 ? header_bytes(writer->file) : end_after(writer, region - 1);
    writer->regions[region] = (kb_region_writer){.offset = align(end, 8), .length = length};
}

void kb_region_begin_lists(kb_container_writer *writer, uint32_t region) { kb_region_begin_table(writer, region, 0); }

static void give(kb_container_writer *writer, uint64_t offset, const kb_bytes *bytes) {
    if (writer->status == KB_OK && bytes->failed)
        writer->status = KB_E_MEMORY;
    if (writer->status == KB_OK && bytes->length > 0)
        writer->status = writer->sink->write(writer->sink->context, writer->file, offset, bytes->data, bytes->length);
}

static void give_pending(kb_container_writer *writer, uint32_t region) {
    kb_region_writer *to = &writer->regions[region];
    if (!kb_container_is_lists(writer->file, region) && !to->pending.failed)
        put_page_crcs(to->pending.data, to->pending.length, &to->crcs);
    give(writer, to->offset + to->written, &to->pending);
    to->written += to->pending.length;
    to->pending.length = 0;
}

void kb_region_put(kb_container_writer *writer, uint32_t region, const uint8_t *bytes, size_t length) {
    kb_region_writer *to = &writer->regions[region];
    if (kb_container_is_lists(writer->file, region))
        to->length += length;
    while (length > 0 && writer->status == KB_OK) {
        size_t room = KB_CHUNK - to->pending.length;
        size_t size = length < room ? length : room;
        kb_bytes_put(&to->pending, bytes, size);
        bytes += size;
        length -= size;
        if (to->pending.length == KB_CHUNK || to->pending.failed)
            give_pending(writer, region);
    }
}

void kb_region_put_u32(kb_container_writer *writer, uint32_t region, uint32_t value) {
    uint8_t bytes[4];
    kb_store_u32(bytes, value);
    kb_region_put(writer, region, bytes, sizeof bytes);
}

void kb_region_end(kb_container_writer *writer, uint32_t region) {
    kb_region_writer *to = &writer->regions[region];
    kb_bytes *tail = &to->pending;
    give_pending(writer, region);
    if (!kb_container_is_lists(writer->file, region)) {
        kb_bytes_put_zeros(tail, (size_t)(align(to->length, 4) - to->length));
        kb_bytes_put(tail, to->crcs.data, to->crcs.length);
        tail->failed = tail->failed || to->crcs.failed;
    }
    uint64_t end = end_after(writer, region);
    if (region + 1 < kinds[writer->file].regions)
        kb_bytes_put_zeros(tail, (size_t)(align(end, 8) - end));
    give(writer, to->offset + to->written, tail);
    kb_bytes_free(&to->pending);
    kb_bytes_free(&to->crcs);
}

kb_status kb_container_end(kb_container_writer *writer, uint64_t fingerprint, uint32_t entries, uint32_t kbids_crc) {
    uint64_t offsets[KB_REGIONS_MAX] = {0};
    uint64_t lengths[KB_REGIONS_MAX] = {0};
    uint32_t count = kinds[writer->file].regions;
    kb_bytes header = {0};
    for (uint32_t i = 0; i < count; i++) {
        offsets[i] = writer->regions[i].offset;
        lengths[i] = writer->regions[i].length;
    }
    put_header(writer->file, fingerprint, entries, kbids_crc, offsets, lengths, end_after(writer, count - 1), &header);
    kb_bytes_put_zeros(&header, (size_t)(offsets[0] - header_bytes(writer->file)));
    give(writer, 0, &header);
    kb_bytes_free(&header);
    return writer->status;
}

void kb_container_writer_free(kb_container_writer *writer) {
    for (uint32_t i = 0; i < KB_REGIONS_MAX; i++) {
        kb_bytes_free(&writer->regions[i].pending);
        kb_bytes_free(&writer->regions[i].crcs);
    }
}
