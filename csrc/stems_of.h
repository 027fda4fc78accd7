/* The stems of some entries of a segment, the way back from postings. */
#ifndef KB_STEMS_OF_H
#define KB_STEMS_OF_H

#include "segment.h"

/* Appends a pair of u32, entry and stem number, for each stem that an entry whose bit is set in `wanted` holds in title
 * or body; by stem, then entry. Reads all postings of the segment. KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_stems_of(const kb_segment *segment, const uint8_t *wanted, kb_bytes *pairs, kb_error *error);

#endif
