/* vectors.idx. */
#include "vectors_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"

kb_status kb_vectors_open(const uint8_t *bytes, size_t length, kb_vectors *vectors, kb_error *error) {
    if (length < 5)
        return kb_corrupt(KB_FILE_VECTORS, length, "the file ends inside its header", error);
    if (memcmp(bytes, KB_VECTORS_MAGIC, 4) != 0)
        return kb_corrupt(KB_FILE_VECTORS, 0, "the file does not begin with its magic bytes", error);
    if (bytes[4] != KB_VECTORS_VERSION) {
        kb_corrupt(KB_FILE_VECTORS, 4, "made in another format version", error);
        return KB_E_STALE;
    }
    if (length < KB_VECTORS_HEADER_BYTES)
        return kb_corrupt(KB_FILE_VECTORS, length, "the file ends inside its header", error);
    vectors->dimensions = kb_load_u16(bytes + 5);
    vectors->count = kb_load_u32(bytes + 7);
    if (vectors->dimensions == 0)
        return kb_corrupt(KB_FILE_VECTORS, 5, "vectors without dimensions", error);
    if (vectors->count > KB_RECORDS_MAX)
        return kb_corrupt(KB_FILE_VECTORS, 7, "more records than a file holds", error);
    if (kb_vectors_file_bytes(vectors->dimensions, vectors->count) != length)
        return kb_corrupt(KB_FILE_VECTORS, length, "the file is not as long as its header says", error);
    vectors->records = bytes + KB_VECTORS_HEADER_BYTES;
    vectors->record_bytes = kb_vectors_record_bytes(vectors->dimensions);
    return KB_OK;
}

static uint64_t offset_of(const kb_vectors *vectors, uint32_t record) {
    return KB_VECTORS_HEADER_BYTES + (uint64_t)record * vectors->record_bytes;
}

kb_status kb_vectors_check(const kb_vectors *vectors, kb_dot dot, uint8_t *kbids, double *lengths, kb_error *error) {
    kb_status status = KB_OK;
    double *wide = malloc((size_t)vectors->dimensions * sizeof *wide);
    if (wide == NULL)
        return KB_E_MEMORY;
    for (uint32_t i = 0; i < vectors->count && status == KB_OK; i++) {
        const uint8_t *components = kb_vectors_components(vectors, i);
        uint8_t *kbid = kbids + (size_t)i * KB_VECTORS_KBID_BYTES;
        memcpy(kbid, kb_vectors_kbid(vectors, i), KB_VECTORS_KBID_BYTES);
        if (i > 0 && memcmp(kbid - KB_VECTORS_KBID_BYTES, kbid, KB_VECTORS_KBID_BYTES) >= 0)
            status = kb_corrupt(KB_FILE_VECTORS, offset_of(vectors, i), "the kbids do not ascend", error);
        kb_dot_widen(components, vectors->dimensions, wide);
        /* Squares of finite f32 overflow no double, so that only NaN and infinity give such a sum. */
        double square = dot(wide, components, vectors->dimensions);
        if (status == KB_OK && !isfinite(square))
            status = kb_corrupt(KB_FILE_VECTORS, offset_of(vectors, i) + KB_VECTORS_KBID_BYTES,
                                "a vector holds what is no finite number", error);
        lengths[i] = sqrt(square);
    }
    free(wide);
    return status;
}

bool kb_vectors_are_finite(const uint8_t *components, uint32_t dimensions) {
    for (uint32_t i = 0; i < dimensions; i++)
        if (!isfinite(kb_load_f32(components + 4 * (size_t)i)))
            return false;
    return true;
}

uint32_t kb_vectors_seek(const uint8_t *kbids, uint32_t count, uint32_t from, const uint8_t *kbid) {
    uint32_t low = from;
    uint32_t high = count;
    for (uint64_t step = 1; low + step <= count; step *= 2) {
        uint32_t at = (uint32_t)(low + step - 1);
        if (memcmp(kbids + (size_t)at * KB_VECTORS_KBID_BYTES, kbid, KB_VECTORS_KBID_BYTES) >= 0) {
            high = at;
            break;
        }
        low = at + 1;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (memcmp(kbids + (size_t)middle * KB_VECTORS_KBID_BYTES, kbid, KB_VECTORS_KBID_BYTES) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool kb_vectors_find(const uint8_t *kbids, uint32_t count, const uint8_t *kbid, uint32_t *record) {
    *record = kb_vectors_seek(kbids, count, 0, kbid);
    return *record < count && memcmp(kbids + (size_t)*record * KB_VECTORS_KBID_BYTES, kbid, KB_VECTORS_KBID_BYTES) == 0;
}
