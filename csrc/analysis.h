/* Cuts normalised text into tokens (README.md section 7; analysis.c, twin: reference/analysis.py).
 *
 * The text is what kbdb.normalise.normalise makes of a string, as UTF-8; ASCII text is its own normal form and may
 * be handed over as it is. A token is a slice of that text: kbdb.normalise.fold turns it into the surface word that is
 * indexed. Of an ASCII slice the folded word is its lower case.
 *
 * Nothing is allocated and no state is kept: any thread may tokenise at any time.
 */
#ifndef KB_ANALYSIS_H
#define KB_ANALYSIS_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* A token's bytes, before and (tested for every character) after folding: at most these. The bound before folding is
 * smaller because folding can lengthen a character; it is above 128 so that a SHA-512 in hex is one word. */
#define KB_TOKEN_BYTES_MAX 144u
#define KB_WORD_BYTES_MAX 255u

/* Texts longer than this are refused, so that positions fit the index's 31 bits. */
#define KB_TEXT_BYTES_MAX 0x7FFFFFFFu

/* Gets one token: `length` (1 to KB_TOKEN_BYTES_MAX) bytes of the text, valid as long as the text. The first has
 * position 0, each other that of the one before or one more; of several tokens at one position the longest comes first.
 * Another result than KB_OK ends the tokenising with that result. */
typedef kb_status (*kb_token_sink)(void *context, uint32_t position, const uint8_t *bytes, uint32_t length);

/* Calls `sink` for each token of text[0..length) in order, and sets *positions to the number of positions used
 * (the field's length). `text` may be NULL when length is 0.
 *
 * KB_E_UTF8: the text is not strict UTF-8 (no surrogates, nothing overlong, nothing cut off); no token was delivered.
 * KB_E_ARGUMENT: it is longer than KB_TEXT_BYTES_MAX; likewise. Otherwise what the sink answered. */
kb_status kb_tokenise(const uint8_t *text, size_t length, kb_token_sink sink, void *context, uint32_t *positions);

#endif
