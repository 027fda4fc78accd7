/* A segment's four files, opened as one. */
#include "segment.h"

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
