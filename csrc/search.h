/* Executes a resolved plan (kbdb/plan.py) over a searcher: scores, counts, ranks, explains (README.md section 9). */
#ifndef KB_SEARCH_H
#define KB_SEARCH_H

#include "lanes.h"
#include "plan.h"

/* What one clause gave to one entry. */
typedef struct {
    uint32_t clause;
    uint32_t alternative;
    double value;
    double weight;
    double idf;
    double saturation;
    uint32_t frequencies[KB_FIELDS];
} kb_share;

/* Finds the best `limit` entries that match, and counts those that do: *total is exact up to `total_limit`, else some
 * number above it. `allowed` is NULL, or a bitmap for each segment. `hits` is the caller's and has room for `limit`;
 * *count are filled, best first. KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_search(const kb_searcher *searcher, const kb_plan *plan, const uint8_t *const *allowed, uint32_t limit,
                    uint64_t total_limit, kb_lanes_find find, kb_scratch *scratch, kb_hit *hits, uint32_t *count,
                    uint64_t *total, kb_error *error);

/* Fills `shares`, which has room for one a clause, with those of the should and must clauses that occur in an entry, in
 * plan order; none when the entry is not live. KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_explain(const kb_searcher *searcher, const kb_plan *plan, uint32_t segment, uint32_t entry,
                     kb_scratch *scratch, kb_share *shares, uint32_t *count, kb_error *error);

#endif
