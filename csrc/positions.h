/* positions.idx: where each stem stands, and as which of its words (README.md section 5).
 *
 * A kb_positions reads the tokens of the posting that a kb_postings over the same stem is at.
 */
#ifndef KB_POSITIONS_H
#define KB_POSITIONS_H

#include "terms.h"

typedef struct {
    const kb_terms *terms;
    kb_cursor list;
    uint32_t bits; /* of a value that tell the form, in the block last sought */
    uint32_t forms;
    const uint8_t *block; /* the packed values */
    const uint8_t *block_end;
    uint32_t width;
    uint64_t at;       /* the value to be read next */
    uint32_t position; /* the token last read */
    uint32_t form;
} kb_positions;

#define KB_POSITIONS_BARE 0x80u /* in the first byte of a block: all its forms are 0 and not in the values */

/* The bits that tell a form; README.md section 5. */
uint32_t kb_positions_bits(uint32_t forms);

/* The largest number of so many bits. */
static inline uint32_t kb_positions_forms(uint32_t bits) { return (uint32_t)(((uint64_t)1 << bits) - 1); }

/* Begins. KB_E_CORRUPT. */
kb_status kb_positions_open(const kb_terms *terms, const kb_stem *stem, kb_positions *positions, kb_error *error);

/* Begins to load the tokens of spots, at least one, of one block; their places are guessed. */
void kb_positions_prefetch(const kb_positions *positions, const kb_postings *postings, const kb_spot *spots,
                           uint32_t count);

/* Moves to the tokens of `field` at a spot of the stem that `postings` walks over; kb_positions_next then reads them,
 * and is called at most as often as the field's frequency tells. KB_E_CORRUPT. */
kb_status kb_positions_go(kb_positions *positions, const kb_postings *postings, const kb_spot *spot, uint32_t field,
                          kb_error *error);

/* The same for the posting that `postings` is at. */
static inline kb_status kb_positions_seek(kb_positions *positions, const kb_postings *postings, uint32_t field,
                                          kb_error *error) {
    kb_spot spot = {.block = postings->block, .first = postings->tokens};
    for (uint32_t i = 0; i < KB_FIELDS; i++)
        spot.frequencies[i] = postings->frequencies[i];
    return kb_positions_go(positions, postings, &spot, field, error);
}

/* Reads the next token into `position` and `form`. KB_E_CORRUPT. */
kb_status kb_positions_next(kb_positions *positions, kb_error *error);

/* Sets *has to whether one of the next `count` tokens, at least one, stands at `position`; does not move. KB_E_CORRUPT.
 */
kb_status kb_positions_has(const kb_positions *positions, uint32_t count, uint64_t position, bool *has,
                           kb_error *error);

/* Moves on, among the `left` tokens that are still to be read, to the first whose position is not below `position`;
 * returns how many are left from it on. */
uint32_t kb_positions_skip(kb_positions *positions, uint32_t left, uint32_t position);

/* Checks, at the last posting of a block, that the block's values are as many as its postings tell, that left-over bits
 * are 0 and that no narrower width would do. KB_E_CORRUPT. */
kb_status kb_positions_verify_block(kb_positions *positions, const kb_postings *postings, kb_error *error);

/* The fault of a list of positions in the block last sought. */
kb_status kb_positions_corrupt(const kb_positions *positions, const char *message, kb_error *error);

#endif
