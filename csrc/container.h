/* The container that each of a segment's four files is (README.md section 2): opened, read through its checksums,
 * written.
 *
 * A file's bytes belong to the caller and must stay readable and unchanged while anything here points to them. Opening
 * checks all that does not grow with the file; a table's pages and the lists are checked when first used. What was
 * found right is remembered in atomic bits, so any number of threads may read one file at a time.
 */
#ifndef KB_CONTAINER_H
#define KB_CONTAINER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes_out.h"
#include "cursor.h"
#include "error.h"
#include "sink.h"

#define KB_VERSION 3u
#define KB_PAGE 4096u /* bytes under one crc: small, so that opening a large table costs what is used of it */
#define KB_ENTRIES_MAX (1u << 30) /* a block's gaps then have few escapes */
#define KB_REGIONS_MAX 14u
#define KB_CHUNK ((size_t)1 << 20) /* bytes of a region handed to a sink at a time, at most; whole pages */
#define KB_NONE UINT32_MAX         /* the number of no entry, word or stem */

typedef struct {
    const uint8_t *bytes;
    uint32_t entries;
    uint32_t kbids_crc;
    uint64_t offsets[KB_REGIONS_MAX];
    uint64_t lengths[KB_REGIONS_MAX];
    kb_file file;
} kb_container;

/* Rows or bytes under page checksums. */
typedef struct {
    const uint8_t *bytes;
    uint64_t length;
    uint64_t offset;           /* in the file */
    _Atomic uint32_t *checked; /* a bit for each page found right */
    kb_file file;
} kb_table;

/* Byte strings, each under a checksum that stands in the record that points at it. */
typedef struct {
    const uint8_t *bytes;
    uint64_t length;
    uint64_t offset;           /* in the file */
    _Atomic uint32_t *checked; /* a bit for each list found right */
    kb_file file;
} kb_lists;

/* One region for kb_container_write. */
typedef struct {
    const uint8_t *bytes;
    size_t length;
} kb_region;

/* A region being written to a sink. */
typedef struct {
    uint64_t offset;
    uint64_t length;  /* of a table from the beginning; of lists, what was put so far */
    uint64_t written; /* given to the sink */
    kb_bytes pending; /* put, and not yet given */
    kb_bytes crcs;    /* of the pages given */
} kb_region_writer;

/* A file being written to a sink. Failure is sticky, as in kb_bytes: kb_container_end tells of it. All zero but for
 * `file` and `sink` before the first region. */
typedef struct {
    kb_file file;
    const kb_sink *sink;
    kb_status status;
    kb_region_writer regions[KB_REGIONS_MAX];
} kb_container_writer;

/* Regions in this kind of file, and whether one of them is lists. */
uint32_t kb_container_regions(kb_file file);
bool kb_container_is_lists(kb_file file, uint32_t region);

/* Opens a whole file. KB_E_CORRUPT, KB_E_STALE (another version, or another fingerprint than the one expected). */
kb_status kb_container_open(kb_file file, const uint8_t *bytes, size_t length, uint64_t fingerprint,
                            kb_container *container, kb_error *error);

/* Opens a region as a table whose rows have `row` bytes, and sets *rows to their number. KB_E_CORRUPT when a part of a
 * row is left, KB_E_MEMORY. The owner calls kb_table_close, also after a failure if the struct was zero before. */
kb_status kb_table_open(const kb_container *container, uint32_t region, uint32_t row, kb_table *table, uint64_t *rows,
                        kb_error *error);
void kb_table_close(kb_table *table);

/* Opens a region as `count` lists. KB_E_MEMORY. Closed like a table. */
kb_status kb_lists_open(const kb_container *container, uint32_t region, uint64_t count, kb_lists *lists);
void kb_lists_close(kb_lists *lists);

/* Checks the pages from `first` to `last`; kb_table_bytes is the door. */
kb_status kb_table_check(const kb_table *table, uint64_t first, uint64_t last, kb_error *error);

/* Sets *bytes to the `length` bytes at `offset` of the table, which must lie in it, after checking the pages they are
 * on. */
static inline kb_status kb_table_bytes(const kb_table *table, uint64_t offset, uint64_t length, const uint8_t **bytes,
                                       kb_error *error) {
    *bytes = table->bytes + offset;
    if (length == 0)
        return KB_OK;
    uint64_t first = offset / KB_PAGE;
    uint64_t last = (offset + length - 1) / KB_PAGE;
    uint32_t known = atomic_load_explicit(&table->checked[first / 32], memory_order_relaxed);
    if (first == last && known >> (first % 32) & 1)
        return KB_OK;
    return kb_table_check(table, first, last, error);
}

/* Sets *cursor over list `number`, after checking its bounds and crc. */
kb_status kb_lists_get(const kb_lists *lists, uint64_t number, uint64_t offset, uint64_t length, uint32_t crc,
                       kb_cursor *cursor, kb_error *error);

/* The fault that a list's bytes, whose crc is right, are not what they should be; at the cursor's place. */
kb_status kb_lists_corrupt(const kb_lists *lists, const kb_cursor *cursor, const char *message, kb_error *error);

/* Checks every page of every table, and that the bytes between regions are 0. */
kb_status kb_container_verify(const kb_container *container, kb_error *error);

/* Appends a whole file to `out`, whose `failed` tells of no memory. */
void kb_container_write(kb_file file, uint64_t fingerprint, uint32_t entries, uint32_t kbids_crc,
                        const kb_region *regions, kb_bytes *out);

/* Begin a region, the one after that begun last: a table that will have so many bytes, whose followers may then begin
 * at once; lists, whose followers begin when all of them are put. */
void kb_region_begin_table(kb_container_writer *writer, uint32_t region, uint64_t length);
void kb_region_begin_lists(kb_container_writer *writer, uint32_t region);

/* Puts bytes at the end of a region that has begun. */
void kb_region_put(kb_container_writer *writer, uint32_t region, const uint8_t *bytes, size_t length);
void kb_region_put_u32(kb_container_writer *writer, uint32_t region, uint32_t value);

/* Ends a region; no byte of a table may be missing. */
void kb_region_end(kb_container_writer *writer, uint32_t region);

/* Writes the header, after all regions have ended. KB_E_MEMORY, or what the sink gave. */
kb_status kb_container_end(kb_container_writer *writer, uint64_t fingerprint, uint32_t entries, uint32_t kbids_crc);

/* Frees what an unfinished file holds. */
void kb_container_writer_free(kb_container_writer *writer);

#endif
