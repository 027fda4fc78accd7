/* terms.idx: surface words, their stems, and the postings of the stems (README.md section 4); a stem's positions list
 * (positions.h) is opened through its record too. Reading is safe from many threads. */
#ifndef KB_TERMS_H
#define KB_TERMS_H

#include "gaps.h"
#include "strings.h"

#define KB_FIELDS 5u /* title, body, description, tags, heading path */
#define KB_BODY 1u
#define KB_IMPACT_MAX 255u
#define KB_CODE_EXCEPTION 3u    /* codes below it: the body only, so often and once more */
#define KB_CODES_DENSE 0x80u    /* in the first byte of a block: it has a code for each posting */
#define KB_EXCEPTION_ONCE 0x20u /* in an exception's first byte: every frequency is 1 */
#define KB_EXCEPTION_BODY 0x80u /* an exception's first byte from here on: the body only, and so often */
#define KB_EXCEPTION_LEAST 4u   /* as a first byte of KB_EXCEPTION_BODY tells */

#define KB_LISTS_MAX (((uint64_t)1 << 40) - 1) /* bytes of all lists of a file: offsets are so wide */

/* In how many bytes the numbers of the records of words and stems are written. */
typedef struct {
    uint32_t word_stem;
    uint32_t word_form;
    uint32_t word; /* all of a record */
    uint32_t df;
    uint32_t forms;
    uint32_t stem; /* all of a record */
} kb_terms_shape;

typedef struct {
    kb_strings words;
    kb_table word_records;
    kb_strings stems;
    kb_table stem_records;
    kb_lists postings;
    kb_lists positions;
    kb_terms_shape shape;
    uint32_t entries;       /* of the segment */
    kb_gaps_read read_gaps; /* the fastest way here; a caller may choose the other */
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

/* In how many bytes the numbers of a stem's block_refs are written. */
typedef struct {
    uint32_t last;
    uint32_t postings_end; /* 0 where there is one block, which the stem's record tells the end of */
    uint32_t positions_end;
    uint32_t all;
} kb_ref_shape;

/* A walk over the postings of a stem; the fields from `entry` on describe the posting the walk is at. */
typedef struct {
    const kb_terms *terms;
    const uint8_t *refs;   /* the block_refs */
    const uint8_t *blocks; /* the first block */
    const uint8_t *place;  /* the block that is read, for errors */
    kb_ref_shape shape;
    uint32_t blocks_length;
    uint32_t positions_length;
    uint32_t df;
    uint32_t left;        /* postings after the current one */
    uint32_t block;       /* the number of the block that is read */
    uint32_t count;       /* its postings; 0 before the first block is read */
    uint32_t at;          /* the current posting in the block; `count` before its first */
    uint32_t reach;       /* the posting in the block that kb_postings_find found */
    kb_cursor exceptions; /* of the block, those not yet read */
    uint64_t tokens;      /* of the block's postings before the current one */
    uint64_t next;        /* entry + 1; 0 before the first posting */
    uint32_t entry;
    uint32_t mask; /* bit f set: field f holds the stem */
    uint32_t frequencies[KB_FIELDS];
    uint64_t total;                              /* of the frequencies */
    uint32_t entries[KB_BLOCK + KB_BLOCK_SPARE]; /* of the block */
    uint8_t codes[KB_BLOCK / 4 + 8];             /* of the block; 8 more can be loaded from any of them */
} kb_postings;

/* A posting, by what leads to its positions (positions.h). */
typedef struct {
    uint64_t first; /* tokens of the block's postings before it */
    uint32_t block;
    uint32_t mask; /* bit f set: field f holds the stem */
    uint32_t frequencies[KB_FIELDS];
} kb_spot;

/* What a block_ref tells. */
typedef struct {
    uint32_t last;
    uint32_t postings_end;
    uint32_t positions_end;
    uint32_t impact;
} kb_block_ref;

/* The shape of the records of so many stems in a segment of `entries`, when `forms` are the most of a stem. */
kb_terms_shape kb_terms_shape_of(uint32_t entries, uint32_t stems, uint32_t forms);

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

/* Begins a walk over a stem's postings, before the first. KB_E_CORRUPT. */
kb_status kb_postings_open(const kb_terms *terms, const kb_stem *stem, kb_postings *postings, kb_error *error);

/* Goes back before the first posting. */
static inline void kb_postings_rewind(kb_postings *postings) {
    postings->left = postings->df;
    postings->block = postings->count = postings->at = postings->reach = 0;
    postings->tokens = postings->next = 0;
}

/* The fault of a list of postings in the block that is read. */
kb_status kb_postings_corrupt(const kb_postings *postings, const char *message, kb_error *error);

/* Blocks of a stem with this df. */
static inline uint32_t kb_postings_blocks(uint32_t df) { return df / KB_BLOCK + (df % KB_BLOCK != 0); }

/* The shape of the block_refs of a stem with so many blocks, in a segment of `entries`. */
static inline kb_ref_shape kb_ref_shape_of(uint32_t entries, uint32_t blocks, uint32_t postings_length,
                                           uint32_t positions_length) {
    kb_ref_shape shape = {kb_narrow_width(entries - 1), 0, 0, 0};
    if (blocks > 1) {
        shape.postings_end = kb_narrow_width(postings_length);
        shape.positions_end = kb_narrow_width(positions_length);
    }
    shape.all = 1 + shape.last + shape.postings_end + shape.positions_end;
    return shape;
}

static inline uint32_t kb_postings_impact(const kb_postings *postings, uint32_t block) {
    return postings->refs[(size_t)block * postings->shape.all];
}

static inline uint32_t kb_postings_last(const kb_postings *postings, uint32_t block) {
    return kb_load_narrow(postings->refs + (size_t)block * postings->shape.all + 1, postings->shape.last);
}

static inline kb_block_ref kb_postings_ref(const kb_postings *postings, uint32_t block) {
    const kb_ref_shape *shape = &postings->shape;
    const uint8_t *ref = postings->refs + (size_t)block * shape->all;
    kb_block_ref read = {kb_load_narrow(ref + 1, shape->last), postings->blocks_length, postings->positions_length,
                         ref[0]};
    if (shape->postings_end > 0) {
        read.postings_end = kb_load_narrow(ref + 1 + shape->last, shape->postings_end);
        read.positions_end = kb_load_narrow(ref + 1 + shape->last + shape->postings_end, shape->positions_end);
    }
    return read;
}

/* Where the positions of a block begin in the stem's list. */
static inline uint32_t kb_postings_positions(const kb_postings *postings, uint32_t block) {
    return block == 0 ? 0 : kb_postings_ref(postings, block - 1).positions_end;
}

/* Reads a block, which may be before or after the current one, and stands before its first posting. */
kb_status kb_postings_block(kb_postings *postings, uint32_t block, kb_error *error);

/* Checks that all exceptions of the block were read. */
static inline kb_status kb_postings_block_end(const kb_postings *postings, kb_error *error) {
    if (postings->exceptions.next != postings->exceptions.end)
        return kb_postings_corrupt(postings, "a block is longer than its postings", error);
    return KB_OK;
}

/* Reads the next exception of the block into mask and frequencies. */
kb_status kb_postings_exception(kb_postings *postings, kb_error *error);

/* Moves within the block from the current posting, or from before the first, to posting `at` after it. */
kb_status kb_postings_move(kb_postings *postings, uint32_t at, kb_error *error);

/* Moves within the block over `count` postings after the current one, ascending, and sets the spot of each; the walk
 * then stands at the last, whose entry, mask and frequencies it does not know. */
kb_status kb_postings_locate(kb_postings *postings, const uint8_t *at, uint32_t count, kb_spot *spots, kb_error *error);

/* The code of posting `at` of the block. */
static inline uint32_t kb_postings_code(const kb_postings *postings, uint32_t at) {
    return postings->codes[at / 4] >> at % 4 * 2 & 3;
}

/* The codes of postings `from`, a multiple of 4, to at most `from + 31`, in pairs of bits from the lowest on; those
 * from `end` on are 0. */
static inline uint64_t kb_postings_codes(const kb_postings *postings, uint32_t from, uint32_t end) {
    uint64_t codes = kb_load_u64(postings->codes + from / 4);
    return end - from >= 32 ? codes : codes & (((uint64_t)1 << (end - from) * 2) - 1);
}

/* The sum of such codes. */
static inline uint32_t kb_postings_codes_sum(uint64_t codes) {
    codes = (codes & 0x3333333333333333u) + (codes >> 2 & 0x3333333333333333u);
    return (uint32_t)(((codes + (codes >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
}

/* Of such codes, a bit at the lower one of each pair that is an exception. */
static inline uint64_t kb_postings_exceptions(uint64_t codes) { return codes & codes >> 1 & 0x5555555555555555u; }

/* Reads the next posting; there must be one left. */
static inline kb_status kb_postings_next(kb_postings *postings, kb_error *error) {
    if (postings->count == 0 || postings->at + 1 == postings->count) {
        kb_status status = kb_postings_block(postings, postings->count == 0 ? 0 : postings->block + 1, error);
        if (status != KB_OK)
            return status;
    }
    return kb_postings_move(postings, postings->at == postings->count ? 0 : postings->at + 1, error);
}

/* Sets *block to the first after the one that is read whose last entry is not below `entry`; false when there is none.
 */
bool kb_postings_ahead(const kb_postings *postings, uint32_t entry, uint32_t *block);

/* Begins to load a block. */
void kb_postings_prefetch(const kb_postings *postings, uint32_t block);

/* Reads the block that kb_postings_ahead tells; *found is false when there is none. */
kb_status kb_postings_reach_on(kb_postings *postings, uint32_t entry, bool *found, kb_error *error);

/* The same, unless the block that is read does not end below `entry`. */
static inline kb_status kb_postings_reach(kb_postings *postings, uint32_t entry, bool *found, kb_error *error) {
    if (postings->count == 0 || postings->entries[postings->count - 1] < entry)
        return kb_postings_reach_on(postings, entry, found, error);
    *found = true;
    return KB_OK;
}

/* Finds the first posting from the current one on, and from the one found before, whose entry is not below `entry`:
 * entries[reach]. *found is false when there is none. kb_postings_move(reach) goes there; finding alone costs less. */
static inline kb_status kb_postings_find(kb_postings *postings, uint32_t entry, bool *found, kb_error *error) {
    kb_status status = kb_postings_reach(postings, entry, found, error);
    if (status != KB_OK || !*found)
        return status;
    const uint32_t *entries = postings->entries;
    uint32_t count = postings->count;
    uint32_t at = postings->reach;
    while (at + 8 <= count && entries[at + 7] < entry)
        at += 8;
    if (at + 8 <= count) {
        /* How many of the next 8 are below cannot be foreseen, so there is no branch on it. */
        int below = 0;
        for (uint32_t i = 0; i < 8; i++)
            below += (int32_t)entries[at + i] < (int32_t)entry;
        at += (uint32_t)below;
    } else {
        while (entries[at] < entry)
            at++;
    }
    postings->reach = at;
    return KB_OK;
}

/* Moves forward to the first posting whose entry is not below `entry`, unless the current one is that already; *found
 * is false when there is none, and the walk then stands somewhere. */
kb_status kb_postings_seek(kb_postings *postings, uint32_t entry, bool *found, kb_error *error);

#endif
