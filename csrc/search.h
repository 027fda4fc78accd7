/* Executes a resolved plan (kbdb/plan.py) over a searcher: scores, counts, ranks, explains (README.md section 9). */
#ifndef KB_SEARCH_H
#define KB_SEARCH_H

#include "occurrences.h"
#include "topk.h"

#define KB_CLAUSES_MAX 64u
#define KB_ALL_FIELDS ((1u << KB_FIELDS) - 1)

typedef enum { KB_SHOULD, KB_MUST, KB_MUST_NOT } kb_kind;

typedef struct {
    const kb_alternative *alternatives;
    uint32_t count;  /* at least 1 */
    uint32_t fields; /* bit f set: field f counts */
    kb_kind kind;
} kb_clause;

typedef struct {
    const kb_clause *clauses;
    uint32_t count; /* at most KB_CLAUSES_MAX */
} kb_plan;

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

/* What has been added up for one entry. */
typedef struct {
    double score;
    uint64_t matched;
} kb_cell;

/* Memory one search at a time writes to; all cells are 0 between searches. */
typedef struct {
    kb_cell *cells;    /* by entry, of the segment being searched */
    uint64_t *written; /* by block of 64 entries: bit i set when entry i's cell was written */
    double *best;      /* by entry: the largest share of a clause with several alternatives */
    uint32_t *touched; /* entries that have such a share */
    uint32_t entries;  /* of the largest segment */
    kb_walk walk;
} kb_scratch;

/* Makes a scratch for searchers whose segments have at most so many entries. The struct must be zero before; the owner
 * calls kb_scratch_free, also after a failure. KB_E_MEMORY. */
kb_status kb_scratch_new(uint32_t entries, kb_scratch *scratch);
void kb_scratch_free(kb_scratch *scratch);

/* Finds the best `limit` entries that match, and counts all that do. `allowed` is NULL, or a bitmap for each segment.
 * `hits` is the caller's and has room for `limit`; *count are filled, best first. KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_search(const kb_searcher *searcher, const kb_plan *plan, const uint8_t *const *allowed, uint32_t limit,
                    kb_scratch *scratch, kb_hit *hits, uint32_t *count, uint64_t *total, kb_error *error);

/* Fills `shares`, which has room for one a clause, with those of the should and must clauses that occur in an entry, in
 * plan order; none when the entry is not live. KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_explain(const kb_searcher *searcher, const kb_plan *plan, uint32_t segment, uint32_t entry,
                     kb_scratch *scratch, kb_share *shares, uint32_t *count, kb_error *error);

#endif
