/* BM25F in doubles, each operation in the order of README.md section 9. Compile without contraction or fast-math. */
#ifndef KB_BM25F_H
#define KB_BM25F_H

#include <float.h>

#include "searcher.h"

_Static_assert(FLT_EVAL_METHOD == 0, "scores need arithmetic that rounds each operation to double");

/* The weight of a stem that `df` of `sections` live entries hold. */
double kb_bm25f_idf(uint64_t sections, uint64_t df);

/* Fills averages, norms and `once` of a searcher whose sections and totals are counted. KB_E_MEMORY. */
kb_status kb_bm25f_prepare(kb_searcher *searcher);

/* The norm of a field of this length, computed. */
double kb_bm25f_norm(const kb_searcher *searcher, uint32_t field, uint32_t length);

/* The length of an entry's field. */
static inline uint32_t kb_bm25f_length(const kb_view *view, uint32_t entry, uint32_t field) {
    return view->lengths->lengths[(size_t)field * view->segment->entries + entry];
}

/* How much of its full weight a stem gives to an entry, from its frequencies there; none may be in a field of length 0
 * (README.md section 6: then KB_E_CORRUPT). */
static inline kb_status kb_bm25f_saturation(const kb_searcher *searcher, const kb_view *view, uint32_t entry,
                                            const uint32_t frequencies[KB_FIELDS], double *saturation,
                                            kb_error *error) {
    double x = 0.0;
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        if (frequencies[field] == 0)
            continue;
        uint32_t length = kb_bm25f_length(view, entry, field);
        if (length == 0)
            return kb_corrupt(KB_FILE_CORPUS, view->segment->corpus.records.offset,
                              "a stem occurs in a field of length 0", error);
        double norm = length < searcher->norms_count[field] ? searcher->norms[field][length]
                                                            : kb_bm25f_norm(searcher, field, length);
        x = x + (searcher->params.weights[field] * (double)frequencies[field]) / norm;
    }
    *saturation = x / (searcher->params.k1 + x);
    return KB_OK;
}

#endif
