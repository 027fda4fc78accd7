/* What the parts of a merge share: merge.c begins with the entries, merge_terms.c and merge_corpus.c write. */
#ifndef KB_MERGE_TASK_H
#define KB_MERGE_TASK_H

#include "merge.h"
#include "places.h"
#include "union.h"

/* An entry of the merged segment. All that a posting needs of it stands together: postings come in the order of stems,
 * and each look at an entry is one at a far place. */
typedef struct {
    uint64_t first_place;
    uint32_t lengths[KB_FIELDS];
    uint32_t distinct; /* stems in title and body */
} kb_merged_entry;

typedef struct {
    const kb_merge_order *order;
    const kb_sink *sink;
    kb_status refused; /* what the sink gave */
    kb_union entries;  /* its numbers are those of the merged segment's entries */
    kb_merged_entry *merged;
    uint64_t totals[KB_FIELDS];
    uint32_t current; /* the part that is read, for errors */
    kb_container_writer files[KB_FILES];
} kb_merge_task;

/* Starts to read from a part. */
static inline const kb_segment *kb_merge_read(kb_merge_task *merge, uint32_t part) {
    merge->current = part;
    return merge->order->parts[part].segment;
}

/* Writes a union of strings to an offsets region and the bytes region after it, one string at a time: the first begins,
 * the second puts the current string, the third ends. KB_E_TOO_LARGE. */
kb_status kb_merge_begin_strings(const kb_union *strings, kb_container_writer *file, uint32_t region);
kb_status kb_merge_put_string(kb_merge_task *merge, const kb_union *strings, kb_container_writer *file, uint32_t region,
                              uint32_t *end, kb_error *error);
void kb_merge_end_strings(kb_container_writer *file, uint32_t region);

/* Writes terms.idx and positions.idx but for their headers, and counts the distinct stems. */
kb_status kb_merge_terms(kb_merge_task *merge, kb_error *error);

/* Writes corpus.dat and references.idx but for their headers; sets *kbids_crc. */
kb_status kb_merge_corpus(kb_merge_task *merge, uint32_t *kbids_crc, kb_error *error);

#endif
