/* A resolved plan (kbdb/plan.py) as the library takes it, and a search for it in one segment (README.md section 9). */
#ifndef KB_PLAN_H
#define KB_PLAN_H

#include "bitmap.h"
#include "occurrences.h"
#include "scratch.h"
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

typedef struct {
    const kb_searcher *searcher;
    const kb_view *view;
    uint32_t segment; /* the view's place */
    const kb_plan *plan;
    const uint8_t *allowed; /* NULL, or a bitmap over the segment's entries */
    kb_scratch *scratch;
    kb_topk *topk;
    uint64_t total;       /* entries found to match, in this segment and those before */
    uint64_t total_limit; /* it is enough to know that the total is above this */
    kb_error *error;
} kb_search_task;

/* Whether a clause is one stem in any field. */
static inline bool kb_clause_is_stem(const kb_clause *clause) {
    return clause->count == 1 && clause->alternatives[0].count == 1 && clause->fields == KB_ALL_FIELDS;
}

/* Whether a plan is stems in any field of which any may match. */
static inline bool kb_search_is_plain(const kb_plan *plan) {
    for (uint32_t i = 0; i < plan->count; i++)
        if (!kb_clause_is_stem(&plan->clauses[i]) || plan->clauses[i].kind != KB_SHOULD)
            return false;
    return plan->count > 0;
}

/* Which of 64 entries are live and allowed. */
static inline uint64_t kb_search_candidates(const kb_search_task *task, uint32_t block) {
    uint32_t entries = task->view->segment->entries;
    uint64_t word = kb_bitmap_word(task->view->live, entries, block);
    return task->allowed == NULL ? word : word & kb_bitmap_word(task->allowed, entries, block);
}

/* Whether one entry is. */
static inline bool kb_search_is_candidate(const kb_search_task *task, uint32_t entry) {
    return kb_bitmap_has(task->view->live, entry) && (task->allowed == NULL || kb_bitmap_has(task->allowed, entry));
}

/* At least the saturation under the live averages of any posting of a block with this impact (README.md section 4).
 * Where it is 0, saturations may have been too small for a number, which they need not be under other averages. */
static inline double kb_search_bound(const kb_view *view, uint32_t impact) {
    double bound = view->drift * ((double)(impact > 0 ? impact : 1) / KB_IMPACT_MAX);
    return bound < 1.0 ? bound : 1.0;
}

/* Sets *saturation of a stem with these frequencies, in the fields of `mask`, in an entry. KB_E_CORRUPT. */
static inline kb_status kb_search_saturation(const kb_search_task *task, uint32_t entry, uint32_t mask,
                                             const uint32_t frequencies[KB_FIELDS], double *saturation) {
    const kb_bm25f *bm25f = &task->searcher->bm25f;
    uint32_t lengths[KB_FIELDS];
    kb_status status = kb_corpus_lengths(&task->view->segment->corpus, entry, mask, lengths, task->error);
    if (status != KB_OK)
        return status;
    uint32_t body = frequencies[KB_BODY];
    if (mask == 1u << KB_BODY && body <= KB_FEW && lengths[KB_BODY] < KB_NORMS)
        *saturation = bm25f->tables->few[body - 1][lengths[KB_BODY]];
    else
        *saturation = kb_bm25f_saturation(bm25f, frequencies, lengths);
    return KB_OK;
}

/* Sets the frequencies and the mask of posting `at` of the block that was read; postings are asked for in order, for
 * the exceptions stand so. KB_E_CORRUPT. */
static inline kb_status kb_search_posting(const kb_search_task *task, kb_postings *postings, uint32_t at,
                                          uint32_t frequencies[KB_FIELDS], uint32_t *mask) {
    uint32_t code = kb_postings_code(postings, at);
    kb_status status = code == KB_CODE_EXCEPTION ? kb_postings_exception(postings, task->error) : KB_OK;
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        frequencies[field] = code == KB_CODE_EXCEPTION ? postings->frequencies[field] : field == KB_BODY ? code + 1 : 0;
    *mask = code == KB_CODE_EXCEPTION ? postings->mask : 1u << KB_BODY;
    return status;
}

#endif
