/* A snapshot to search: counts over the live entries. */
#include "searcher.h"

#include <string.h>

#include "bitmap.h"

#define SEEKS 32u /* reading so many postings one after the other takes as long as looking one entry up */
#define DRIFT_SLACK (1.0 + 1e-9)

/* Makes the totals of a segment those of what is live in it, by taking away what is not. */
static kb_status take_dead(const kb_view *view, uint64_t totals[KB_FIELDS], kb_error *error) {
    const kb_corpus *corpus = &view->segment->corpus;
    uint32_t entries = view->segment->entries;
    for (uint32_t i = kb_bitmap_next_clear(view->live, entries, 0); i < entries;
         i = kb_bitmap_next_clear(view->live, entries, i + 1)) {
        for (uint32_t field = 0; field < KB_FIELDS; field++) {
            uint32_t length = 0;
            kb_status status = kb_corpus_length(corpus, i, field, &length, error);
            if (status != KB_OK)
                return status;
            totals[field] -= length;
        }
    }
    return KB_OK;
}

/* The same, by adding up what is live. */
static kb_status add_live(const kb_view *view, uint64_t totals[KB_FIELDS], kb_error *error) {
    const kb_corpus *corpus = &view->segment->corpus;
    uint32_t entries = view->segment->entries;
    memset(totals, 0, KB_FIELDS * sizeof *totals);
    for (uint32_t block = 0; block < kb_bitmap_words(entries); block++) {
        for (uint64_t left = kb_bitmap_word(view->live, entries, block); left != 0; left &= left - 1) {
            uint32_t entry = block * 64 + (uint32_t)__builtin_ctzll(left);
            for (uint32_t field = 0; field < KB_FIELDS; field++) {
                uint32_t length = 0;
                kb_status status = kb_corpus_length(corpus, entry, field, &length, error);
                if (status != KB_OK)
                    return status;
                totals[field] += length;
            }
        }
    }
    return KB_OK;
}

static kb_status count_view(kb_view *view, kb_searcher *searcher, kb_error *error) {
    uint64_t totals[KB_FIELDS] = {0};
    view->live_count = kb_bitmap_count(view->live, view->segment->entries);
    view->all_live = view->live_count == view->segment->entries;
    searcher->sections += view->live_count;
    kb_status status = kb_corpus_totals(&view->segment->corpus, totals, error);
    if (status == KB_OK && !view->all_live)
        status = view->live_count * 2 > view->segment->entries ? take_dead(view, totals, error)
                                                               : add_live(view, totals, error);
    for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++)
        searcher->totals[field] += totals[field];
    return status;
}

/* A norm is (1 - b) + b * length / average, so another average changes it, and with it x, at most as much as the
 * average itself; and a saturation x / (k1 + x) changes less than x. */
static kb_status measure_drift(kb_view *view, const kb_searcher *searcher, kb_error *error) {
    uint64_t totals[KB_FIELDS] = {0};
    kb_status status = kb_corpus_totals(&view->segment->corpus, totals, error);
    view->drift = 1.0;
    for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++) {
        if (totals[field] == 0)
            continue;
        double average = (double)totals[field] / (double)view->segment->entries;
        double drift = searcher->bm25f.averages[field] / average;
        if (drift > view->drift)
            view->drift = drift;
    }
    view->drift *= DRIFT_SLACK;
    return status;
}

kb_status kb_searcher_open(kb_view *views, uint32_t count, const kb_params *params, kb_searcher *searcher,
                           kb_error *error) {
    kb_status status = KB_OK;
    searcher->views = views;
    searcher->count = count;
    searcher->sections = 0;
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        searcher->totals[field] = 0;
    for (uint32_t i = 0; i < count && status == KB_OK; i++) {
        error->segment = i;
        status = count_view(&views[i], searcher, error);
    }
    if (status == KB_OK)
        kb_bm25f_prepare(params, searcher->sections, searcher->totals, &searcher->bm25f);
    for (uint32_t i = 0; i < count && status == KB_OK; i++) {
        error->segment = i;
        status = measure_drift(&views[i], searcher, error);
    }
    return status;
}

/* The live entries among a stem's postings, by reading all of them. */
static kb_status count_postings(const kb_view *view, kb_postings *postings, uint64_t *df, kb_error *error) {
    kb_status status = KB_OK;
    while (status == KB_OK && postings->left > 0) {
        status = kb_postings_next(postings, error);
        if (status == KB_OK && kb_bitmap_has(view->live, postings->entry))
            *df += 1;
    }
    return status;
}

/* The same, by looking up the entries that are not live. */
static kb_status count_without_dead(const kb_view *view, kb_postings *postings, uint64_t *df, kb_error *error) {
    kb_status status = KB_OK;
    bool found = true;
    *df += postings->df;
    uint32_t entries = view->segment->entries;
    for (uint32_t i = kb_bitmap_next_clear(view->live, entries, 0); i < entries && found && status == KB_OK;
         i = kb_bitmap_next_clear(view->live, entries, i + 1)) {
        status = kb_postings_seek(postings, i, &found, error);
        if (status == KB_OK && found && postings->entry == i)
            *df -= 1;
    }
    return status;
}

/* The same, by looking up the entries that are live. */
static kb_status count_among_live(const kb_view *view, kb_postings *postings, uint64_t *df, kb_error *error) {
    uint32_t entries = view->segment->entries;
    kb_status status = KB_OK;
    bool found = true;
    for (uint32_t block = 0; block < kb_bitmap_words(entries); block++) {
        uint64_t left = kb_bitmap_word(view->live, entries, block);
        for (; left != 0 && found && status == KB_OK; left &= left - 1) {
            uint32_t entry = block * 64 + (uint32_t)__builtin_ctzll(left);
            status = kb_postings_seek(postings, entry, &found, error);
            if (status == KB_OK && found && postings->entry == entry)
                *df += 1;
        }
    }
    return status;
}

static kb_status count_live(const kb_view *view, const kb_stem *stem, uint64_t *df, kb_error *error) {
    kb_postings postings;
    kb_status status = kb_postings_open(&view->segment->terms, stem, &postings, error);
    if (status != KB_OK)
        return status;
    uint64_t scan = view->segment->entries / 64; /* to find the few in the bitmap */
    uint64_t dead = view->segment->entries - view->live_count;
    if (dead * SEEKS + scan < stem->df)
        return count_without_dead(view, &postings, df, error);
    if ((uint64_t)view->live_count * SEEKS + scan < stem->df)
        return count_among_live(view, &postings, df, error);
    return count_postings(view, &postings, df, error);
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
