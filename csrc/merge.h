/* Makes one segment of several (README.md section 8), with the bytes that a build from the texts would give.
 *
 * Works list by list, from mapped files to a sink: what it holds are a few numbers for each entry, word, stem and key
 * of the parts, a bit for each position, and the lists of one stem or key at a time.
 */
#ifndef KB_MERGE_H
#define KB_MERGE_H

#include "bm25f.h"
#include "segment.h"

/* A segment, and the bitmap of those of its entries that are wanted. */
typedef struct {
    const kb_segment *segment;
    const uint8_t *keep;
} kb_merge_part;

typedef struct {
    const kb_merge_part *parts;
    uint32_t parts_count;
    const uint8_t *removed; /* kbids, ascending and distinct; those that are entries are left out */
    size_t removed_count;
    uint64_t fingerprint;
    kb_params params; /* that impacts are made with */
} kb_merge_order;

/* Merges, and writes the four files to the sink. KB_E_ARGUMENT when two wanted entries have one kbid, which is then
 * written to `twice`; KB_E_CORRUPT also when a word has another stem in another part, with error->segment the part at
 * fault; KB_E_TOO_LARGE, KB_E_MEMORY, or what the sink gave. The sink may have got some bytes all the same. */
kb_status kb_merge(const kb_merge_order *order, const kb_sink *sink, uint8_t twice[KB_KBID_BYTES], kb_error *error);

#endif
