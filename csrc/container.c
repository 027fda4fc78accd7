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
    [KB_FILE_CORPUS] = {"KBCO", 11, 1u << 5 | 1u << 6},
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

void kb_container_write(kb_file file, uint64_t fingerprint, uint32_t entries, uint32_t kbids_crc,
                        const kb_region *regions, kb_bytes *out) {
    uint64_t offsets[KB_REGIONS_MAX];
    uint64_t end = header_bytes(file);
    for (uint32_t i = 0; i < kinds[file].regions; i++) {
        offsets[i] = align(end, 8);
        end = offsets[i] + stored_bytes(file, i, regions[i].length);
    }
    size_t start = out->length;
    if (kb_bytes_reserve(out, (size_t)end) == NULL)
        return;
    kb_bytes_put(out, (const uint8_t *)kinds[file].magic, 4);
    kb_bytes_put_u16(out, KB_VERSION);
    kb_bytes_put_u16(out, kinds[file].regions);
    kb_bytes_put_u64(out, end);
    kb_bytes_put_u64(out, fingerprint);
    kb_bytes_put_u32(out, entries);
    kb_bytes_put_u32(out, kbids_crc);
    for (uint32_t i = 0; i < kinds[file].regions; i++) {
        kb_bytes_put_u64(out, offsets[i]);
        kb_bytes_put_u64(out, regions[i].length);
    }
    kb_bytes_put_u32(out, kb_crc32(out->data + start, out->length - start));
    for (uint32_t i = 0; i < kinds[file].regions; i++) {
        const kb_region *region = &regions[i];
        kb_bytes_put_zeros(out, start + (size_t)offsets[i] - out->length);
        kb_bytes_put(out, region->bytes, region->length);
        if (kb_container_is_lists(file, i))
            continue;
        kb_bytes_put_zeros(out, (size_t)(align(region->length, 4) - region->length));
        for (size_t at = 0; at < region->length; at += KB_PAGE) {
            size_t left = region->length - at;
            kb_bytes_put_u32(out, kb_crc32(region->bytes + at, left < KB_PAGE ? left : KB_PAGE));
        }
    }
}
