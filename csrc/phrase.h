/* Where the stems of a phrase stand one after the other: the part of occurrences.c for more than one stem. */
#ifndef KB_PHRASE_H
#define KB_PHRASE_H

#include "occurrences.h"

/* Begins, when the walk's parts are open. */
void kb_phrase_begin(kb_occurrences *occurrences);

/* Moves to the next entry that has all stems, and sets `entry`; *found is false after the last. KB_E_CORRUPT. */
kb_status kb_phrase_meet(kb_occurrences *occurrences, bool *found, kb_error *error);

/* Sets `mask` and `frequencies` to the most that the phrase can have in this entry. */
void kb_phrase_most(kb_occurrences *occurrences);

/* Sets `mask` and `frequencies` to what the phrase has in this entry; the mask is 0 where it does not stand.
 * KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_phrase_count(kb_occurrences *occurrences, kb_error *error);

#endif
