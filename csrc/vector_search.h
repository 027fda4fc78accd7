/* Searches vectors by cosine, exactly (README.md sections 10 and "How vectors are searched").
 *
 * A searcher joins files of vectors, oldest first, with the sections of an index: a vector counts where it is that of a
 * live section, and the newest of it. Nothing here changes after kb_vector_searcher_open, so any number of threads may
 * use one searcher.
 */
#ifndef KB_VECTOR_SEARCH_H
#define KB_VECTOR_SEARCH_H

#include "searcher.h"
#include "sketch.h"

/* The section a record belongs to: a segment's place in the list, or KB_NOBODYS, and an entry of it. */
typedef struct {
    uint32_t segment;
    uint32_t entry;
} kb_owner;

#define KB_NOBODYS UINT32_MAX

/* A file of vectors as a searcher sees it; everything belongs to the caller. */
typedef struct {
    const kb_vectors *vectors;
    const uint8_t *kbids;        /* by kb_vectors_check */
    const double *lengths;       /* by kb_vectors_check */
    const kb_sketches *sketches; /* NULL where there are none: then every vector is looked at */
    kb_owner *owners;            /* room for each record; by kb_vector_searcher_open */
    uint8_t *pointing;           /* bitmap, 0 before; by kb_vector_searcher_open: records that have an owner and a
                                    length, which are those that can be hits */
} kb_vector_part;

typedef struct {
    kb_vector_part *parts;
    uint32_t count;
    uint32_t dimensions;
    uint64_t sections; /* that have a vector; by kb_vector_searcher_open */
} kb_vector_searcher;

/* Joins the parts with what is live of segments: of a kbid that is live in several, with the last. The searcher's other
 * fields must be set; the views are needed no longer. KB_E_CORRUPT, with error->segment set. */
kb_status kb_vector_searcher_open(const kb_view *views, uint32_t views_count, kb_vector_searcher *searcher,
                                  kb_error *error);

/* Clears in `live`, one bitmap a segment, the bits of the sections that have a vector. */
void kb_vector_missing(const kb_vector_searcher *searcher, uint8_t *const *live);

/* Sets in `held`, a bitmap, the bits of a part's records that have an owner. */
void kb_vector_held(const kb_vector_part *part, uint8_t *held);

typedef struct {
    double score; /* the cosine */
    kb_owner owner;
    const uint8_t *kbid;
} kb_vector_hit;

/* How a search goes. Each way gives the same hits. */
typedef struct {
    kb_dot dot;
    const kb_sketch_ways *sketches; /* NULL: every vector is looked at */
} kb_vector_ways;

/* Finds the `limit` sections nearest to a query of the searcher's dimensions, finite f32, little-endian: by falling
 * cosine, then kbid. A vector of length 0 points nowhere: as a query it finds nothing, as a record it is no hit.
 * `allowed` has a bitmap for each segment that narrows what may be found, or is NULL. `hits` has room for `limit`;
 * *count are filled. KB_E_MEMORY. */
kb_status kb_vector_search(const kb_vector_searcher *searcher, const uint8_t *query, const uint8_t *const *allowed,
                           uint32_t limit, const kb_vector_ways *ways, kb_vector_hit *hits, uint32_t *count);

#endif
