/* corpus.dat: the entries of a segment, what is stored with them, their filters, and what was removed (README.md
 * section 6). Reading is safe from many threads. */
#ifndef KB_CORPUS_H
#define KB_CORPUS_H

#include "keyed.h"
#include "terms.h"

#define KB_KBID_BYTES 16u
#define KB_ENTRY_BYTES 44u
#define KB_ENTRY_LISTED 1u

typedef struct {
    kb_table kbids;
    kb_table records;
    kb_keyed filters;
    kb_lists stored;
    kb_table removed;
    uint32_t entries;
    uint64_t removed_count;
} kb_corpus;

typedef struct {
    uint64_t stored_offset;
    uint32_t stored_length;
    uint32_t stored_crc;
    uint32_t flags;
    uint32_t distinct;
    uint32_t lengths[KB_FIELDS];
} kb_entry;

/* KB_E_CORRUPT, KB_E_MEMORY; closed like a table. */
kb_status kb_corpus_open(const kb_container *container, kb_corpus *corpus, kb_error *error);
void kb_corpus_close(kb_corpus *corpus);

/* The functions below take entries below the segment's number. */

/* Sets *kbid to the entry's 16 bytes. */
kb_status kb_corpus_kbid(const kb_corpus *corpus, uint32_t entry, const uint8_t **kbid, kb_error *error);

/* Sets *found, and *entry when this kbid is here. */
kb_status kb_corpus_find(const kb_corpus *corpus, const uint8_t *kbid, bool *found, uint32_t *entry, kb_error *error);

kb_status kb_corpus_entry(const kb_corpus *corpus, uint32_t number, kb_entry *entry, kb_error *error);

/* Sets *cursor over the bytes stored with an entry. */
kb_status kb_corpus_stored(const kb_corpus *corpus, uint32_t number, kb_cursor *cursor, kb_error *error);

/* Sets the bits of the listed entries in `bitmap`. */
kb_status kb_corpus_listed(const kb_corpus *corpus, uint8_t *bitmap, kb_error *error);

/* Reads all of the file; kbids and removed ones are distinct and ascending, and no kbid is both. */
kb_status kb_corpus_verify(const kb_corpus *corpus, uint32_t kbids_crc, kb_error *error);

#endif
