/* Reads the blocks of the largest impacts first, so that the heap soon tells which others matter. */
#include "best_blocks.h"

/* The impact that so many blocks reach; those are read first. */
static uint32_t first_impact(const kb_postings *postings, uint32_t blocks, uint32_t wanted) {
    uint32_t counts[KB_IMPACT_MAX + 1] = {0};
    for (uint32_t i = 0; i < blocks; i++)
        counts[kb_postings_impact(postings, i)]++;
    uint32_t impact = KB_IMPACT_MAX;
    for (uint32_t reached = counts[impact]; impact > 0 && reached < wanted; reached += counts[impact])
        impact--;
    return impact;
}

static kb_status add_block(kb_search_task *task, kb_postings *postings, double factor) {
    for (uint32_t i = 0; i < postings->count; i++) {
        uint32_t entry = postings->entries[i];
        uint32_t frequencies[KB_FIELDS];
        uint32_t mask = 0;
        double saturation = 0.0;
        kb_status status = kb_search_posting(task, postings, i, frequencies, &mask);
        if (status == KB_OK && !kb_search_is_candidate(task, entry))
            continue;
        if (status == KB_OK)
            status = kb_search_saturation(task, entry, mask, frequencies, &saturation);
        if (status == KB_OK) {
            kb_hit hit = {task->segment, entry, 0.0 + factor * saturation, 1, NULL};
            status = kb_topk_add(task->topk, &hit, task->error);
            task->total++;
        }
        if (status != KB_OK)
            return status;
    }
    return kb_postings_block_end(postings, task->error);
}

kb_status kb_best_blocks(kb_search_task *task) {
    const kb_alternative *alternative = &task->plan->clauses[0].alternatives[0];
    const kb_stem *stem = &alternative->terms[0]->stems[task->segment];
    const kb_topk *topk = task->topk;
    double factor = alternative->weight * alternative->idf;
    uint32_t blocks = kb_postings_blocks(stem->df);
    kb_postings postings;
    if (stem->df == 0)
        return KB_OK;
    kb_status status = kb_postings_open(&task->view->segment->terms, stem, &postings, task->error);
    if (status != KB_OK)
        return status;
    uint32_t first = first_impact(&postings, blocks, topk->limit / KB_BLOCK + 1);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < blocks && status == KB_OK; i++) {
            uint32_t impact = kb_postings_impact(&postings, i);
            if ((impact >= first) != (pass == 0))
                continue;
            double most = factor * kb_search_bound(task->view, impact);
            bool may_enter = topk->limit > 0 && (topk->count < topk->limit || most >= topk->hits[0].score);
            if (!may_enter && task->total > task->total_limit)
                continue;
            status = kb_postings_block(&postings, i, task->error);
            if (status == KB_OK)
                status = add_block(task, &postings, factor);
        }
    }
    return status;
}
