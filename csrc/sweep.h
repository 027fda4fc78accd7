/* A plan of several stems, any of which may match, over one segment: bounds are added up in small numbers, window by
 * window, and only entries whose bound reaches the heap are scored exactly.
 *
 * A bound is a whole number of units, never less than the share it stands for. The most telling stems are swept; the
 * others, where their bounds together cannot lift an entry into the heap, are only looked up for the candidates that
 * the swept ones leave (MaxScore, after Turtle and Flood: Query evaluation, strategies and optimizations, 1995).
 */
#ifndef KB_SWEEP_H
#define KB_SWEEP_H

#include "lanes.h"
#include "plan.h"

/* One stem of the plan that the segment holds. */
struct kb_sweep_clause {
    uint32_t number; /* in the plan */
    uint32_t df;
    uint32_t most;                                                 /* units: the largest bound of a posting */
    uint32_t reach;                                                /* the next posting to sweep in the block read */
    double factor;                                                 /* weight * idf */
    double scaled;                                                 /* the same in units */
    double impact;                                                 /* the largest saturation */
    uint16_t units[KB_CODE_EXCEPTION + 1][KB_LENGTH_CODE_MAX + 1]; /* by code and length code; 0 for exceptions */
    kb_postings swept;
    kb_postings sought;
};

/* Adds the matching entries to the heap that may be among the best, and to the total as far as it counts. The heap's
 * limit is above 0. KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_sweep(kb_search_task *task, kb_lanes_find find);

#endif
