/* Sketches: a vector in twice 4 bits a dimension, and how far at most a cosine found with it is wrong. They only
 * pre-select; README.md, "How vectors are searched", has the bound and why it holds.
 *
 * A sketch is a function of one vector alone. After kb_sketches_new any number of threads may read. There are two ways
 * to multiply sketches with the same results.
 */
#ifndef KB_SKETCH_H
#define KB_SKETCH_H

#include "vectors_read.h"

#define KB_SKETCH_BLOCK 64u /* sketches that are gone through at a time */
#define KB_SKETCH_LINE 32u  /* bytes; 64 dimensions, the first 32 in the low halves */

/* Codes of 4 bits of each record, whose vector they are about: scale * (2 * code - 15). */
typedef struct {
    uint8_t *codes; /* `lines` lines a record */
    float *scales;
    float *errors; /* the length, at most, of the difference between the vector and what all layers so far make of it */
} kb_sketch_layer;

/* The sketches of a file's records, divided by their lengths. The arrays are filled up to whole blocks. */
typedef struct {
    kb_sketch_layer coarse;
    kb_sketch_layer fine; /* of what the coarse layer leaves */
    uint32_t lines;
    uint32_t count;
} kb_sketches;

/* The sketch of a query in whole numbers from -127 to 127. */
typedef struct {
    int8_t *codes; /* as many as a sketch has; past the dimensions 0 */
    int32_t sum;   /* of the codes */
    float scale;
    float error;
} kb_sketch_query;

/* Sketches every record of checked vectors; `lengths` as by kb_vectors_check. KB_E_MEMORY. The owner calls
 * kb_sketches_free. */
kb_status kb_sketches_new(const kb_vectors *vectors, const double *lengths, kb_sketches *sketches);
void kb_sketches_free(kb_sketches *sketches);
size_t kb_sketches_bytes(const kb_sketches *sketches);

/* The bytes that a query's codes take. */
size_t kb_sketch_query_bytes(uint32_t dimensions);

/* Sketches a query of some length above 0; `codes` is the caller's. */
void kb_sketch_query_new(const double *wide, uint32_t dimensions, double length, int8_t *codes, kb_sketch_query *query);

/* How sketches are multiplied. */
typedef struct {
    /* Fills in for each record of a block what its cosine with the query is at most, by the coarse layer. Gives those
     * for which that is at least `least`, a bit each; bits of records past the last mean nothing. */
    uint64_t (*find)(const kb_sketches *sketches, uint32_t block, const kb_sketch_query *query, float least,
                     float most[KB_SKETCH_BLOCK]);
    /* The sum of the products of so many lines of codes with a query's. */
    int32_t (*multiply)(const uint8_t *line, const int8_t *codes, uint32_t lines);
} kb_sketch_ways;

extern const kb_sketch_ways kb_sketch_portable;

/* NULL where the compiler or this processor has no AVX2. */
const kb_sketch_ways *kb_sketch_avx2(void);

/* What a cosine is at most, and at least. */
typedef struct {
    float most;
    float least;
} kb_sketch_bound;

/* What the cosine of a record with the query is by both layers; `most` is what it is at most by the coarse one. */
kb_sketch_bound kb_sketch_refine(const kb_sketches *sketches, const kb_sketch_ways *ways, uint32_t record,
                                 const kb_sketch_query *query, float most);

#endif
