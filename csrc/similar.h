/* Near duplicates: entries whose set of stems in title and body is much like a given one (README.md section 9). */
#ifndef KB_SIMILAR_H
#define KB_SIMILAR_H

#include "search.h"

/* Finds the best `limit` live entries with a Jaccard index of at least `threshold` (above 0, at most 1); a hit's score
 * is its index. `wanted` are the stems of the given set, ascending and distinct, also those that occur nowhere. `hits`
 * is the caller's and has room for `limit`; *found are filled, best first. KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_similar(const kb_searcher *searcher, const kb_source *wanted, uint32_t count, double threshold,
                     uint32_t limit, kb_scratch *scratch, kb_hit *hits, uint32_t *found, kb_error *error);

#endif
