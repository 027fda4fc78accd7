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

typedef struct {
    kb_postings postings;
    kb_positions positions;
    uint32_t place; /* in the phrase */
} kb_part;

/* Memory that walks reuse; all zero at first, freed with kb_walk_free. */
typedef struct {
    kb_part *parts; /* of a phrase: the rarest first */
    size_t parts_capacity;
    uint32_t *starts; /* positions of the first part that may belong to the phrase */
    size_t starts_capacity;
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
