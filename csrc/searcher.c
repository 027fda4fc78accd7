/* A snapshot to search: counts over the live entries. */
#include "searcher.h"

#include <stdlib.h>

#include "bitmap.h"
#include "bm25f.h"

static void count_view(kb_view *view, kb_searcher *searcher) {
    uint32_t entries = view->segment->entries;
    uint32_t live = kb_bitmap_count(view->live, entries);
    view->all_live = live == entries;
    searcher->sections += live;
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        const uint32_t *lengths = view->lengths->lengths + (size_t)field * entries;
        uint64_t total = view->all_live ? view->lengths->totals[field] : 0;
        for (uint32_t i = 0; i < entries && !view->all_live; i++)
            if (kb_bitmap_has(view->live, i))
                total += lengths[i];
        searcher->totals[field] += total;
    }
}

kb_status kb_searcher_open(kb_view *views, uint32_t count, const kb_params *params, kb_searcher *searcher) {
    searcher->views = views;
    searcher->count = count;
    searcher->params = *params;
    for (uint32_t i = 0; i < count; i++)
        count_view(&views[i], searcher);
    return kb_bm25f_prepare(searcher);
}

void kb_searcher_close(kb_searcher *searcher) {
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        free(searcher->norms[field]);
    free(searcher->few);
    *searcher = (kb_searcher){0};
}

static kb_status count_live(const kb_view *view, const kb_stem *stem, uint64_t *df, kb_error *error) {
    kb_postings postings;
    kb_status status = kb_postings_open(&view->segment->terms, stem, &postings, error);
    while (status == KB_OK && postings.left > 0) {
        status = kb_postings_next(&postings, error);
        if (status == KB_OK && kb_bitmap_has(view->live, postings.entry))
            *df += 1;
    }
    return status;
}

kb_status kb_term_find(const kb_searcher *searcher, const uint8_t *stem, size_t length, kb_term *term,
                       kb_error *error) {
    term->df = 0;
    for (uint32_t i = 0; i < searcher->count; i++) {
        const kb_view *view = &searcher->views[i];
        bool found = false;
        error->segment = i;
        kb_status status = kb_terms_find(&view->segment->terms, stem, length, &found, &term->stems[i], error);
        if (status != KB_OK)
            return status;
        if (!found)
            term->stems[i].df = 0;
        else if (view->all_live)
            term->df += term->stems[i].df;
        else
            status = count_live(view, &term->stems[i], &term->df, error);
        if (status != KB_OK)
            return status;
    }
    term->idf = kb_bm25f_idf(searcher->sections, term->df);
    return KB_OK;
}
