/* Tests of a merge and of the writer beneath it: what a sink gets, what it may refuse, and damage. */
#include <stdlib.h>
#include <string.h>

#include "../../csrc/bitmap.h"
#include "../../csrc/fuzz/exercise.h"
#include "../../csrc/merge.h"
#include "check.h"

/* A sink that keeps all, says how large the largest piece was, and refuses to take more pieces than `room`. */
typedef struct {
    kb_bytes files[KB_FILES];
    size_t largest;
    size_t pieces;
    size_t room;
} kept_files;

static kb_status keep(void *context, kb_file file, uint64_t offset, const uint8_t *bytes, size_t length) {
    kept_files *kept = context;
    kb_bytes *to = &kept->files[file];
    if (kept->pieces++ == kept->room)
        return KB_E_SINK;
    if (length > kept->largest)
        kept->largest = length;
    if (offset + length > to->length)
        kb_bytes_put_zeros(to, (size_t)offset + length - to->length);
    if (!to->failed)
        memcpy(to->data + offset, bytes, length);
    return KB_OK;
}

static void free_kept(kept_files *kept) {
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        kb_bytes_free(&kept->files[file]);
}

/* Merges two parts of one segment: the entries at even numbers and those at odd ones, or the even ones twice. */
static kb_status merge_halves(const kb_bytes files[KB_FILES], bool twice, size_t room, kept_files *kept) {
    kb_source sources[KB_FILES];
    kb_segment segment = {0};
    kb_error error = {0};
    uint8_t kbid[KB_KBID_BYTES];
    kb_sink sink = {keep, kept};
    kept->room = room;
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        sources[file] = (kb_source){files[file].data, files[file].length};
    kb_status status = kb_segment_open(sources, KB_EXERCISE_FINGERPRINT, &segment, &error);
    size_t size = segment.entries / 8 + 1;
    uint8_t *even = calloc(size, 1);
    uint8_t *odd = calloc(size, 1);
    for (uint32_t i = 0; i < segment.entries; i++)
        kb_bitmap_set(i % 2 ? odd : even, i);
    kb_merge_part parts[] = {{&segment, odd}, {&segment, even}, {&segment, even}};
    kb_merge_order order = {
        .parts = parts,
        .parts_count = twice ? 3 : 2,
        .removed_count = (size_t)segment.corpus.removed_count,
        .fingerprint = KB_EXERCISE_FINGERPRINT,
        .params = kb_exercise_params,
    };
    const kb_table *removed = &segment.corpus.removed;
    if (status == KB_OK)
        status = kb_table_bytes(removed, 0, removed->length, &order.removed, &error);
    if (status == KB_OK)
        status = kb_merge(&order, &sink, kbid, &error);
    free(even);
    free(odd);
    kb_segment_close(&segment);
    return status;
}

void test_merge(void) {
    kb_bytes files[KB_FILES] = {{0}};
    kept_files kept = {0};
    kb_exercise_build(KB_EXERCISE_SMALL, files);
    CHECK(merge_halves(files, false, SIZE_MAX, &kept) == KB_OK);
    CHECK(kept.largest <= KB_CHUNK);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        CHECK(kept.files[file].length == files[file].length &&
              memcmp(kept.files[file].data, files[file].data, files[file].length) == 0);
    size_t pieces = kept.pieces;
    free_kept(&kept);
    for (size_t room = 0; room < pieces; room++) {
        kept = (kept_files){0};
        CHECK(merge_halves(files, false, room, &kept) == KB_E_SINK);
        CHECK(kept.pieces == room + 1);
        free_kept(&kept);
    }
    kept = (kept_files){0};
    CHECK(merge_halves(files, true, SIZE_MAX, &kept) == KB_E_ARGUMENT);
    CHECK(kept.pieces == 0);
    free_kept(&kept);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        kb_bytes_free(&files[file]);
}

/* A byte changed in one of the files, under checksums that are wrong or made right again. */
static void check_damage(const kb_bytes files[KB_FILES], kb_file file, size_t at, uint8_t flip, bool sealed) {
    kb_bytes copies[KB_FILES] = {{0}};
    kept_files kept = {0};
    for (kb_file i = KB_FILE_TERMS; i < KB_FILES; i++)
        kb_bytes_put(&copies[i], files[i].data, files[i].length);
    copies[file].data[at] ^= flip;
    if (sealed)
        kb_exercise_reseal(copies);
    kb_status status = merge_halves(copies, false, SIZE_MAX, &kept);
    bool named = status == KB_E_CORRUPT || status == KB_E_STALE || (sealed && status == KB_E_ARGUMENT);
    CHECK(named || status == KB_OK);
    for (kb_file i = KB_FILE_TERMS; i < KB_FILES && status == KB_OK && !sealed; i++)
        CHECK(kept.files[i].length == files[i].length &&
              memcmp(kept.files[i].data, files[i].data, files[i].length) == 0);
    free_kept(&kept);
    for (kb_file i = KB_FILE_TERMS; i < KB_FILES; i++)
        kb_bytes_free(&copies[i]);
}

void test_merge_damage(void) {
    kb_bytes files[KB_FILES] = {{0}};
    kb_exercise_build(KB_EXERCISE_SMALL, files);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++) {
        for (size_t at = 0; at < files[file].length; at += 5) {
            check_damage(files, file, at, (uint8_t)(1u << at % 8), false);
            check_damage(files, file, at, (uint8_t)(1u << at % 8), true);
        }
    }
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        kb_bytes_free(&files[file]);
}

void test_container_writer(void) {
    kept_files kept = {.room = SIZE_MAX};
    kb_sink sink = {keep, &kept};
    kb_container_writer writer = {.file = KB_FILE_REFERENCES, .sink = &sink};
    size_t lengths[] = {KB_PAGE, 2 * KB_CHUNK + 5, 0, KB_CHUNK + 3};
    uint8_t *bytes = malloc(3 * KB_CHUNK);
    kb_region regions[4];
    kb_bytes whole = {0};
    for (size_t i = 0; i < 3 * KB_CHUNK; i++)
        bytes[i] = (uint8_t)(i * 31 + i / 255);
    for (uint32_t i = 0; i < 4; i++) {
        regions[i] = (kb_region){bytes + i, lengths[i]};
        if (kb_container_is_lists(writer.file, i))
            kb_region_begin_lists(&writer, i);
        else
            kb_region_begin_table(&writer, i, lengths[i]);
    }
    for (uint32_t i = 4; i-- > 0;) { /* the regions that have begun take bytes in any order */
        kb_region_put(&writer, i, bytes + i, lengths[i] / 3);
        kb_region_put(&writer, i, bytes + i + lengths[i] / 3, lengths[i] - lengths[i] / 3);
        kb_region_end(&writer, i);
    }
    CHECK(kb_container_end(&writer, 7, 3, 11) == KB_OK);
    CHECK(kept.largest <= KB_CHUNK);
    kb_container_write(KB_FILE_REFERENCES, 7, 3, 11, regions, &whole);
    CHECK(whole.length == kept.files[KB_FILE_REFERENCES].length &&
          memcmp(whole.data, kept.files[KB_FILE_REFERENCES].data, whole.length) == 0);
    kb_container_writer_free(&writer);
    free_kept(&kept);
    kb_bytes_free(&whole);
    free(bytes);
}
