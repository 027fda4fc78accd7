/* corpus.dat: the entries of a segment, what is stored with them, their filters, and what was removed (README.md
 * section 6). Reading is safe from many threads. */
#ifndef KB_CORPUS_H
#define KB_CORPUS_H

#include "keyed.h"
#include "terms.h"

#define KB_KBID_BYTES 16u
#define KB_SHARED_END \
    0x1Fu /* what is stored is shared up to the last of these bytes, and the entry's own from there on */
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
    KB_CORPUS_LISTED = 11,
    KB_CORPUS_SHARED = 12 /* and 13 */
};

/* In how many bytes the numbers of an entry's record are written. */
typedef struct {
    uint32_t stored;
    uint32_t shared;
    uint32_t distinct;
    uint32_t all;
} kb_record_shape;

typedef struct {
    kb_table kbids;
    kb_table records;
    kb_keyed filters;
    kb_table stored;
    kb_table removed;
    kb_table codes;
    kb_table lengths;
    kb_table totals;
    kb_table listed;
    kb_strings shared;
    uint32_t entries;
    uint64_t removed_count;
    kb_record_shape shape;
    uint32_t length_widths[KB_FIELDS];
    uint64_t length_offsets[KB_FIELDS]; /* in `lengths` */
} kb_corpus;

typedef struct {
    uint32_t stored_offset; /* of its own bytes */
    uint32_t stored_length;
    uint32_t shared;   /* which of the shared strings its stored bytes begin with, from 1 on; 0 is none */
    uint32_t distinct; /* stems in title and body */
} kb_entry;

/* What is stored with an entry: these bytes, one part after the other. */
typedef struct {
    kb_cursor shared;
    kb_cursor own;
} kb_stored;

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
    uint32_t width = corpus->length_widths[field];
    uint64_t code = (uint64_t)field * corpus->entries + number;
    uint64_t at = corpus->length_offsets[field] + (uint64_t)number * width;
    /* Where no length is past those that are their own codes, the codes are all there is. */
    kb_status status = width == 0 ? kb_table_bytes(&corpus->codes, code, 1, &bytes, error)
                                  : kb_table_bytes(&corpus->lengths, at, width, &bytes, error);
    if (status == KB_OK)
        *length = kb_load_narrow(bytes, width == 0 ? 1 : width);
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

/* The bytes a length takes in a field whose longest is this; 0 where all are their own codes. */
uint32_t kb_corpus_length_width(uint32_t longest);

/* The shape of records, when own bytes, shared strings and most distinct stems of an entry are so many. */
kb_record_shape kb_record_shape_of(uint32_t stored, uint32_t shared, uint32_t distinct);

/* How many of the bytes to be stored with an entry are shared. */
uint32_t kb_corpus_shared_length(const uint8_t *bytes, uint32_t length);

/* Finds the bytes stored with an entry. */
kb_status kb_corpus_stored(const kb_corpus *corpus, uint32_t number, kb_stored *stored, kb_error *error);

/* Sets *bitmap to that of the listed entries. */
kb_status kb_corpus_listed(const kb_corpus *corpus, const uint8_t **bitmap, kb_error *error);

/* Reads all of the file; kbids and removed ones are distinct and ascending, and no kbid is both. */
kb_status kb_corpus_verify(const kb_corpus *corpus, uint32_t kbids_crc, kb_error *error);

#endif
