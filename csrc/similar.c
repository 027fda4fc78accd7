/* Near duplicates, by prefix filter: a set that is alike must share one of the rarest stems, so only the entries that
 * do are candidates, and the frequent stems are counted for those alone. */
#include "similar.h"

#include <math.h>
#include <stdlib.h>

#include "bitmap.h"
#include "scratch.h"

#define SLACK 1e-9 /* of the bounds below, which pre-select in inexact numbers; the decision is one exact division */

#define SEEKS 32u /* reading so many postings one after the other takes as long as looking one entry up */

static bool in_title_or_body(const kb_postings *postings) { return postings->mask & 3; }

static int by_df(const void *left, const void *right) {
    const kb_term *a = *(const kb_term *const *)left;
    const kb_term *b = *(const kb_term *const *)right;
    return (a->df > b->df) - (a->df < b->df);
}

static int by_number(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* One look-up in one segment. Counts are kept in the cells' `matched`. */
typedef struct {
    const kb_searcher *searcher;
    const kb_term *const *stems;
    uint32_t count;
    double threshold;
    uint32_t segment;
    kb_scratch *scratch;
    uint32_t candidates; /* in scratch->touched */
    kb_error *error;
} similar_task;

static kb_status open_postings(const similar_task *task, uint32_t number, kb_postings *postings) {
    const kb_stem *stem = &task->stems[number]->stems[task->segment];
    postings->left = 0;
    if (stem->df == 0)
        return KB_OK;
    return kb_postings_open(&task->searcher->views[task->segment].segment->terms, stem, postings, task->error);
}

/* Counts the stems before `end`, and makes every live entry that has one a candidate. */
static kb_status count_rare(similar_task *task, uint32_t end) {
    const uint8_t *live = task->searcher->views[task->segment].live;
    kb_scratch *scratch = task->scratch;
    kb_status status = KB_OK;
    for (uint32_t i = 0; i < end && status == KB_OK; i++) {
        kb_postings postings;
        status = open_postings(task, i, &postings);
        while (status == KB_OK && postings.left > 0) {
            status = kb_postings_next(&postings, task->error);
            if (status != KB_OK || !in_title_or_body(&postings) || !kb_bitmap_has(live, postings.entry))
                continue;
            if (scratch->cells[postings.entry].matched++ == 0)
                scratch->touched[task->candidates++] = postings.entry;
        }
    }
    return status;
}

/* Forgets the candidates that cannot be alike any more, with `left` stems still to count. */
static kb_status drop_unlike(similar_task *task, uint32_t left) {
    const kb_view *view = &task->searcher->views[task->segment];
    kb_scratch *scratch = task->scratch;
    uint32_t kept = 0;
    kb_status status = KB_OK;
    for (uint32_t i = 0; i < task->candidates; i++) {
        uint32_t candidate = scratch->touched[i];
        kb_entry entry;
        status = kb_corpus_entry(&view->segment->corpus, candidate, &entry, task->error);
        if (status != KB_OK)
            return status;
        uint64_t distinct = entry.distinct;
        uint64_t shared = scratch->cells[candidate].matched;
        if (shared > distinct)
            return kb_corrupt(KB_FILE_CORPUS, view->segment->corpus.records.offset,
                              "an entry has more stems than it says", task->error);
        uint64_t most = shared + left < distinct ? shared + left : distinct;
        double together = (double)task->count + (double)distinct - (double)most;
        if ((double)most >= task->threshold * together * (1.0 - SLACK))
            scratch->touched[kept++] = candidate;
        else
            scratch->cells[candidate].matched = 0;
    }
    task->candidates = kept;
    return status;
}

/* Counts one frequent stem for the candidates, by looking each up; they are in order. */
static kb_status look_up(similar_task *task, kb_postings *postings) {
    kb_status status = KB_OK;
    bool found = true;
    for (uint32_t i = 0; i < task->candidates && found && status == KB_OK; i++) {
        uint32_t candidate = task->scratch->touched[i];
        status = kb_postings_seek(postings, candidate, &found, task->error);
        if (status == KB_OK && found && postings->entry == candidate && in_title_or_body(postings))
            task->scratch->cells[candidate].matched++;
    }
    return status;
}

/* Counts one frequent stem for the candidates. */
static kb_status count_frequent(similar_task *task, uint32_t number) {
    kb_postings postings;
    kb_status status = open_postings(task, number, &postings);
    if (status == KB_OK && (uint64_t)task->candidates * SEEKS < postings.left)
        return look_up(task, &postings);
    while (status == KB_OK && postings.left > 0) {
        status = kb_postings_next(&postings, task->error);
        if (status != KB_OK)
            return status;
        kb_cell *cell = &task->scratch->cells[postings.entry];
        if (cell->matched > 0 && in_title_or_body(&postings))
            cell->matched++;
    }
    return status;
}

/* Decides about the candidates, whose counts are complete. */
static kb_status judge(const similar_task *task, kb_topk *topk) {
    const kb_corpus *corpus = &task->searcher->views[task->segment].segment->corpus;
    kb_status status = KB_OK;
    for (uint32_t i = 0; i < task->candidates && status == KB_OK; i++) {
        uint32_t candidate = task->scratch->touched[i];
        kb_entry entry;
        status = kb_corpus_entry(corpus, candidate, &entry, task->error);
        if (status != KB_OK)
            break;
        uint64_t shared = task->scratch->cells[candidate].matched;
        double jaccard = (double)shared / (double)((uint64_t)task->count + entry.distinct - shared);
        kb_hit hit = {task->segment, candidate, jaccard, 0, NULL};
        if (jaccard >= task->threshold)
            status = kb_topk_add(topk, &hit, task->error);
    }
    return status;
}

static kb_status search_segment(similar_task *task, uint32_t rare, kb_topk *topk) {
    kb_status status = count_rare(task, rare);
    if (status == KB_OK)
        status = drop_unlike(task, task->count - rare);
    if (task->candidates > 1)
        qsort(task->scratch->touched, task->candidates, sizeof *task->scratch->touched, by_number);
    for (uint32_t i = rare; i < task->count && status == KB_OK && task->candidates > 0; i++) {
        status = count_frequent(task, i);
        if (status == KB_OK && (task->count - i) % 4 == 0)
            status = drop_unlike(task, task->count - i - 1);
    }
    if (status == KB_OK)
        status = drop_unlike(task, 0);
    if (status == KB_OK)
        status = judge(task, topk);
    for (uint32_t i = 0; i < task->candidates; i++)
        task->scratch->cells[task->scratch->touched[i]].matched = 0;
    return status;
}

kb_status kb_similar(const kb_searcher *searcher, const kb_term **stems, uint32_t count, double threshold,
                     uint32_t limit, kb_scratch *scratch, kb_hit *hits, uint32_t *found, kb_error *error) {
    kb_topk topk = {searcher, hits, limit, 0};
    *found = 0;
    if (count == 0)
        return KB_OK;
    kb_status status = kb_scratch_cells(scratch);
    qsort(stems, count, sizeof *stems, by_df);
    /* Whatever the other set, at least this many stems are shared; so one of the first count - least + 1 is. */
    double least = ceil(threshold * (double)count * (1.0 - SLACK));
    uint32_t rare = least < 1.0 ? count : count - (uint32_t)least + 1;
    for (uint32_t i = 0; i < searcher->count && status == KB_OK; i++) {
        similar_task task = {searcher, stems, count, threshold, i, scratch, 0, error};
        error->segment = i;
        status = search_segment(&task, rare, &topk);
    }
    kb_topk_finish(&topk);
    *found = topk.count;
    return status;
}
