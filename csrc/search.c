/* Executes plans, clause by clause: each adds its shares to the entries' cells, then one sweep picks the best. */
#include "search.h"

#include <stdlib.h>
#include <string.h>

#include "bitmap.h"
#include "bm25f.h"

#define BLOCK 64u

kb_status kb_scratch_new(uint32_t entries, kb_scratch *scratch) {
    scratch->entries = entries;
    scratch->cells = calloc((size_t)entries + 1, sizeof *scratch->cells);
    scratch->written = calloc((size_t)entries / BLOCK + 1, sizeof *scratch->written);
    scratch->best = malloc(((size_t)entries + 1) * sizeof *scratch->best);
    scratch->touched = malloc(((size_t)entries + 1) * sizeof *scratch->touched);
    return scratch->cells && scratch->written && scratch->best && scratch->touched ? KB_OK : KB_E_MEMORY;
}

void kb_scratch_free(kb_scratch *scratch) {
    free(scratch->cells);
    free(scratch->written);
    free(scratch->best);
    free(scratch->touched);
    kb_walk_free(&scratch->walk);
    *scratch = (kb_scratch){0};
}

/* One search in one segment. */
typedef struct {
    const kb_searcher *searcher;
    const kb_view *view;
    uint32_t segment;
    const kb_plan *plan;
    kb_scratch *scratch;
    kb_error *error;
} search_task;

static inline void add_share(kb_scratch *scratch, uint32_t entry, double share, uint64_t bit) {
    kb_cell *cell = &scratch->cells[entry];
    cell->score = cell->score + share;
    cell->matched |= bit;
    scratch->written[entry / BLOCK] |= (uint64_t)1 << entry % BLOCK;
}

/* Adds the shares of a clause with one alternative, one stem, and all fields: the common case. */
static kb_status add_stem(search_task *task, const kb_alternative *alternative, uint64_t bit) {
    const kb_searcher *searcher = task->searcher;
    const uint32_t *body_lengths = task->view->lengths->lengths + (size_t)KB_BODY * task->view->segment->entries;
    uint32_t count = searcher->norms_count[KB_BODY];
    double factor = alternative->weight * alternative->idf;
    kb_postings postings;
    kb_status status = kb_postings_open(&task->view->segment->terms, &alternative->terms[0]->stems[task->segment],
                                        &postings, task->error);
    if (status != KB_OK)
        return status;
    while (postings.left > 0) {
        double saturation = 0.0;
        status = kb_postings_next(&postings, task->error);
        if (status != KB_OK)
            return status;
        uint32_t length = body_lengths[postings.entry];
        uint32_t frequency = postings.frequencies[KB_BODY];
        if (postings.mask == 1u << KB_BODY && frequency <= KB_FEW && length - 1 < count - 1) {
            saturation = searcher->few[(size_t)(frequency - 1) * count + length];
        } else {
            status = kb_bm25f_saturation(searcher, task->view, postings.entry, postings.frequencies, &saturation,
                                         task->error);
            if (status != KB_OK)
                return status;
        }
        add_share(task->scratch, postings.entry, factor * saturation, bit);
    }
    return KB_OK;
}

/* Adds the shares of any clause. Of several alternatives the largest share counts, so they are gathered first. */
static kb_status add_clause(search_task *task, const kb_clause *clause, uint64_t bit) {
    kb_scratch *scratch = task->scratch;
    uint32_t touched = 0;
    for (uint32_t i = 0; i < clause->count; i++) {
        const kb_alternative *alternative = &clause->alternatives[i];
        double factor = alternative->weight * alternative->idf;
        kb_occurrences occurrences;
        bool found = kb_occurrences_possible(alternative, task->segment);
        if (!found)
            continue;
        kb_status status = kb_occurrences_open(task->view, task->segment, alternative, clause->fields, &scratch->walk,
                                               &occurrences, task->error);
        while (status == KB_OK) {
            double saturation = 0.0;
            status = kb_occurrences_next(&occurrences, &found, task->error);
            if (status != KB_OK || !found)
                break;
            status = kb_bm25f_saturation(task->searcher, task->view, occurrences.entry, occurrences.frequencies,
                                         &saturation, task->error);
            if (status != KB_OK)
                break;
            double share = factor * saturation;
            uint32_t entry = occurrences.entry;
            if (!(scratch->cells[entry].matched & bit)) {
                add_share(scratch, entry, 0.0, bit);
                scratch->touched[touched++] = entry;
                scratch->best[entry] = share;
            } else if (share > scratch->best[entry]) {
                scratch->best[entry] = share;
            }
        }
        if (status != KB_OK)
            return status;
    }
    for (uint32_t i = 0; i < touched && clause->kind != KB_MUST_NOT; i++)
        scratch->cells[scratch->touched[i]].score += scratch->best[scratch->touched[i]];
    return KB_OK;
}

static kb_status add_clauses(search_task *task) {
    kb_status status = KB_OK;
    for (uint32_t i = 0; i < task->plan->count && status == KB_OK; i++) {
        const kb_clause *clause = &task->plan->clauses[i];
        const kb_alternative *first = &clause->alternatives[0];
        bool plain =
            clause->count == 1 && first->count == 1 && clause->fields == KB_ALL_FIELDS && clause->kind != KB_MUST_NOT;
        if (!plain)
            status = add_clause(task, clause, (uint64_t)1 << i);
        else if (kb_occurrences_possible(first, task->segment))
            status = add_stem(task, first, (uint64_t)1 << i);
    }
    return status;
}

/* The bits of the plan's clauses of a kind. */
static uint64_t clause_bits(const kb_plan *plan, kb_kind kind) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->clauses[i].kind == kind)
            bits |= (uint64_t)1 << i;
    return bits;
}

/* What an entry's matched clauses must be for the entry to match. */
typedef struct {
    uint64_t must;
    uint64_t must_not;
    bool all; /* entries without any matched clause match too: the plan has no should or must clause */
} conditions;

static conditions conditions_of(const kb_plan *plan) {
    uint64_t must = clause_bits(plan, KB_MUST);
    return (conditions){must, clause_bits(plan, KB_MUST_NOT), (must | clause_bits(plan, KB_SHOULD)) == 0};
}

static bool fits(const conditions *wanted, uint64_t matched) {
    return (matched & wanted->must) == wanted->must && (matched & wanted->must_not) == 0;
}

/* Hands the matching ones of 64 entries to the heap, clears their cells, and returns how many match. `candidates` has
 * the bits of those that are live and allowed. */
static uint64_t sweep_block(const search_task *task, const conditions *wanted, uint32_t block, uint64_t candidates,
                            kb_topk *topk) {
    uint64_t written = task->scratch->written[block];
    uint64_t total = 0;
    for (uint64_t left = wanted->all ? written | candidates : written; left != 0; left &= left - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(left);
        kb_cell *cell = &task->scratch->cells[(size_t)block * BLOCK + bit];
        if (candidates >> bit & 1 && fits(wanted, cell->matched)) {
            kb_hit hit = {task->segment, block * BLOCK + bit, cell->score, cell->matched};
            kb_topk_add(topk, &hit);
            total++;
        }
        *cell = (kb_cell){0};
    }
    task->scratch->written[block] = 0;
    return total;
}

/* Hands the segment's matching entries to the heap, and clears the scratch for the next segment. */
static uint64_t sweep(const search_task *task, const uint8_t *allowed, kb_topk *topk) {
    conditions wanted = conditions_of(task->plan);
    uint32_t entries = task->view->segment->entries;
    uint64_t total = 0;
    for (uint32_t block = 0; block < entries / BLOCK + (entries % BLOCK != 0); block++) {
        if (task->scratch->written[block] == 0 && !wanted.all)
            continue;
        uint64_t candidates = kb_bitmap_word(task->view->live, entries, block);
        if (allowed != NULL)
            candidates &= kb_bitmap_word(allowed, entries, block);
        total += sweep_block(task, &wanted, block, candidates, topk);
    }
    return total;
}

kb_status kb_search(const kb_searcher *searcher, const kb_plan *plan, const uint8_t *const *allowed, uint32_t limit,
                    kb_scratch *scratch, kb_hit *hits, uint32_t *count, uint64_t *total, kb_error *error) {
    kb_topk topk = {searcher, hits, limit, 0};
    *total = 0;
    for (uint32_t i = 0; i < searcher->count; i++) {
        search_task task = {searcher, &searcher->views[i], i, plan, scratch, error};
        error->segment = i;
        kb_status status = add_clauses(&task);
        if (status != KB_OK) {
            kb_topk none = {searcher, NULL, 0, 0};
            sweep(&task, NULL, &none);
            return status;
        }
        *total += sweep(&task, allowed == NULL ? NULL : allowed[i], &topk);
    }
    kb_topk_finish(&topk);
    *count = topk.count;
    return KB_OK;
}

/* The share of an alternative in an entry, when it occurs there. */
static kb_status explain_alternative(search_task *task, const kb_alternative *alternative, uint32_t fields,
                                     uint32_t entry, bool *occurs, kb_share *share) {
    kb_occurrences occurrences;
    bool found = kb_occurrences_possible(alternative, task->segment);
    *occurs = false;
    if (!found)
        return KB_OK;
    kb_status status = kb_occurrences_open(task->view, task->segment, alternative, fields, &task->scratch->walk,
                                           &occurrences, task->error);
    do {
        if (status == KB_OK)
            status = kb_occurrences_next(&occurrences, &found, task->error);
        if (status != KB_OK || !found)
            return status;
    } while (occurrences.entry < entry);
    if (occurrences.entry != entry)
        return KB_OK;
    *occurs = true;
    share->weight = alternative->weight;
    share->idf = alternative->idf;
    memcpy(share->frequencies, occurrences.frequencies, sizeof share->frequencies);
    status = kb_bm25f_saturation(task->searcher, task->view, entry, occurrences.frequencies, &share->saturation,
                                 task->error);
    share->value = (alternative->weight * alternative->idf) * share->saturation;
    return status;
}

kb_status kb_explain(const kb_searcher *searcher, const kb_plan *plan, uint32_t segment, uint32_t entry,
                     kb_scratch *scratch, kb_share *shares, uint32_t *count, kb_error *error) {
    search_task task = {searcher, &searcher->views[segment], segment, plan, scratch, error};
    error->segment = segment;
    *count = 0;
    if (!kb_bitmap_has(task.view->live, entry))
        return KB_OK;
    for (uint32_t i = 0; i < plan->count; i++) {
        const kb_clause *clause = &plan->clauses[i];
        bool any = false;
        for (uint32_t j = 0; j < clause->count && clause->kind != KB_MUST_NOT; j++) {
            bool occurs = false;
            kb_share share = {.clause = i, .alternative = j};
            kb_status status =
                explain_alternative(&task, &clause->alternatives[j], clause->fields, entry, &occurs, &share);
            if (status != KB_OK)
                return status;
            if (occurs && (!any || share.value > shares[*count].value))
                shares[*count] = share;
            any = any || occurs;
        }
        *count += any;
    }
    return KB_OK;
}
