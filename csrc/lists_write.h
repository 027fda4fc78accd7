/* Writes the lists of stems: postings and positions, block by block, and the stems' records (README.md sections 4
 * and 5).
 *
 *     for each stem: kb_lists_begin
 *         for each entry that holds it: kb_lists_value for each token, in order, then kb_lists_posting
 *         kb_lists_end
 *
 * The buffers' failures are sticky; kb_lists_end tells of them. Who does not want to keep all that is written uses it
 * up after kb_lists_end and calls kb_lists_taken.
 */
#ifndef KB_LISTS_WRITE_H
#define KB_LISTS_WRITE_H

#include "bm25f.h"

typedef struct {
    const kb_bm25f *bm25f;  /* of all entries of the segment */
    uint32_t entries_count; /* of the segment */
    kb_terms_shape shape;   /* of its records */
    kb_bytes records;       /* regions 5 and 6 of terms.idx, region 0 of positions.idx, without what was taken */
    kb_bytes postings;
    kb_bytes positions;
    uint64_t postings_taken;
    uint64_t positions_taken;
    kb_block_ref *refs; /* of the current stem */
    size_t refs_count;
    size_t refs_capacity;
    kb_bytes blocks;
    kb_bytes exceptions; /* of the current block */
    uint32_t *values;
    size_t values_count;
    size_t values_capacity;
    uint32_t entries[KB_BLOCK];
    uint8_t codes[KB_BLOCK / 4];
    uint32_t count;
    double impact;
    uint32_t next; /* the entry a gap of 0 would give the block's first posting */
    uint32_t df;
    uint32_t forms;
    size_t postings_start;
    size_t positions_start;
} kb_lists_writer;

/* The bits of a symbol in which the gaps of a block's entries cost least, and the symbols that are escapes then; `next`
 * is the entry that a gap of 0 would give first. */
uint32_t kb_lists_gap_bits(const uint32_t *entries, uint32_t count, uint32_t next, uint32_t *escapes);

/* Of the codes of a block's postings, and 0 behind the last, those that are not 0; and whether it takes more bytes to
 * list them than to write all. */
uint32_t kb_lists_codes_count(const uint8_t codes[KB_BLOCK / 4]);
bool kb_lists_codes_dense(uint32_t count, uint32_t others);

void kb_lists_writer_free(kb_lists_writer *writer);

/* Begins a stem. */
void kb_lists_begin(kb_lists_writer *writer, uint32_t forms);

/* Adds a token of the next posting. KB_E_TOO_LARGE, KB_E_MEMORY. */
kb_status kb_lists_value(kb_lists_writer *writer, uint32_t position, uint32_t form);

/* Adds a posting with the tokens added since the one before; entries ascend. `lengths` are those of the entry's fields.
 * KB_E_TOO_LARGE. */
kb_status kb_lists_posting(kb_lists_writer *writer, uint32_t entry, const uint32_t frequencies[KB_FIELDS],
                           const uint32_t lengths[KB_FIELDS]);

/* Completes the stem. KB_E_TOO_LARGE, KB_E_MEMORY. */
kb_status kb_lists_end(kb_lists_writer *writer);

/* After the last stem: puts the record that tells where its lists end. KB_E_MEMORY. */
kb_status kb_lists_end_all(kb_lists_writer *writer);

/* Empties records, postings and positions. */
void kb_lists_taken(kb_lists_writer *writer);

#endif
