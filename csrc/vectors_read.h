/* An open vectors.idx (README.md section 10).
 *
 * The file's bytes belong to the caller and must stay readable and unchanged while it is used. Nothing here changes
 * after opening, so any number of threads may read. Opening looks at the header and the length alone; nothing else of a
 * file is to be believed before kb_vectors_check found it right.
 */
#ifndef KB_VECTORS_READ_H
#define KB_VECTORS_READ_H

#include <stdbool.h>

#include "dot.h"
#include "error.h"
#include "vectors_format.h"

typedef struct {
    const uint8_t *records;
    size_t record_bytes;
    uint32_t count;
    uint32_t dimensions;
} kb_vectors;

/* KB_E_CORRUPT, KB_E_STALE. */
kb_status kb_vectors_open(const uint8_t *bytes, size_t length, kb_vectors *vectors, kb_error *error);

/* Reads every record and checks that kbids ascend and that all numbers are finite. Fills what searches use, both the
 * caller's: `kbids`, one after the other, 16 bytes a record, and `lengths`, the length of each vector. KB_E_CORRUPT,
 * KB_E_MEMORY; then what was filled is of no use. */
kb_status kb_vectors_check(const kb_vectors *vectors, kb_dot dot, uint8_t *kbids, double *lengths, kb_error *error);

static inline const uint8_t *kb_vectors_kbid(const kb_vectors *vectors, uint32_t record) {
    return vectors->records + (size_t)record * vectors->record_bytes;
}

/* The numbers of a record, unaligned. */
static inline const uint8_t *kb_vectors_components(const kb_vectors *vectors, uint32_t record) {
    return kb_vectors_kbid(vectors, record) + KB_VECTORS_KBID_BYTES;
}

/* Whether none of the numbers is infinite or NaN. */
bool kb_vectors_are_finite(const uint8_t *components, uint32_t dimensions);

/* The first of `count` kbids in a row from `from` on that is not below `kbid`; `count` when there is none. It costs
 * what it moves, to the base of two. */
uint32_t kb_vectors_seek(const uint8_t *kbids, uint32_t count, uint32_t from, const uint8_t *kbid);

/* Whether a record of this kbid is there, and which. */
bool kb_vectors_find(const uint8_t *kbids, uint32_t count, const uint8_t *kbid, uint32_t *record);

#endif
