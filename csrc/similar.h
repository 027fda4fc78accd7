/* Near duplicates: entries whose set of stems in title and body is much like a given one (README.md section 9). */
#ifndef KB_SIMILAR_H
#define KB_SIMILAR_H

#include "search.h"

/* One stem of the given set. */
typedef struct {
    const kb_term *term;
    const uint8_t *const
        *bitmaps; /* NULL, or by segment NULL or what kb_similar_bitmap wrote: spares reading the list */
} kb_similar_stem;

/* Whether a stem is frequent enough in a segment for a bitmap to be worth its memory. */
bool kb_similar_wants_bitmap(const kb_view *view, const kb_stem *stem);

/* Sets the bits of the entries that hold the stem in title or body; `bitmap` is all 0 before. KB_E_CORRUPT. */
kb_status kb_similar_bitmap(const kb_view *view, const kb_stem *stem, uint8_t *bitmap, kb_error *error);

/* Finds the best `limit` live entries with a Jaccard index of at least `threshold` (above 0, at most 1); a hit's score
 * is its index. `stems` are the distinct stems of the given set, also those that occur nowhere; the function sorts
 * them. `hits` is the caller's and has room for `limit`; *found are filled, best first. KB_E_CORRUPT. */
kb_status kb_similar(const kb_searcher *searcher, kb_similar_stem *stems, uint32_t count, double threshold,
                     uint32_t limit, kb_scratch *scratch, kb_hit *hits, uint32_t *found, kb_error *error);

#endif
