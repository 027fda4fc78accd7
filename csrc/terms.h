/* terms.idx: surface words, their stems, and the postings of the stems (README.md section 4); a stem's positions list
 * (positions.h) is opened through its record too. Reading is safe from many threads. */
#ifndef KB_TERMS_H
#define KB_TERMS_H

#include "strings.h"

#define KB_FIELDS 5u /* title, body, description, tags, heading path */
#define KB_BODY 1u

typedef struct {
    kb_strings words;
    kb_table word_records;
    kb_strings stems;
    kb_table stem_records;
    kb_lists postings;
    kb_lists positions;
    uint32_t entries; /* of the segment */
} kb_terms;

typedef struct {
    uint32_t stem; /* by number */
    uint32_t form; /* the word's rank among the words of its stem */
} kb_word;

typedef struct {
    uint64_t postings_offset;
    uint64_t positions_offset;
    uint32_t postings_length;
    uint32_t positions_length;
    uint32_t df;
    uint32_t forms;
    uint32_t postings_crc;
    uint32_t positions_crc;
    uint32_t number;
} kb_stem;

/* A walk over the postings of a stem; the fields from `entry` on describe the posting last read. */
typedef struct {
    const kb_terms *terms;
    kb_cursor cursor;
    uint64_t next; /* the entry a gap of 0 would give */
    uint32_t left; /* postings not yet read */
    uint32_t entry;
    uint32_t mask; /* bit f set: field f holds the stem */
    uint32_t frequencies[KB_FIELDS];
} kb_postings;

/* Opens terms.idx and the lists of positions.idx. KB_E_CORRUPT, KB_E_MEMORY; closed like a table. */
kb_status kb_terms_open(const kb_container *terms_file, const kb_container *positions_file, kb_terms *terms,
                        kb_error *error);
void kb_terms_close(kb_terms *terms);

/* Reads the record of word `number`, of stem `number`, which are below their counts. */
kb_status kb_terms_word(const kb_terms *terms, uint32_t number, kb_word *word, kb_error *error);
kb_status kb_terms_stem(const kb_terms *terms, uint32_t number, kb_stem *stem, kb_error *error);

/* Sets *found, and *stem when some entry holds this stem. */
kb_status kb_terms_find(const kb_terms *terms, const uint8_t *bytes, size_t length, bool *found, kb_stem *stem,
                        kb_error *error);

/* Begins a walk over a stem's postings. */
kb_status kb_postings_open(const kb_terms *terms, const kb_stem *stem, kb_postings *postings, kb_error *error);

/* The fault of a list of postings at the walk's place. */
kb_status kb_postings_corrupt(const kb_postings *postings, const char *message, kb_error *error);

/* Reads what follows the code of a posting that is not of kind 0; kb_postings_next is the door. */
kb_status kb_postings_read(kb_postings *postings, uint32_t kind, kb_error *error);

/* Reads the next posting; there must be one left. */
static inline kb_status kb_postings_next(kb_postings *postings, kb_error *error) {
    uint32_t code = 0;
    if (!kb_cursor_varint(&postings->cursor, &code))
        return kb_postings_corrupt(postings, "a list of postings holds a wrong varint", error);
    postings->next += (code >> 2) + 1;
    if (postings->next > postings->terms->entries)
        return kb_postings_corrupt(postings, "a posting names an entry past the segment's", error);
    postings->entry = (uint32_t)(postings->next - 1);
    postings->left--;
    postings->mask = 1u << KB_BODY;
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        postings->frequencies[field] = field == KB_BODY;
    if ((code & 3) != 0) {
        kb_status status = kb_postings_read(postings, code & 3, error);
        if (status != KB_OK)
            return status;
    }
    if (postings->left == 0 && postings->cursor.next != postings->cursor.end)
        return kb_postings_corrupt(postings, "a list is longer than its postings", error);
    return KB_OK;
}

#endif
