/* Walks over the entries of one segment in which an alternative of a plan occurs: a stem, or stems one after the other.
 */
#ifndef KB_OCCURRENCES_H
#define KB_OCCURRENCES_H

#include "positions.h"
#include "searcher.h"

/* One way to satisfy a clause. */
typedef struct {
    const kb_term *const *terms; /* one, or a phrase's in order */
    uint32_t count;
    double weight;
    double idf; /* README.md section 9 */
} kb_alternative;

#define KB_GROUP 16u /* entries of a block that are compared at a time */
#define KB_GROUPS (KB_BLOCK / KB_GROUP)
#define KB_RUN 32u /* postings of the rarest part that are looked up in the others at a time */
#define KB_MET 16u /* postings that met before any is looked at closely: what they need is loaded meanwhile */

typedef struct {
    kb_postings postings;
    kb_positions positions;
    uint32_t place;               /* in the phrase */
    uint32_t reached;             /* the block that `lasts` is of */
    uint32_t ahead;               /* the block that walk->ahead is in */
    uint32_t lasts[KB_GROUPS];    /* the last entry of each group of its entries */
    uint8_t at[KB_RUN];           /* of the postings of a run: their places in the block */
    kb_spot met[KB_MET + KB_RUN]; /* of the postings that met */
} kb_part;

/* Memory that walks reuse; all zero at first, freed with kb_walk_free. */
typedef struct {
    kb_part *parts; /* of a phrase: the rarest first */
    size_t parts_capacity;
    uint32_t *starts; /* positions of the rarest part that may belong to the phrase */
    size_t starts_capacity;
    /* Of a walk over a phrase (phrase.c): */
    uint32_t from;                     /* entries below it were passed */
    uint32_t ahead;                    /* the entry that comes next */
    uint32_t first;                    /* the first posting of the rarest part's block that was not passed */
    uint32_t met;                      /* postings that met */
    uint32_t next;                     /* of those */
    uint32_t entries[KB_MET + KB_RUN]; /* theirs */
} kb_walk;

typedef struct {
    kb_walk *walk;
    uint32_t count;  /* parts */
    uint32_t fields; /* bit f set: field f counts */
    uint32_t entry;
    uint32_t mask; /* bit f set: it occurs in field f */
    uint32_t frequencies[KB_FIELDS];
} kb_occurrences;

void kb_walk_free(kb_walk *walk);

/* Begins; `segment` is the view's place in the searcher. All of the alternative's stems must be in the segment.
 * KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_occurrences_open(const kb_view *view, uint32_t segment, const kb_alternative *alternative, uint32_t fields,
                              kb_walk *walk, kb_occurrences *occurrences, kb_error *error);

/* Whether all of an alternative's stems are in a segment. */
bool kb_occurrences_possible(const kb_alternative *alternative, uint32_t segment);

/* Moves to the next entry and fills `entry` and `frequencies`; *found is false after the last. */
kb_status kb_occurrences_next(kb_occurrences *occurrences, bool *found, kb_error *error);

#endif
