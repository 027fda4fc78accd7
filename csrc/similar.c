/* Near duplicates, a segment at a time, by prefix filter: a set that is alike lacks few of the given stems, so it has
 * one of any few more than that, and only the entries with one of these are candidates. The rarest are taken, as the
 * largest segment tells them. In most segments none of them leads to an entry, and no other stem is looked up. */
#include "similar.h"

#include <math.h>
#include <stdlib.h>

#include "bitmap.h"
#include "bits.h"
#include "scratch.h"

#define SLACK 1e-9 /* of the bounds below, which pre-select in inexact numbers; the decision is one exact division */

#define SEEKS 32u /* reading so many postings one after the other takes as long as looking one entry up */

#define COUNTED_AT_ONCE 4u /* frequent stems, before candidates are dropped */

static bool in_title_or_body(const kb_postings *postings) { return postings->mask & 3; }

static int by_number(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* One look-up in one segment. Counts are kept in scratch->shared. */
typedef struct {
    const kb_likeness *wanted;
    uint32_t least; /* stems that a set shares at least when it is alike */
    const kb_view *view;
    uint32_t segment;
    bool known; /* whether scratch->stems is of this segment */
    kb_scratch *scratch;
    uint32_t candidates; /* in scratch->touched */
    bool ordered;        /* whether they ascend */
    kb_error *error;
} similar_task;

/* Finds the wanted stems from `first` on and before `end`, which can only stand from place `low` on and before `high`:
 * the middle one parts both ranges. One that the segment lacks gets a df of 0. */
static kb_status find_stems(similar_task *task, uint32_t first, uint32_t end, uint32_t low, uint32_t high) {
    const kb_terms *terms = &task->view->segment->terms;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        const kb_source *wanted = &task->wanted->stems[middle];
        kb_stem *stem = &task->scratch->stems[middle];
        uint32_t place = 0;
        bool found = false;
        kb_status status = kb_strings_find_between(&terms->stems, low, high, wanted->bytes, wanted->length, &found,
                                                   &place, task->error);
        stem->df = 0;
        if (status == KB_OK && found)
            status = kb_terms_stem(terms, place, stem, task->error);
        if (status == KB_OK)
            status = find_stems(task, first, middle, low, place);
        if (status != KB_OK)
            return status;
        first = middle + 1;
        low = place;
    }
    return KB_OK;
}

/* Puts the wanted stems into scratch->order, by how many bits their df has: rarest first is near enough. */
static void order_stems(const kb_scratch *scratch, uint32_t count) {
    uint32_t ends[33] = {0};
    uint32_t all = 0;
    for (uint32_t i = 0; i < count; i++)
        ends[kb_bits_width(scratch->stems[i].df)]++;
    for (uint32_t width = 0; width < 33; width++) {
        uint32_t some = ends[width];
        ends[width] = all;
        all += some;
    }
    for (uint32_t i = 0; i < count; i++)
        scratch->order[ends[kb_bits_width(scratch->stems[i].df)]++] = i;
}

/* Opens the postings of a wanted stem; *has is false when the segment lacks it. */
static kb_status open_stem(const similar_task *task, uint32_t number, kb_postings *postings, bool *has) {
    const kb_terms *terms = &task->view->segment->terms;
    const kb_source *wanted = &task->wanted->stems[number];
    kb_stem stem = task->scratch->stems[number];
    kb_status status = KB_OK;
    *has = stem.df > 0;
    if (!task->known)
        status = kb_terms_find(terms, wanted->bytes, wanted->length, has, &stem, task->error);
    return status == KB_OK && *has ? kb_postings_open(terms, &stem, postings, task->error) : status;
}

static bool is_looked_at(const similar_task *task, uint32_t entry) {
    bool left_out = task->segment == task->wanted->segment && entry == task->wanted->entry;
    return !left_out && kb_bitmap_has(task->view->live, entry);
}

/* Counts a rare stem, and makes every live entry that has it a candidate. */
static kb_status count_rare(similar_task *task, uint32_t number) {
    kb_scratch *scratch = task->scratch;
    kb_postings postings;
    bool has = false;
    kb_status status = open_stem(task, number, &postings, &has);
    while (status == KB_OK && has && postings.left > 0) {
        status = kb_postings_next(&postings, task->error);
        if (status != KB_OK || !in_title_or_body(&postings) || !is_looked_at(task, postings.entry))
            continue;
        if (scratch->shared[postings.entry]++ == 0)
            scratch->touched[task->candidates++] = postings.entry;
    }
    return status;
}

/* Whether a candidate that shares so many stems, with `left` still to count, can be alike. */
static kb_status can_be_alike(const similar_task *task, uint32_t candidate, uint64_t shared, uint32_t left, bool *can) {
    const kb_corpus *corpus = &task->view->segment->corpus;
    *can = shared + left >= task->least;
    if (!*can)
        return KB_OK;
    kb_entry entry;
    kb_status status = kb_corpus_entry(corpus, candidate, &entry, task->error);
    if (status != KB_OK)
        return status;
    uint64_t distinct = entry.distinct;
    if (shared > distinct)
        return kb_corrupt(KB_FILE_CORPUS, corpus->records.offset, "an entry has more stems than it says", task->error);
    uint64_t most = shared + left < distinct ? shared + left : distinct;
    double together = (double)task->wanted->count + (double)distinct - (double)most;
    *can = (double)most >= task->wanted->threshold * together * (1.0 - SLACK);
    return KB_OK;
}

/* Forgets the candidates that cannot be alike any more, with `left` stems still to count. */
static kb_status drop_unlike(similar_task *task, uint32_t left) {
    kb_scratch *scratch = task->scratch;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < task->candidates; i++) {
        uint32_t candidate = scratch->touched[i];
        bool can = false;
        kb_status status = can_be_alike(task, candidate, scratch->shared[candidate], left, &can);
        if (status != KB_OK)
            return status;
        if (can)
            scratch->touched[kept++] = candidate;
        else
            scratch->shared[candidate] = 0;
    }
    task->candidates = kept;
    return KB_OK;
}

/* Counts one frequent stem for the candidates, by looking each up. */
static kb_status look_up(similar_task *task, kb_postings *postings) {
    kb_status status = KB_OK;
    bool found = true;
    if (!task->ordered)
        qsort(task->scratch->touched, task->candidates, sizeof *task->scratch->touched, by_number);
    task->ordered = true;
    for (uint32_t i = 0; i < task->candidates && found && status == KB_OK; i++) {
        uint32_t candidate = task->scratch->touched[i];
        status = kb_postings_seek(postings, candidate, &found, task->error);
        if (status == KB_OK && found && postings->entry == candidate && in_title_or_body(postings))
            task->scratch->shared[candidate]++;
    }
    return status;
}

/* Counts one frequent stem for the candidates. */
static kb_status count_frequent(similar_task *task, uint32_t number) {
    kb_postings postings;
    bool has = false;
    kb_status status = open_stem(task, number, &postings, &has);
    if (status != KB_OK || !has)
        return status;
    if ((uint64_t)task->candidates * SEEKS < postings.left)
        return look_up(task, &postings);
    while (status == KB_OK && postings.left > 0) {
        status = kb_postings_next(&postings, task->error);
        if (status != KB_OK)
            return status;
        uint32_t *shared = &task->scratch->shared[postings.entry];
        if (*shared > 0 && in_title_or_body(&postings))
            (*shared)++;
    }
    return status;
}

/* Decides about the candidates, whose counts are complete. */
static kb_status judge(const similar_task *task, kb_topk *topk) {
    const kb_corpus *corpus = &task->view->segment->corpus;
    kb_status status = KB_OK;
    for (uint32_t i = 0; i < task->candidates && status == KB_OK; i++) {
        uint32_t candidate = task->scratch->touched[i];
        kb_entry entry;
        status = kb_corpus_entry(corpus, candidate, &entry, task->error);
        if (status != KB_OK)
            break;
        uint64_t shared = task->scratch->shared[candidate];
        double jaccard = (double)shared / (double)((uint64_t)task->wanted->count + entry.distinct - shared);
        kb_hit hit = {task->segment, candidate, jaccard, 0, NULL};
        if (jaccard >= task->wanted->threshold)
            status = kb_topk_add(topk, &hit, task->error);
    }
    return status;
}

static kb_status search_segment(similar_task *task, kb_topk *topk) {
    kb_scratch *scratch = task->scratch;
    uint32_t count = task->wanted->count;
    /* A set that is alike lacks at most count - least stems; so it has one of the first count - least + 1. */
    uint32_t rare = count - task->least + 1;
    kb_status status = KB_OK;
    /* What was learned last is mostly a segment of its own. */
    if (task->view->segment->entries == 1 && !is_looked_at(task, 0))
        return KB_OK;
    for (uint32_t i = 0; i < rare && status == KB_OK; i++)
        status = count_rare(task, scratch->order[i]);
    task->ordered = task->candidates < 2;
    for (uint32_t i = rare; i < count && status == KB_OK && task->candidates > 0; i++) {
        status = count_frequent(task, scratch->order[i]);
        if (status == KB_OK && (i - rare) % COUNTED_AT_ONCE == COUNTED_AT_ONCE - 1)
            status = drop_unlike(task, count - i - 1);
    }
    if (status == KB_OK)
        status = drop_unlike(task, 0);
    if (status == KB_OK)
        status = judge(task, topk);
    for (uint32_t i = 0; i < task->candidates; i++)
        scratch->shared[scratch->touched[i]] = 0;
    return status;
}

static uint32_t largest_of(const kb_searcher *searcher) {
    uint32_t largest = 0;
    for (uint32_t i = 1; i < searcher->count; i++)
        if (searcher->views[i].segment->entries > searcher->views[largest].segment->entries)
            largest = i;
    return largest;
}

kb_status kb_similar(const kb_searcher *searcher, const kb_likeness *wanted, uint32_t limit, kb_scratch *scratch,
                     kb_hit *hits, uint32_t *found, kb_error *error) {
    kb_topk topk = {searcher, hits, limit, 0};
    double least = ceil(wanted->threshold * (double)wanted->count * (1.0 - SLACK));
    uint32_t largest = largest_of(searcher);
    *found = 0;
    if (wanted->count == 0 || searcher->count == 0)
        return KB_OK;
    similar_task task = {.wanted = wanted,
                         .least = least < 1.0 ? 1 : (uint32_t)least,
                         .view = &searcher->views[largest],
                         .scratch = scratch,
                         .error = error};
    error->segment = largest;
    kb_status status = kb_scratch_set(scratch, wanted->count);
    if (status == KB_OK)
        status = find_stems(&task, 0, wanted->count, 0, task.view->segment->terms.stems.count);
    if (status == KB_OK)
        order_stems(scratch, wanted->count);
    for (uint32_t i = 0; i < searcher->count && status == KB_OK; i++) {
        error->segment = task.segment = i;
        task.view = &searcher->views[i];
        task.known = i == largest;
        task.candidates = 0;
        status = search_segment(&task, &topk);
    }
    kb_topk_finish(&topk);
    *found = topk.count;
    return status;
}
