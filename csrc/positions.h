/* positions.idx: where each stem stands, and as which of its words (README.md section 5).
 *
 * A kb_positions walks along with a kb_postings over the same stem, and reads only the fields it is asked for: what is
 * stepped over costs a few bytes a cycle.
 */
#ifndef KB_POSITIONS_H
#define KB_POSITIONS_H

#include "terms.h"

typedef struct {
    const kb_terms *terms;
    kb_cursor cursor;
    uint64_t skip; /* varints to step over before the next one read */
    uint32_t bits; /* of a varint that tell the form */
    uint32_t forms;
    uint32_t field;    /* of the current posting, the first not yet read or passed */
    uint32_t position; /* the token last read */
    uint32_t form;
} kb_positions;

/* The bits that tell a form; README.md section 5. */
uint32_t kb_positions_bits(uint32_t forms);

/* Begins a walk; the first posting must then be told by kb_positions_enter. */
kb_status kb_positions_open(const kb_terms *terms, const kb_stem *stem, kb_positions *positions, kb_error *error);

/* Follows the postings of the same stem: call it after kb_postings_next, before any other function. */
static inline void kb_positions_enter(kb_positions *positions) { positions->field = 0; }

/* Passes what is left of the current posting; call it before kb_postings_next. */
void kb_positions_leave(kb_positions *positions, const kb_postings *postings);

/* Moves to `field` of the current posting, which is not before one already read; kb_positions_next then reads its
 * tokens, and must be called exactly as often as its frequency tells. */
kb_status kb_positions_seek(kb_positions *positions, const kb_postings *postings, uint32_t field, kb_error *error);

/* Reads the next token into `position` and `form`. */
kb_status kb_positions_next(kb_positions *positions, kb_error *error);

/* Checks that nothing is left after the last posting's last token. */
kb_status kb_positions_end(const kb_positions *positions, kb_error *error);

#endif
