/* BM25F: what does not depend on the entry, computed once for a searcher. */
#include "bm25f.h"

#include <math.h>
#include <stdlib.h>

#define NORMS_MAX \
    4096u /* lengths with a stored norm: nearly all fields are shorter, and 32 KB fit a first-level cache */

double kb_bm25f_idf(uint64_t sections, uint64_t df) {
    return log(1.0 + ((double)(sections - df) + 0.5) / ((double)df + 0.5));
}

double kb_bm25f_norm(const kb_searcher *searcher, uint32_t field, uint32_t length) {
    double b = searcher->params.b[field];
    double average = searcher->averages[field];
    return average == 0.0 ? 1.0 : (1.0 - b) + b * ((double)length / average);
}

kb_status kb_bm25f_prepare(kb_searcher *searcher) {
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        uint32_t longest = 0;
        for (uint32_t i = 0; i < searcher->count; i++)
            if (searcher->views[i].lengths->longest[field] > longest)
                longest = searcher->views[i].lengths->longest[field];
        uint32_t count = longest < NORMS_MAX ? longest + 1 : NORMS_MAX;
        double total = (double)searcher->totals[field];
        searcher->averages[field] = searcher->sections == 0 ? 0.0 : total / (double)searcher->sections;
        searcher->norms_count[field] = count;
        searcher->norms[field] = malloc(count * sizeof(double));
        if (searcher->norms[field] == NULL)
            return KB_E_MEMORY;
        for (uint32_t length = 0; length < count; length++)
            searcher->norms[field][length] = kb_bm25f_norm(searcher, field, length);
    }
    uint32_t count = searcher->norms_count[KB_BODY];
    searcher->few = malloc(KB_FEW * (size_t)count * sizeof(double));
    if (searcher->few == NULL)
        return KB_E_MEMORY;
    for (uint32_t frequency = 1; frequency <= KB_FEW; frequency++) {
        for (uint32_t length = 0; length < count; length++) {
            double x = 0.0 + (searcher->params.weights[KB_BODY] * (double)frequency) / searcher->norms[KB_BODY][length];
            searcher->few[(size_t)(frequency - 1) * count + length] = x / (searcher->params.k1 + x);
        }
    }
    return KB_OK;
}
