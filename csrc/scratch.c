/* Memory of a search. */
#include "scratch.h"

#include <stdlib.h>

#include "sweep.h"

void kb_scratch_new(uint32_t entries, kb_scratch *scratch) { scratch->entries = entries; }

void kb_scratch_free(kb_scratch *scratch) {
    free(scratch->cells);
    free(scratch->written);
    free(scratch->best);
    free(scratch->touched);
    free(scratch->shared);
    free(scratch->lanes);
    free(scratch->found);
    free(scratch->clauses);
    free(scratch->stems);
    free(scratch->order);
    kb_walk_free(&scratch->walk);
    *scratch = (kb_scratch){0};
}

kb_status kb_scratch_cells(kb_scratch *scratch) {
    size_t entries = scratch->entries;
    if (scratch->cells == NULL)
        scratch->cells = calloc(entries + 1, sizeof *scratch->cells);
    if (scratch->written == NULL)
        scratch->written = calloc(entries / 64 + 1, sizeof *scratch->written);
    if (scratch->best == NULL)
        scratch->best = malloc((entries + 1) * sizeof *scratch->best);
    if (scratch->touched == NULL)
        scratch->touched = malloc((entries + 1) * sizeof *scratch->touched);
    return scratch->cells && scratch->written && scratch->best && scratch->touched ? KB_OK : KB_E_MEMORY;
}

kb_status kb_scratch_lanes(kb_scratch *scratch, uint32_t clauses) {
    if (scratch->lanes == NULL)
        scratch->lanes = calloc(KB_WINDOW, sizeof *scratch->lanes);
    if (scratch->found == NULL)
        scratch->found = malloc(KB_WINDOW / 64 * sizeof *scratch->found);
    if (scratch->clauses_capacity < clauses) {
        kb_sweep_clause *made = realloc(scratch->clauses, clauses * sizeof *made);
        if (made == NULL)
            return KB_E_MEMORY;
        scratch->clauses = made;
        scratch->clauses_capacity = clauses;
    }
    return scratch->lanes && scratch->found ? KB_OK : KB_E_MEMORY;
}

kb_status kb_scratch_set(kb_scratch *scratch, uint32_t stems) {
    size_t entries = scratch->entries;
    if (scratch->shared == NULL)
        scratch->shared = calloc(entries + 1, sizeof *scratch->shared);
    if (scratch->touched == NULL)
        scratch->touched = malloc((entries + 1) * sizeof *scratch->touched);
    if (scratch->shared == NULL || scratch->touched == NULL)
        return KB_E_MEMORY;
    if (scratch->stems_capacity >= stems)
        return KB_OK;
    kb_stem *made = realloc(scratch->stems, stems * sizeof *made);
    if (made == NULL)
        return KB_E_MEMORY;
    scratch->stems = made;
    uint32_t *order = realloc(scratch->order, stems * sizeof *order);
    if (order == NULL)
        return KB_E_MEMORY;
    scratch->order = order;
    scratch->stems_capacity = stems;
    return KB_OK;
}

size_t kb_scratch_bytes(const kb_scratch *scratch) {
    size_t entries = scratch->entries;
    size_t cells = scratch->cells == NULL ? 0 : entries * (sizeof(kb_cell) + sizeof(double) + 4) + entries / 8;
    size_t lanes = scratch->lanes == NULL ? 0 : KB_WINDOW * sizeof(uint16_t) + KB_WINDOW / 8;
    size_t stems = scratch->stems_capacity * (sizeof *scratch->stems + sizeof *scratch->order);
    size_t shared = scratch->shared == NULL ? 0 : entries * sizeof *scratch->shared;
    return cells + lanes + stems + shared + scratch->clauses_capacity * sizeof *scratch->clauses;
}
