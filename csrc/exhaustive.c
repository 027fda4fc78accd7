/* Executes plans clause by clause: each adds its shares to the entries' cells, then one sweep picks the best. */
#include "exhaustive.h"

#include "phrase.h"

#define CELLS 64u /* under one word of `written` */

static inline void add_share(kb_scratch *scratch, uint32_t entry, double share, uint64_t bit) {
    kb_cell *cell = &scratch->cells[entry];
    cell->score = cell->score + share;
    cell->matched |= bit;
    scratch->written[entry / CELLS] |= (uint64_t)1 << entry % CELLS;
}

/* Adds the shares of the block of postings just read. */
static kb_status add_block(kb_search_task *task, kb_postings *postings, double factor, uint64_t bit) {
    for (uint32_t i = 0; i < postings->count; i++) {
        uint32_t entry = postings->entries[i];
        uint32_t frequencies[KB_FIELDS];
        uint32_t mask = 0;
        double saturation = 0.0;
        kb_status status = kb_search_posting(task, postings, i, frequencies, &mask);
        if (status == KB_OK)
            status = kb_search_saturation(task, entry, mask, frequencies, &saturation);
        if (status != KB_OK)
            return status;
        add_share(task->scratch, entry, factor * saturation, bit);
    }
    return kb_postings_block_end(postings, task->error);
}

/* Adds the shares of a clause with one alternative, one stem, and all fields: the common case. */
static kb_status add_stem(kb_search_task *task, const kb_alternative *alternative, uint64_t bit) {
    double factor = alternative->weight * alternative->idf;
    const kb_stem *stem = &alternative->terms[0]->stems[task->segment];
    kb_postings postings;
    kb_status status = kb_postings_open(&task->view->segment->terms, stem, &postings, task->error);
    for (uint32_t block = 0; block < kb_postings_blocks(stem->df) && status == KB_OK; block++) {
        status = kb_postings_block(&postings, block, task->error);
        if (status == KB_OK)
            status = add_block(task, &postings, factor, bit);
    }
    return status;
}

/* Adds the shares of any clause. Of several alternatives the largest share counts, so they are gathered first. */
static kb_status add_clause(kb_search_task *task, const kb_clause *clause, uint64_t bit) {
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
            uint32_t entry = occurrences.entry;
            status = kb_search_saturation(task, entry, occurrences.mask, occurrences.frequencies, &saturation);
            if (status != KB_OK)
                break;
            double share = factor * saturation;
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

static kb_status add_clauses(kb_search_task *task) {
    kb_status status = KB_OK;
    for (uint32_t i = 0; i < task->plan->count && status == KB_OK; i++) {
        const kb_clause *clause = &task->plan->clauses[i];
        if (!kb_clause_is_stem(clause) || clause->kind == KB_MUST_NOT)
            status = add_clause(task, clause, (uint64_t)1 << i);
        else if (kb_occurrences_possible(&clause->alternatives[0], task->segment))
            status = add_stem(task, &clause->alternatives[0], (uint64_t)1 << i);
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

/* Hands the matching ones of 64 entries to the heap, and clears their cells. */
static kb_status sweep_block(kb_search_task *task, const conditions *wanted, uint32_t block) {
    uint64_t written = task->scratch->written[block];
    uint64_t candidates = kb_search_candidates(task, block);
    kb_status status = KB_OK;
    for (uint64_t left = wanted->all ? written | candidates : written; left != 0; left &= left - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(left);
        kb_cell *cell = &task->scratch->cells[(size_t)block * CELLS + bit];
        if (candidates >> bit & 1 && fits(wanted, cell->matched) && status == KB_OK) {
            kb_hit hit = {task->segment, block * CELLS + bit, cell->score, cell->matched, NULL};
            status = kb_topk_add(task->topk, &hit, task->error);
            task->total++;
        }
        *cell = (kb_cell){0};
    }
    task->scratch->written[block] = 0;
    return status;
}

/* Clears the cells of a search that failed. */
static void clear(kb_scratch *scratch, uint32_t blocks) {
    for (uint32_t block = 0; block < blocks; block++) {
        for (uint64_t left = scratch->written[block]; left != 0; left &= left - 1)
            scratch->cells[(size_t)block * CELLS + (uint32_t)__builtin_ctzll(left)] = (kb_cell){0};
        scratch->written[block] = 0;
    }
}

/* Offers an entry in which the clause occurs to the heap. */
static kb_status offer(kb_search_task *task, const kb_occurrences *occurrences, double factor) {
    double saturation = 0.0;
    uint32_t entry = occurrences->entry;
    kb_status status = kb_search_saturation(task, entry, occurrences->mask, occurrences->frequencies, &saturation);
    if (status != KB_OK)
        return status;
    kb_hit hit = {task->segment, entry, 0.0 + factor * saturation, 1, NULL};
    task->total++;
    return kb_topk_add(task->topk, &hit, task->error);
}

/* More than what rounding may take from one score and give to another that should be as high or higher. */
#define ROUNDING (1.0 + 1e-12)

/* Sets *most to at least the saturation of the clause in the entry. KB_E_CORRUPT. */
static kb_status bound(const kb_search_task *task, const kb_occurrences *occurrences, double *most) {
    const kb_bm25f *bm25f = &task->searcher->bm25f;
    const kb_corpus *corpus = &task->view->segment->corpus;
    uint8_t codes[KB_FIELDS] = {0};
    for (uint32_t field = 0; occurrences->mask >> field != 0; field++) {
        const uint8_t *code = NULL;
        uint64_t at = (uint64_t)field * corpus->entries + occurrences->entry;
        kb_status status = kb_table_bytes(&corpus->codes, at, 1, &code, task->error);
        if (status != KB_OK)
            return status;
        codes[field] = *code;
    }
    uint32_t body = occurrences->frequencies[KB_BODY];
    if (occurrences->mask == 1u << KB_BODY && body <= KB_FEW)
        *most = bm25f->tables->most[body - 1][codes[KB_BODY]];
    else
        *most = kb_bm25f_most(bm25f, occurrences->mask, occurrences->frequencies, codes, 1);
    return KB_OK;
}

/* Sets *may to whether the phrase may count in the entry where its stems meet: for the total, or, as often as it can
 * stand there, for the heap. */
static kb_status may_count(kb_search_task *task, kb_occurrences *occurrences, double factor, bool *may) {
    const kb_topk *topk = task->topk;
    double most = 0.0;
    *may = kb_search_is_candidate(task, occurrences->entry);
    if (!*may || task->total <= task->total_limit || topk->count < topk->limit)
        return KB_OK;
    kb_phrase_most(occurrences);
    kb_status status = bound(task, occurrences, &most);
    *may = topk->limit > 0 && factor * most * ROUNDING >= topk->hits[0].score;
    return status;
}

/* A plan of one clause that has one alternative, a phrase or a stem: shares are scores, so that no cells are needed. */
static kb_status search_one(kb_search_task *task, const kb_clause *clause) {
    const kb_alternative *alternative = &clause->alternatives[0];
    double factor = alternative->weight * alternative->idf;
    kb_occurrences occurrences;
    bool found = kb_occurrences_possible(alternative, task->segment);
    bool is_phrase = alternative->count > 1;
    if (!found)
        return KB_OK;
    kb_status status = kb_occurrences_open(task->view, task->segment, alternative, clause->fields, &task->scratch->walk,
                                           &occurrences, task->error);
    while (status == KB_OK) {
        bool counts = true;
        status = (is_phrase ? kb_phrase_meet : kb_occurrences_next)(&occurrences, &found, task->error);
        if (status != KB_OK || !found)
            break;
        if (is_phrase)
            status = may_count(task, &occurrences, factor, &counts);
        else
            counts = kb_search_is_candidate(task, occurrences.entry);
        if (status == KB_OK && is_phrase && counts) {
            status = kb_phrase_count(&occurrences, task->error);
            counts = occurrences.mask != 0;
        }
        if (status == KB_OK && counts)
            status = offer(task, &occurrences, factor);
    }
    return status;
}

kb_status kb_exhaustive(kb_search_task *task) {
    const kb_clause *first = task->plan->clauses;
    if (task->plan->count == 1 && first->count == 1 && first->kind != KB_MUST_NOT)
        return search_one(task, first);
    conditions wanted = conditions_of(task->plan);
    uint32_t blocks = kb_bitmap_words(task->view->segment->entries);
    kb_status status = kb_scratch_cells(task->scratch);
    if (status != KB_OK)
        return status;
    status = add_clauses(task);
    for (uint32_t block = 0; block < blocks && status == KB_OK; block++)
        if (task->scratch->written[block] != 0 || wanted.all)
            status = sweep_block(task, &wanted, block);
    if (status != KB_OK)
        clear(task->scratch, blocks);
    return status;
}
