/* Keeps the best hits: by falling score, then kbid, then segment (README.md section 9). */
#ifndef KB_TOPK_H
#define KB_TOPK_H

#include "searcher.h"

typedef struct {
    uint32_t segment; /* its place in the searcher's list */
    uint32_t entry;
    double score;
    uint64_t matched;    /* bit i set: clause i matched */
    const uint8_t *kbid; /* set by kb_topk_add where there are several segments, whose hits it puts in order */
} kb_hit;

/* A heap with the worst hit on top. */
typedef struct {
    const kb_searcher *searcher;
    kb_hit *hits; /* the caller's, with room for `limit` */
    uint32_t limit;
    uint32_t count;
} kb_topk;

/* Takes a hit that may be better than the worst of a full heap; kb_topk_add is the door. */
kb_status kb_topk_take(kb_topk *topk, kb_hit *hit, kb_error *error);

/* Adds a hit unless it is worse than all of a full heap. KB_E_CORRUPT. */
static inline kb_status kb_topk_add(kb_topk *topk, kb_hit *hit, kb_error *error) {
    if (topk->limit > 0 && (topk->count < topk->limit || hit->score >= topk->hits[0].score))
        return kb_topk_take(topk, hit, error);
    return KB_OK;
}

/* Sorts the hits, best first; nothing can be added after. */
void kb_topk_finish(kb_topk *topk);

#endif
