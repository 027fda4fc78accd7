/* Near duplicates: entries whose set of stems in title and body is much like a given one (README.md section 9). */
#ifndef KB_SIMILAR_H
#define KB_SIMILAR_H

#include "search.h"

/* A set of stems, and what it is looked for. */
typedef struct {
    const kb_source *stems; /* ascending and distinct, also those that occur nowhere */
    uint32_t count;
    double threshold; /* the least Jaccard index, above 0 and at most 1 */
    uint32_t segment; /* of an entry that is left out, such as the one that the stems are of; KB_NONE for none */
    uint32_t entry;
} kb_likeness;

/* Finds the best `limit` live entries that are alike; a hit's score is its index. `hits` is the caller's and has room
 * for `limit`; *found are filled, best first. KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_similar(const kb_searcher *searcher, const kb_likeness *wanted, uint32_t limit, kb_scratch *scratch,
                     kb_hit *hits, uint32_t *found, kb_error *error);

#endif
