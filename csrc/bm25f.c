/* BM25F: what does not depend on the entry. */
#include "bm25f.h"

#include <math.h>

double kb_bm25f_idf(uint64_t sections, uint64_t df) {
    return log(1.0 + ((double)(sections - df) + 0.5) / ((double)df + 0.5));
}

double kb_bm25f_norm(const kb_bm25f *bm25f, uint32_t field, uint32_t length) {
    double b = bm25f->params.b[field];
    double average = bm25f->averages[field];
    return average == 0.0 ? 1.0 : (1.0 - b) + b * ((double)length / average);
}

uint8_t kb_bm25f_impact(double saturation) {
    double impact = ceil(255.0 * saturation);
    return (uint8_t)(impact < 255.0 ? impact : 255.0);
}

/* The saturation of a stem that stands so often in a body of this length, and in no other field. */
static double saturation_of_body(const kb_bm25f *bm25f, uint32_t frequency, uint32_t length) {
    const uint32_t frequencies[KB_FIELDS] = {[KB_BODY] = frequency};
    const uint32_t lengths[KB_FIELDS] = {[KB_BODY] = length};
    return kb_bm25f_saturation(bm25f, frequencies, lengths);
}

void kb_bm25f_prepare(const kb_params *params, uint64_t sections, const uint64_t totals[KB_FIELDS], kb_bm25f *bm25f) {
    bm25f->params = *params;
    bm25f->tables = NULL;
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        bm25f->averages[field] = sections == 0 ? 0.0 : (double)totals[field] / (double)sections;
}

void kb_bm25f_tabulate(kb_bm25f *bm25f, kb_bm25f_tables *tables) {
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        for (uint32_t length = 0; length < KB_NORMS; length++)
            tables->norms[field][length] = kb_bm25f_norm(bm25f, field, length);
        tables->gains[field][0] = 0.0;
        for (uint32_t code = 1; code <= KB_LENGTH_CODE_MAX; code++)
            tables->gains[field][code] =
                bm25f->params.weights[field] / kb_bm25f_norm(bm25f, field, kb_corpus_code_length(code));
    }
    bm25f->tables = tables;
    for (uint32_t i = 0; i < KB_FEW; i++) {
        /* No stem stands in an empty body, whose norm may be 0. */
        tables->few[i][0] = tables->most[i][0] = 0.0;
        for (uint32_t length = 1; length < KB_NORMS; length++)
            tables->few[i][length] = saturation_of_body(bm25f, i + 1, length);
        for (uint32_t code = 1; code <= KB_LENGTH_CODE_MAX; code++)
            tables->most[i][code] = saturation_of_body(bm25f, i + 1, kb_corpus_code_length(code));
    }
}
