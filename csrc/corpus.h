/* corpus.dat: the entries of a segment, what is stored with them, their filters, and what was removed (README.md
 * section 6). Reading is safe from many threads. */
#ifndef KB_CORPUS_H
#define KB_CORPUS_H

#include "keyed.h"
#include "terms.h"

#define KB_KBID_BYTES 16u
#define KB_ENTRY_BYTES 20u
#define KB_LENGTH_CODE_MAX 255u

/* The regions of corpus.dat; those of the keyed lists of filters are the four from KB_CORPUS_FILTERS on. */
enum {
    KB_CORPUS_KBIDS = 0,
    KB_CORPUS_RECORDS = 1,
    KB_CORPUS_FILTERS = 2,
    KB_CORPUS_STORED = 6,
    KB_CORPUS_REMOVED = 7,
    KB_CORPUS_CODES = 8,
    KB_CORPUS_LENGTHS = 9,
    KB_CORPUS_TOTALS = 10,
    KB_CORPUS_LISTED = 11
};

typedef struct {
    kb_table kbids;
    kb_table records;
    kb_keyed filters;
    kb_lists stored;
    kb_table removed;
    kb_table codes;
    kb_table lengths;
    kb_table totals;
    kb_table listed;
    uint32_t entries;
    uint64_t removed_count;
} kb_corpus;

typedef struct {
    uint64_t stored_offset;
    uint32_t stored_length;
    uint32_t stored_crc;
    uint32_t distinct; /* stems in title and body */
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

/* Sets *length to that of an entry's field. */
static inline kb_status kb_corpus_length(const kb_corpus *corpus, uint32_t number, uint32_t field, uint32_t *length,
                                         kb_error *error) {
    const uint8_t *bytes = NULL;
    uint64_t at = ((uint64_t)field * corpus->entries + number) * 4;
    kb_status status = kb_table_bytes(&corpus->lengths, at, 4, &bytes, error);
    if (status == KB_OK)
        *length = kb_load_u32(bytes);
    return status;
}

/* Sets the lengths of the fields of `mask`, which hold a stem and so must not be empty. */
static inline kb_status kb_corpus_lengths(const kb_corpus *corpus, uint32_t number, uint32_t mask,
                                          uint32_t lengths[KB_FIELDS], kb_error *error) {
    for (uint32_t field = 0; mask >> field != 0; field++) {
        if (!(mask >> field & 1))
            continue;
        kb_status status = kb_corpus_length(corpus, number, field, &lengths[field], error);
        if (status != KB_OK)
            return status;
        if (lengths[field] == 0)
            return kb_corrupt(KB_FILE_CORPUS, corpus->lengths.offset, "a stem occurs in a field of length 0", error);
    }
    return KB_OK;
}

/* Sets totals to the summed lengths of all entries. */
kb_status kb_corpus_totals(const kb_corpus *corpus, uint64_t totals[KB_FIELDS], kb_error *error);

/* The length code of a length, and the smallest length of a code (README.md section 6). */
uint32_t kb_corpus_length_code(uint32_t length);
uint32_t kb_corpus_code_length(uint32_t code);

/* Sets *cursor over the bytes stored with an entry. */
kb_status kb_corpus_stored(const kb_corpus *corpus, uint32_t number, kb_cursor *cursor, kb_error *error);

/* Sets *bitmap to that of the listed entries. */
kb_status kb_corpus_listed(const kb_corpus *corpus, const uint8_t **bitmap, kb_error *error);

/* Reads all of the file; kbids and removed ones are distinct and ascending, and no kbid is both. */
kb_status kb_corpus_verify(const kb_corpus *corpus, uint32_t kbids_crc, kb_error *error);

#endif
