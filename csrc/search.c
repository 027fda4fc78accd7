/* Chooses how to execute a plan, segment by segment; explains. */
#include "search.h"

#include <string.h>

#include "best_blocks.h"
#include "exhaustive.h"
#include "sweep.h"

#define SWEEP_ENTRIES 4096u /* smaller segments are added up as fast as bounds are prepared */
#define SWEEP_SHARE 64u     /* so many entries a posting: fewer postings touch few cells */
#define SWEEP_HITS 64u      /* so many postings a hit: fewer make most entries candidates */

/* What is known of the total without a look at the entries: exactly for one stem; that it is above the limit where a
 * stem of several is in more entries than that. */
static bool knows_total(const kb_plan *plan, bool filtered, uint64_t limit, uint64_t *total) {
    *total = 0;
    if (filtered || !kb_search_is_plain(plan))
        return false;
    for (uint32_t i = 0; i < plan->count; i++) {
        uint64_t df = plan->clauses[i].alternatives[0].terms[0]->df;
        *total = df > *total ? df : *total;
    }
    return plan->count == 1 || *total > limit;
}

static bool is_worth_sweeping(const kb_search_task *task) {
    uint64_t postings = 0;
    uint32_t entries = task->view->segment->entries;
    for (uint32_t i = 0; i < task->plan->count; i++)
        postings += task->plan->clauses[i].alternatives[0].terms[0]->stems[task->segment].df;
    return entries >= SWEEP_ENTRIES && postings * SWEEP_SHARE >= entries &&
           postings >= (uint64_t)task->topk->limit * SWEEP_HITS && task->topk->limit > 0;
}

kb_status kb_search(const kb_searcher *searcher, const kb_plan *plan, const uint8_t *const *allowed, uint32_t limit,
                    uint64_t total_limit, kb_lanes_find find, kb_scratch *scratch, kb_hit *hits, uint32_t *count,
                    uint64_t *total, kb_error *error) {
    kb_topk topk = {searcher, hits, limit, 0};
    uint64_t known = 0;
    bool knows = knows_total(plan, allowed != NULL, total_limit, &known);
    bool plain = kb_search_is_plain(plan);
    uint64_t found = knows ? total_limit + 1 : 0;
    for (uint32_t i = 0; i < searcher->count && !(knows && limit == 0); i++) {
        kb_search_task task = {
            searcher, &searcher->views[i], i,    plan, allowed == NULL ? NULL : allowed[i], scratch, &topk,
            found,    total_limit,         error};
        error->segment = i;
        kb_status status = plain && plan->count == 1           ? kb_best_blocks(&task)
                           : plain && is_worth_sweeping(&task) ? kb_sweep(&task, find)
                                                               : kb_exhaustive(&task);
        if (status != KB_OK)
            return status;
        found = task.total;
    }
    kb_topk_finish(&topk);
    *count = topk.count;
    *total = knows ? known : found;
    return KB_OK;
}

/* The share of an alternative in an entry, when it occurs there. */
static kb_status explain_alternative(kb_search_task *task, const kb_alternative *alternative, uint32_t fields,
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
    status = kb_search_saturation(task, entry, occurrences.mask, occurrences.frequencies, &share->saturation);
    share->value = (alternative->weight * alternative->idf) * share->saturation;
    return status;
}

kb_status kb_explain(const kb_searcher *searcher, const kb_plan *plan, uint32_t segment, uint32_t entry,
                     kb_scratch *scratch, kb_share *shares, uint32_t *count, kb_error *error) {
    kb_search_task task = {.searcher = searcher,
                           .view = &searcher->views[segment],
                           .segment = segment,
                           .plan = plan,
                           .scratch = scratch,
                           .error = error};
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
