/* BM25F in doubles, each operation in the order of README.md section 9. Compile without contraction or fast-math. */
#ifndef KB_BM25F_H
#define KB_BM25F_H

#include <float.h>

#include "corpus.h"

_Static_assert(FLT_EVAL_METHOD == 0, "scores need arithmetic that rounds each operation to double");

#define KB_NORMS \
    512u /* lengths with a stored norm: nearly all fields are shorter, and making them takes microseconds */
#define KB_TABULATED_FROM 64u /* entries of a segment being written, from which on tables make up for their making */
#define KB_FEW 3u             /* frequencies with a stored saturation: those of the postings that are no exceptions */

typedef struct {
    double k1;
    double b[KB_FIELDS];
    double weights[KB_FIELDS];
} kb_params;

/* What is computed once for many entries. */
typedef struct {
    double norms[KB_FIELDS][KB_NORMS];           /* by length */
    double few[KB_FEW][KB_NORMS];                /* by frequency less 1 and body length: saturation of the body alone */
    double most[KB_FEW][KB_LENGTH_CODE_MAX + 1]; /* by frequency less 1 and length code of the body: the largest such */
    double gains[KB_FIELDS][KB_LENGTH_CODE_MAX + 1]; /* by length code: the most that a frequency of 1 adds to x */
} kb_bm25f_tables;

/* What a set of entries makes of the parameters. */
typedef struct {
    kb_params params;
    double averages[KB_FIELDS];
    const kb_bm25f_tables *tables; /* by kb_bm25f_tabulate; NULL before */
} kb_bm25f;

/* The weight of a stem that `df` of `sections` entries hold. */
double kb_bm25f_idf(uint64_t sections, uint64_t df);

/* Prepares for a set of so many entries with these summed lengths. */
void kb_bm25f_prepare(const kb_params *params, uint64_t sections, const uint64_t totals[KB_FIELDS], kb_bm25f *bm25f);

/* Fills the tables, which are the caller's and must outlive `bm25f`. Some 6,000 divisions: for a few postings, going
 * without costs less. */
void kb_bm25f_tabulate(kb_bm25f *bm25f, kb_bm25f_tables *tables);

/* The norm of a field of this length, computed. */
double kb_bm25f_norm(const kb_bm25f *bm25f, uint32_t field, uint32_t length);

/* A saturation in 255ths, rounded up (README.md section 4). */
uint8_t kb_bm25f_impact(double saturation);

/* At least the saturation of a stem with these frequencies, by the tables, from the length codes of the fields. `codes`
 * points to that of field 0, and the others follow `stride` bytes apart. */
static inline double kb_bm25f_most(const kb_bm25f *bm25f, uint32_t mask, const uint32_t frequencies[KB_FIELDS],
                                   const uint8_t *codes, size_t stride) {
    double x = 0.0;
    for (uint32_t field = 0; mask >> field != 0; field++)
        if (mask >> field & 1)
            x = x + bm25f->tables->gains[field][codes[field * stride]] * (double)frequencies[field];
    return x / (bm25f->params.k1 + x);
}

/* How much of its full weight a stem gives to an entry, from its frequencies there and the lengths of the fields that
 * hold it. */
static inline double kb_bm25f_saturation(const kb_bm25f *bm25f, const uint32_t frequencies[KB_FIELDS],
                                         const uint32_t lengths[KB_FIELDS]) {
    double x = 0.0;
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        if (frequencies[field] == 0)
            continue;
        uint32_t length = lengths[field];
        double norm = bm25f->tables != NULL && length < KB_NORMS ? bm25f->tables->norms[field][length]
                                                                 : kb_bm25f_norm(bm25f, field, length);
        x = x + (bm25f->params.weights[field] * (double)frequencies[field]) / norm;
    }
    return x / (bm25f->params.k1 + x);
}

#endif
