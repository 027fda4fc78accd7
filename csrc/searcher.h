/* A snapshot to search: segments, and which entries of each are live (README.md section 9).
 *
 * Nothing here changes after kb_searcher_open, so any number of threads may use one searcher; what a single search
 * writes to is in its kb_scratch (search.h). Functions over all segments set kb_error.segment.
 */
#ifndef KB_SEARCHER_H
#define KB_SEARCHER_H

#include "segment.h"

#define KB_FEW 4u /* nearly all frequencies are smaller; each costs 8 bytes a length */

typedef struct {
    double k1;
    double b[KB_FIELDS];
    double weights[KB_FIELDS];
} kb_params;

/* One segment as a searcher sees it; everything belongs to the caller. */
typedef struct {
    const kb_segment *segment;
    const kb_lengths *lengths; /* from kb_lengths_read */
    const uint8_t *live;
    bool all_live; /* set by kb_searcher_open: no bit of `live` is 0 */
} kb_view;

typedef struct {
    kb_view *views;
    uint32_t count;
    kb_params params;
    uint64_t sections; /* N */
    uint64_t totals[KB_FIELDS];
    double averages[KB_FIELDS];
    double *norms[KB_FIELDS]; /* by length; of the lengths below norms_count */
    uint32_t norms_count[KB_FIELDS];
    double *few; /* by frequency 1 to KB_FEW and body length below norms_count: the saturation of a stem that is in the
                    body only */
} kb_searcher;

/* A stem in all segments: stems[i].df is 0 where segment i does not hold it. */
typedef struct {
    uint64_t df; /* live entries that hold it */
    double idf;
    kb_stem *stems;
} kb_term;

/* Counts what is live. The views stay the caller's and must outlive the searcher. The struct must be zero before; the
 * owner calls kb_searcher_close, also after a failure. KB_E_MEMORY. */
kb_status kb_searcher_open(kb_view *views, uint32_t count, const kb_params *params, kb_searcher *searcher);
void kb_searcher_close(kb_searcher *searcher);

/* Looks a stem up and counts its live entries. `term->stems` must have room for each segment. KB_E_CORRUPT. */
kb_status kb_term_find(const kb_searcher *searcher, const uint8_t *stem, size_t length, kb_term *term, kb_error *error);

/* The 16 bytes of an entry; cannot fail, because kb_lengths_read checked them. */
static inline const uint8_t *kb_view_kbid(const kb_view *view, uint32_t entry) {
    return view->segment->corpus.kbids.bytes + (size_t)entry * KB_KBID_BYTES;
}

#endif
