/* The union of sorted sets of byte strings: kbids, words, stems and keys of segments that become one.
 *
 *     kb_union_new
 *     for each set: kb_union_add, and KB_NONE put into `numbers` for each string to be left out
 *     kb_union_number
 *     any number of times: kb_union_walk, kb_union_next until it gives false
 *     kb_union_free, also after a failure
 */
#ifndef KB_UNION_H
#define KB_UNION_H

#include "corpus.h"

typedef struct {
    const kb_strings *strings; /* or NULL: */
    const kb_corpus *corpus;   /* its kbids */
    uint32_t count;
    uint32_t *numbers; /* by string: its number in the union, or KB_NONE */
    uint32_t at;       /* the string that comes next */
    const uint8_t *bytes;
    uint32_t length;
    uint64_t prefix; /* the first 8 bytes, big-endian: they decide most comparisons */
} kb_union_set;

typedef struct {
    kb_union_set *sets;
    uint32_t sets_count;
    uint32_t count;  /* strings in the union */
    uint64_t bytes;  /* of them all */
    uint32_t number; /* of a walk: the current string, and the sets that hold it */
    uint32_t *holders;
    uint32_t holders_count;
} kb_union;

/* The struct must be zero before. KB_E_MEMORY. */
kb_status kb_union_new(uint32_t sets, kb_union *all);
void kb_union_free(kb_union *all);

/* Gives set `set` the strings, or the kbids of a segment. KB_E_MEMORY. */
kb_status kb_union_add_strings(kb_union *all, uint32_t set, const kb_strings *strings);
kb_status kb_union_add_kbids(kb_union *all, uint32_t set, const kb_corpus *corpus);

/* Numbers the strings of the union in ascending order. KB_E_CORRUPT, also when a set is not in order, with *set the one
 * at fault; KB_E_TOO_LARGE when there are more than numbers. */
kb_status kb_union_number(kb_union *all, uint32_t *set, kb_error *error);

/* Goes to before the first string. */
void kb_union_walk(kb_union *all);

/* Goes to the next string; false when there is none. sets[holder].at is then its number in a set that holds it. */
bool kb_union_next(kb_union *all);

/* Sets *bytes to the current string. */
kb_status kb_union_string(const kb_union *all, const uint8_t **bytes, uint32_t *length, kb_error *error);

#endif
