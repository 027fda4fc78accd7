/* A heap of the best hits. */
#include "topk.h"

#include <string.h>

static bool is_better(const kb_hit *left, const kb_hit *right) {
    if (left->score != right->score)
        return left->score > right->score;
    if (left->segment == right->segment)
        return left->entry < right->entry; /* entries stand in kbid order */
    int order = memcmp(left->kbid, right->kbid, KB_KBID_BYTES);
    return order != 0 ? order < 0 : left->segment < right->segment;
}

/* Puts a hit where the heap's order wants it, from the free place `at` downwards among the first `count`. */
static void sift_down(kb_topk *topk, const kb_hit *hit, uint32_t at, uint32_t count) {
    kb_hit *hits = topk->hits;
    for (;;) {
        uint64_t child = (uint64_t)at * 2 + 1;
        if (child >= count)
            break;
        if (child + 1 < count && is_better(&hits[child], &hits[child + 1]))
            child++;
        if (!is_better(hit, &hits[child]))
            break;
        hits[at] = hits[child];
        at = (uint32_t)child;
    }
    hits[at] = *hit;
}

kb_status kb_topk_take(kb_topk *topk, kb_hit *hit, kb_error *error) {
    kb_hit *hits = topk->hits;
    hit->kbid = NULL;
    if (topk->searcher->count > 1) {
        const kb_corpus *corpus = &topk->searcher->views[hit->segment].segment->corpus;
        kb_status status = kb_corpus_kbid(corpus, hit->entry, &hit->kbid, error);
        if (status != KB_OK)
            return status;
    }
    if (topk->count == topk->limit) {
        if (is_better(hit, &hits[0]))
            sift_down(topk, hit, 0, topk->count);
        return KB_OK;
    }
    uint32_t at = topk->count++;
    while (at > 0 && is_better(&hits[(at - 1) / 2], hit)) {
        hits[at] = hits[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    hits[at] = *hit;
    return KB_OK;
}

void kb_topk_finish(kb_topk *topk) {
    for (uint32_t left = topk->count; left > 1; left--) {
        kb_hit last = topk->hits[left - 1];
        topk->hits[left - 1] = topk->hits[0];
        sift_down(topk, &last, 0, left - 1);
    }
}
