/* Memory that one search at a time writes to, kept from search to search. Cells, lanes and the counts of what is shared
 * are 0 between searches. */
#ifndef KB_SCRATCH_H
#define KB_SCRATCH_H

#include "occurrences.h"

#define KB_WINDOW 32768u /* entries that kb_sweep adds up at a time: 64 KB of lanes stay in a second-level cache */

/* What has been added up for one entry. */
typedef struct {
    double score;
    uint64_t matched;
} kb_cell;

typedef struct kb_sweep_clause kb_sweep_clause;

typedef struct {
    uint32_t entries;  /* of the largest segment */
    kb_cell *cells;    /* by entry, of the segment being searched */
    uint64_t *written; /* by 64 entries: bit i set when entry i's cell was written */
    double *best;      /* by entry: the largest share of a clause with several alternatives */
    uint32_t *touched; /* entries that have such a share, or stems of a set */
    uint32_t *shared;  /* by entry: stems of a set; small, so that it stays in a cache */
    uint16_t *lanes;   /* by entry of a window */
    uint64_t *found;   /* by 64 entries of a window */
    kb_sweep_clause *clauses;
    uint32_t clauses_capacity;
    kb_stem *stems;  /* of a set, in the largest segment */
    uint32_t *order; /* the same, rarest first */
    uint32_t stems_capacity;
    kb_walk walk;
} kb_scratch;

/* Begins a scratch for searchers whose segments have at most so many entries; memory comes when it is needed. The
 * struct must be zero before; the owner calls kb_scratch_free. */
void kb_scratch_new(uint32_t entries, kb_scratch *scratch);
void kb_scratch_free(kb_scratch *scratch);

/* Makes sure of `cells`, `written`, `best` and `touched`. KB_E_MEMORY. */
kb_status kb_scratch_cells(kb_scratch *scratch);

/* Makes sure of `lanes`, `found` and as many clauses. KB_E_MEMORY. */
kb_status kb_scratch_lanes(kb_scratch *scratch, uint32_t clauses);

/* Makes sure of `shared`, `touched` and as many `stems` and places in `order`. KB_E_MEMORY. */
kb_status kb_scratch_set(kb_scratch *scratch, uint32_t stems);

/* Bytes held. */
size_t kb_scratch_bytes(const kb_scratch *scratch);

#endif
