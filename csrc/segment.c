/* A segment's four files, opened as one. */
#include "segment.h"

#include <stdlib.h>

kb_status kb_segment_open(const kb_source sources[KB_FILES], uint64_t fingerprint, kb_segment *segment,
                          kb_error *error) {
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++) {
        const kb_source *source = &sources[file];
        kb_container *container = &segment->files[file];
        kb_status status = kb_container_open(file, source->bytes, source->length, fingerprint, container, error);
        if (status != KB_OK)
            return status;
        if (container->entries != segment->files[0].entries || container->kbids_crc != segment->files[0].kbids_crc)
            return kb_corrupt(file, 24, "the file belongs to another segment", error);
    }
    segment->entries = segment->files[0].entries;
    segment->fingerprint = fingerprint;
    kb_status status =
        kb_terms_open(&segment->files[KB_FILE_TERMS], &segment->files[KB_FILE_POSITIONS], &segment->terms, error);
    if (status == KB_OK)
        status = kb_corpus_open(&segment->files[KB_FILE_CORPUS], &segment->corpus, error);
    if (status == KB_OK)
        status = kb_keyed_open(&segment->files[KB_FILE_REFERENCES], 0, &segment->references, error);
    return status;
}

void kb_segment_close(kb_segment *segment) {
    kb_terms_close(&segment->terms);
    kb_corpus_close(&segment->corpus);
    kb_keyed_close(&segment->references);
}

kb_status kb_lengths_read(const kb_segment *segment, kb_lengths *lengths, kb_error *error) {
    size_t entries = segment->entries;
    const uint8_t *kbids = NULL;
    const kb_corpus *corpus = &segment->corpus;
    *lengths = (kb_lengths){0};
    kb_status status = kb_table_bytes(&corpus->kbids, 0, corpus->kbids.length, &kbids, error);
    if (status != KB_OK)
        return status;
    lengths->lengths = malloc((entries + 1) * (KB_FIELDS + 1) * sizeof(uint32_t));
    if (lengths->lengths == NULL)
        return KB_E_MEMORY;
    lengths->distinct = lengths->lengths + entries * KB_FIELDS;
    for (uint32_t i = 0; i < entries; i++) {
        kb_entry entry;
        status = kb_corpus_entry(corpus, i, &entry, error);
        if (status != KB_OK) {
            kb_lengths_free(lengths);
            return status;
        }
        lengths->distinct[i] = entry.distinct;
        for (uint32_t field = 0; field < KB_FIELDS; field++) {
            uint32_t length = entry.lengths[field];
            lengths->lengths[field * entries + i] = length;
            lengths->totals[field] += length;
            if (length > lengths->longest[field])
                lengths->longest[field] = length;
        }
    }
    return KB_OK;
}

void kb_lengths_free(kb_lengths *lengths) {
    free(lengths->lengths);
    *lengths = (kb_lengths){0};
}
