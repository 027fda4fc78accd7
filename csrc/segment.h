/* A segment: four files opened as one (README.md sections 2 and 8).
 *
 * The files' bytes belong to the caller and must stay readable and unchanged until kb_segment_close. After opening, any
 * number of threads may read. What the files hold is checked when first used: every function that takes a kb_error can
 * give KB_E_CORRUPT.
 */
#ifndef KB_SEGMENT_H
#define KB_SEGMENT_H

#include "corpus.h"
#include "positions.h"
#include "terms.h"

typedef struct {
    kb_container files[KB_FILES];
    kb_terms terms;
    kb_corpus corpus;
    kb_keyed references;
    uint32_t entries;
    uint64_t fingerprint;
} kb_segment;

/* The bytes of one file. */
typedef struct {
    const uint8_t *bytes;
    size_t length;
} kb_source;

/* Opens the four files, in the order of kb_file. KB_E_CORRUPT, KB_E_STALE, KB_E_MEMORY. The struct must be zero before;
 * the owner calls kb_segment_close, also after a failure. */
kb_status kb_segment_open(const kb_source sources[KB_FILES], uint64_t fingerprint, kb_segment *segment,
                          kb_error *error);
void kb_segment_close(kb_segment *segment);

/* Reads every byte: all checksums, all lists to their ends, and that the files agree with each other (verify.c).
 * KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_segment_verify(const kb_segment *segment, kb_error *error);

#endif
