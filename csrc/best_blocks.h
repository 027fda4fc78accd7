/* A plan of one stem over one segment: blocks whose largest impact cannot reach the heap are not read. */
#ifndef KB_BEST_BLOCKS_H
#define KB_BEST_BLOCKS_H

#include "plan.h"

/* Adds the matching entries to the heap that may be among the best, and to the total as far as it counts. The plan has
 * one clause, for which kb_clause_is_stem holds, and which is not must_not. KB_E_CORRUPT. */
kb_status kb_best_blocks(kb_search_task *task);

#endif
