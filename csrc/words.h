/* Surface words of live entries: how many hold one, and which begin with, hold or resemble some text; and the surface
 * words of a stem. */
#ifndef KB_WORDS_H
#define KB_WORDS_H

#include "searcher.h"

typedef enum {
    KB_WORDS_EQUAL,
    KB_WORDS_PREFIX,
    KB_WORDS_CONTAINING,
    KB_WORDS_NEAR /* at 1 to `distance` edits, with the same first code point */
} kb_words_kind;

typedef struct {
    uint32_t number; /* of the word, in its segment */
    uint32_t stem;
    uint32_t form;
    uint32_t distance; /* KB_WORDS_NEAR */
    uint32_t df;       /* live entries of the segment that hold it; may be 0 */
} kb_found_word;

typedef struct {
    kb_found_word *items;
    size_t count;
    size_t capacity;
} kb_found_words;

/* Finds the words of one segment that fit `text` (UTF-8), in any order. The list must be zero before; the owner calls
 * kb_found_words_free, also after a failure. KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_words_find(const kb_view *view, kb_words_kind kind, const uint8_t *text, size_t length, uint32_t distance,
                        kb_found_words *words, kb_error *error);

/* Finds the words of a stem of the segment, whether live entries hold them or not; `df` stays 0. As kb_words_find. */
kb_status kb_words_of_stem(const kb_terms *terms, const kb_stem *stem, kb_found_words *words, kb_error *error);

void kb_found_words_free(kb_found_words *words);

#endif
