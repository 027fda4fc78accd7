/* A snapshot to search: segments, and which entries of each are live (README.md section 9).
 *
 * Nothing here changes after kb_searcher_open and kb_bm25f_tabulate, so any number of threads may use one searcher;
 * what a single search writes to is in its kb_scratch (search.h). Functions over all segments set kb_error.segment.
 */
#ifndef KB_SEARCHER_H
#define KB_SEARCHER_H

#include "bm25f.h"
#include "segment.h"

/* One segment as a searcher sees it; everything belongs to the caller. */
typedef struct {
    const kb_segment *segment;
    const uint8_t *live;
    uint32_t live_count; /* bits set in `live`; by kb_searcher_open */
    bool all_live;       /* all of them; by kb_searcher_open */
    double drift; /* by kb_searcher_open: a saturation under the live averages is at most so many times that under
                     the averages of the segment */
} kb_view;

typedef struct {
    kb_view *views;
    uint32_t count;
    uint64_t sections; /* N */
    uint64_t totals[KB_FIELDS];
    kb_bm25f bm25f;
} kb_searcher;

/* A stem in all segments: stems[i].df is 0 where segment i does not hold it. */
typedef struct {
    uint64_t df; /* live entries that hold it */
    double idf;
    kb_stem *stems;
} kb_term;

/* Counts what is live. The views stay the caller's and must outlive the searcher. Before plans are run, its bm25f is to
 * be tabulated. KB_E_CORRUPT. */
kb_status kb_searcher_open(kb_view *views, uint32_t count, const kb_params *params, kb_searcher *searcher,
                           kb_error *error);

/* Looks a stem up and counts its live entries. `term->stems` must have room for each segment. KB_E_CORRUPT. */
kb_status kb_term_find(const kb_searcher *searcher, const uint8_t *stem, size_t length, kb_term *term, kb_error *error);

#endif
